/**
 * Pond's real frame, streams and signals around verbs that do what no verb of the product does on demand: wait, stream
 * without end, fail in every way. Started as a process by `frame.test.ts`.
 */
import { flag, NO_FLAGS } from "../../src/cli/flags.ts"
import { runCommandLine } from "../../src/cli/frame/run-command-line.ts"
import { defineVerb, type Verb, type VerbRow } from "../../src/cli/verb.ts"
import { ERROR_TABLE, type ErrorCode, PondError } from "../../src/model/errors.ts"
import { systemClock } from "../../src/platform/host/clock.ts"
import { processEnvironment } from "../../src/platform/host/environment.ts"
import { createHost } from "../../src/platform/host/host.ts"
import { systemRandom } from "../../src/platform/host/random.ts"
import { listenForEnd } from "../../src/platform/process/signals.ts"
import { standardStreams } from "../../src/platform/process/streams.ts"

const plain = { flags: NO_FLAGS, positionals: [], examples: [] }

const wait = defineVerb({
  ...plain,
  flags: { stubborn: flag.onOff("Does not stop when asked."), serving: flag.onOff("Returns a value when asked.") },
  run: async ({ signal, flags, onEnd, pond }) => {
    onEnd(() => pond.host.log.warn("first cleanup"))
    onEnd(() => pond.host.log.warn("second cleanup"))
    const asked = Promise.withResolvers<undefined>()
    const staysAlive = setInterval(() => undefined, 1000)
    signal.addEventListener("abort", () => {
      pond.host.log.warn("asked to stop")
      if (!flags.stubborn) asked.resolve(undefined)
    })
    pond.host.log.warn("waiting")
    await asked.promise
    clearInterval(staysAlive)
    if (!flags.serving) throw new PondError("interrupted", "Stopped after 3 sessions; run it again to go on.")
    return { document: { served: true }, render: () => "served\n" }
  },
})

const serve = defineVerb({
  ...plain,
  run: async ({ signal, pond }) => {
    const asked = Promise.withResolvers<undefined>()
    const staysAlive = setInterval(() => undefined, 1000)
    signal.addEventListener("abort", () => asked.resolve(undefined))
    pond.host.log.warn("waiting")
    await asked.promise
    clearInterval(staysAlive)
    return { exitCode: 0, isEndedBySignal: true }
  },
})

const stream = defineVerb({
  ...plain,
  run: ({ writeOut }) => {
    for (;;) writeOut("a line of a stream without end\n")
  },
})

const print = defineVerb({
  ...plain,
  flags: { lines: flag.wholeNumber("How many.", { min: 0 }) },
  run: ({ flags, progress, pond }) => {
    progress.stage("import", "sessions", 2)
    progress.at(1, "half")
    pond.host.log.info("a line for people")
    progress.at(2, "all of it")
    const lines = flags.lines ?? 1
    const isWhole = lines > 0
    return Promise.resolve({
      document: { lines },
      render: ({ style }: { style: { red: (text: string) => string } }) => `${style.red("line")}\n`.repeat(lines),
      exitCode: isWhole ? 0 : 4,
    })
  },
})

const fail = defineVerb({
  ...plain,
  positionals: [
    { name: "code", summary: "what to fail with.", count: "one", choices: [...Object.keys(ERROR_TABLE), "surprise"] },
  ],
  run: ({ words: [code] }) => {
    if (code === "surprise") throw new TypeError("the password is hunter2")
    const cause = new Error("the disk said no")
    throw new PondError(code as ErrorCode, "It \u001b[31mfailed\u001b[0m.", { details: { where: "here" }, cause })
  },
})

const row = (name: string, verb: Verb): VerbRow => ({
  name,
  group: "care",
  summary: `${name}.`,
  load: () => Promise.resolve(verb),
})

const environment = processEnvironment()
process.exit(
  await runCommandLine({
    argv: process.argv.slice(2),
    environment,
    streams: standardStreams(),
    clock: systemClock,
    verbs: [
      row("wait", wait),
      row("serve", serve),
      row("stream", stream),
      row("print", print),
      row("fail", fail),
      row("family first", print),
      row("family second", print),
    ],
    listenForEnd,
    compose: (flags, log, lifetime) => {
      const host = createHost({ lifetime, environment, clock: systemClock, random: systemRandom, log, flags })
      const sessions = () => Promise.reject(new Error("a rehearsal has no store"))
      return {
        host,
        sessions,
        embedder: () => sessions(),
        namespaces: () => sessions(),
        namespace: () => "rehearsal",
        sessionsAt: sessions,
        storeName: () => "rehearsal",
        within: () => sessions(),
        surfaces: { listen: () => sessions(), findServer: () => sessions(), speakMcp: () => sessions() },
        close: () => Promise.resolve(log.debug("pond closed")),
      }
    },
  }),
)

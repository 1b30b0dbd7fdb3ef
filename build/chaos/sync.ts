/**
 * `bun run chaos sync [--rounds N] [--seed N]`: syncs that are killed or asked to end at any moment, over sources that go on
 * growing, must lead to the same store as one sync that nobody disturbed, and to a state that believes nothing that is not
 * stored. Who is asked ends by itself, with the exit code of the signal.
 */
import { appendFileSync, mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { systemClock } from "../../src/platform/host/clock.ts"
import { silentLog } from "../../src/platform/host/log.ts"
import { seededRandom, systemRandom } from "../../src/platform/host/random.ts"
import { openSessions } from "../../src/sessions/store.ts"
import { parseLocation } from "../../src/substrate/location.ts"
import { openStore } from "../../src/substrate/open-store.ts"
import { type Corpus, writeCorpus } from "../corpus/corpus.ts"
import { type Chaos, numberFlag, type Outcome } from "../lib/outcome.ts"
import { ROOT } from "../release/packages.ts"

const ROUNDS_DEFAULT = 20
/** Longer than a whole sync takes, so that some are killed in their last step and some not at all. */
const KILLED_WITHIN = 1.2

/** The first ones have everything to read, the others what has grown. */
const WHOLE_ROUNDS = 4

export const chaos: Chaos = {
  summary: "syncs that are killed, or asked to end, at any moment, over sources that go on growing",
  run: async function* (args) {
    const base = mkdtempSync(join(tmpdir(), "pond-chaos-"))
    try {
      yield* await storm(base, numberFlag(args, "rounds", ROUNDS_DEFAULT), numberFlag(args, "seed", 1))
    } finally {
      rmSync(base, { recursive: true, force: true })
    }
  },
}

async function storm(base: string, rounds: number, seed: number): Promise<Outcome[]> {
  const random = seededRandom(seed)
  const home = join(base, "home")
  const store = join(base, "store")
  const corpus = writeCorpus({ home, sessions: 150, linesTypical: 60, seed })
  const began = performance.now()
  await sync(home, join(base, "trial"))
  const withinMs = KILLED_WITHIN * (performance.now() - began)
  const beganAgain = performance.now()
  await sync(home, join(base, "trial"))
  const againMs = KILLED_WITHIN * (performance.now() - beganAgain)
  const ends = new Map<string, number>()
  for (let round = 0; round < rounds; round++) {
    for (let line = 0; line < 20; line++) grow(corpus, `${round}-${line}`, random)
    const signal = SIGNALS[round % SIGNALS.length] ?? "SIGKILL"
    const end = `${signal}: ${await endOf(home, store, signal, random.next() * (round < WHOLE_ROUNDS ? withinMs : againMs))}`
    ends.set(end, (ends.get(end) ?? 0) + 1)
  }
  // What the last of them may have left for nobody.
  grow(corpus, "last", random)
  const strange = [...ends.keys()].filter((end) => !ENDS.test(end))
  const last = await sync(home, store)
  const again = await sync(home, store, "--full")
  await sync(home, join(base, "calm"))
  const [stormy, calm] = [await counts(store), await counts(join(base, "calm"))]
  return [
    {
      what: "how they ended",
      isRight: strange.length === 0,
      found: [...ends].map(([end, count]) => `${count} ${end}`).join(", "),
    },
    {
      what: `${rounds} syncs disturbed, and then one that was not`,
      isRight: last > 0 && stormy === calm,
      found: `${stormy}; undisturbed ${calm}`,
    },
    { what: "read again in full", isRight: again === 0, found: `${again} messages that were not stored` },
  ]
}

function grow({ files }: Corpus, mode: string, random: { next(): number }): void {
  const logs = files.filter((file) => file.includes("/.claude/"))
  const log = logs[Math.floor(random.next() * logs.length)]
  if (log !== undefined) appendFileSync(log, `${JSON.stringify({ type: "mode", mode })}\n`)
}

function start(home: string, store: string, ...args: readonly string[]) {
  return Bun.spawn([process.execPath, join(ROOT, "src/main.ts"), ...args, "--json", "--store", store], {
    env: { HOME: home, PATH: process.env["PATH"] ?? "" },
    stdout: "pipe",
    stderr: "ignore",
  })
}

const SIGNALS = ["SIGKILL", "SIGINT", "SIGTERM"] as const
/** What came before the signal, or before anybody listened for one, ends as it would have. */
const ENDS = /^(?:SIGKILL: (?:SIGKILL|0)|SIGINT: (?:SIGINT|130|0)|SIGTERM: (?:SIGTERM|143|0))$/

async function endOf(home: string, store: string, signal: (typeof SIGNALS)[number], ms: number): Promise<string> {
  const child = start(home, store, "sync")
  const timer = setTimeout(() => child.kill(signal), ms)
  const exitCode = await child.exited
  clearTimeout(timer)
  return String(child.signalCode ?? exitCode)
}

async function sync(home: string, store: string, ...args: readonly string[]): Promise<number> {
  const { adapters } = JSON.parse(
    await new Response(start(home, store, "sync", "--only", "import", ...args).stdout).text(),
  ) as { adapters: { messages: { new: number } }[] }
  return adapters.reduce((sum, { messages }) => sum + messages.new, 0)
}

async function counts(path: string): Promise<string> {
  const host = { clock: systemClock, random: systemRandom, log: silentLog }
  const store = openSessions(openStore(parseLocation(path, { environment: {} }), host), { ...host, host: "chaos" })
  const { sessions, messages, parts } = await store.counts()
  store.close()
  return `${sessions} sessions, ${messages} messages, ${parts} parts`
}

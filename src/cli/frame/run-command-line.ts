/**
 * The frame around every verb: reads the command line, finds the verb, runs it inside citty's life cycle, prints what
 * came of it and answers with the exit code. citty's own `runMain` is not used: it ends every failure with 1.
 */

import { defineCommand, runCommand } from "citty"
import { PondError } from "../../model/errors.ts"
import { visible } from "../../model/visible.ts"
import type { Pond } from "../../operations/pond.ts"
import type { SettingFlags } from "../../platform/config/config.ts"
import type { Clock } from "../../platform/host/clock.ts"
import type { Environment } from "../../platform/host/environment.ts"
import type { Lifetime } from "../../platform/host/host.ts"
import type { Log } from "../../platform/host/log.ts"
import { VERSION } from "../../platform/host/version.ts"
import { suggestion } from "../../platform/nearest.ts"
import { openKeyboard } from "../../platform/process/keyboard.ts"
import { openPager } from "../../platform/process/pager.ts"
import type { ListenForEnd } from "../../platform/process/signals.ts"
import { BrokenPipe, type Streams } from "../../platform/process/streams.ts"
import { GLOBAL_FLAGS, type GlobalValues } from "../flags.ts"
import { overviewDocument, renderOverview, renderVerbHelp, verbDocument } from "../help/help.ts"
import { TOPICS, type Topic, topicNamed } from "../help/topics.ts"
import type { InteractiveScreen } from "../picker/picker.ts"
import type { Ask, Outcome, Streamed, Verb, VerbRow } from "../verb.ts"
import { type Cleanups, createCleanups, type Ended, type HandOver, runInterruptible } from "./interrupt.ts"
import { createOutput, isGiven, type Output } from "./output.ts"
import { showPaged } from "./paging.ts"
import { findVerb, type Invocation, readInvocation, verbsUnder } from "./parse-arguments.ts"
import { printFailure, printOutcome } from "./print-outcome.ts"

export interface CommandLine {
  readonly argv: readonly string[]
  readonly environment: Environment
  readonly streams: Streams
  readonly clock: Clock
  readonly verbs: readonly VerbRow[]
  readonly listenForEnd: ListenForEnd
  /** Puts the product together, once the flags are known. Opens nothing. */
  readonly compose: (flags: SettingFlags, log: Log, lifetime: Lifetime) => Pond
}

/** Runs one command line to its end. What went wrong was said, and is the exit code. */
export async function runCommandLine(line: CommandLine): Promise<number> {
  const output = createOutput(line)
  try {
    return await dispatch(line, output)
  } catch (thrown) {
    return endQuietlyOnBrokenPipe(thrown, () => printFailure(output, thrown))
  }
}

/** `pond search x | head -1`: the reader has what it wanted. 0, as ripgrep does. */
function endQuietlyOnBrokenPipe(thrown: unknown, otherwise: () => number): number {
  if (thrown instanceof BrokenPipe) return 0
  try {
    return otherwise()
  } catch (again) {
    if (again instanceof BrokenPipe) return 0
    throw again
  }
}

async function dispatch(line: CommandLine, output: Output): Promise<number> {
  const isHelpVerb = line.argv[0] === "help"
  const argv = isHelpVerb ? line.argv.slice(1) : line.argv
  const topic = isHelpVerb ? topicNamed(argv) : undefined
  if (topic !== undefined) return await printTopic(line.verbs, topic, output)
  if (isHelpVerb || isGiven(argv, "--help", "h")) return await printHelp(line.verbs, argv, output)
  if (isGiven(argv, "--version", "V") || argv[0] === "version") {
    printOutcome(output, { document: { version: VERSION }, render: () => `pond ${VERSION}\n` })
    return 0
  }
  const route = findVerb(argv, line.verbs)
  if (route === undefined) {
    readInvocation(argv, GLOBAL_FLAGS, [])
    if (output.isJson) throw new PondError("validation_failed", "Missing verb. Run pond --help.")
    return await printHelp(line.verbs, [], output)
  }
  const verb = await route.row.load()
  const invocation = readInvocation(route.rest, { ...GLOBAL_FLAGS, ...verb.flags }, verb.positionals)
  return await runVerb(line, output, { row: route.row, verb, invocation })
}

/** `pond help search` explains searching, and then the verb; `pond search --help` is the verb alone. */
async function printTopic(verbs: readonly VerbRow[], topic: Topic, output: Output): Promise<number> {
  const row = verbs.find(({ name }) => name === topic.name)
  const verb = row === undefined ? undefined : { row, ...(await row.load()) }
  printOutcome(output, {
    document: { topic },
    render: (page) =>
      `${page.style.bold(topic.summary)}\n\n${topic.text}${verb === undefined ? "" : `\n${renderVerbHelp(verb.row, verb, page)}`}`,
  })
  return 0
}

async function printHelp(verbs: readonly VerbRow[], argv: readonly string[], output: Output): Promise<number> {
  const words = argv.filter((word) => word !== "--help" && word !== "-h")
  const [first = "", ...others] = words.filter((word) => !word.startsWith("-"))
  const below = verbsUnder(first, verbs)
  const isOverview = below.length > 0 && others.length === 0 && !verbs.some(({ name }) => name === first)
  const route = isOverview ? undefined : findExplained(words, verbs)
  if (route === undefined) {
    const shown = isOverview ? below : verbs
    printOutcome(output, { document: overviewDocument(shown), render: (page) => renderOverview(shown, page) })
    return 0
  }
  const verb = await route.row.load()
  printOutcome(output, {
    document: verbDocument(route.row, verb),
    render: (page) => renderVerbHelp(route.row, verb, page),
  })
  return 0
}

/** Who asks for help names a verb or a topic. */
function findExplained(words: readonly string[], verbs: readonly VerbRow[]): ReturnType<typeof findVerb> {
  const [word = ""] = words.filter((each) => !each.startsWith("-"))
  const names = verbs.map(({ name }) => name.split(" ")[0] ?? name)
  if (word === "" || names.includes(word)) return findVerb(words, verbs)
  const near = suggestion(word, [...names, ...TOPICS.map(({ name }) => name)])
  throw new PondError("validation_failed", `Unknown verb or topic "${visible(word)}".${near} Run pond --help.`, {
    details: { verb: word },
  })
}

interface VerbRun {
  readonly row: VerbRow
  readonly verb: Verb
  readonly invocation: Invocation
}

async function runVerb(line: CommandLine, output: Output, run: VerbRun): Promise<number> {
  const cleanups = createCleanups()
  let describeAbandoned: (() => PondError) | undefined
  const ifLeft: RunHooks["ifLeft"] = (say) => {
    describeAbandoned = say
  }
  const { ended, signalCode } = await runInterruptible(line.listenForEnd, (signal, handOver) =>
    runWithCitty(line, output, run, { signal, handOver, cleanups, ifLeft }),
  )
  if (ended.kind !== "interrupted") return finish(output, ended, signalCode)
  const said = describeAbandoned?.()
  await cleanups.run() // the work was left behind, and citty's cleanup with it
  return finish(output, said === undefined ? ended : { kind: "failed", reason: said }, signalCode)
}

interface RunHooks {
  readonly signal: AbortSignal
  readonly handOver: HandOver
  readonly cleanups: Cleanups
  readonly ifLeft: (say: () => PondError) => void
}

async function runWithCitty(
  line: CommandLine,
  output: Output,
  { row, verb, invocation }: VerbRun,
  { signal, handOver, cleanups, ifLeft }: RunHooks,
): Promise<Outcome | Streamed> {
  const { store, config, namespace } = invocation.values as unknown as GlobalValues
  const pond = line.compose({ store, config, namespace }, output.log, verb.lifetime?.(invocation.values) ?? "command")
  cleanups.add(() => pond.close())
  const command = defineCommand({
    meta: { name: row.name, description: row.summary },
    run: () =>
      verb.run({
        pond,
        flags: invocation.values,
        words: invocation.words,
        isJson: output.isJson,
        progress: output.progress,
        signal,
        ifLeft,
        onEnd: cleanups.add,
        verbs: line.verbs,
        page: output,
        show:
          output.isJson || !output.streams.out.isTerminal
            ? undefined
            : (chunks) => {
                output.progress.end()
                const openOwn = () => openPager(line.environment)
                return showPaged(chunks(output), { out: output.streams.out, openPager: openOwn })
              },
        writeOut: (text) => output.streams.out.write(text),
        ask: askOn(output, signal),
        openScreen: screenOpener(output, signal),
        handOver,
      }),
    cleanup: () => cleanups.run(),
  })
  const { result } = await runCommand(command, { rawArgs: [] })
  return result as Outcome | Streamed
}

function screenOpener(output: Output, signal: AbortSignal): (() => InteractiveScreen) | undefined {
  const { out, input } = output.streams
  if (output.isJson || !out.isTerminal || !input.isTerminal) return undefined
  return () => ({ keyboard: openKeyboard(signal), out, style: output.style })
}

function askOn(output: Output, signal: AbortSignal): Ask | undefined {
  const { out, input } = output.streams
  if (output.isJson || !out.isTerminal || !input.isTerminal) return undefined
  return async (question, explanation, enter = "yes") => {
    const choices = enter === "yes" ? "[Y/n]" : "[y/N]"
    for (;;) {
      out.write(`${output.style.bold(question)} ${choices} `)
      const answer = await input.line(signal)
      if (answer === undefined) throw new PondError("interrupted", "Interrupted.")
      const word = answer.trim().toLowerCase() || enter
      const decided = ANSWERS.get(word)
      if (decided !== undefined) return decided
      out.write(`${word === "?" && explanation !== undefined ? explanation : "Answer y (yes) or n (no)."}\n`)
    }
  }
}

const ANSWERS: ReadonlyMap<string, boolean> = new Map([
  ["y", true],
  ["yes", true],
  ["n", false],
  ["no", false],
])

/** Work that was whole when it ended is shown, even where a signal came meanwhile; what was not whole has thrown. */
function finish(output: Output, ended: Ended<Outcome | Streamed>, signalCode: number | undefined): number {
  if (ended.kind === "done") {
    if ("document" in ended.value) printOutcome(output, ended.value)
    const ownCode = ended.value.exitCode ?? 0
    const isMeant = "isEndedBySignal" in ended.value && ended.value.isEndedBySignal === true
    return isMeant ? ownCode : (signalCode ?? ownCode)
  }
  if (ended.kind === "failed" && signalCode === undefined) throw ended.reason
  const reason = ended.kind === "failed" ? ended.reason : undefined
  const said = reason instanceof PondError && reason.code === "interrupted" ? reason : undefined
  printFailure(output, said ?? new PondError("interrupted", "Interrupted."))
  return signalCode ?? 130
}

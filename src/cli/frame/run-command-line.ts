/**
 * The frame around every verb: finds it, lets citty dispatch to it through the tree of verbs, prints what came of it and
 * answers with the exit code. citty's own `runMain` is not used: it ends every failure with 1.
 */
import { runCommand } from "citty"
import { PondError, toPondError } from "../../model/errors.ts"
import { visible } from "../../model/visible.ts"
import type { Pond } from "../../operations/pond.ts"
import type { SettingFlags } from "../../platform/config/config.ts"
import type { Clock } from "../../platform/host/clock.ts"
import type { Environment } from "../../platform/host/environment.ts"
import type { Lifetime } from "../../platform/host/host.ts"
import type { Log } from "../../platform/host/log.ts"
import { openKeyboard } from "../../platform/process/keyboard.ts"
import { openPager } from "../../platform/process/pager.ts"
import type { ListenForEnd } from "../../platform/process/signals.ts"
import { BrokenPipe, type Streams } from "../../platform/process/streams.ts"
import type { InteractiveScreen } from "../browse/browser.ts"
import { type Flags, GLOBAL_FLAGS, type GlobalValues } from "../flags.ts"
import type { Ask, Outcome, Streamed, Verb, VerbContext, VerbRow } from "../verb.ts"
import { explain, VERSION_OUTCOME } from "../verbs/help.ts"
import { commandTree, pathOf } from "./command-tree.ts"
import { type Cleanups, createCleanups, type Ended, type HandOver, runInterruptible } from "./interrupt.ts"
import { createOutput, isGiven, type Output } from "./output.ts"
import { OWN_VERBS } from "./own-verbs.ts"
import { showPaged } from "./paging.ts"
import { findVerb, type Invocation, type Route, readInvocation } from "./parse-arguments.ts"

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
  const { argv } = line
  const isAsking = isGiven(argv, "--help", "h")
  if (!isAsking && isGiven(argv, "--version", "V")) return print(output, VERSION_OUTCOME)
  if (isAsking) return print(output, await explain(argv.filter(isNoHelpFlag), line.verbs, OWN_VERBS))
  const route = findVerb(argv, [...line.verbs, ...OWN_VERBS])
  if (route !== undefined) return await runVerb(line, output, route)
  readInvocation(argv, GLOBAL_FLAGS, [])
  if (output.isJson) throw new PondError("validation_failed", "Missing verb. Run pond --help.")
  return print(output, await explain([], line.verbs))
}

function isNoHelpFlag(word: string): boolean {
  return word !== "--help" && word !== "-h"
}

function print(output: Output, outcome: Outcome): number {
  printOutcome(output, outcome)
  return 0
}

async function runVerb(line: CommandLine, output: Output, route: Route): Promise<number> {
  const verbs = [...line.verbs, ...OWN_VERBS]
  const cleanups = createCleanups()
  let describeAbandoned: (() => PondError) | undefined
  const ifLeft: RunHooks["ifLeft"] = (say) => {
    describeAbandoned = say
  }
  const { ended, signalCode } = await runInterruptible(line.listenForEnd, async (signal, handOver) => {
    // citty keeps the result of the outermost command alone.
    let result: Outcome | Streamed | undefined
    // The whole tree of sixty verbs takes citty milliseconds; the typed one stands below its first word.
    const [first] = route.row.name.split(" ")
    const near = verbs.filter(({ name }) => name.split(" ")[0] === first)
    const tree = commandTree(near, {
      run: async (verb, rest) => {
        const invocation = readInvocation(rest, { ...GLOBAL_FLAGS, ...verb.flags }, verb.positionals)
        const context = contextOf(line, output, { verb, invocation }, { signal, handOver, cleanups, ifLeft })
        result = await verb.run(context)
      },
      cleanup: cleanups.run,
    })
    await runCommand(tree, { rawArgs: pathOf(route, near) })
    return result as Outcome | Streamed
  })
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

interface VerbRun {
  readonly verb: Verb
  readonly invocation: Invocation
}

function contextOf(
  line: CommandLine,
  output: Output,
  { verb, invocation }: VerbRun,
  { signal, handOver, cleanups, ifLeft }: RunHooks,
): VerbContext<Flags> {
  const { store, config, namespace } = invocation.values as unknown as GlobalValues
  const pond = line.compose({ store, config, namespace }, output.log, verb.lifetime?.(invocation.values) ?? "command")
  cleanups.add(() => pond.close())
  return {
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
  }
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
      const said = word === "?" && explanation !== undefined ? explanation : "Answer y (yes) or n (no)."
      out.write(`${output.prose(said, "")}\n`)
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

// --- Printing --------------------------------------------------------------------------------------------------------

// How a run of pond ends on output: the outcome or the failure, for people or as one JSON document. The only file that
// knows the two shapes `{"protocol_version":1, …}` and `{"error":{code, message, details}}`.

const PROTOCOL_VERSION = 1
const CAUSES_MAX = 10

function printOutcome(output: Output, { document, render }: Pick<Outcome, "document" | "render">): void {
  output.progress.end()
  if (output.isJson)
    output.streams.out.write(`${JSON.stringify({ protocol_version: PROTOCOL_VERSION, ...document })}\n`)
  else output.streams.out.write(render(output))
}

/** Says what failed, and returns the exit code that goes with it. */
function printFailure(output: Output, thrown: unknown): number {
  output.progress.end()
  const error = toFailure(thrown)
  const { code, message, details } = error
  if (output.isJson) output.streams.out.write(`${JSON.stringify({ error: { code, message, details } })}\n`)
  else output.streams.err.write(output.errorProse(`${output.errorStyle.red("pond:")} ${visible(message)}\n`))
  for (const line of causesOf(error)) output.log.debug(line)
  return error.row.exit
}

/** citty does not export its class of usage errors; the name is what it promises. */
function toFailure(thrown: unknown): PondError {
  if (thrown instanceof Error && thrown.name === "CLIError") {
    return new PondError("validation_failed", thrown.message, { cause: thrown })
  }
  return toPondError(thrown)
}

function causesOf(error: PondError): string[] {
  const lines: string[] = []
  let cause: unknown = error.cause
  while (cause !== undefined && lines.length < CAUSES_MAX) {
    lines.push(`caused by: ${cause instanceof Error ? (cause.stack ?? cause.message) : String(cause)}`)
    cause = cause instanceof Error ? cause.cause : undefined
  }
  return lines
}

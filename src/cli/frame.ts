/**
 * The frame around every verb: reads the command line, finds the verb, runs it inside citty's life cycle, prints what
 * came of it and answers with the exit code. citty's own `runMain` is not used: it ends every failure with 1.
 */
import { defineCommand, runCommand } from "citty"
import { PondError } from "../model/errors.ts"
import { visible } from "../model/visible.ts"
import type { Pond } from "../operations/pond.ts"
import type { Clock } from "../platform/clock.ts"
import type { SettingFlags } from "../platform/config.ts"
import type { Environment } from "../platform/environment.ts"
import { openKeyboard } from "../platform/keyboard.ts"
import type { Log } from "../platform/log.ts"
import { suggestion } from "../platform/nearest.ts"
import { openPager } from "../platform/pager.ts"
import type { ListenForEnd } from "../platform/signals.ts"
import { BrokenPipe, type Streams } from "../platform/streams.ts"
import { VERSION } from "../platform/version.ts"
import { findVerb, type Invocation, readInvocation, verbsUnder } from "./argv.ts"
import { GLOBAL_FLAGS, type GlobalValues } from "./flags.ts"
import { overviewDocument, renderOverview, renderVerbHelp, verbDocument } from "./help.ts"
import { createEndings, type Ended, type Endings, type HandOver, runInterruptible } from "./interrupt.ts"
import { showPaged } from "./paged.ts"
import { createPaper, isGiven, type Paper } from "./paper.ts"
import type { Desk } from "./picker.ts"
import { printFailure, printOutcome } from "./report.ts"
import { TOPICS, type Topic, topicNamed } from "./topics.ts"
import type { Outcome, Streamed, Verb, VerbRow } from "./verb.ts"

export interface CommandLine {
  readonly argv: readonly string[]
  readonly environment: Environment
  readonly streams: Streams
  readonly clock: Clock
  readonly verbs: readonly VerbRow[]
  readonly listenForEnd: ListenForEnd
  /** Puts the product together, once the flags are known. Opens nothing. */
  readonly compose: (flags: SettingFlags, log: Log) => Pond
}

/** Runs one command line to its end. What went wrong was said, and is the exit code. */
export async function runCommandLine(line: CommandLine): Promise<number> {
  const paper = createPaper(line)
  try {
    return await dispatch(line, paper)
  } catch (thrown) {
    return endQuietlyOnBrokenPipe(thrown, () => printFailure(paper, thrown))
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

async function dispatch(line: CommandLine, paper: Paper): Promise<number> {
  const isHelpVerb = line.argv[0] === "help"
  const argv = isHelpVerb ? line.argv.slice(1) : line.argv
  const topic = isHelpVerb ? topicNamed(argv) : undefined
  if (topic !== undefined) return await printTopic(line.verbs, topic, paper)
  if (isHelpVerb || isGiven(argv, "--help", "h")) return await printHelp(line.verbs, argv, paper)
  if (isGiven(argv, "--version")) {
    printOutcome(paper, { document: { version: VERSION }, render: () => `pond ${VERSION}\n` })
    return 0
  }
  const route = findVerb(argv, line.verbs)
  if (route === undefined) {
    readInvocation(argv, GLOBAL_FLAGS, [])
    if (paper.isJson) throw new PondError("validation_failed", "A verb is missing. Run pond --help.")
    return await printHelp(line.verbs, [], paper)
  }
  const verb = await route.row.load()
  const invocation = readInvocation(route.rest, { ...GLOBAL_FLAGS, ...verb.flags }, verb.positionals)
  return await runVerb(line, paper, { row: route.row, verb, invocation })
}

/** `pond help search` explains searching, and then the verb; `pond search --help` is the verb alone. */
async function printTopic(verbs: readonly VerbRow[], topic: Topic, paper: Paper): Promise<number> {
  const row = verbs.find(({ name }) => name === topic.name)
  const verb = row === undefined ? undefined : { row, ...(await row.load()) }
  printOutcome(paper, {
    document: { topic },
    render: (page) =>
      `${page.style.bold(topic.summary)}\n\n${topic.text}${verb === undefined ? "" : `\n${renderVerbHelp(verb.row, verb, page)}`}`,
  })
  return 0
}

async function printHelp(verbs: readonly VerbRow[], argv: readonly string[], paper: Paper): Promise<number> {
  const words = argv.filter((word) => word !== "--help" && word !== "-h")
  const below = verbsUnder(words.find((word) => !word.startsWith("-")) ?? "", verbs)
  const isOverview = below.length > 0 && words.filter((word) => !word.startsWith("-")).length === 1
  const route = isOverview ? undefined : findExplained(words, verbs)
  if (route === undefined) {
    const shown = isOverview ? below : verbs
    printOutcome(paper, { document: overviewDocument(shown), render: (page) => renderOverview(shown, page) })
    return 0
  }
  const verb = await route.row.load()
  printOutcome(paper, {
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
  throw new PondError(
    "validation_failed",
    `pond has no verb and no topic "${visible(word)}".${near} Run pond --help.`,
    {
      details: { verb: word },
    },
  )
}

interface VerbRun {
  readonly row: VerbRow
  readonly verb: Verb
  readonly invocation: Invocation
}

async function runVerb(line: CommandLine, paper: Paper, run: VerbRun): Promise<number> {
  const endings = createEndings()
  let sayLeft: (() => PondError) | undefined
  const ifLeft: Ways["ifLeft"] = (say) => {
    sayLeft = say
  }
  const { ended, signalCode } = await runInterruptible(line.listenForEnd, (signal, handOver) =>
    runInsideCitty(line, paper, run, { signal, handOver, endings, ifLeft }),
  )
  if (ended.kind !== "interrupted") return finish(paper, ended, signalCode)
  const said = sayLeft?.()
  await endings.run() // the work was left behind, and citty's cleanup with it
  return finish(paper, said === undefined ? ended : { kind: "failed", reason: said }, signalCode)
}

interface Ways {
  readonly signal: AbortSignal
  readonly handOver: HandOver
  readonly endings: Endings
  readonly ifLeft: (say: () => PondError) => void
}

async function runInsideCitty(
  line: CommandLine,
  paper: Paper,
  { row, verb, invocation }: VerbRun,
  { signal, handOver, endings, ifLeft }: Ways,
): Promise<Outcome | Streamed> {
  const { store, config, namespace } = invocation.values as unknown as GlobalValues
  const pond = line.compose({ store, config, namespace }, paper.log)
  endings.add(() => pond.close())
  const command = defineCommand({
    meta: { name: row.name, description: row.summary },
    run: () =>
      verb.run({
        pond,
        flags: invocation.values,
        words: invocation.words,
        isJson: paper.isJson,
        progress: paper.progress,
        signal,
        ifLeft,
        onEnd: endings.add,
        verbs: line.verbs,
        page: paper,
        show:
          paper.isJson || !paper.streams.out.isTerminal
            ? undefined
            : (chunks) => {
                paper.progress.end()
                const openOwn = () => openPager(line.environment)
                return showPaged(chunks(paper), { out: paper.streams.out, openPager: openOwn })
              },
        writeOut: (text) => paper.streams.out.write(text),
        ask: askOn(paper, signal),
        desk: deskOn(paper, signal),
        handOver,
      }),
    cleanup: () => endings.run(),
  })
  const { result } = await runCommand(command, { rawArgs: [] })
  return result as Outcome | Streamed
}

function deskOn(paper: Paper, signal: AbortSignal): (() => Desk) | undefined {
  const { out, input } = paper.streams
  if (paper.isJson || !out.isTerminal || !input.isTerminal) return undefined
  return () => ({ keyboard: openKeyboard(signal), out, style: paper.style })
}

function askOn(paper: Paper, signal: AbortSignal): ((question: string) => Promise<boolean>) | undefined {
  const { out, input } = paper.streams
  if (paper.isJson || !out.isTerminal || !input.isTerminal) return undefined
  return async (question) => {
    out.write(`${paper.style.bold(question)} [Y/n] `)
    const answer = await input.line(signal)
    if (answer === undefined) throw new PondError("interrupted", "Interrupted.")
    return /^\s*(y|yes)?\s*$/i.test(answer)
  }
}

/** Work that was whole when it ended is shown, even where a signal came meanwhile; what was not whole has thrown. */
function finish(paper: Paper, ended: Ended<Outcome | Streamed>, signalCode: number | undefined): number {
  if (ended.kind === "done") {
    if ("document" in ended.value) printOutcome(paper, ended.value)
    const ownCode = ended.value.exitCode ?? 0
    const isMeant = "isEndedBySignal" in ended.value && ended.value.isEndedBySignal === true
    return isMeant ? ownCode : (signalCode ?? ownCode)
  }
  if (ended.kind === "failed" && signalCode === undefined) throw ended.reason
  const reason = ended.kind === "failed" ? ended.reason : undefined
  const said = reason instanceof PondError && reason.code === "interrupted" ? reason : undefined
  printFailure(paper, said ?? new PondError("interrupted", "Interrupted."))
  return signalCode ?? 130
}

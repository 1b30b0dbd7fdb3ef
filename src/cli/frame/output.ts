/**
 * Where a run of pond writes, and in which shape: words or JSON, coloured or plain, with a bar, with NDJSON or silent.
 * Worked out from the raw words, before the command line is judged: a wrong one has to be reported in the right shape.
 */
import { visibleLine } from "../../model/visible.ts"
import type { Clock } from "../../platform/host/clock.ts"
import type { Environment } from "../../platform/host/environment.ts"
import { createLog, type Log, type LogLevel } from "../../platform/host/log.ts"
import type { Streams, TextSink } from "../../platform/process/streams.ts"
import { projectText, proseText } from "../render/home-paths.ts"
import { type ColorChoice, createStyle, mayColor, type Style } from "../render/style.ts"
import { wrapProse } from "../render/table.ts"
import { createProgress, type Progress, type ProgressMode } from "./progress.ts"

export interface Output {
  readonly streams: Streams
  readonly isJson: boolean
  /** For stdout. */
  readonly style: Style
  /** For stderr. */
  readonly errorStyle: Style
  readonly log: Log
  readonly progress: Progress
  /** The width of stdout; without end where it is no terminal. */
  readonly columns: number
  /** For what people read; see `Page`. */
  readonly path: (path: string) => string
  readonly prose: (text: string, indent?: string) => string
  /** The same for stderr. */
  readonly errorProse: (text: string) => string
}

export interface OutputParts {
  readonly argv: readonly string[]
  readonly environment: Environment
  readonly streams: Streams
  readonly clock: Clock
}

export function createOutput({ argv, environment, streams, clock }: OutputParts): Output {
  const { out, err } = streams
  const isJson = isGiven(argv, "--json")
  const isQuiet = isGiven(argv, "--quiet", "q")
  const color = colorChoice(argv)
  const home = environment["HOME"]
  const errorProse = proseOn(err, home)
  const progress = createProgress({ mode: progressMode(isQuiet, isJson, err.isTerminal), sink: err, clock })
  const level: LogLevel = logLevel(isQuiet, isGiven(argv, "--verbose", "v"))
  const log = createLog(level, (text, gravity) => {
    progress.hide()
    err.write(
      isJson ? `${JSON.stringify({ event: "log", level: gravity, message: text.trimEnd() })}\n` : errorProse(text),
    )
  })
  return {
    streams,
    isJson,
    style: createStyle(mayColor(environment, out.isTerminal, color)),
    errorStyle: createStyle(mayColor(environment, err.isTerminal, color)),
    log,
    progress,
    columns: out.isTerminal ? (out.columns ?? Number.POSITIVE_INFINITY) : Number.POSITIVE_INFINITY,
    path: out.isTerminal ? (path) => projectText(path, home) : visibleLine,
    prose: proseOn(out, home),
    errorProse,
  }
}

function proseOn({ isTerminal, columns }: TextSink, home: string | undefined): Output["prose"] {
  if (!isTerminal) return (text) => text
  return (text, indent) => wrapProse(proseText(text, home), columns ?? Number.POSITIVE_INFINITY, indent)
}

/** From the raw words, as all of it: `--color=always` and `--color always`. The last one counts. */
function colorChoice(argv: readonly string[]): ColorChoice {
  const end = argv.indexOf("--")
  const words = argv.slice(0, end === -1 ? argv.length : end)
  let choice: ColorChoice = "auto"
  for (const [index, word] of words.entries()) {
    const value = word === "--color" ? words[index + 1] : /^--color=(.*)$/.exec(word)?.[1]
    if (value === "always" || value === "never" || value === "auto") choice = value
    if (word === "--no-color") choice = "never"
  }
  return choice
}

/** Short flags without a value may stand together: `-qv`. */
const CLUSTER = /^-[qvhV]{2,}$/

/** Flags count up to `--`; what follows are words, whatever they look like. */
export function isGiven(argv: readonly string[], long: string, short?: string): boolean {
  const end = argv.indexOf("--")
  return argv
    .slice(0, end === -1 ? argv.length : end)
    .some(
      (word) =>
        word === long ||
        (short !== undefined && (word === `-${short}` || (CLUSTER.test(word) && word.includes(short)))),
    )
}

function progressMode(isQuiet: boolean, isJson: boolean, isTerminal: boolean): ProgressMode {
  if (isQuiet) return "silent"
  if (isJson) return "ndjson"
  return isTerminal ? "bar" : "silent"
}

function logLevel(isQuiet: boolean, isVerbose: boolean): LogLevel {
  if (isQuiet) return "quiet"
  return isVerbose ? "debug" : "info"
}

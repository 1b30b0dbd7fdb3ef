/**
 * aider's Markdown as a document of blocks, and back to the same text. A run starts with a heading; a line with `#### ` is a
 * prompt, one with `> ` is what the program said, and everything else is the model's. Lines are told apart as aider tells them
 * apart when it reads its history: it knows no code fences.
 */
import { isJsonObject, type JsonObject, type JsonValue } from "../../model/json.ts"

export const PROMPT = "#### "
export const TOLD = "> "
/** Two spaces are a line break of Markdown: aider ends each line of a prompt, and of what it says, with them. */
const BREAK = "  "
export const START = "# aider chat started at "
const HEADING = /^# aider chat started at (\d{4}-\d\d-\d\d \d\d:\d\d:\d\d)\r?$/
const MODEL = /^(?:Main model|Model): (.+?) with \S+ edit format/m

/** What a line is, and the key that a block of such lines has. */
type Kind = "start" | "prompt" | "told" | "head" | "text"

/** Lines of one kind, and the blank lines behind them. */
interface Lines {
  readonly kind: Kind
  readonly lines: string[]
  after: string
}

/** The blocks of a run, or of several. */
export function documentOf(text: string): JsonObject {
  const { before, all } = groupsOf(text)
  let model = ""
  const blocks = all.map(({ kind, lines, after }) => {
    const block = blockOf(kind, lines)
    if (kind === "told") model = MODEL.exec(String(block["told"]))?.[1] ?? model
    const named = kind === "text" && model !== "" ? { model } : {}
    return { ...block, ...named, ...(after === "" ? {} : { after }) }
  })
  return { ...(before === "" ? {} : { before }), blocks }
}

function groupsOf(text: string): { readonly before: string; readonly all: readonly Lines[] } {
  const all: Lines[] = []
  let [before, at, headEnd] = ["", 0, 0]
  for (const line of text.split(/(?<=\n)/)) {
    const last = all.at(-1)
    at += line.length
    if (line.trim() === "") {
      if (last === undefined) before += line
      else last.after += line
      continue
    }
    const kind = kindOfLine(line, { isHead: at <= headEnd, isApart: last === undefined || last.after !== "" })
    if (kind === "start") headEnd = at + headOf(text.slice(at))
    // A paragraph of the model goes on behind blank lines.
    if (last?.kind === kind && kind !== "start" && (last.after === "" || kind === "text")) {
      last.lines.push(last.after, line)
      last.after = ""
    } else all.push({ kind, lines: [line], after: "" })
  }
  return { before, all }
}

function kindOfLine(line: string, { isHead, isApart }: { isHead: boolean; isApart: boolean }): Kind {
  if (isApart && HEADING.test(line.trimEnd())) return "start"
  if (line.startsWith(PROMPT)) return "prompt"
  if (line.startsWith(TOLD)) return "told"
  return isHead ? "head" : "text"
}

/** How much lies before the program says its version: a command line, which may have several lines, and is no answer. */
function headOf(text: string): number {
  const found = /^(?:(> Aider v)|#### |# aider chat started at )/m.exec(text)
  return found?.[1] === undefined ? 0 : found.index
}

/** Where writing the value would give other bytes, they are kept beside it. */
function blockOf(kind: Kind, lines: readonly string[]): JsonObject {
  const raw = lines.join("")
  const value = valueIn(kind, lines, raw)
  return { [kind]: value, ...(rawOf(kind, value) === raw ? {} : { as: raw }) }
}

function valueIn(kind: Kind, lines: readonly string[], raw: string): string {
  if (kind === "start") return HEADING.exec(raw.trimEnd())?.[1] ?? ""
  if (kind === "head" || kind === "text") return raw.replace(/\r?\n$/, "")
  const mark = kind === "prompt" ? PROMPT.length : TOLD.length
  const own = lines.filter((line) => line !== "")
  return own.map((line) => line.slice(mark).replace(/ {0,2}\r?\n?$/, "")).join("\n")
}

function rawOf(kind: Kind, value: string): string {
  if (kind === "start") return `${START}${value}\n`
  if (kind === "head" || kind === "text") return `${value}\n`
  return linesWith(kind === "prompt" ? PROMPT : TOLD, value)
}

/** A text as aider writes it line by line. */
export function linesWith(mark: string, text: string): string {
  return text
    .split("\n")
    .map((line) => `${mark}${line}${BREAK}\n`)
    .join("")
}

export function markdownOf(document: JsonObject): string {
  const { before, blocks } = document
  const all = Array.isArray(blocks) ? (blocks as readonly JsonValue[]) : []
  return `${typeof before === "string" ? before : ""}${all.map(markdownOfBlock).join("")}`
}

function markdownOfBlock(block: JsonValue): string {
  if (!isJsonObject(block)) return ""
  const kind = KINDS.find((each) => typeof block[each] === "string")
  const { as, after = "" } = block
  const written = kind === undefined ? "" : rawOf(kind, String(block[kind]))
  return `${typeof as === "string" ? as : written}${String(after)}`
}

const KINDS = ["start", "prompt", "told", "head", "text"] as const

// --- Sessions of a file -----------------------------------------------------------------------------------------------

/** A run with `--restore-chat-history` continues the session before it. */
const RESTORED = /^> Restored previous conversation history\./m
/** With the blank line that aider puts before it. In an answer the same words stand in the middle of a paragraph. */
const RUN = /(?:^\r?\n?|(?<=\n)\r?\n)# aider chat started at \d{4}-\d\d-\d\d \d\d:\d\d:\d\d\r?\n/g

export interface Stretch {
  readonly from: number
  readonly to: number
}

/** Where the sessions of a history begin and end. A run in which nobody said anything is none, and belongs to the one before it. */
export function sessionsIn(text: string): Stretch[] {
  const starts = [...text.matchAll(RUN)].map(({ index }) => index)
  const bounds = [...(starts[0] === 0 ? [] : [0]), ...starts, text.length]
  const found: { from: number; to: number }[] = []
  let waiting: number | undefined
  for (const [at, from] of bounds.slice(0, -1).entries()) {
    const to = bounds[at + 1] ?? text.length
    const run = text.slice(from, to)
    const last = found.at(-1)
    const said = firstSaid(run)
    if (said < 0 || (last !== undefined && RESTORED.test(run.slice(0, said)))) {
      if (last === undefined) waiting ??= from
      else last.to = to
    } else {
      found.push({ from: waiting ?? from, to })
      waiting = undefined
    }
  }
  return found
}

/** Where the first prompt of a run stands, or the first answer. */
function firstSaid(run: string): number {
  const heading = /# aider chat started at [^\n]*\n/.exec(run)
  const from = heading === null ? 0 : heading.index + heading[0].length
  const head = from + headOf(run.slice(from))
  const said = /^(?!> |# aider chat started at )[^\n]*\S/m.exec(run.slice(head))
  return said === null ? -1 : head + said.index
}

/** What tells a session from all others, and stays when it grows: how it began, and the first prompt. */
export const IDENTITY = /^((?:(?:> |# aider chat started at )[^\n]*\n|[^\S\n]*\n)*(?:#### [^\n]*(?:\n|$))*)/

/** When the first run began, by the clock of its machine. */
export const STARTED = /^\s*# aider chat started at (\d{4}-\d\d-\d\d \d\d:\d\d:\d\d)/

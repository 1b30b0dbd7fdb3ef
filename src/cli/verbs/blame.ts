/** `pond blame`: which session and message wrote each line of a file. */
import { existsSync, readFileSync, statSync } from "node:fs"
import { PondError } from "../../model/errors.ts"
import { counted, countText } from "../../model/numbers.ts"
import { visibleLine } from "../../model/visible.ts"
import { type BlameOutput, type BlameRange, blame as operation } from "../../operations/files/blame.ts"
import { splitLines } from "../../operations/files/line-history.ts"
import { perform } from "../../operations/operation.ts"
import { pondCommand } from "../../platform/process/shell-word.ts"
import { isSystemError } from "../../platform/system-error.ts"
import { NO_FLAGS } from "../flags.ts"
import { realDirectory } from "../project-flag.ts"
import { momentText } from "../render/dates.ts"
import { cutToWidth } from "../render/table.ts"
import { defineVerb, type Page } from "../verb.ts"

/** The same limit as the operation has: what is longer was not written by hand. */
const FILE_BYTES_MAX = 4 << 20

export const blame = defineVerb({
  flags: NO_FLAGS,
  positionals: [{ name: "file", summary: "The file, or FILE:LINE for one line of it.", count: "one", isFile: true }],
  examples: ["blame src/app.ts", "blame src/app.ts:42", "blame src/app.ts --json"],
  run: async ({ pond, words, signal, progress }) => {
    const { path, line } = fileAndLine(words[0] ?? "")
    const content = readText(path)
    const texts = splitLines(content)
    if (line !== undefined && line > texts.length)
      throw new PondError("validation_failed", `${path} has ${counted(texts.length, "line")}, no line ${line}.`, {
        details: { path, line },
      })
    const input = { path: realDirectory(path), content, ...(line === undefined ? {} : { line }) }
    progress.stage("find what agents did to the file", "calls")
    const answer = await perform(operation, { pond, signal }, input)
    const nowMs = pond.host.clock.nowMs()
    return {
      document: { ...answer },
      render: (page) =>
        line === undefined
          ? renderLines(answer, texts, nowMs, page)
          : renderLine(answer, { number: line, text: texts[line - 1] ?? "" }, nowMs, page),
    }
  },
})

function fileAndLine(word: string): { readonly path: string; readonly line: number | undefined } {
  const [, path = "", number] = /^(.+):(\d+)$/.exec(word) ?? []
  if (number === undefined || existsSync(word)) return { path: word, line: undefined }
  if (Number(number) < 1) throw new PondError("validation_failed", "Lines are counted from 1.", { details: { word } })
  return { path, line: Number(number) }
}

const WHY: Readonly<Record<string, string>> = {
  ENOENT: "It does not exist. `pond recover` brings deleted files back.",
  EISDIR: "It is a directory: name a file in it.",
  EACCES: "You are not allowed to read it.",
}

function readText(path: string): string {
  try {
    const { size } = statSync(path)
    if (size > FILE_BYTES_MAX)
      throw new PondError("validation_failed", `${path} is larger than 4 MiB: pond does not read files that large.`, {
        details: { path, size },
      })
    const bytes = readFileSync(path)
    if (bytes.includes(0))
      throw new PondError("validation_failed", `${path} is not a text file.`, { details: { path } })
    return bytes.toString("utf8")
  } catch (error) {
    if (!isSystemError(error)) throw error
    const why = WHY[error.code ?? ""] ?? error.message
    throw new PondError("validation_failed", `Cannot read ${path}. ${why}`, { details: { path }, cause: error })
  }
}

const ID_WIDTH_MAX = 13
const CLIENT_WIDTH_MAX = 14

function renderLines(answer: BlameOutput, texts: readonly string[], nowMs: number, page: Page): string {
  const { style, columns } = page
  const writers = texts.map((_, at) => answer.ranges.find((range) => range.from_line <= at + 1 && at < range.to_line))
  const heads = writers.map((range) => (range === undefined ? [] : headOf(range, nowMs)))
  const widths = [0, 1, 2].map((cell) => Math.max(0, ...heads.map((head) => Bun.stringWidth(head[cell] ?? ""))))
  const digits = String(texts.length).length
  const lines = texts.map((text, at) => {
    const isFirst = writers[at] !== undefined && writers[at] !== writers[at - 1]
    const cells = widths.map((width, cell) => padEnd(heads[at]?.[cell] ?? "", width))
    const head = isFirst ? cells.join("  ") : style.dim(cells.join("  "))
    const number = style.dim(String(at + 1).padStart(digits))
    const room = columns - widths.reduce((sum, width) => sum + width + 2, 0) - digits - 2
    return `${head}  ${number}  ${cutToWidth(visibleLine(text), Math.max(20, room))}`.trimEnd()
  })
  return `${lines.join("\n")}\n${style.dim(page.prose(summaryOf(answer)))}\n`
}

function headOf({ short_id, source_agent, timestamp }: BlameRange, nowMs: number): readonly string[] {
  return [
    cutToWidth(visibleLine(short_id), ID_WIDTH_MAX),
    cutToWidth(visibleLine(source_agent), CLIENT_WIDTH_MAX),
    momentText(timestamp, nowMs),
  ]
}

function padEnd(text: string, width: number): string {
  return `${text}${" ".repeat(Math.max(0, width - Bun.stringWidth(text)))}`
}

interface AskedLine {
  readonly number: number
  readonly text: string
}

function renderLine(answer: BlameOutput, { number, text }: AskedLine, nowMs: number, { style, prose }: Page): string {
  const [range] = answer.ranges
  const head = `${style.dim(String(number))}  ${visibleLine(text)}\n`
  if (range === undefined) return `${head}${prose(summaryOf(answer))}\n`
  const title = range.title === undefined ? "" : `${style.bold(visibleLine(range.title))}\n`
  const facts = `${visibleLine(range.source_agent)}  ${momentText(range.timestamp, nowMs)}  session ${visibleLine(range.short_id)}`
  const next = style.dim(`Read it: ${pondCommand("get", range.message_id, { context: "3" })}`)
  return `${head}${title}${facts}\n${next}\n`
}

function summaryOf({ lines, attributed, changes }: BlameOutput): string {
  if (changes === 0) return "No stored session names this file. `pond sync` stores new sessions."
  if (attributed === 0 && lines === 1) return "No session is certain to have written this line."
  const rest = lines - attributed
  const others = rest === 0 ? "" : ` ${countText(rest)} are not certain to be an agent's.`
  return `${countText(attributed)} of ${counted(lines, "line")} written by agents.${others} Read why: pond blame FILE:LINE`
}

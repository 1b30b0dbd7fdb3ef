/**
 * Messages as blocks of Markdown, one after the other as they are read. A call waits for its result, which some messages
 * later stands in the same block; what waits is bounded, so that a session of any length streams.
 */
import { isJsonObject, type JsonValue } from "../../model/json.ts"
import { bytesText } from "../../model/numbers.ts"
import type { Entry, FilePart, Part, Role, ToolCallPart, ToolResultPart } from "../../model/session.ts"
import { visibleLine } from "../../model/visible.ts"
import { escapeMarkdown } from "./escape-markdown.ts"
import { collapse, escapeInline, fence, indent, inlineCode, joinBlocks, listItem } from "./markdown-blocks.ts"

export interface TranscriptOptions {
  /** Applied to every text before anything is made of it. */
  readonly clean: (text: string) => string
  /** Whether what was not said is shown: reasoning, tools, and what the client put there. */
  readonly isWhole: boolean
}

interface Waiting {
  readonly role: Role
  readonly timestamp: string
  lines: readonly string[]
  /** A call without its result. */
  call?: ToolCallPart
}

const WAITING_MAX = 64
const WAITING_CHARS_MAX = 4_000_000

export interface Voices {
  /** What can be written once this is known too. */
  add(entry: Entry): string
  end(): string
}

export function createTranscriptWriter(look: TranscriptOptions): Voices {
  const waiting: Waiting[] = []
  let chars = 0
  let voice: Role | undefined

  const write = ({ role, timestamp, lines, call }: Waiting): string => {
    const block = call === undefined ? lines : callBlock(call, undefined, look)
    const head = role === voice ? "" : `\n${listItem(`**${ROLE_NAMES[role]}** · ${timeText(timestamp)}`)}`
    voice = role
    return `${head}${indent(block)}`
  }
  const settle = (isEnd: boolean): string => {
    let out = ""
    for (let first = waiting[0]; first !== undefined; first = waiting[0]) {
      const isFull = waiting.length > WAITING_MAX || chars > WAITING_CHARS_MAX
      if (first.call !== undefined && !isFull && !isEnd) break
      waiting.shift()
      chars -= sizeOf(first.lines)
      out += write(first)
    }
    return out
  }
  const put = (block: Waiting) => {
    waiting.push(block)
    chars += sizeOf(block.lines)
  }

  return {
    add({ message, parts }) {
      const { role, timestamp } = message
      if (message.role === "system" && message.content !== "" && look.isWhole) {
        put({ role, timestamp, lines: foldedText("Instructions", message.content, look) })
      }
      for (const part of parts) {
        if (part.type === "tool_call" && look.isWhole) put({ role, timestamp, lines: [], call: part })
        else if (part.type !== "tool_result" || !answered(waiting, part)) {
          const lines = partBlock(part, look)
          if (lines.length > 0) put({ role, timestamp, lines })
        }
      }
      return settle(false)
    },
    end: () => settle(true),
  }

  /** The newest call that it can be the result of gets it. */
  function answered(blocks: readonly Waiting[], result: ToolResultPart): boolean {
    const found = blocks.findLast(({ call }) => call?.call_id === result.call_id)
    if (found?.call === undefined) return false
    found.lines = callBlock(found.call, result, look)
    chars += sizeOf(found.lines)
    delete found.call
    return true
  }
}

const ROLE_NAMES: Readonly<Record<Role, string>> = {
  user: "User",
  assistant: "Assistant",
  system: "System",
  tool: "Tool",
}

function sizeOf(lines: readonly string[]): number {
  return lines.reduce((sum, line) => sum + line.length, 0)
}

/** `2026-11-18 12:03`, as every place of the world reads it alike. */
export function timeText(timestamp: string): string {
  return timestamp.slice(0, 16).replace("T", " ")
}

// --- Parts -----------------------------------------------------------------------------------------------------------

function partBlock(part: Part, look: TranscriptOptions): readonly string[] {
  const { isWhole, clean } = look
  switch (part.type) {
    case "text":
      if (part.provenance === "conversational") return escapeMarkdown(clean(part.text))
      return isWhole ? foldedText("Added by the client", part.text, look) : []
    case "file":
      return fileBlock(part, look)
    case "reasoning":
      return isWhole && part.text.trim() !== "" ? collapse("Reasoning", "", [escapeMarkdown(clean(part.text))]) : []
    case "tool_result":
      return isWhole ? collapse(clean(resultName(part)), "", resultBlocks(part, look)) : []
    case "tool_approval_response":
      return isWhole
        ? [
            `*${escapeInline([part.approved ? "Approved" : "Refused", clean(part.reason ?? "")].filter(Boolean).join(": "))}*`,
          ]
        : []
    default:
      return []
  }
}

function foldedText(summary: string, text: string, { clean }: TranscriptOptions): readonly string[] {
  return text.trim() === "" ? [] : collapse(summary, "", [fence(clean(text))])
}

function fileBlock(part: FilePart, { clean, isWhole }: TranscriptOptions): readonly string[] {
  const { data, media_type: mediaType, file_name: name } = part
  const what = mediaType.startsWith("image/") ? "Image" : "File"
  const size = "base64" in data ? ` (${sizeText(data.base64)})` : ""
  const called = [...(name === undefined ? [] : [inlineCode(clean(name))]), escapeInline(`${mediaType}${size}`)].join(
    " ",
  )
  const line = [`${what}: ${called}`]
  if ("text" in data)
    return isWhole ? joinBlocks([line, collapse(clean(name ?? what), "", [fence(clean(data.text))])]) : line
  return "url" in data && !data.url.startsWith("data:") ? [`${line[0]} ${inlineCode(clean(data.url))}`] : line
}

// --- Tools -----------------------------------------------------------------------------------------------------------

const NOTE_UNITS = 80

function callBlock(call: ToolCallPart, result: ToolResultPart | undefined, look: TranscriptOptions): readonly string[] {
  const { clean } = look
  const blocks = inputBlocks(call.params as JsonValue, look)
  const failed = result?.is_failure === true ? " (failed)" : ""
  const answer = result === undefined ? [["No result recorded."]] : [["Result:"], ...resultBlocks(result, look)]
  const note = visibleLine(clean(firstText(call.params as JsonValue) ?? ""))
  return collapse(`${clean(call.name)}${failed}`, cut(note), [...blocks, ...answer])
}

function cut(text: string): string {
  const signs = [...text]
  return signs.length <= NOTE_UNITS ? text : `${signs.slice(0, NOTE_UNITS - 1).join("")}…`
}

function firstText(params: JsonValue): string | undefined {
  if (typeof params === "string") return params
  if (!isJsonObject(params)) return undefined
  return Object.values(params).find((value): value is string => typeof value === "string" && value !== "")
}

/** Texts of several lines stand by themselves: in JSON nobody can read them. */
function inputBlocks(params: JsonValue, { clean }: TranscriptOptions): (readonly string[])[] {
  if (typeof params === "string") return [fence(clean(params))]
  if (!isJsonObject(params)) return [jsonBlock(params, clean)]
  const isLong = (value: JsonValue | undefined): value is string => typeof value === "string" && value.includes("\n")
  const long = Object.entries(params).filter((entry): entry is [string, string] => isLong(entry[1]))
  const short = Object.entries(params).filter(([, value]) => !isLong(value))
  return [
    ...(short.length === 0 ? [] : [jsonBlock(Object.fromEntries(short), clean)]),
    ...long.flatMap(([name, text]) => [[`${inlineCode(clean(name))}:`], fence(clean(text))]),
  ]
}

function resultName(result: ToolResultPart): string {
  return `Result${result.name === undefined ? "" : ` of ${result.name}`}${result.is_failure ? " (failed)" : ""}`
}

/** Most clients keep a result as text, or as a list of texts and images. */
function resultBlocks({ result }: ToolResultPart, { clean }: TranscriptOptions): (readonly string[])[] {
  const value = result as JsonValue
  if (value === "" || value === null) return [["Empty."]]
  if (typeof value === "string") return [fence(clean(value))]
  if (!Array.isArray(value) || value.length === 0) return [jsonBlock(value, clean)]
  return value.map((each) => {
    const text = isJsonObject(each) && each["type"] === "text" ? each["text"] : each
    return typeof text === "string" ? fence(clean(text)) : jsonBlock(each, clean)
  })
}

const BASE64 = /^[A-Za-z0-9+/_-]{512,}={0,2}$/

/**
 * The bytes of an image are for no reader. Texts are cleaned before they are JSON, which spells quotes and line breaks in
 * another way, and all of it after, as the name of a value may say what it is.
 */
function jsonBlock(value: JsonValue, clean: (text: string) => string): readonly string[] {
  const shown = (_: string, each: unknown) => {
    if (typeof each !== "string") return each
    return BASE64.test(each) ? `${sizeText(each)} of base64` : clean(each)
  }
  const text = JSON.stringify(value, shown, 2)
  return fence(clean(text), "json")
}

function sizeText(base64: string): string {
  return bytesText(Math.round((base64.length * 3) / 4))
}

/** Messages as blocks of Markdown, one after the other as they are read, each call with its result in one block. */
import { isJsonObject, type JsonValue } from "../../model/json.ts"
import { bytesText } from "../../model/numbers.ts"
import type { Entry, FilePart, Part, Role, ToolCallPart, ToolResultPart } from "../../model/session.ts"
import { visibleLine } from "../../model/visible.ts"
import { escapeMarkdown } from "./escape-markdown.ts"
import { collapse, escapeInline, fence, indent, inlineCode, joinBlocks, listItem } from "./markdown-blocks.ts"
import { createPairing, type Said } from "./pair-results.ts"

export interface TranscriptOptions {
  /** Applied to every text before anything is made of it. */
  readonly clean: (text: string) => string
  /** Whether what was not said is shown: reasoning, tools, and what the client put there. */
  readonly isWhole: boolean
}

export interface TranscriptWriter {
  /** What can be written once this is known too. */
  add(entry: Entry): string
  end(): string
}

export function createTranscriptWriter(look: TranscriptOptions): TranscriptWriter {
  const pairing = createPairing()
  let voice: Role | undefined

  const write = (said: Said): string => {
    const block = saidLines(said, look)
    if (block.length === 0) return ""
    const head =
      said.role === voice ? "" : `\n${listItem(`**${ROLE_NAMES[said.role]}** · ${timeText(said.timestamp)}`)}`
    voice = said.role
    return `${head}${indent(block)}`
  }
  return {
    add: (entry) => pairing.add(entry).map(write).join(""),
    end: () => pairing.end().map(write).join(""),
  }
}

function saidLines(said: Said, look: TranscriptOptions): readonly string[] {
  if (said.kind === "part") return partBlock(said.part, look)
  if (!look.isWhole) return []
  if (said.kind === "instructions") return foldedText("Instructions", said.text, look)
  return callBlock(said.call, said.answer?.result, look)
}

const ROLE_NAMES: Readonly<Record<Role, string>> = {
  user: "User",
  assistant: "Assistant",
  system: "System",
  tool: "Tool",
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

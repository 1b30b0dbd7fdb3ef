/**
 * A conversation as a plain list of texts, one per block of a turn, so that it can be compared exactly with what another
 * client reads of it. Knows turns, and no client's format.
 */
import type { Conversation, ForeignTarget } from "../adapters/adapter.ts"
import type { ResultContent } from "../adapters/shared/translate.ts"
import { type Turn, turnsOf } from "../adapters/shared/turns.ts"
import type { Vocabulary } from "../adapters/shared/vocabulary.ts"
import { isJsonObject, type JsonValue, stringifyJson } from "../model/json.ts"
import type { FilePart } from "../model/session.ts"
import { madeValues } from "../platform/memory.ts"

export interface ShortItems {
  /** The items as text; long ones are cut and end with a hash, so that they are equal where the full ones are. */
  readonly items: readonly string[]
  /** How many losses there are already in making turns of it. */
  readonly lost: number
}

/** A summary of a long conversation, to compare it with another without keeping it in memory. */
export function shortItems(...[conversation, target, reasoning, options]: Parameters<typeof turnsOf>): ShortItems {
  const { turns, losses } = turnsOf(conversation, target, reasoning, options)
  const items: string[] = []
  for (const turn of turns) {
    const whole = itemsOf(turn)
    let units = 0
    for (const item of whole) {
      units += item.length
      items.push(brief(item))
    }
    // Each was concatenated, and copied once more when it was flattened.
    madeValues(2 * units + ITEM_BYTES * whole.length, whole.length)
  }
  return { items, lost: losses.length }
}

const ITEM_BYTES = 512

const BRIEF_UNITS = 400

/** A call is not shortened, because the comparison looks for it inside longer ones. Neither is a text of blanks alone. */
function brief(item: string): string {
  if (item.length <= BRIEF_UNITS || item.startsWith(CALL_START) || !saysSomething([item])) return item
  const isWhole = item.isWellFormed()
  const hash = Bun.hash.xxHash64(isWhole ? item : Buffer.from(item, "utf16le"))
  // Copied, because a slice of a string keeps the whole string in memory.
  const start = Buffer.from(item.slice(0, BRIEF_UNITS / 2)).toString()
  return `${start}… (${item.length} ${isWhole ? "" : "broken "}${hash.toString(16)})`
}

const CALL_START = "call: "

/** `target` is the vocabulary in which tool calls are written. */
export function transcriptItems(
  conversation: Conversation,
  target: Vocabulary | undefined,
  reasoning: ForeignTarget["reasoning"],
): readonly string[] {
  return turnsOf(conversation, target, reasoning).turns.flatMap(itemsOf)
}

function itemsOf({ role, blocks }: Turn): string[] {
  return blocks.flatMap((block): string[] => {
    // Models emit line breaks before they think, and most clients write no text that consists of blanks alone.
    if (block.type === "text") return block.text.trim() === "" ? [] : [`${role}: ${block.text}`]
    if (block.type === "reasoning") return [`reasoning: ${block.text}`]
    if (block.type === "file") return [`${role}${fileText(block.file)}`]
    const call = `${CALL_START}${nameText(block.name)} ${sorted(paramsOf(block.params))}`
    return block.result === undefined ? [call] : [call, `result: ${contentText(block.result.content)}`]
  })
}

/** Whether any item has text after its label. */
export function saysSomething(items: readonly string[]): boolean {
  return items.some((item) => item.slice(item.indexOf(":") + 1).trim() !== "")
}

/** Providers accept no other characters in the name of a tool, so clients write none. */
function nameText(name: string): string {
  return name.replace(/[^A-Za-z0-9_-]/g, "_")
}

/** Most clients write a text file as text, which is what a model sees. Few write the media type of a file at a URL. */
function fileText({ data, media_type: mediaType }: FilePart): string {
  if ("text" in data) return `: ${data.text}`
  return ` file: ${"url" in data ? "" : mediaType} ${stringifyJson(data)}`
}

/** Most clients require an object of parameters: any other value becomes its `input`. */
function paramsOf(params: JsonValue): JsonValue {
  return isJsonObject(params) ? params : { input: params }
}

function contentText(content: readonly ResultContent[]): string {
  return content.map((piece) => (piece.type === "text" ? piece.text : `${piece.mediaType} ${piece.base64}`)).join("\n")
}

/** As JSON with sorted keys, because the order of keys is no difference. */
function sorted(value: unknown): string {
  return JSON.stringify(value, (_key, inner) =>
    typeof inner === "object" && inner !== null && !Array.isArray(inner)
      ? Object.fromEntries(Object.entries(inner).sort(([left], [right]) => (left < right ? -1 : 1)))
      : inner,
  )
}

/**
 * An answer of `get` whose texts are cut where the whole is more than an agent has room for: one screenshot in a tool's
 * result was 480,000 characters. Each cut says how much is missing, and how to read on.
 */
import { countText } from "../model/numbers.ts"
import type { GetOutput } from "../operations/wire/get.ts"
import type { MessageView, PartView } from "../operations/wire/views.ts"
import { toolCall } from "./tool-call.ts"

export function shorten(answer: GetOutput, charsMax: number): GetOutput {
  const { result } = answer
  const short = (view: MessageView) => shortMessage(view, charsMax)
  if ("messages" in result) return { ...answer, result: { ...result, messages: result.messages.map(short) } }
  const { target, target_parts: parts, siblings } = result
  const shortParts = parts.map((part) => shortPart(part, target.session_id, charsMax))
  return {
    ...answer,
    result: { ...result, target: short(target), target_parts: shortParts, siblings: siblings.map(short) },
  }
}

function shortMessage(view: MessageView, charsMax: number): MessageView {
  const readOn = toolCall("pond_get", { message_id: view.id, session_id_of_message: view.session_id })
  const { text, content, parts } = view
  return {
    ...view,
    ...cutFields({ text, content }, charsMax, readOn),
    ...(parts === undefined ? {} : { parts: parts.map((part) => shortPart(part, view.session_id, charsMax)) }),
  }
}

const SHOWN_FIELDS = ["text", "params", "result"] as const
/** So much of a column is asked for at once, that it fits the answer of a query. */
const READ_ON_CHARS = 30_000

function shortPart(part: PartView, sessionId: string, charsMax: number): PartView {
  const readOn = `pond_sql_query SELECT substr(coalesce(text, variant_data), ${charsMax + 1}, ${READ_ON_CHARS}) FROM parts WHERE session_id = ${quoteSqlText(sessionId)} AND id = ${quoteSqlText(part.id)}`
  const fields = SHOWN_FIELDS.filter((field) => part[field] !== undefined && part[field] !== null)
  const texts = Object.fromEntries(fields.map((field) => [field, valueText(part[field])]))
  return { ...part, ...cutFields(texts, charsMax, readOn) }
}

/** Under a key that nothing stored can have: a text that ends like such a note is a text. */
const NOTES = Symbol("what was left out")

/** What to say below a field that was cut. */
export function cutNote(view: object, field: string): string | undefined {
  return (view as { readonly [NOTES]?: Readonly<Record<string, string>> })[NOTES]?.[field]
}

function cutFields(texts: Readonly<Record<string, string | undefined>>, charsMax: number, readOn: string): object {
  const cut: Record<string, string> = {}
  const notes: Record<string, string> = {}
  for (const [field, text] of Object.entries(texts)) {
    if (text === undefined) continue
    cut[field] = text.length <= charsMax ? text : text.slice(0, charsMax).toWellFormed()
    if (text.length <= charsMax) continue
    const missing = `${countText(text.length - charsMax)} of ${countText(text.length)} characters left out`
    notes[field] = `[${missing}; continue with: ${readOn}]`
  }
  return { ...cut, [NOTES]: notes }
}

/** What a part holds, as a reader sees it. */
export function valueText(value: unknown): string {
  if (typeof value === "string") return value
  return value === null || value === undefined ? "" : JSON.stringify(value)
}

function quoteSqlText(text: string): string {
  return `'${text.replaceAll("'", "''")}'`
}

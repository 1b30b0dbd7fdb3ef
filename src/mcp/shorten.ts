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
    ...(text === undefined ? {} : { text: cut(text, charsMax, readOn) }),
    ...(content === undefined ? {} : { content: cut(content, charsMax, readOn) }),
    ...(parts === undefined ? {} : { parts: parts.map((part) => shortPart(part, view.session_id, charsMax)) }),
  }
}

const SHOWN_FIELDS = ["text", "params", "result"] as const
/** So much of a column is asked for at once, that it fits the answer of a query. */
const READ_ON_CHARS = 30_000

function shortPart(part: PartView, sessionId: string, charsMax: number): PartView {
  const readOn = `pond_sql_query SELECT substr(coalesce(text, variant_data), ${charsMax + 1}, ${READ_ON_CHARS}) FROM parts WHERE session_id = ${quoteSqlText(sessionId)} AND id = ${quoteSqlText(part.id)}`
  const fields = SHOWN_FIELDS.filter((field) => part[field] !== undefined && part[field] !== null)
  return {
    ...part,
    ...Object.fromEntries(fields.map((field) => [field, cut(valueText(part[field]), charsMax, readOn)])),
  }
}

/** What a part holds, as a reader sees it. */
export function valueText(value: unknown): string {
  if (typeof value === "string") return value
  return value === null || value === undefined ? "" : JSON.stringify(value)
}

function cut(text: string, charsMax: number, readOn: string): string {
  if (text.length <= charsMax) return text
  const missing = `${countText(text.length - charsMax)} of ${countText(text.length)} characters left out`
  return `${text.slice(0, charsMax).toWellFormed()}\n[${missing}; continue with: ${readOn}]`
}

function quoteSqlText(text: string): string {
  return `'${text.replaceAll("'", "''")}'`
}

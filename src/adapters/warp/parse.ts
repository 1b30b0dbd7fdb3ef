/**
 * Warp to canonical: a conversation has messages of one kind each, named by their key; one of before 2025 has prompts alone.
 * Reads top to bottom: the conversation, a message, its parts.
 */
import { isJsonObject, type JsonValue } from "../../model/json.ts"
import {
  asJson,
  isNonZeroAt,
  jsonUnder,
  keyAt,
  momentOf,
  momentOfSqlite,
  nonEmptyOf,
  nonEmptyStringAt,
  nonEmptyStringUnder,
  nonEmptyTextUnder,
  plain,
  sealedOrigin,
  stringUnder,
  timestampAt,
} from "../extract.ts"
import type { Note } from "../notes.ts"
import {
  filePart,
  injectedText,
  opaquePart,
  type PartDraft,
  reasoningPart,
  textPart,
  toolCallPart,
  toolResultPart,
} from "../parts.ts"
import type { MessageDraft } from "../session-writer.ts"
import { type Known, listedDocument, spoken } from "../shared/listed-document.ts"
import { unnamedNumbers } from "../shared/wire-message.ts"
import { fieldsOf, type SourceValue } from "../source-value.ts"
import { inside, itemsOf, type Spot, valueUnder, wordUnder } from "../spot.ts"
import { SILENT } from "./messages.ts"

export const BRAND = { id: "warp", title: "Warp" }

export const conversation = listedDocument({
  brand: BRAND,
  key: "messages",
  start,
  title,
  facts: (item) => ({
    id: nonEmptyOf(item, "id") ?? nonEmptyOf(item, "exchange_id"),
    timestamp: momentOf(item, "timestamp") ?? momentOfSqlite(item, "start_ts"),
  }),
  drafts,
})

/** The task of an agent names the conversation that it belongs to; an agent that has a whole conversation names the other. */
function start(document: SourceValue): Known {
  const row: SourceValue = valueUnder(document, "conversation") ?? null
  const data: SourceValue = valueUnder(row, "conversation_data") ?? null
  const known: Known = { createdAt: firstMoment(document, row), project: projectOf(document, row) }
  // A conversation is a document with its prompts; the task of an agent has none.
  const isAgent = valueUnder(document, "task") !== undefined && valueUnder(document, "queries") === undefined
  const parent = isAgent ? nonEmptyOf(row, "conversation_id") : nonEmptyOf(data, "parent_conversation_id")
  if (parent === undefined) return known
  const call = nonEmptyOf(document, "started_by")
  const name = isAgent ? nonEmptyStringAt(document, "task", "says", "description") : nonEmptyOf(data, "agent_name")
  return {
    ...{ ...known, parentSessionId: parent, sourceAgent: sealedOrigin(BRAND, name) },
    ...(call === undefined ? {} : { pond: { spawned_by: plain(call) } }),
  }
}

function firstMoment(document: SourceValue, row: SourceValue): Known["createdAt"] {
  const first = (key: string): SourceValue => valueUnder(valueUnder(document, key) ?? null, 0) ?? null
  return (
    timestampAt(document, "messages", 0, "timestamp") ??
    momentOfSqlite(first("queries"), "start_ts") ??
    momentOfSqlite(first("messages"), "start_ts") ??
    momentOfSqlite(row, "last_modified_at")
  )
}

function projectOf(document: SourceValue, row: SourceValue): Known["project"] {
  return (
    nonEmptyStringAt(document, "queries", 0, "working_directory") ??
    nonEmptyStringAt(document, "messages", 0, "working_directory") ??
    nonEmptyStringAt(document, "messages", 0, "user_query", "context", "directory", "pwd") ??
    nonEmptyStringAt(row, "summary", "initial_working_directory")
  )
}

function title(document: SourceValue): string | undefined {
  const { conversation: row, task } = fieldsOf(document)
  const { summary } = fieldsOf(row ?? null)
  const { says } = fieldsOf(task ?? null)
  return wordUnder(summary, "title") ?? wordUnder(says, "description")
}

/** A message of a known kind that says nothing has something that no schema names, or a text that is none. */
function drafts(message: Spot, note: Note): MessageDraft[] {
  const found = draftsOf(message, note)
  const kind = KINDS.find((key) => valueUnder(message.value, key) !== undefined)
  if (found.length === 0 && kind !== undefined && holdsUnnamed(valueUnder(message.value, kind)))
    note("unknown_part", `${kind} without a text`)
  return found
}

const KINDS = ["user_query", "invoke_skill", "agent_output", "agent_reasoning", "system_query", "summarization"]

function holdsUnnamed(value: JsonValue | undefined): boolean {
  if (!isJsonObject(value)) return false
  return unnamedNumbers(value).length > 0 || Object.values(value).some((each) => holdsUnnamed(each))
}

function draftsOf(message: Spot, note: Note): MessageDraft[] {
  const under = (key: string) => inside(message, key)
  const [asked, skill, answer] = [under("user_query"), under("invoke_skill"), under("agent_output")]
  if (asked !== undefined) return askedDrafts(asked)
  if (skill !== undefined) return askedDrafts(inside(skill, "user_query") ?? skill)
  if (answer !== undefined) return said(nonEmptyTextUnder(answer, "text"))
  const thought = under("agent_reasoning")
  if (thought !== undefined) return thoughtDrafts(thought)
  const [call, result] = [under("tool_call"), under("tool_call_result")]
  if (call !== undefined) return spoken({ role: "assistant", parts: callParts(call, note) })
  if (result !== undefined) return spoken({ role: "tool", parts: resultParts(result, note) })
  const [told, summed] = [under("system_query"), under("summarization")]
  if (told !== undefined) return toldDrafts(told)
  if (summed !== undefined) return summaryDrafts(summed)
  if (under("input") !== undefined) return queryDrafts(message)
  noteUnread(message.value, note)
  return []
}

function noteUnread(message: SourceValue, note: Note): void {
  const known = ["model_used"].some((key) => valueUnder(message, key) !== undefined)
  const numbers = unnamedNumbers(message)
  const unread = numbers.filter((number) => !SILENT.has(number))
  if (!isJsonObject(message)) note("unknown_record", "a message that is not an object")
  else if (unread.length > 0 || (!known && numbers.length === 0))
    note("unknown_record", unread.length > 0 ? `a message with field ${unread.join(", ")}` : "a message of no kind")
}

function said(text: ReturnType<typeof nonEmptyTextUnder>): MessageDraft[] {
  if (text === undefined) return []
  return [{ role: "assistant", parts: [textPart({ provenance: "conversational", text })] }]
}

function thoughtDrafts(thought: Spot): MessageDraft[] {
  const text = nonEmptyTextUnder(thought, "reasoning")
  if (text === undefined) return []
  return [{ role: "assistant", parts: [reasoningPart({ provenance: "conversational", text })] }]
}

/** What was typed, and the pictures with it. Files, rules and commands that the program attached stay in the record. */
function askedDrafts(asked: Spot): MessageDraft[] {
  const text = nonEmptyTextUnder(asked, "query")
  const context = inside(asked, "context")
  const images = itemsOf(context && inside(context, "images")).flatMap((image): PartDraft<"file">[] => {
    const data = inside(image, "data")
    const base64 = data && stringUnder(data, "$bytes")
    const mediaType = nonEmptyStringUnder(image, "mime_type")
    return base64 === undefined ? [] : [filePart({ provenance: "conversational", mediaType, data: { base64 } })]
  })
  const typed = text === undefined ? [] : [textPart({ provenance: "conversational", text })]
  return spoken({ role: "user", parts: [...typed, ...images] })
}

/** Prompts that the program made. */
function toldDrafts(told: Spot): MessageDraft[] {
  const texts = ["auto_code_diff", "create_project"].flatMap((key) => {
    const query = inside(told, key)
    const text = query && nonEmptyTextUnder(query, "query")
    return text === undefined ? [] : [injectedText(text, "context")]
  })
  return spoken({ role: "user", parts: texts })
}

function summaryDrafts(summed: Spot): MessageDraft[] {
  const summary = inside(summed, "conversation_summary")
  const text = summary && nonEmptyTextUnder(summary, "summary")
  return text === undefined ? [] : [{ role: "user", parts: [injectedText(text, "compact-summary")] }]
}

/** Prompts of before mid 2025, of which nothing else was kept. */
function queryDrafts(query: Spot): MessageDraft[] {
  const texts = itemsOf(inside(query, "input")).flatMap((item) => {
    const asked = inside(item, "Query")
    const text = asked && nonEmptyTextUnder(asked, "text")
    return text === undefined ? [] : [textPart({ provenance: "conversational", text })]
  })
  return spoken({ role: "user", parts: texts })
}

// --- Calls and results ------------------------------------------------------------------------------------------------

function callParts(call: Spot, note: Note): PartDraft<"tool_call" | "opaque">[] {
  const tool = inside(call, "tool")
  const [callId, name] = [nonEmptyStringUnder(call, "id"), tool && keyAt(tool.value)]
  const params = tool && name && jsonUnder(tool, plain(name))
  if (callId !== undefined && name !== undefined && params !== undefined)
    return [toolCallPart({ provenance: "conversational", callId, name, params })]
  note("unknown_part", `a call with field ${unnamedNumbers(call.value).join(", ")}`)
  return callId === undefined ? [] : [opaquePart({ provenance: "conversational", kind: callId })]
}

function resultParts(result: Spot, note: Note): PartDraft<"tool_result">[] {
  const callId = nonEmptyStringUnder(result, "id")
  const answer = inside(result, "result")
  const name = answer && keyAt(answer.value)
  const own = answer && name && inside(answer, plain(name))
  if (callId === undefined) return []
  if (answer === undefined || own === undefined) {
    note("unknown_part", `a result with field ${unnamedNumbers(result.value).join(", ")}`)
    const value = jsonUnder(result, "#")
    return value === undefined
      ? []
      : [toolResultPart({ provenance: "injected", callId, isFailure: undefined, result: value })]
  }
  const finished = inside(own, "finished")
  const text = (finished && stringUnder(finished, "output")) ?? stringUnder(own, "output_before")
  const value = text === undefined ? jsonUnder(answer, plain(name as NonNullable<typeof name>)) : asJson(text)
  const isFailure = isNonZeroAt(own.value, "finished", "exit_code") ?? isNonZeroAt(own.value, "exit_code_before")
  return value === undefined ? [] : [toolResultPart({ provenance: "injected", callId, name, isFailure, result: value })]
}

/**
 * Zed to canonical: a thread has messages of three kinds, named by their key; those of 2025 have a role and segments. The
 * results of an answer stand in the answer, under the ids of its calls. Reads top to bottom: the thread, a message, its content.
 */
import { isJsonObject } from "../../model/json.ts"
import {
  asJson,
  flagOf,
  jsonUnder,
  matchIn,
  momentOf,
  nameOf,
  nonEmptyOf,
  nonEmptyStringAt,
  nonEmptyStringUnder,
  nonEmptyTextUnder,
  type Sealed,
  sealedOrigin,
  stringUnder,
} from "../extract.ts"
import type { Note } from "../notes.ts"
import {
  filePart,
  injectedText,
  type PartDraft,
  reasoningPart,
  textPart,
  toolCallPart,
  toolResultPart,
} from "../parts.ts"
import type { MessageDraft } from "../session-writer.ts"
import { type Known, listedDocument, spoken } from "../shared/listed-document.ts"
import { fieldsOf, type SourceValue } from "../source-value.ts"
import { inside, itemsOf, type Spot, valueUnder, wordUnder } from "../spot.ts"

export const BRAND = { id: "zed", title: "Zed" }

export const thread = listedDocument({
  brand: BRAND,
  key: "messages",
  start,
  title: (document) =>
    wordUnder(fieldsOf(document)["row"], "summary") ?? wordUnder(fieldsOf(document)["thread"], "title"),
  facts: (item) => ({ id: nonEmptyOf(valueUnder(item, "User") ?? null, "id") }),
  drafts,
})

function start(document: SourceValue): Known {
  const row: SourceValue = valueUnder(document, "row") ?? null
  const own: SourceValue = valueUnder(document, "thread") ?? null
  const folders = nameOf(row, "folder_paths")
  const parent = nonEmptyOf(row, "parent_id") ?? nonEmptyStringAt(own, "subagent_context", "parent_thread_id")
  return {
    id: nonEmptyOf(row, "id"),
    createdAt: momentOf(row, "created_at") ?? momentOf(row, "updated_at"),
    project:
      (folders && matchIn(folders, /^([^\n]+)/)) ??
      nonEmptyStringAt(own, "initial_project_snapshot", "worktree_snapshots", 0, "worktree_path"),
    ...(parent === undefined ? {} : { parentSessionId: parent, sourceAgent: agentOf(own) }),
  }
}

/** A thread of an agent has a profile, or what it is under. */
function agentOf(own: SourceValue): Sealed<string> | undefined {
  const profile = nonEmptyOf(own, "profile")
  return profile && sealedOrigin(BRAND, profile)
}

function drafts(item: Spot, note: Note): MessageDraft[] {
  const [user, agent] = [inside(item, "User"), inside(item, "Agent")]
  if (user !== undefined)
    return spoken({ role: "user", parts: itemsOf(inside(user, "content")).flatMap((each) => userParts(each, note)) })
  if (agent !== undefined) return agentDrafts(agent, note)
  if (wordUnder(item.value, "role") !== undefined) return earlyDrafts(item)
  const summary = inside(item, "Compaction")
  const text = summary && (nonEmptyTextUnder(summary, "summary") ?? nonEmptyTextUnder(item, "Compaction"))
  if (text !== undefined) return [{ role: "user", parts: [injectedText(text, "compact-summary")] }]
  if (item.value !== "Resume") note("unknown_record", kindOf(item.value))
  return []
}

function kindOf(value: SourceValue): string {
  return isJsonObject(value) ? (Object.keys(value)[0] ?? "nothing") : String(value)
}

// --- What a person said ---------------------------------------------------------------------------------------------------

/** A mention is what was typed; the text of the file behind it was not. */
function userParts(piece: Spot, note: Note): PartDraft<"text" | "file">[] {
  const text = nonEmptyTextUnder(piece, "Text")
  if (text !== undefined) return [textPart({ provenance: "conversational", text })]
  const [mention, image] = [inside(piece, "Mention"), inside(piece, "Image")]
  const named = mention && nonEmptyTextUnder(mention, "content")
  if (named !== undefined) return [injectedText(named, "file-content")]
  const base64 = image && stringUnder(image, "source")
  if (base64 !== undefined) return [filePart({ provenance: "conversational", mediaType: undefined, data: { base64 } })]
  if (mention === undefined && wordUnder(piece.value, "Text") === undefined) note("unknown_part", kindOf(piece.value))
  return []
}

// --- What the model said --------------------------------------------------------------------------------------------------

type Said = PartDraft<"text" | "reasoning" | "tool_call">

function agentDrafts(agent: Spot, note: Note): MessageDraft[] {
  const pieces = itemsOf(inside(agent, "content"))
  const results = inside(agent, "tool_results")
  const taken = new Set<string>()
  const answers = pieces.flatMap((piece) => {
    const id = wordUnder(valueUnder(piece.value, "ToolUse"), "id") ?? ""
    const found = results === undefined || taken.has(id) ? undefined : inside(results, id)
    taken.add(id)
    return found === undefined ? [] : resultPart(found)
  })
  return [
    ...spoken({ role: "assistant", parts: pieces.flatMap((piece) => saidParts(piece, note)) }),
    ...spoken({ role: "tool", parts: answers }),
  ]
}

function saidParts(piece: Spot, note: Note): Said[] {
  const text = nonEmptyTextUnder(piece, "Text")
  if (text !== undefined) return [textPart({ provenance: "conversational", text })]
  const [thinking, use] = [inside(piece, "Thinking"), inside(piece, "ToolUse")]
  const thought = thinking && stringUnder(thinking, "text")
  if (thought !== undefined) return [reasoningPart({ provenance: "conversational", text: thought })]
  if (use !== undefined) return callPart(use)
  if (wordUnder(piece.value, "Text") === undefined && wordUnder(piece.value, "RedactedThinking") === undefined)
    note("unknown_part", kindOf(piece.value))
  return []
}

function callPart(use: Spot): PartDraft<"tool_call">[] {
  const [callId, name, params] = [
    nonEmptyStringUnder(use, "id"),
    nonEmptyStringUnder(use, "name"),
    jsonUnder(use, "input"),
  ]
  if (callId === undefined || name === undefined || params === undefined) return []
  return [toolCallPart({ provenance: "conversational", callId, name, params })]
}

/** A text stands as itself, or as pieces. */
function resultPart(result: Spot): PartDraft<"tool_result">[] {
  const callId = nonEmptyStringUnder(result, "tool_use_id")
  const content = inside(result, "content")
  const [piece, ...more] = itemsOf(content)
  const only = piece !== undefined && more.length === 0 ? stringUnder(piece, "Text") : undefined
  const text = stringUnder(result, "content") ?? (content && stringUnder(content, "Text")) ?? only
  const value = text === undefined ? jsonUnder(result, "content") : asJson(text)
  if (callId === undefined || value === undefined) return []
  const isFailure = flagOf(result.value, "is_error")
  return [
    toolResultPart({
      provenance: "injected",
      callId,
      name: nonEmptyStringUnder(result, "tool_name"),
      isFailure,
      result: value,
    }),
  ]
}

// --- Threads of 2025 --------------------------------------------------------------------------------------------------------

function earlyDrafts(message: Spot): MessageDraft[] {
  const role = wordUnder(message.value, "role")
  const segments = itemsOf(inside(message, "segments"))
  const texts = segments.flatMap((segment) => {
    const text = wordUnder(segment.value, "type") === "text" ? nonEmptyTextUnder(segment, "text") : undefined
    return text === undefined ? [] : [textPart({ provenance: "conversational", text })]
  })
  const attached = nonEmptyTextUnder(message, "context")
  const context = attached === undefined ? [] : [injectedText(attached, "file-content")]
  if (role === "user") return spoken({ role, parts: [...texts, ...context] })
  if (role === "system") return []
  const thoughts = segments.flatMap((segment) => {
    const text = wordUnder(segment.value, "type") === "thinking" ? nonEmptyTextUnder(segment, "text") : undefined
    return text === undefined ? [] : [reasoningPart({ provenance: "conversational", text })]
  })
  const calls = itemsOf(inside(message, "tool_uses")).flatMap(callPart)
  const results = itemsOf(inside(message, "tool_results")).flatMap(resultPart)
  return [
    ...spoken({ role: "assistant", parts: [...thoughts, ...texts, ...calls] }),
    ...spoken({ role: "tool", parts: results }),
  ]
}

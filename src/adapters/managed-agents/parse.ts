/** Managed agents to canonical: the document of a session or of one of its threads, with its events. The id of a call is its event's. */
import {
  flagOf,
  joined,
  jsonUnder,
  momentOf,
  nonEmptyOf,
  nonEmptyStringAt,
  nonEmptyStringUnder,
  nonEmptyTextUnder,
  plain,
  sealedOrigin,
  timestampAt,
} from "../extract.ts"
import type { Note } from "../notes.ts"
import { injectedText, opaquePart, textPart, toolCallPart, toolResultPart } from "../parts.ts"
import type { MessageDraft } from "../session-writer.ts"
import { assistantParts, userRuns } from "../shared/anthropic-blocks.ts"
import { listedDocument, spoken } from "../shared/listed-document.ts"
import type { SourceValue } from "../source-value.ts"
import { inside, itemsOf, type Spot, wordUnder } from "../spot.ts"

export const BRAND = { id: "managed-agents", title: "Managed agents" }

export const events = listedDocument({
  brand: BRAND,
  key: "events",
  start: (document: SourceValue) => {
    const session = nonEmptyStringAt(document, "session_id")
    const thread = nonEmptyStringAt(document, "thread_id")
    const agent = nonEmptyStringAt(document, "agent_name")
    return {
      id: session && thread ? joined([session, thread], ":") : session,
      parentSessionId: thread && session,
      createdAt: timestampAt(document, "session", "created_at") ?? timestampAt(document, "events", 0, "processed_at"),
      sourceAgent: sealedOrigin(BRAND, thread && (agent ?? thread)),
      project: nonEmptyStringAt(document, "session", "agent", "name") ?? sealedOrigin(BRAND),
    }
  },
  title: (document) => {
    const title = nonEmptyStringAt(document, "session", "title")
    return title && plain(title)
  },
  facts: (event) => ({ id: nonEmptyOf(event, "id"), timestamp: momentOf(event, "processed_at") }),
  drafts,
})

/** Of the session, of threads and workflows, and of requests: nothing that somebody said. */
const QUIET =
  /^(?:session|span|workflow_run)\.|^user\.(?:interrupt|tool_confirmation)$|^agent\.thread_context_compacted$/

function drafts(event: Spot, note: Note): MessageDraft[] {
  const type = wordUnder(event.value, "type") ?? ""
  switch (type) {
    case "user.message":
      return userDrafts(event, note)
    case "user.define_outcome": {
      const text = nonEmptyTextUnder(event, "description")
      return text === undefined ? [] : [{ role: "user", parts: [textPart({ provenance: "conversational", text })] }]
    }
    case "system.message":
    case "agent.thread_message_received":
      return spoken({ role: "user", parts: injectedTexts(event, type) })
    case "agent.thread_message_sent":
      return spoken({ role: "assistant", parts: injectedTexts(event, type) })
    case "agent.message":
      return answerDrafts(event, note)
    case "agent.thinking": {
      // Its text is never given.
      const kind = nonEmptyStringUnder(event, "type")
      return kind === undefined
        ? []
        : [{ role: "assistant", parts: [opaquePart({ provenance: "conversational", kind })] }]
    }
    case "agent.tool_use":
    case "agent.mcp_tool_use":
    case "agent.custom_tool_use":
      return callDrafts(event)
    case "agent.tool_result":
    case "agent.mcp_tool_result":
    case "user.custom_tool_result":
    case "user.tool_result":
      return resultDrafts(event)
    default:
      if (!QUIET.test(type)) note("unknown_record", type === "" ? "no type" : type)
      return []
  }
}

function userDrafts(event: Spot, note: Note): MessageDraft[] {
  const unknown: string[] = []
  const content = inside(event, "content")
  const runs =
    content && userRuns(content, undefined, unknown, (text) => [textPart({ provenance: "conversational", text })])
  for (const kind of unknown) note("unknown_part", kind)
  return (runs ?? []).flatMap((run) => (run.role === "user" ? spoken({ role: "user", parts: run.parts }) : []))
}

function answerDrafts(event: Spot, note: Note): MessageDraft[] {
  const unknown: string[] = []
  const content = inside(event, "content")
  const parts = content && assistantParts(content, undefined, unknown)
  for (const kind of unknown) note("unknown_part", kind)
  return spoken({ role: "assistant", parts: parts ?? [] })
}

function injectedTexts(event: Spot, kind: string) {
  return itemsOf(inside(event, "content")).flatMap((block) => {
    const text = nonEmptyTextUnder(block, "text")
    return text === undefined ? [] : [injectedText(text, kind)]
  })
}

function callDrafts(event: Spot): MessageDraft[] {
  const [callId, tool] = [nonEmptyStringUnder(event, "id"), nonEmptyStringUnder(event, "name")]
  const server = nonEmptyStringUnder(event, "mcp_server_name")
  const params = jsonUnder(event, "input")
  if (callId === undefined || tool === undefined || params === undefined) return []
  const name = server === undefined ? tool : joined([server, tool], "__")
  return [{ role: "assistant", parts: [toolCallPart({ provenance: "conversational", callId, name, params })] }]
}

const CALLS = ["tool_use_id", "mcp_tool_use_id", "custom_tool_use_id"]

function resultDrafts(event: Spot): MessageDraft[] {
  const callId = CALLS.map((key) => nonEmptyStringUnder(event, key)).find((id) => id !== undefined)
  const result = jsonUnder(event, "content")
  if (callId === undefined || result === undefined) return []
  const isFailure = flagOf(event.value, "is_error")
  return [{ role: "tool", parts: [toolResultPart({ provenance: "injected", callId, isFailure, result })] }]
}

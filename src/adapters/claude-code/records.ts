/** The records that Claude Code writes, and what each says of itself: who wrote it, when, and the title of its session. */
import type { JsonObject, JsonValue } from "../../model/json.ts"
import { momentOf, nonEmptyStringAt, plain, type Sealed, valueAt } from "../extract.ts"
import type { SourceObject } from "../source-value.ts"
import { wordUnder } from "../spot.ts"

/** Their types, whether they are messages or not; those with `_` are the stream's, which Cowork keeps as its audit. */
const KNOWN: ReadonlySet<string> = new Set([
  "agent-name",
  "agent-setting",
  "ai-title",
  "api-request",
  "api-request-blob",
  "api-request-shape",
  "assistant",
  "atis-latch",
  "attachment",
  "bridge-session",
  "control_request",
  "control_response",
  "conversation_reset",
  "cost-state",
  "custom-title",
  "file-history-delta",
  "file-history-snapshot",
  "fork-context-ref",
  "frame-link",
  "last-prompt",
  "mode",
  "permission-mode",
  "permission_request",
  "permission_response",
  "pr-link",
  "progress",
  "queue-operation",
  "rate_limit_event",
  "relocated",
  "result",
  "stream_event",
  "summary",
  "system",
  "tag",
  "tools-used",
  "transcript_mirror",
  "user",
  "worktree-state",
])

export function isKnownRecord(type: string): boolean {
  return KNOWN.has(type)
}

/** Of an agent's conversation, written among those of its session: by version 1.0, and in the stream. */
export function isSideRecord(record: JsonObject): boolean {
  return record["isSidechain"] === true || typeof record["parent_tool_use_id"] === "string"
}

/** Who wrote a user record, where it was not a person. Text alone does not say it: an expanded skill looks like a prompt. */
export function injectedUser(record: SourceObject): string | undefined {
  if (record["isCompactSummary"] === true) return "compact-summary"
  const kind = wordUnder(record["origin"], "kind")
  if (kind === "task-notification") return kind
  if (record["isMeta"] === true || record["isSynthetic"] === true) return "meta"
  return record["promptSource"] === "system" ? "system" : undefined
}

export function injectedQueued(record: SourceObject): string | undefined {
  const mode = valueAt(record, "attachment", "commandMode")
  return mode === "task-notification" || valueAt(record, "attachment", "isMeta") === true
    ? "task-notification"
    : undefined
}

/** The client writes its own answers into the model's slot: errors of the API, and fillers that keep the turns alternating. */
export function injectedAssistant(record: SourceObject): string | undefined {
  if (record["isApiErrorMessage"] === true) return "api-error"
  return wordUnder(record["message"], "model") === "<synthetic>" ? "synthetic" : undefined
}

/** An audit has its own time. */
export function timeIn(record: SourceObject): Sealed<string> | undefined {
  return momentOf(record, "timestamp") ?? momentOf(record, "_audit_timestamp")
}

/** Titles are written again on every save: the last one counts. `summary` records at the head of a file are about other sessions. */
export function titleSaid(record: SourceObject): {
  title?: Sealed<string> | undefined
  pond?: Record<string, JsonValue>
} {
  const custom = record["type"] === "custom-title" ? nonEmptyStringAt(record, "customTitle") : undefined
  const title = custom ?? (record["type"] === "ai-title" ? nonEmptyStringAt(record, "aiTitle") : undefined)
  return title === undefined ? {} : { title, pond: { title: plain(title) } }
}

/** The records that Claude Code writes. */
import type { JsonObject } from "../../model/json.ts"

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
  "summary",
  "system",
  "tag",
  "tools-used",
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

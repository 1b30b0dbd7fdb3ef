/** What is known of Claude Code as a whole: its brand, the versions that were looked at, the records that they write. */
import type { Judgement } from "../adapter.ts"

export const BRAND = { id: "claude-code" } as const

/** Real files of the first, the real client of the last. */
export const JUDGED: Judgement = { by: "client", from: "1.0.24", to: "2.1.326" }

/** The types of records, whether they are messages or not. */

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
  "pr-link",
  "progress",
  "queue-operation",
  "relocated",
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

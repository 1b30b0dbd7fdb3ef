/** The types of records that Claude Code is known to write, whether they are messages or not. */

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

/** The tables of opencode's database that hold sessions. Accounts, credentials and shares lie beside them and are not named here. */

export const SESSION_TABLES = [
  "project",
  "session",
  "message",
  "part",
  "todo",
  "session_message",
  "session_input",
  "session_context_epoch",
  "event_sequence",
  "event",
] as const

/** Which changes of its schema a database has been through: says how old the client was that wrote it. */
export const MIGRATION_TABLE = "migration"

/** Columns that hold JSON as text. The text of an event is kept as it is: it says once more what the rows say. */
export const JSON_COLUMNS: Readonly<Record<string, readonly string[]>> = {
  project: ["sandboxes", "commands"],
  session: ["summary_diffs", "metadata", "revert", "permission", "model"],
  message: ["data"],
  part: ["data"],
  session_message: ["data"],
  session_input: ["prompt"],
}

/** Not tables of the client: how a read of changes says what is there now, and how it is kept that messages were removed. */
export const LISTING_TABLE = "pond:listing"
export const REMOVED_TABLE = "pond:removed"

/** The columns that version 1.18 knows. Others are read and kept too, and named as not understood. */
export const COLUMNS: Readonly<Record<string, readonly string[]>> = {
  project: words(
    "id worktree vcs name icon_url icon_url_override icon_color time_created time_updated time_initialized sandboxes commands",
  ),
  session: words(
    "id project_id workspace_id parent_id slug directory path title version share_url summary_additions summary_deletions",
    "summary_files summary_diffs metadata cost tokens_input tokens_output tokens_reasoning tokens_cache_read tokens_cache_write",
    "revert permission agent model time_created time_updated time_compacting time_archived",
  ),
  message: words("id session_id time_created time_updated data"),
  part: words("id message_id session_id time_created time_updated data"),
  todo: words("session_id content status priority position time_created time_updated"),
  session_message: words("id session_id type seq time_created time_updated data"),
  session_input: words("id session_id prompt delivery admitted_seq promoted_seq time_created"),
  session_context_epoch: words("session_id baseline snapshot baseline_seq"),
  event_sequence: words("aggregate_id seq owner_id"),
  event: words("id aggregate_id seq type data"),
  migration: words("id time_completed"),
}

function words(...lines: readonly string[]): string[] {
  return lines.join(" ").split(" ")
}

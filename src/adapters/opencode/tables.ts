/** The tables of opencode's database that hold sessions. Tables of accounts, credentials and shares are not named here. */

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

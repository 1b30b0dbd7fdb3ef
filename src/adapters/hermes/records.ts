/** What every file of this folder has to know of Hermes' rows. */
import { isJsonObject, type JsonObject, type JsonValue } from "../../model/json.ts"
import { MARKED_JSON_KEY } from "../../platform/files/foreign-sqlite.ts"
import type { RowLayout } from "../shared/row-sessions.ts"
import { COLUMNS } from "./schema.ts"

export const BRAND = { id: "hermes", title: "Hermes Agent" }

export const SESSIONS = "sessions"
export const MESSAGES = "messages"
export const MODEL_USAGE = "session_model_usage"

/** Stands before the JSON of a content that is a list. SQL ends a text at its first character. */
export const LIST_MARK = "\u0000json:"

/** A compaction puts the messages that it keeps behind all others, under new numbers: these columns stay as they were. */
const KEPT_COLUMNS = ["role", "content", "tool_call_id", "tool_calls", "timestamp"]

export const LAYOUT: RowLayout = {
  title: BRAND.title,
  session: { table: SESSIONS, id: "id", order: ["started_at", "id"] },
  beside: [{ table: MODEL_USAGE, by: "session_id", order: ["first_seen", "model", "task"] }],
  message: {
    table: MESSAGES,
    by: "session_id",
    order: ["id"],
    greatest: ["id"],
    totals: ["active", "compacted"],
    kept: KEPT_COLUMNS,
  },
  columns: COLUMNS,
  json: {
    [SESSIONS]: ["model_config", "origin_json"],
    [MESSAGES]: ["tool_calls", "reasoning_details", "codex_reasoning_items", "codex_message_items"],
  },
  // How long a message is, and by which channel a session is found.
  harmless: [`${MESSAGES}.token_count`, `${SESSIONS}.session_key`],
  marked: { [MESSAGES]: { content: LIST_MARK } },
}

/** The keys to the list of a content that is one. A snapshot has it bare. */
export function listPathOf(content: JsonValue | undefined): readonly string[] | undefined {
  if (Array.isArray(content)) return ["content"]
  return isJsonObject(content) && Array.isArray(content[MARKED_JSON_KEY]) ? ["content", MARKED_JSON_KEY] : undefined
}

/** The session that gave this one its work. */
export function delegatorOf(row: JsonObject): string | undefined {
  const config = row["model_config"]
  const from = isJsonObject(config) ? config["_delegate_from"] : undefined
  return typeof from === "string" ? from : undefined
}

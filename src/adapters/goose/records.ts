/** What every file of this folder has to know of Goose's rows. */
import type { RowLayout } from "../shared/row-sessions.ts"
import { COLUMNS } from "./schema.ts"

export const BRAND = { id: "goose", title: "Goose" }

export const SESSIONS = "sessions"
export const MESSAGES = "messages"
export const LEDGER = "usage_ledger"

/** A compaction or an edit writes all rows of a session anew, under new numbers: these columns stay as they were. */
const KEPT_COLUMNS = ["message_id", "role", "content_json", "created_timestamp"]

export const LAYOUT: RowLayout = {
  title: BRAND.title,
  session: {
    ...{ table: SESSIONS, id: "id", order: ["created_at", "id"] },
    parent: { column: "parent_session_id", known: ["id", "created_at"] },
  },
  beside: [{ table: LEDGER, by: "session_id", order: ["id"] }],
  message: {
    ...{ table: MESSAGES, by: "session_id", order: ["created_timestamp", "id"] },
    ...{ greatest: ["id"], totals: [], kept: KEPT_COLUMNS },
  },
  columns: COLUMNS,
  json: { [SESSIONS]: ["model_config_json"], [MESSAGES]: ["content_json", "metadata_json"] },
  // Extensions and recipes have variables for the programs that they start, keys among them.
  leftOut: { [SESSIONS]: { extension_data: ["todo.v0"], recipe_json: [], user_recipe_values_json: [] } },
}

/** The tables of Goose 1.52 (schema 16) that hold sessions, so that a restore can make a database where there is none. */
import type { DatabaseSchema } from "../adapter.ts"

const TABLES: Readonly<Record<string, readonly string[]>> = {
  sessions: columns(
    "id TEXT PRIMARY KEY|name TEXT NOT NULL DEFAULT ''|description TEXT NOT NULL DEFAULT ''",
    "user_set_name BOOLEAN DEFAULT FALSE|session_type TEXT NOT NULL DEFAULT 'user'|working_dir TEXT NOT NULL",
    "created_at TIMESTAMP DEFAULT CURRENT_TIMESTAMP|updated_at TIMESTAMP DEFAULT CURRENT_TIMESTAMP",
    "extension_data TEXT DEFAULT '{}'|total_tokens INTEGER|input_tokens INTEGER|output_tokens INTEGER",
    "cache_read_tokens INTEGER|cache_write_tokens INTEGER|accumulated_total_tokens INTEGER",
    "accumulated_input_tokens INTEGER|accumulated_output_tokens INTEGER|accumulated_cache_read_tokens INTEGER",
    "accumulated_cache_write_tokens INTEGER|accumulated_cost REAL|schedule_id TEXT|recipe_json TEXT",
    "user_recipe_values_json TEXT|provider_name TEXT|model_config_json TEXT|goose_mode TEXT NOT NULL DEFAULT 'auto'",
    "archived_at TIMESTAMP|project_id TEXT|parent_session_id TEXT",
  ),
  messages: columns(
    "id INTEGER PRIMARY KEY AUTOINCREMENT|message_id TEXT|session_id TEXT NOT NULL REFERENCES sessions(id)",
    "role TEXT NOT NULL|content_json TEXT NOT NULL|created_timestamp INTEGER NOT NULL",
    "timestamp TIMESTAMP DEFAULT CURRENT_TIMESTAMP|tokens INTEGER|metadata_json TEXT",
  ),
  usage_ledger: columns(
    "id INTEGER PRIMARY KEY AUTOINCREMENT|session_id TEXT NOT NULL REFERENCES sessions(id) ON DELETE CASCADE",
    "created_timestamp INTEGER NOT NULL|model TEXT|input_tokens INTEGER|output_tokens INTEGER|total_tokens INTEGER",
    "cache_read_tokens INTEGER|cache_write_tokens INTEGER|cost REAL|cost_source TEXT|is_compaction INTEGER DEFAULT 0",
  ),
}

/** The client makes these with the tables, and looks for none of them later. */
const INDEXES: readonly (readonly [name: string, on: string])[] = [
  ["idx_messages_session", "messages(session_id)"],
  ["idx_messages_timestamp", "messages(timestamp)"],
  ["idx_messages_message_id", "messages(message_id)"],
  ["idx_messages_session_created", "messages(session_id, created_timestamp, id)"],
  ["idx_sessions_updated", "sessions(updated_at DESC)"],
  ["idx_sessions_type", "sessions(session_type)"],
  ["idx_sessions_parent", "sessions(parent_session_id)"],
  ["idx_usage_ledger_session", "usage_ledger(session_id)"],
]

/** Of a store of models that providers offer, which nothing of a session is in. */
const INVENTORY = [
  `CREATE TABLE provider_inventory_entries (inventory_key TEXT PRIMARY KEY, provider_id TEXT NOT NULL,
    provider_family TEXT NOT NULL, last_updated_at TEXT, last_refresh_attempt_at TEXT, last_refresh_error TEXT,
    created_at TIMESTAMP DEFAULT CURRENT_TIMESTAMP, updated_at TIMESTAMP DEFAULT CURRENT_TIMESTAMP)`,
  `CREATE TABLE provider_inventory_models (
    inventory_key TEXT NOT NULL REFERENCES provider_inventory_entries(inventory_key) ON DELETE CASCADE,
    ordinal INTEGER NOT NULL, model_id TEXT NOT NULL, name TEXT NOT NULL, family TEXT, context_limit INTEGER,
    reasoning BOOLEAN, recommended BOOLEAN, PRIMARY KEY (inventory_key, ordinal))`,
  "CREATE INDEX idx_provider_inventory_provider_id ON provider_inventory_entries(provider_id)",
]

const VERSION = 16

/** The columns of each table, by name. */
export const COLUMNS: Readonly<Record<string, readonly string[]>> = Object.fromEntries(
  Object.entries(TABLES).map(([table, all]) => [table, all.map((column) => column.split(" ")[0] ?? "")]),
)

export const schema: DatabaseSchema = {
  create: [
    "CREATE TABLE schema_version (version INTEGER PRIMARY KEY, applied_at TIMESTAMP DEFAULT CURRENT_TIMESTAMP)",
    `INSERT INTO schema_version (version) VALUES (${VERSION})`,
    ...Object.entries(TABLES).map(([table, all]) => `CREATE TABLE ${table} (${all.join(", ")})`),
    ...INDEXES.map(([name, on]) => `CREATE INDEX ${name} ON ${on}`),
    ...INVENTORY,
  ],
  keys: { sessions: ["id"], messages: ["id"], usage_ledger: ["id"] },
  shared: [],
  owners: ["sessions"],
  numbered: {
    messages: { number: "id", owner: "session_id" },
    usage_ledger: { number: "id", owner: "session_id" },
  },
}

function columns(...lines: readonly string[]): string[] {
  return lines.flatMap((line) => line.split("|"))
}

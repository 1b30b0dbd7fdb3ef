/**
 * The tables of Hermes 0.19 (schema 22) that hold sessions, so that a restore can make a database where there is none. The
 * client adds all others, with the indexes of its search, when it opens it.
 */
import type { DatabaseSchema } from "../adapter.ts"

const TABLES: Readonly<Record<string, readonly string[]>> = {
  sessions: columns(
    "id TEXT PRIMARY KEY|source TEXT NOT NULL|user_id TEXT|session_key TEXT|chat_id TEXT|chat_type TEXT|thread_id TEXT",
    "display_name TEXT|origin_json TEXT|expiry_finalized INTEGER DEFAULT 0|model TEXT|model_config TEXT",
    "system_prompt TEXT|parent_session_id TEXT|started_at REAL NOT NULL|ended_at REAL|end_reason TEXT",
    "message_count INTEGER DEFAULT 0|tool_call_count INTEGER DEFAULT 0|input_tokens INTEGER DEFAULT 0",
    "output_tokens INTEGER DEFAULT 0|cache_read_tokens INTEGER DEFAULT 0|cache_write_tokens INTEGER DEFAULT 0",
    "reasoning_tokens INTEGER DEFAULT 0|cwd TEXT|git_branch TEXT|git_repo_root TEXT|billing_provider TEXT",
    "billing_base_url TEXT|billing_mode TEXT|estimated_cost_usd REAL|actual_cost_usd REAL|cost_status TEXT",
    "cost_source TEXT|pricing_version TEXT|title TEXT|api_call_count INTEGER DEFAULT 0|handoff_state TEXT",
    "handoff_platform TEXT|handoff_error TEXT|compression_failure_cooldown_until REAL",
    "compression_failure_error TEXT|compression_fallback_streak INTEGER NOT NULL DEFAULT 0|profile_name TEXT",
    "rewind_count INTEGER NOT NULL DEFAULT 0|archived INTEGER NOT NULL DEFAULT 0",
    "FOREIGN KEY (parent_session_id) REFERENCES sessions(id)",
  ),
  messages: columns(
    "id INTEGER PRIMARY KEY AUTOINCREMENT|session_id TEXT NOT NULL REFERENCES sessions(id)|role TEXT NOT NULL",
    "content TEXT|tool_call_id TEXT|tool_calls TEXT|tool_name TEXT|effect_disposition TEXT|timestamp REAL NOT NULL",
    "token_count INTEGER|finish_reason TEXT|reasoning TEXT|reasoning_content TEXT|reasoning_details TEXT",
    "codex_reasoning_items TEXT|codex_message_items TEXT|platform_message_id TEXT|observed INTEGER DEFAULT 0",
    "active INTEGER NOT NULL DEFAULT 1|compacted INTEGER NOT NULL DEFAULT 0|api_content TEXT",
  ),
  session_model_usage: columns(
    "session_id TEXT NOT NULL REFERENCES sessions(id) ON DELETE CASCADE|model TEXT NOT NULL",
    "billing_provider TEXT NOT NULL DEFAULT ''|billing_base_url TEXT NOT NULL DEFAULT ''",
    "billing_mode TEXT NOT NULL DEFAULT ''|task TEXT NOT NULL DEFAULT ''|api_call_count INTEGER NOT NULL DEFAULT 0",
    "input_tokens INTEGER NOT NULL DEFAULT 0|output_tokens INTEGER NOT NULL DEFAULT 0",
    "cache_read_tokens INTEGER NOT NULL DEFAULT 0|cache_write_tokens INTEGER NOT NULL DEFAULT 0",
    "reasoning_tokens INTEGER NOT NULL DEFAULT 0|estimated_cost_usd REAL NOT NULL DEFAULT 0",
    "actual_cost_usd REAL NOT NULL DEFAULT 0|cost_status TEXT|cost_source TEXT|first_seen REAL|last_seen REAL",
    "PRIMARY KEY (session_id, model, billing_provider, billing_base_url, billing_mode, task)",
  ),
}

const VERSION = 22

/** The columns of each table, by name. */
export const COLUMNS: Readonly<Record<string, readonly string[]>> = Object.fromEntries(
  Object.entries(TABLES).map(([table, all]) => [
    table,
    all.flatMap((column) => /^[a-z_]+(?= )/.exec(column)?.[0] ?? []),
  ]),
)

export const schema: DatabaseSchema = {
  create: [
    "CREATE TABLE schema_version (version INTEGER NOT NULL)",
    `INSERT INTO schema_version VALUES (${VERSION})`,
    ...Object.entries(TABLES).map(([table, all]) => `CREATE TABLE ${table} (${all.join(", ")})`),
  ],
  keys: {
    sessions: ["id"],
    messages: ["id"],
    session_model_usage: ["session_id", "model", "billing_provider", "billing_base_url", "billing_mode", "task"],
  },
  shared: [],
  owners: ["sessions"],
  numbered: { messages: { number: "id", owner: "session_id" } },
}

function columns(...lines: readonly string[]): string[] {
  return lines.flatMap((line) => line.split("|"))
}

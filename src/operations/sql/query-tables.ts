/**
 * The tables that a query sees, with their columns: no vector and no index column is among them. It imports no more than
 * that takes, because the process of each query loads it; `sources.ts` says where their rows come from.
 */
import { embeddingsTable, MESSAGES, PARTS, SESSIONS } from "../../sessions/tables.ts"
import type { ColumnKind, TableDefinition } from "../../substrate/table-definition.ts"

export interface QueryColumn {
  readonly name: string
  readonly kind: ColumnKind
  /** Worked out for the answer, so that the store can neither filter nor order by it. */
  readonly isComputed?: true
}

export interface QueryTable {
  readonly name: string
  readonly columns: readonly QueryColumn[]
}

/** Columns that are the engine's own matter. */
const HIDDEN = new Set(["search_terms", "vector"])
/** A title may be a later one than the row has. */
const COMPUTED = new Set(["title"])

/** Whether the client appended the message again later, with more in it: what people and models said last has false. */
export const SUPERSEDED: QueryColumn = { name: "superseded", kind: "bool", isComputed: true }

const USAGE_COLUMNS: readonly QueryColumn[] = [
  { name: "session_id", kind: "utf8" },
  { name: "ordinal", kind: "int32" },
  { name: "source_agent", kind: "utf8" },
  { name: "project", kind: "utf8" },
  { name: "timestamp", kind: "timestamp_us" },
  { name: "model", kind: "utf8" },
  { name: "input_tokens", kind: "int64" },
  { name: "cache_read_tokens", kind: "int64" },
  { name: "cache_write_tokens", kind: "int64" },
  { name: "cache_write_5m_tokens", kind: "int64" },
  { name: "cache_write_1h_tokens", kind: "int64" },
  { name: "output_tokens", kind: "int64" },
  { name: "reasoning_tokens", kind: "int64" },
  { name: "cost_usd", kind: "float64" },
  { name: "cost_from", kind: "utf8" },
]

const MESSAGE_COLUMNS: readonly QueryColumn[] = [...visibleColumns(MESSAGES), SUPERSEDED]

export const QUERY_TABLES: readonly QueryTable[] = [
  { name: "sessions", columns: visibleColumns(SESSIONS) },
  { name: "messages", columns: MESSAGE_COLUMNS },
  { name: "parts", columns: [...visibleColumns(PARTS), SUPERSEDED] },
  { name: "embeddings", columns: visibleColumns(embeddingsTable(1)) },
  { name: "usage", columns: USAGE_COLUMNS },
]

/** The table behind the macro `fts`: the messages that a query in words found, with their scores. */
export const FOUND_TABLE = "fts_messages"

export const FOUND_COLUMNS: readonly QueryColumn[] = [
  { name: "fts_source", kind: "utf8" },
  { name: "fts_query", kind: "utf8" },
  { name: "score", kind: "float64", isComputed: true },
  ...MESSAGE_COLUMNS,
]

/** Of a table, or of what `fts` found. */
export function columnsOf(table: string): readonly QueryColumn[] {
  if (table === FOUND_TABLE) return FOUND_COLUMNS
  return QUERY_TABLES.find(({ name }) => name === table)?.columns ?? []
}

function visibleColumns(definition: unknown): QueryColumn[] {
  const { columns } = definition as TableDefinition
  return Object.entries(columns).flatMap(([name, { kind }]) => {
    if (HIDDEN.has(name)) return []
    return [{ name, kind, ...(COMPUTED.has(name) ? { isComputed: true as const } : {}) }]
  })
}

/** The tables that a query sees, where their rows come from, and what an `fts(…)` finds. No vector and no index column is among them. */
import { PondError } from "../../model/errors.ts"
import type { ScannedTable } from "../../sessions/read/session-lists.ts"
import type { Sessions } from "../../sessions/store.ts"
import { embeddingsTable, MESSAGES, PARTS, SESSIONS } from "../../sessions/tables.ts"
import { queryTerms } from "../../sessions/words/terms/tokenizer.ts"
import type { Filter } from "../../substrate/filter.ts"
import type { ColumnKind, TableDefinition } from "../../substrate/table-definition.ts"

export interface SourceColumn {
  readonly name: string
  readonly kind: ColumnKind
}

export type SourceRow = Readonly<Record<string, unknown>>

export interface SourceRead {
  readonly columns: readonly string[]
  readonly where: Filter | undefined
  readonly limit: number | undefined
  readonly orderBy: readonly { readonly column: string; readonly descending: boolean }[]
}

export interface Source {
  readonly name: string
  readonly columns: readonly SourceColumn[]
  readonly rows: (sessions: Sessions, read: SourceRead) => AsyncIterable<readonly SourceRow[]>
  readonly count: (sessions: Sessions, where: Filter | undefined) => Promise<number>
}

/** Columns that are the engine's own matter. */
const HIDDEN = new Set(["search_terms", "vector"])

function sourceOf(name: ScannedTable, definition: TableDefinition): Source {
  return {
    name,
    columns: visibleColumns(definition),
    rows: (sessions, { columns, where, limit, orderBy }) =>
      sessions.scan(name, {
        columns: columns as never,
        ...(where === undefined ? {} : { where }),
        ...(limit === undefined ? {} : { limit }),
        ...(orderBy.length === 0 ? {} : { orderBy: orderBy as never }),
      }),
    count: (sessions, where) => sessions.countRows(name, where),
  }
}

function visibleColumns({ columns }: TableDefinition): SourceColumn[] {
  return Object.entries(columns).flatMap(([name, { kind }]) => (HIDDEN.has(name) ? [] : [{ name, kind }]))
}

const definitionOf = (definition: unknown) => definition as TableDefinition

export const SOURCES: readonly Source[] = [
  sourceOf("sessions", definitionOf(SESSIONS)),
  sourceOf("messages", definitionOf(MESSAGES)),
  sourceOf("parts", definitionOf(PARTS)),
  sourceOf("embeddings", definitionOf(embeddingsTable(1))),
]

// --- fts('messages', …) ---------------------------------------------------------------------------------------------

/** The table behind the macro `fts`: the messages that a query in words found, with their scores. */
export const FOUND_TABLE = "fts_messages"
export const FOUND_LIMIT = 10_000

export const FOUND_COLUMNS: readonly SourceColumn[] = [
  { name: "fts_source", kind: "utf8" },
  { name: "fts_query", kind: "utf8" },
  { name: "score", kind: "float64" },
  ...visibleColumns(definitionOf(MESSAGES)),
]

export async function findRows(
  sessions: Sessions,
  query: string,
  columns: readonly string[],
  where: Filter | undefined,
): Promise<readonly SourceRow[]> {
  const terms = queryTerms(wordsOf(query))
  if (terms.length === 0) return []
  const stored = columns.filter((name) => !["fts_source", "fts_query", "score"].includes(name))
  const rows = await sessions.words.search(
    { terms },
    {
      columns: (stored.length === 0 ? ["id"] : stored) as never,
      limit: FOUND_LIMIT,
      ...(where === undefined ? {} : { where }),
    },
  )
  return (rows as readonly SourceRow[]).map((row) => ({
    ...row,
    fts_source: "messages",
    fts_query: query,
    score: row["_score"],
  }))
}

/** Plain words, or the JSON that users of `{"match":{"terms":…}}` know. */
function wordsOf(query: string): string {
  if (!query.trimStart().startsWith("{")) return query
  try {
    const { match } = JSON.parse(query) as { readonly match?: { readonly terms?: unknown } }
    if (typeof match?.terms === "string") return match.terms
  } catch (cause) {
    throw badQuery(cause)
  }
  throw badQuery()
}

function badQuery(cause?: unknown): PondError {
  const message = `fts takes words, as in fts('messages', 'login token'), or '{"match":{"terms":"login token"}}'.`
  return new PondError("validation_failed", message, { cause })
}

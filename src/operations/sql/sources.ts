/** Where the rows of the tables come from that a query sees (`query-tables.ts`), and what an `fts(…)` finds. */
import { PondError } from "../../model/errors.ts"
import type { ScannedTable } from "../../sessions/read/session-lists.ts"
import type { Sessions } from "../../sessions/store.ts"
import { queryTerms } from "../../sessions/words/terms/tokenizer.ts"
import type { Filter } from "../../substrate/filter.ts"
import type { Pond } from "../pond.ts"
import { openPrices } from "../usage/prices.ts"
import { readUsage } from "../usage/read-usage.ts"
import { usageRows } from "../usage/usage-rows.ts"
import { SUPERSEDED } from "./query-tables.ts"

export type SourceRow = Readonly<Record<string, unknown>>

export interface SourceRead {
  readonly columns: readonly string[]
  readonly where: Filter | undefined
  readonly limit: number | undefined
  readonly orderBy: readonly { readonly column: string; readonly descending: boolean }[]
}

/** What tables are read from. */
export interface Stored {
  readonly sessions: Sessions
  readonly pond: Pond
  readonly signal: AbortSignal
}

export interface Source {
  readonly name: string
  readonly rows: (stored: Stored, read: SourceRead) => AsyncIterable<readonly SourceRow[]>
  readonly count: (stored: Stored, where: Filter | undefined) => Promise<number>
  /** It knows no conditions: all of its rows are read, and the engine does the rest. */
  readonly isReadWhole?: true
}

function sourceOf(name: ScannedTable): Source {
  return {
    name,
    rows: ({ sessions }, { columns, where, limit, orderBy }) =>
      sessions.scan(name, {
        columns: columns as never,
        ...(where === undefined ? {} : { where }),
        ...(limit === undefined ? {} : { limit }),
        ...(orderBy.length === 0 ? {} : { orderBy: orderBy as never }),
      }),
    count: ({ sessions }, where) => sessions.countRows(name, where),
  }
}

/** A table with rows of messages, by the column that has their ids. */
function withSuperseded(source: Source, idColumn: string): Source {
  return {
    ...source,
    rows: async function* (stored, read) {
      const mark = await supersededMarker(stored.sessions, read.columns, idColumn)
      for await (const rows of source.rows(stored, { ...read, columns: storedFor(read.columns, idColumn) }))
        yield mark(rows)
    },
  }
}

function storedFor(columns: readonly string[], idColumn: string): readonly string[] {
  if (!columns.includes(SUPERSEDED.name)) return columns
  return [...new Set([...columns.filter((name) => name !== SUPERSEDED.name), "session_id", idColumn])]
}

type Marker = (rows: readonly SourceRow[]) => readonly SourceRow[]

async function supersededMarker(sessions: Sessions, columns: readonly string[], idColumn: string): Promise<Marker> {
  if (!columns.includes(SUPERSEDED.name)) return (rows) => rows
  const gone = await sessions.superseded()
  return (rows) =>
    rows.map((row) => ({ ...row, superseded: gone.has(String(row["session_id"]), String(row[idColumn])) }))
}

const USAGE: Source = {
  name: "usage",
  rows: async function* ({ sessions, pond, signal }) {
    const ids = new Set<string>()
    for await (const rows of sessions.scan("sessions", { columns: ["id"] })) for (const { id } of rows) ids.add(id)
    yield* usageRows(await readUsage(pond, signal), openPrices(pond.host), ids)
  },
  count: async (stored) => {
    let count = 0
    const all = { columns: [], where: undefined, limit: undefined, orderBy: [] }
    for await (const rows of USAGE.rows(stored, all)) count += rows.length
    return count
  },
  isReadWhole: true,
}

export const SOURCES: readonly Source[] = [
  sourceOf("sessions"),
  withSuperseded(sourceOf("messages"), "id"),
  withSuperseded(sourceOf("parts"), "message_id"),
  sourceOf("embeddings"),
  USAGE,
]

// --- fts('messages', …) ---------------------------------------------------------------------------------------------

export const FOUND_LIMIT = 10_000

export async function findRows(
  sessions: Sessions,
  query: string,
  columns: readonly string[],
  where: Filter | undefined,
): Promise<readonly SourceRow[]> {
  const terms = queryTerms(wordsOf(query))
  if (terms.length === 0) return []
  const stored = storedFor(columns, "id").filter((name) => !["fts_source", "fts_query", "score"].includes(name))
  const rows = await sessions.words.search(
    { terms },
    {
      columns: (stored.length === 0 ? ["id"] : stored) as never,
      limit: FOUND_LIMIT,
      ...(where === undefined ? {} : { where }),
    },
  )
  const mark = await supersededMarker(sessions, columns, "id")
  return mark(rows as readonly SourceRow[]).map((row) => ({
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

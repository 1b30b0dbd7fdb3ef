/**
 * Gives every message that says something its vectors. What is embedded is what has none yet, so stopping at any point
 * costs nothing but the batch that was under way, and a repetition without new messages asks two counts and no model.
 * Vectors of another model of the same dimension are dropped when this one is complete.
 */
import type { Embedder } from "../embeddings/embedder.ts"
import type { Clock } from "../platform/clock.ts"
import { BLOB_SCHEME } from "../sessions/oversized.ts"
import type { Sessions } from "../sessions/store.ts"
import type { embeddingsTable, MessageRow } from "../sessions/tables.ts"
import { and, eq, type Filter, isIn, isNull, not, startsWith } from "../substrate/filter.ts"
import type { RowOf } from "../substrate/table-definition.ts"
import { vectorsOf } from "./meaning.ts"

export interface EmbedContext {
  readonly clock: Clock
  readonly signal: AbortSignal
  readonly onProgress?: (progress: EmbedProgress) => void
}

export interface EmbedProgress {
  /** Messages that have their vectors by now, and how many there are. */
  readonly embedded: number
  readonly total: number
}

export interface EmbedReport {
  readonly model: string
  /** Messages that got their vectors in this run. */
  readonly embedded: number
  /** Messages that have none still, because it was stopped. */
  readonly left: number
  readonly ms: number
  readonly interrupted: boolean
}

/** One commit for so many messages: few enough to lose, many enough not to leave a heap of small files. */
const FLUSH_MESSAGES = 512

/** A copy of what another session holds is found there; a text that lies in a blob is no prose. */
const EMBEDDABLE: Filter = and(
  not(isNull("search_text")),
  isIn("lane", ["main", "subagent"]),
  not(startsWith("search_text", BLOB_SCHEME)),
)

const COLUMNS = [
  "session_id",
  "id",
  "role",
  "source_agent",
  "project",
  "timestamp",
  "lane",
  "ingested_at",
  "search_text",
] as const

type Source = Pick<MessageRow, (typeof COLUMNS)[number]>
type VectorRow = RowOf<ReturnType<typeof embeddingsTable>["columns"]>

export async function embedMissing(
  sessions: Sessions,
  embedder: Embedder,
  { clock, signal, onProgress }: EmbedContext,
): Promise<EmbedReport> {
  const startedMs = clock.monotonicMs()
  const table = vectorsOf(sessions, embedder.dimension)
  const own = eq("model", embedder.model)
  const [total, before] = await Promise.all([
    sessions.tables.messages.count(EMBEDDABLE),
    table.count(and(own, eq("piece", 0))),
  ])
  let done = 0
  const report = (): EmbedReport => ({
    model: embedder.model,
    embedded: done,
    left: Math.max(0, total - before - done),
    ms: Math.round(clock.monotonicMs() - startedMs),
    interrupted: signal.aborted,
  })
  if (before >= total) return report()
  const waiting: Source[] = []
  const flush = async (): Promise<void> => {
    const batch = waiting.splice(0, FLUSH_MESSAGES)
    const vectors = await embedder.passages(batch.map(({ search_text }) => search_text ?? ""))
    await table.insertAbsent(batch.flatMap((row, index) => vectorRows(row, vectors[index] ?? [], embedder.model)))
    done += batch.length
    onProgress?.({ embedded: before + done, total })
  }
  for await (const rows of sessions.tables.messages.batches({ columns: COLUMNS, where: EMBEDDABLE })) {
    for (const row of await withoutVectors(sessions, embedder, rows)) waiting.push(row)
    while (waiting.length >= FLUSH_MESSAGES && !signal.aborted) await flush()
    if (signal.aborted) return report()
  }
  if (waiting.length > 0) await flush()
  await table.deleteWhere(not(own))
  await table.maintain("due")
  return report()
}

/** How many messages have vectors of the model, of how many that could. */
export async function embedCoverage(sessions: Sessions, model: string, dimension: number): Promise<EmbedProgress> {
  const [total, embedded] = await Promise.all([
    sessions.tables.messages.count(EMBEDDABLE),
    vectorsOf(sessions, dimension).count(and(eq("model", model), eq("piece", 0))),
  ])
  return { embedded, total }
}

async function withoutVectors(sessions: Sessions, embedder: Embedder, rows: readonly Source[]): Promise<Source[]> {
  const found = await vectorsOf(sessions, embedder.dimension).read({
    columns: ["session_id", "message_id"],
    where: and(
      eq("model", embedder.model),
      eq("piece", 0),
      isIn("session_id", [...new Set(rows.map(({ session_id }) => session_id))]),
    ),
  })
  const present = Map.groupBy(found, ({ session_id }) => session_id)
  const have = new Map([...present].map(([id, own]) => [id, new Set(own.map(({ message_id }) => message_id))]))
  return rows.filter((row) => have.get(row.session_id)?.has(row.id) !== true)
}

function vectorRows(row: Source, vectors: readonly Float32Array[], model: string): VectorRow[] {
  const { session_id, id, role, source_agent, project, timestamp, lane, ingested_at } = row
  const common = { session_id, message_id: id, model, role, source_agent, project, timestamp, lane, ingested_at }
  return vectors.map((vector, piece) => ({ ...common, piece, vector }))
}

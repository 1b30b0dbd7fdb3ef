/**
 * Embeds every message that has text but no vector, from its stored text (`session-embed-from-canonical`). Newest
 * first, so stopping at any point loses only the batch in progress. Where nothing is missing, no text is read and no
 * model opened; where little is, the keys of the rows stored last tell which texts to read. Vectors of another model of
 * the same dimension are dropped once this model is complete.
 */
import type { Embedder } from "../embeddings/embedder.ts"
import type { Clock } from "../platform/host/clock.ts"
import type { Sessions } from "../sessions/store.ts"
import { embeddingsTable, embeddingsTableNamed, type MessageRow } from "../sessions/tables.ts"
import { isOwnSpeech } from "../sessions/words/terms/word-list.ts"
import { and, eq, isIn, isNull, not, stored } from "../substrate/filter.ts"
import type { RowOf } from "../substrate/table-definition.ts"
import { vectorsOf } from "./arms/nearest-vectors.ts"

export interface EmbedContext {
  readonly clock: Clock
  readonly signal: AbortSignal
  readonly onProgress?: (progress: EmbedProgress) => void
  /** Stops after this time, at the next batch. */
  readonly budgetMs?: number
  /** Directories whose messages get no vectors. */
  readonly excluded?: readonly string[]
}

export interface EmbedProgress {
  /** Messages that have vectors so far, and how many there are in total. */
  readonly embedded: number
  readonly total: number
}

export interface EmbedReport {
  readonly model: string
  /** Messages embedded in this run. */
  readonly embedded: number
  /** Messages still without vectors, because the run was stopped. */
  readonly left: number
  readonly ms: number
  readonly interrupted: boolean
}

/** Messages per commit: few enough to lose, and many enough not to leave a heap of small files. */
const FLUSH_MESSAGES = 512

/** Keys compared with the stored vectors at once. */
const KEYS_AT_ONCE = 8_192

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
  { clock, signal, onProgress, budgetMs = Number.POSITIVE_INFINITY, excluded = [] }: EmbedContext,
): Promise<EmbedReport> {
  const startedMs = clock.monotonicMs()
  const table = vectorsOf(sessions, embedder.dimension)
  const { total, embedded: before } = await embedCoverage(sessions, embedder.model, embedder.dimension, excluded)
  const left = new Set(await excludedProjects(sessions, excluded))
  let done = 0
  const report = (): EmbedReport => ({
    model: embedder.model,
    embedded: done,
    left: Math.max(0, total - before - done),
    ms: Math.round(clock.monotonicMs() - startedMs),
    interrupted: signal.aborted,
  })
  if (before >= total) return report()
  const isOver = () => signal.aborted || clock.monotonicMs() - startedMs > budgetMs
  const waiting: Source[] = []
  const flush = async (): Promise<void> => {
    const batch = waiting.splice(0, FLUSH_MESSAGES)
    const vectors = await embedder.passages(batch.map(({ search_text }) => search_text ?? ""))
    await table.insertAbsent(batch.flatMap((row, index) => vectorRows(row, vectors[index] ?? [], embedder.model)))
    done += batch.length
    onProgress?.({ embedded: before + done, total })
  }
  for await (const rows of withoutVectors(sessions, embedder)) {
    for (const row of rows) if (!left.has(row.project)) waiting.push(row)
    while (waiting.length >= FLUSH_MESSAGES && !isOver()) await flush()
    if (isOver()) return report()
    if (before + done + waiting.length >= total) break
  }
  if (waiting.length > 0) await flush()
  await table.deleteWhere(not(eq("model", embedder.model)))
  await dropOtherDimensions(sessions, embedder.dimension)
  await table.maintain("due")
  return report()
}

/** A model of another dimension had its own table. Its rows are of no use to this one. */
async function dropOtherDimensions({ store }: Sessions, dimension: number): Promise<void> {
  for (const name of await store.names()) {
    const definition = embeddingsTableNamed(name)
    if (definition === undefined || name === embeddingsTable(dimension).name) continue
    const old = store.table(definition)
    if ((await old.count()) === 0) continue
    await old.deleteWhere(not(eq("model", "")))
    await old.maintain("due")
  }
}

/** The report of a run that finds nothing to embed; undefined where there is something. */
export async function nothingToEmbed(
  sessions: Sessions,
  model: string,
  dimension: number,
  excluded: readonly string[] = [],
): Promise<EmbedReport | undefined> {
  const { total, embedded } = await embedCoverage(sessions, model, dimension, excluded)
  return embedded >= total ? { model, embedded: 0, left: 0, ms: 0, interrupted: false } : undefined
}

/** How many messages have vectors of the model, and how many could. */
export async function embedCoverage(
  sessions: Sessions,
  model: string,
  dimension: number,
  excluded: readonly string[] = [],
): Promise<EmbedProgress> {
  const [spoken, left, embedded] = await Promise.all([
    sessions.spoken(),
    countExcluded(sessions, excluded),
    vectorsOf(sessions, dimension).count(and(eq("model", model), eq("piece", 0))),
  ])
  return { embedded, total: spoken - left }
}

async function countExcluded(sessions: Sessions, excluded: readonly string[]): Promise<number> {
  const projects = await excludedProjects(sessions, excluded)
  if (projects.length === 0) return 0
  const { messages } = sessions.tables
  return await messages.count(and(isIn("project", projects), not(isNull("search_text")), not(eq("lane", "replay"))))
}

/** The stored projects that are one of these directories, or lie below it. */
async function excludedProjects(sessions: Sessions, excluded: readonly string[]): Promise<readonly string[]> {
  if (excluded.length === 0) return []
  const roots = excluded.map((path) => path.replace(/\/+$/, ""))
  const projects = await sessions.answers.projects()
  return projects.filter((project) => roots.some((root) => project === root || project.startsWith(`${root}/`)))
}

/** How many messages have vectors, whatever model made them. */
export async function countEmbedded({ store }: Sessions): Promise<number> {
  const tables = (await store.names()).flatMap((name) => embeddingsTableNamed(name) ?? [])
  const counts = await Promise.all(tables.map((table) => store.table(table).count(eq("piece", 0))))
  return counts.reduce((sum, count) => sum + count, 0)
}

/** Reads keys from the newest row to the oldest, then the texts of those without a vector. */
async function* withoutVectors(sessions: Sessions, embedder: Embedder): AsyncGenerator<Source[]> {
  const { messages } = sessions.tables
  for (let to = await messages.nextRowNumber(); to > 0; to -= KEYS_AT_ONCE) {
    const keys = await messages.read({
      columns: ["session_id", "id", "role", "lane"],
      where: stored(Math.max(0, to - KEYS_AT_ONCE), to),
    })
    const mayLack = keys.filter(({ role, lane }) => lane !== "replay" && role !== "system" && role !== "tool")
    const lacking = mayLack.length === 0 ? [] : await lackingOf(sessions, embedder, mayLack)
    for (let from = 0; from < lacking.length; from += FLUSH_MESSAGES) {
      const rows = await messages.takeByKey(lacking.slice(from, from + FLUSH_MESSAGES), COLUMNS)
      yield rows.filter(isOwnSpeech)
    }
  }
}

type MessageKey = { readonly session_id: string; readonly id: string }

async function lackingOf(sessions: Sessions, embedder: Embedder, keys: readonly MessageKey[]): Promise<MessageKey[]> {
  const found = await vectorsOf(sessions, embedder.dimension).read({
    columns: ["session_id", "message_id"],
    where: and(
      eq("model", embedder.model),
      eq("piece", 0),
      isIn("session_id", [...new Set(keys.map(({ session_id }) => session_id))]),
    ),
  })
  const present = Map.groupBy(found, ({ session_id }) => session_id)
  const have = new Map([...present].map(([id, own]) => [id, new Set(own.map(({ message_id }) => message_id))]))
  return keys
    .filter(({ session_id, id }) => have.get(session_id)?.has(id) !== true)
    .map(({ session_id, id }) => ({ session_id, id }))
}

function vectorRows(row: Source, vectors: readonly Float32Array[], model: string): VectorRow[] {
  const { session_id, id, role, source_agent, project, timestamp, lane, ingested_at } = row
  const common = { session_id, message_id: id, model, role, source_agent, project, timestamp, lane, ingested_at }
  return vectors.map((vector, piece) => ({ ...common, piece, vector }))
}

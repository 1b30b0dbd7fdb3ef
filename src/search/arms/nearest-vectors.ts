/**
 * Vector search: the messages whose vectors are nearest to the query's. Vectors are in a table of their own together
 * with the filter columns, so that the engine filters before it ranks. A message with several windows counts once.
 */
import type { Embedder } from "../../embeddings/embedder.ts"
import type { Sessions } from "../../sessions/store.ts"
import { embeddingsTable } from "../../sessions/tables.ts"
import { and, eq, type Filter } from "../../substrate/filter.ts"
import type { VectorQuery } from "../../substrate/table.ts"
import { HIT_COLUMNS, toHit } from "../hit.ts"
import type { WeightedArm } from "../rank/fusion.ts"

/**
 * Chosen by `bun run bench meaning` with 200,000 clustered vectors of 384 dimensions and 200 rows asked for, in CPU
 * time. Comparing all: 102 ms. By the index, with a refine factor of 1: 14 ms and 0.86 of the 100 nearest; 2: 20 ms
 * (0.95); 4: 37 ms (0.988, and all of the 10 nearest); 10: 68 ms (0.999). 10, 20 or 40 probes find the same. The index
 * takes a twentieth of the vectors' bytes and 4 s to build.
 */
const PROBES = 20
const REFINE = 4
/**
 * Up to this many vectors after filtering, all are compared. With 1 in 50 of 200,000 left, the index took 10 ms and
 * found 0.947 of the 100 nearest; comparing takes 4 ms and finds all.
 */
const FLAT_MAX = 50_000
/** A long message may have several windows among the nearest. */
const WINDOWS_EACH = 2

export function vectorsOf(sessions: Sessions, dimension: number) {
  return sessions.store.table(embeddingsTable(dimension))
}

/** Number of vectors of this model; 0 before anything is embedded. */
export async function countVectors(sessions: Sessions, { model, dimension }: Embedder): Promise<number> {
  return await vectorsOf(sessions, dimension).count(eq("model", model))
}

export interface MeaningRequest {
  readonly vector: Float32Array
  readonly where: Filter
  readonly limit: number
}

type Vectors = ReturnType<typeof vectorsOf>

/** Uses the vector index only where comparing all would take longer. */
export async function nearestQuery(table: Vectors, vector: Float32Array, where: Filter): Promise<VectorQuery> {
  const exact = (await table.count(where)) <= FLAT_MAX
  return { column: "vector", vector, distance: "cosine", exact, probesMin: PROBES, refine: REFINE }
}

/** Best first. The score is the cosine similarity of the nearest window. */
export async function findMeaning(
  sessions: Sessions,
  embedder: Embedder,
  request: MeaningRequest,
): Promise<Pick<WeightedArm, "hits" | "plan">> {
  const { limit } = request
  const table = vectorsOf(sessions, embedder.dimension)
  const asked = {
    columns: ["session_id", "message_id"] as const,
    where: and(eq("model", embedder.model), request.where),
    limit: limit * WINDOWS_EACH,
  }
  const nearest = await nearestQuery(table, request.vector, asked.where)
  const near = await table.searchVector(nearest, asked)
  const scores = new Map<string, Map<string, number>>()
  let kept = 0
  for (const row of near) {
    const own = scores.get(row.session_id) ?? new Map<string, number>()
    if (own.has(row.message_id) || kept >= limit) continue
    kept += 1
    scores.set(row.session_id, own.set(row.message_id, 1 - row._distance))
  }
  const keys = [...scores].flatMap(([session_id, own]) => [...own.keys()].map((id) => ({ session_id, id })))
  const rows = await sessions.tables.messages.takeByKey(keys, HIT_COLUMNS)
  const hits = rows
    .map((row) => toHit(row, scores.get(row.session_id)?.get(row.id) ?? 0))
    .toSorted((left, right) => right.score - left.score)
  return { hits, plan: () => table.explain({ ...asked, vector: nearest }) }
}

/** The stored vector of a message, which saves embedding it again. */
export async function storedVector(
  sessions: Sessions,
  { model, dimension }: Embedder,
  message: { readonly sessionId: string; readonly messageId: string },
): Promise<Float32Array | undefined> {
  const [row] = await vectorsOf(sessions, dimension).read({
    columns: ["vector"],
    where: and(
      eq("session_id", message.sessionId),
      eq("message_id", message.messageId),
      eq("model", model),
      eq("piece", 0),
    ),
    limit: 1,
  })
  return row?.vector
}

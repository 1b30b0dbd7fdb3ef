/**
 * The meaning arm: when it is asked, with which weight, and what the answer says where it cannot be. The vector search
 * itself is in `nearest-vectors.ts`.
 */
import type { Embedder } from "../../embeddings/embedder.ts"
import { PondError } from "../../model/errors.ts"
import type { Sessions } from "../../sessions/store.ts"
import type { Filter } from "../../substrate/filter.ts"
import type { QueryShape } from "../query-shape.ts"
import type { WeightedArm } from "../rank/fusion.ts"
import type { Hit } from "../request.ts"
import { countVectors, findMeaning, storedVector } from "./nearest-vectors.ts"

interface MeaningContext {
  readonly sessions: Sessions
  readonly embedder: () => Promise<Embedder | undefined>
}

/** A fifth of the words' weight: it lifts what words found too, and never buries what only words found. */
const WEIGHT = 0.2
const CANDIDATES = 100
/** Shorter queries are names, whose meaning is their letters. */
const WORDS_MIN = 4
const DENSE_UNITS_MIN = 8

/** The arm beside the word arm, or the reason why it cannot be asked; undefined where the query does not need it. */
export async function meaningBeside(
  context: MeaningContext,
  shape: QueryShape,
  where: Filter,
): Promise<WeightedArm | string | undefined> {
  if (!hasMeaning(shape)) return undefined
  try {
    const embedder = await context.embedder()
    if (embedder === undefined) return "meaning (no embedding model is configured)"
    if ((await countVectors(context.sessions, embedder)) === 0) return `meaning (${NOT_EMBEDDED})`
    return await arm(context.sessions, embedder, await embedder.query(shape.text), where, CANDIDATES)
  } catch (error) {
    // The word arm answers alone, and the answer says why.
    if (error instanceof PondError && error.code === "validation_failed") return `meaning (${error.message})`
    throw error
  }
}

export async function meaningAlone(
  context: MeaningContext,
  query: string,
  where: Filter,
  limit: number,
): Promise<WeightedArm> {
  const embedder = await context.embedder()
  if (embedder === undefined)
    throw noMeaning(
      "No embeddings to search by meaning: set embeddings.directory and run `pond sync --only embed`, or use mode auto.",
    )
  if ((await countVectors(context.sessions, embedder)) === 0)
    throw noMeaning(`With the model ${embedder.model} ${NOT_EMBEDDED}, or use mode auto.`)
  return await arm(context.sessions, embedder, await embedder.query(query), where, limit)
}

/** Undefined where the message has no vector. */
export async function similarByMeaning(
  context: MeaningContext,
  message: Pick<Hit, "sessionId" | "messageId">,
  where: Filter,
  limit: number,
): Promise<WeightedArm | undefined> {
  const embedder = await context.embedder()
  const vector = embedder && (await storedVector(context.sessions, embedder, message))
  return vector && embedder && (await arm(context.sessions, embedder, vector, where, limit))
}

async function arm(
  sessions: Sessions,
  embedder: Embedder,
  vector: Float32Array,
  where: Filter,
  limit: number,
): Promise<WeightedArm> {
  const found = await findMeaning(sessions, embedder, { vector, where, limit })
  return { name: "meaning", weight: WEIGHT, isCut: found.hits.length >= limit, ...found }
}

function hasMeaning({ text, wordCount }: QueryShape): boolean {
  return wordCount >= WORDS_MIN || (/[^\0-\x7f]/.test(text) && text.length >= DENSE_UNITS_MIN)
}

const NOT_EMBEDDED = "nothing was embedded yet; run `pond sync --only embed`"

function noMeaning(why: string): PondError {
  return new PondError("validation_failed", why, { details: { field: "mode" } })
}

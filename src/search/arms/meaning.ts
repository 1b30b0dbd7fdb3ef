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
import { normalizeText } from "../rank/rerank.ts"
import type { Hit } from "../request.ts"
import { countVectors, findMeaning, storedVector } from "./nearest-vectors.ts"

interface MeaningContext {
  readonly sessions: Sessions
  readonly embedder: () => Promise<Embedder | undefined>
}

/**
 * Chosen of 0.2 to 0.8 on parts of five labelled sets with all-MiniLM-L6-v2, where words weigh 1: together 84.1 nDCG@10
 * by words, 85.1 with 0.2 and 85.7 with 0.4 and the conditions below. From 0.6 on, languages that the model does not
 * know fall below words. On real logs 0.4 puts 3.3 % more questions first than 0.2.
 */
const WEIGHT = 0.4
/** Where the wording is remembered, meaning decides between hits that words rank alike, and no more. */
const WEIGHT_REMEMBERED = 0.1
const CANDIDATES = 100
/** A shorter query that somebody wrote letter by letter is a name, and its meaning is its letters. */
const WORDS_MIN = 4
const DENSE_UNITS_MIN = 8

export interface BesideWords {
  readonly arm: WeightedArm
  /** The model, where it may read the best hits again: not where the wording is remembered. */
  readonly reranker: Embedder | undefined
}

/** The arm beside the word arms, or the reason why it was not asked. */
export async function meaningBeside(
  context: MeaningContext,
  shape: QueryShape,
  words: readonly WeightedArm[],
  where: Filter,
): Promise<BesideWords | string | undefined> {
  const isKnown = isRemembered(shape, words)
  const isAsked = hasMeaning(shape) || !isKnown
  try {
    const embedder = await context.embedder()
    if (embedder === undefined) return isAsked ? "meaning (no embedding model is configured)" : undefined
    if (!isAsked) return "meaning (the query is a name, and words found it; mode: meaning)"
    if ((await countVectors(context.sessions, embedder)) === 0) return `meaning (${NOT_EMBEDDED})`
    const weight = isKnown ? WEIGHT_REMEMBERED : WEIGHT
    const asked = await arm(context.sessions, embedder, await embedder.query(shape.text), where, CANDIDATES)
    return { arm: { ...asked, weight }, reranker: embedder.reranks && !isKnown ? embedder : undefined }
  } catch (error) {
    // The word arm answers alone, and the answer says why.
    const isSaid = error instanceof PondError && ["validation_failed", "storage_unavailable"].includes(error.code)
    if (isSaid) return `meaning (${error.message})`
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

/** The query is how it was said: it has identifiers or quotes, or a candidate has it letter by letter. */
function isRemembered(shape: QueryShape, words: readonly WeightedArm[]): boolean {
  if (shape.identifiers.length > 0 || shape.quoted.length > 0) return true
  const wanted = normalizeText(shape.text)
  return words.some(({ hits }) => hits.some(({ text }) => normalizeText(text).includes(wanted)))
}

function hasMeaning({ text, wordCount }: QueryShape): boolean {
  return wordCount >= WORDS_MIN || (/[^\0-\x7f]/.test(text) && text.length >= DENSE_UNITS_MIN)
}

const NOT_EMBEDDED = "nothing was embedded yet; run `pond sync --only embed`"

function noMeaning(why: string): PondError {
  return new PondError("validation_failed", why, { details: { field: "mode" } })
}

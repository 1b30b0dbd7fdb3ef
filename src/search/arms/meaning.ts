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
import { coverageOf } from "./coverage.ts"
import { countVectors, findMeaning, storedVector } from "./nearest-vectors.ts"

interface MeaningContext {
  readonly sessions: Sessions
  readonly embedder: () => Promise<Embedder | undefined>
}

/**
 * Where words weigh 1. Chosen of 0.2 to 1.6 on five labelled sets with all-MiniLM-L6-v2 under the conditions below, before
 * the re-ranker: issues have 71.3 nDCG@10 by words, 76.0 with 0.4, 76.6 with 0.5 and 76.8 with 0.6; talk 51.9, 53.9, 53.9
 * and 53.9; questions in twelve languages 95.6, 95.7, 95.7 and 95.6. Of 110 known items 72.7 % are first with 0.6, 70.0 %
 * with 0.4 or with more than 1. Weights that follow how far the best hit of the words is before the others, or how much of
 * the query it has, are no better on all sets together.
 */
const WEIGHT = 0.5
/**
 * Where the wording is remembered, meaning decides between hits that words rank alike, and no more. With 0.1 some of the
 * known items that were written with a typing error fell behind others.
 */
const WEIGHT_REMEMBERED = 0.05
/**
 * Where the best message has less than a fifth of the query, such as a "the" and an "of", words know nothing, and their best
 * hits still have full scores. Four of 4,370 labelled questions are so, and many in a store of a few sessions.
 */
const WEIGHT_UNWORDED = 1.5
const UNWORDED_MAX = 0.2
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
  const respelled = words.flatMap((each) => each.respelled ?? [])
  try {
    const embedder = await context.embedder()
    const isName = !hasMeaning(shape) && (isKnown || respelled.length > 0)
    if (embedder === undefined) return isName ? undefined : "meaning (no embedding model is configured)"
    const isMisspelled = respelled.length > 0 && (await embedder.isForeign(respelled.join(" "))) !== false
    if (!hasMeaning(shape) && (isKnown || isMisspelled))
      return "meaning (the query is a name, and words found it; mode: meaning)"
    if ((await countVectors(context.sessions, embedder)) === 0) return `meaning (${NOT_EMBEDDED})`
    if ((await embedder.isForeign(plainText(shape))) === true)
      return `meaning (${embedder.model} does not know the words of ${shownQuery(shape)}; mode: meaning)`
    const weight = await weightOf(context.sessions, shape, words, { isKnown, isMisspelled })
    const asked = await arm(context.sessions, embedder, await embedder.query(shape.text), where, CANDIDATES)
    return {
      arm: { ...asked, weight },
      reranker: embedder.reranks && weight > WEIGHT_REMEMBERED ? embedder : undefined,
    }
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
      "No embeddings to search by meaning: run `pond embeddings use NAME` and `pond sync --only embed`, or use mode auto.",
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

/**
 * A typing error makes a few letters that mean something else out of a word, so that the model reads it wrongly. A word
 * that nobody wrote and the model knows is spelled as intended.
 */
async function weightOf(
  sessions: Sessions,
  shape: QueryShape,
  words: readonly WeightedArm[],
  { isKnown, isMisspelled }: { readonly isKnown: boolean; readonly isMisspelled: boolean },
): Promise<number> {
  if (isKnown) return WEIGHT_REMEMBERED
  const best = (words[0]?.hits ?? []).toSorted((left, right) => right.score - left.score)
  const texts = best.map(({ text }) => text)
  // Of a few words a single unknown one is most.
  if (hasMeaning(shape) && (await coverageOf(sessions, shape.text, texts)) < UNWORDED_MAX) return WEIGHT_UNWORDED
  return isMisspelled ? WEIGHT_REMEMBERED : WEIGHT
}

const SHOWN_UNITS = 60

/** Of several wordings this one may be the only one that was not asked. */
function shownQuery({ text }: QueryShape): string {
  return JSON.stringify(text.length <= SHOWN_UNITS ? text : `${text.slice(0, SHOWN_UNITS).toWellFormed()}…`)
}

/** Identifiers are of no language. */
function plainText({ text, identifiers }: QueryShape): string {
  const words = text.split(" ")
  return words.filter((word) => !identifiers.some((identifier) => word.includes(identifier))).join(" ")
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

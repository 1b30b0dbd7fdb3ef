/** What a search does not answer, in words that say what to ask instead. */
import { PondError } from "../model/errors.ts"

/** The engine's time for a text grows with the text times the pattern, and no time ends it in the middle of one. */
const PATTERN_UNITS_MAX = 4_000

export function emptyQuery(): PondError {
  return new PondError(
    "validation_failed",
    "The query is empty. Say what to look for, or name a message with similar_to.",
    { details: { field: "query" } },
  )
}

export function refuseLongPattern(pattern: string): void {
  if (pattern.length <= PATTERN_UNITS_MAX) return
  throw new PondError(
    "validation_failed",
    `The pattern has ${pattern.length} characters, and one of more than ${PATTERN_UNITS_MAX} is not searched for. Shorten it, or use mode exact.`,
    { details: { field: "query" } },
  )
}

export function noMeaningOfTools(): PondError {
  return new PondError(
    "validation_failed",
    "Tool calls and results have no embeddings. Search them with mode exact or pattern, or the conversation by meaning.",
    { details: { field: "scope" } },
  )
}

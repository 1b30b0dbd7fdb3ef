/** Errors for requests that search refuses. Each message says what to ask instead. */
import { PondError } from "../model/errors.ts"

/**
 * The engine's time per text grows with text length times pattern length, and cannot be interrupted within one text.
 */
const PATTERN_UNITS_MAX = 4_000

export function emptyQuery(): PondError {
  return new PondError(
    "validation_failed",
    "The query is empty. Give words to search for, or a message with similar_to.",
    { details: { field: "query" } },
  )
}

export function refuseLongPattern(pattern: string): void {
  if (pattern.length <= PATTERN_UNITS_MAX) return
  throw new PondError(
    "validation_failed",
    `The pattern has ${pattern.length} characters, more than the limit of ${PATTERN_UNITS_MAX}. Shorten it, or use mode exact.`,
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

/** What the records of a client say of tokens and money: a capability of an adapter. */
import type { JsonValue } from "../model/json.ts"

/** Reads the tokens and costs that a client recorded. Law: pure, and never throws, whatever the records hold. */
export interface UsageReading {
  /** Every record that `read` needs to see contains one of these texts in its JSON. */
  readonly marks: readonly string[]
  /** Takes the records of one session in their order. `memory` is empty at the first, and kept between two readings. */
  readonly read: (record: UsageRecord, memory: UsageMemory) => readonly ResponseUsage[]
}

export interface UsageRecord {
  readonly record: JsonValue
  /** The session that the record was written for: of a copy, the one that it was copied from. */
  readonly sessionId: string
}

/** Plain JSON, small: the model of the turn, for one. */
export type UsageMemory = Record<string, JsonValue>

/** What one response of a model took, as its client recorded it. Classes of tokens do not overlap, but for `reasoning`. */
export interface ResponseUsage {
  /** Names the response: what has the same key in any session is the same response, recorded again. */
  readonly key: string
  readonly model?: string | undefined
  /** Of the prompt, what was neither read from a cache nor written to one. */
  readonly input: number
  /** All that the model wrote, its reasoning included. */
  readonly output: number
  /** How much of the output was reasoning, as far as it was recorded. */
  readonly reasoning: number
  readonly cacheRead: number
  /** Written to a cache: by how long it is kept, and where that was not recorded. */
  readonly cacheWrite5m: number
  readonly cacheWrite1h: number
  readonly cacheWrite: number
  /** In US dollars, where the client recorded it. */
  readonly costUsd?: number | undefined
  /** A record of another session's response, which that session mostly has itself. */
  readonly isEcho?: true
}

/**
 * Rows as they go from one thread to another: the arrays of their columns are handed over without a copy, and the session
 * goes as JSON text, because a copy of its values would make other numbers of exact ones.
 */
import { assert } from "../../model/errors.ts"
import { type JsonObject, parseOwnJson, stringifyJson } from "../../model/json.ts"
import type { Session } from "../../model/session.ts"
import type { IngestFacts } from "../../sessions/rows/row-codecs.ts"
import { MESSAGES } from "../../sessions/tables.ts"
import type { PreparedBatch } from "../../sessions/write/prepare.ts"
import { buffersOf, filled } from "../../substrate/columns/column-batch.ts"

export interface TransferredBatch extends Omit<PreparedBatch, "session"> {
  readonly session: string
}

export interface Transfer {
  readonly batch: TransferredBatch
  /** What the other thread takes over. */
  readonly moved: readonly ArrayBufferLike[]
}

export function toTransfer(prepared: PreparedBatch): Transfer {
  const { messages, parts, blobs } = prepared
  return {
    batch: { ...prepared, session: stringifyJson(prepared.session as unknown as JsonObject) },
    moved: [...buffersOf([messages, parts]), ...blobs.map(({ bytes }) => bytes.buffer)],
  }
}

/** The side that writes says when the rows are written, and where. */
export function fromTransfer(batch: TransferredBatch, { ingestedAtMicros, host }: IngestFacts): PreparedBatch {
  const parsed = parseOwnJson(batch.session)
  assert(parsed.ok, "a session that was written by this process is JSON")
  return {
    ...batch,
    session: parsed.value as unknown as Session,
    messages: filled(MESSAGES, batch.messages, { ingested_at: ingestedAtMicros, host }),
  }
}

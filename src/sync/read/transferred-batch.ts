/**
 * Rows and memories as they pass between threads. The arrays of the columns are transferred without a copy. Sessions and
 * memories travel as JSON text, because a structured clone would turn exact numbers into others.
 */
import { assert } from "../../model/errors.ts"
import { type JsonObject, type JsonValue, parseJson, parseOwnJson, stringifyJson } from "../../model/json.ts"
import type { Session } from "../../model/session.ts"
import type { IngestFacts } from "../../sessions/rows/row-codecs.ts"
import { MESSAGES } from "../../sessions/tables.ts"
import type { PreparedBatch } from "../../sessions/write/prepare.ts"
import { buffersOf, fillColumns } from "../../substrate/columns/column-batch.ts"
import type { UnitMemory } from "../state/sync-state.ts"

export interface TransferredBatch extends Omit<PreparedBatch, "session"> {
  readonly session: string
}

export interface Transfer {
  readonly batch: TransferredBatch
  /** The buffers that the other thread takes over. */
  readonly moved: readonly ArrayBufferLike[]
}

export function toTransfer(prepared: PreparedBatch): Transfer {
  const { messages, parts, blobs } = prepared
  return {
    batch: { ...prepared, session: stringifyJson(prepared.session as unknown as JsonObject) },
    moved: [...buffersOf([messages, parts]), ...blobs.map(({ bytes }) => bytes.buffer)],
  }
}

/** `facts` say when and where the rows are written: the thread that parses does not know. */
export function fromTransfer(batch: TransferredBatch, { ingestedAtMicros, host }: IngestFacts): PreparedBatch {
  const parsed = parseOwnJson(batch.session)
  assert(parsed.ok, "a session that was written by this process is JSON")
  return {
    ...batch,
    session: parsed.value as unknown as Session,
    messages: fillColumns(MESSAGES, batch.messages, { ingested_at: ingestedAtMicros, host }),
  }
}

export function encodeMemory(memory: UnitMemory): string {
  return stringifyJson(memory as unknown as JsonValue)
}

export function decodeMemory(text: string): UnitMemory {
  const parsed = parseJson(text)
  assert(parsed.ok, "a memory that was written by this process is JSON")
  return parsed.value as unknown as UnitMemory
}

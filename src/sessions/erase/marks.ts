/**
 * Marks of an erased session: one hash for each message that it said first, by which a copy is recognised that arrives later
 * under another id, as a fork in which its client copied the history. A hash of id, time and text tells nothing of them.
 */
import { copiedFrom } from "../../model/copies.ts"
import { and, eq, isNull, not } from "../../substrate/filter.ts"
import type { ErasedOwners } from "../../substrate/tombstones.ts"
import type { Lane } from "../tables.ts"
import { momentKey, type PreparedBatch } from "../write/prepare.ts"
import type { SessionTables } from "../write/write-sessions.ts"

const BYTES_EACH = 8
const NOT_A_COPY = not(eq("lane", "replay" satisfies Lane))

export async function readMarks({ messages }: Pick<SessionTables, "messages">, sessionId: string): Promise<Uint8Array> {
  const where = and(eq("session_id", sessionId), NOT_A_COPY, not(isNull("search_text")))
  const marks: bigint[] = []
  for await (const rows of messages.batches({ columns: ["id", "timestamp", "search_text"], where }))
    for (const row of rows) marks.push(markOf(momentKey(row)))
  return new Uint8Array(BigUint64Array.from(marks).buffer)
}

export function markOf(key: string): bigint {
  return Bun.hash.xxHash64(key)
}

/** The erased session by each mark. */
export type Marks = ReadonlyMap<bigint, string>

export function indexMarks(rows: readonly { readonly id: string; readonly marks: Uint8Array | null }[]): Marks {
  const marks = new Map<bigint, string>()
  for (const { id, marks: own } of rows) {
    if (own === null) continue
    const view = new DataView(own.buffer, own.byteOffset, own.byteLength)
    for (let at = 0; at + BYTES_EACH <= own.byteLength; at += BYTES_EACH) marks.set(view.getBigUint64(at, true), id)
  }
  return marks
}

/** The erased session that this one goes with: its parent, the one that pond wrote it from, or one whose messages it holds. */
export function erasedOrigin(
  { session, spoken }: Pick<PreparedBatch, "session" | "spoken">,
  erased: Pick<ErasedOwners, "has">,
  marks: Marks,
): string | undefined {
  const { parent_session_id: parent } = session
  if (parent !== undefined && erased.has(parent)) return parent
  const original = copiedFrom(session.options)
  if (original !== undefined && erased.has(original)) return original
  for (const key of spoken.keys) {
    const owner = marks.get(markOf(key))
    if (owner !== undefined) return owner
  }
  return undefined
}

/**
 * Writes sessions that came by the wire: what says something else than what is stored of its session is rejected, and
 * stands in nobody's way. Compared and written under one lock, so that nothing comes between.
 */
import { PondError } from "../../model/errors.ts"
import { compareStored } from "./divergence.ts"
import type { Origins } from "./origins.ts"
import type { SessionBatch } from "./prepare.ts"
import type { BatchResult, SessionTables } from "./write-sessions.ts"

export async function writeUnlessDiverging(
  tables: SessionTables,
  origins: Origins,
  batches: readonly SessionBatch[],
  write: (accepted: readonly SessionBatch[]) => Promise<BatchResult[]>,
): Promise<BatchResult[]> {
  const sourcesAmong = (ids: readonly string[]) => origins.arrivedBy("wire", ids)
  const { diverging, changed } = await compareStored(tables, batches, sourcesAmong)
  await origins.note(
    "wire",
    [...changed].filter((id) => !diverging.has(id)),
  )
  if (diverging.size === 0) return await write(batches)
  const isDiverging = ({ session }: SessionBatch) => diverging.has(session.id)
  const written = await write(batches.filter((batch) => !isDiverging(batch)))
  const rest = written[Symbol.iterator]()
  return batches.flatMap((batch) => (isDiverging(batch) ? conflict(batch) : (rest.next().value ?? [])))
}

function conflict({ session }: SessionBatch): BatchResult {
  const { id, source_agent: sourceAgent } = session
  const message = `The store has other messages of session ${id}, or has them from another source. Send only what follows its last message, or use another id.`
  return {
    sessionId: id,
    sourceAgent,
    isNewSession: false,
    inserted: { messages: 0, parts: 0 },
    status: "rejected",
    error: new PondError("conflict", message, { details: { session_id: id } }),
  }
}

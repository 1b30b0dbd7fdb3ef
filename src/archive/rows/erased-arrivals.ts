/**
 * Which arriving sessions are erased in the store that they come to, and so stay out: by their own tombstone, or because
 * they belong to an erased session or hold copies of its messages. Of the values that are stored apart only those come in
 * that another arriving session uses, because nobody would own the others.
 */
import type { Sessions } from "../../sessions/store.ts"
import { rowsOfBatch } from "../../substrate/columns/row-batch.ts"
import { type ArrivingBatch, ownerColumn } from "./archived-tables.ts"
import { referencesOfRow } from "./selection.ts"

export interface ErasedArrivals {
  readonly ids: ReadonlySet<string>
  /** The hashes of values that may come in; nothing where all may. */
  readonly blobs: ReadonlySet<string> | undefined
}

const NONE: ErasedArrivals = { ids: new Set(), blobs: undefined }

type Rows = () => AsyncIterable<ArrivingBatch>

/** The rows are read only where something is erased in the store. */
export async function findErasedArrivals(
  sessions: Sessions,
  owners: Iterable<string>,
  rows: Rows,
): Promise<ErasedArrivals> {
  const detector = await sessions.erasure.detect(owners)
  if (detector === undefined) return NONE
  for await (const { table, batch } of rows()) {
    const columns = DETECTED[table.role]
    if (columns !== undefined)
      for (const row of rowsOfBatch(batch, columns))
        detector[table.role === "sessions" ? "session" : "message"](row as never)
    batch.letGo?.()
  }
  const ids = await detector.finish()
  return ids.size === 0 ? NONE : { ids, blobs: await referencesOfOthers(ids, rows) }
}

const DETECTED: Readonly<Record<string, readonly string[]>> = {
  sessions: ["id", "parent_session_id"],
  messages: ["session_id", "id", "timestamp", "search_text", "lane"],
}

async function referencesOfOthers(ids: ReadonlySet<string>, rows: Rows): Promise<ReadonlySet<string>> {
  const used = new Set<string>()
  for await (const { table, batch } of rows()) {
    const owner = ownerColumn(table)
    for (const row of rowsOfBatch(batch)) {
      if (ids.has(String(row[owner]))) continue
      for (const hash of referencesOfRow(table, row)) used.add(hash)
    }
    batch.letGo?.()
  }
  return used
}

/** Going back to an older version: only a compaction is taken back, and only while nobody has written since. */
import type { Table as LanceTable } from "@lancedb/lancedb"
import type { Dataset } from "../lance/dataset.ts"

/** Unless somebody has written since: then the compaction stays, and a check finds what is wrong. */
export async function takeBack(dataset: Dataset, table: LanceTable, before: number): Promise<void> {
  const own = await dataset.attempt(() => table.version())
  await dataset.attempt(() => table.checkoutLatest())
  if ((await dataset.attempt(() => table.version())) !== own) return
  await dataset.attempt(() => table.checkout(before))
  await dataset.attempt(() => table.restore())
}

/** Statistics of the word index for `status` and `optimize`: shown as one table whose rows are the indexed messages. */
import type { TableStatistics } from "../../substrate/table.ts"
import { chooseCover, readFacts, type WordTables } from "./segment/segments.ts"

/** Undefined before the first segment is written. */
export async function wordStatistics(tables: WordTables): Promise<TableStatistics | undefined> {
  const [segments, blocks, messages] = await Promise.all([
    tables.segments.statistics(),
    tables.blocks.statistics(),
    tables.messages.nextRowNumber(),
  ])
  if (segments === undefined || blocks === undefined) return undefined
  const cover = chooseCover(await readFacts(tables))
  const rows = cover.at(-1)?.to ?? 0
  const bytes =
    segments.bytes === undefined || blocks.bytes === undefined
      ? {}
      : { bytes: { live: segments.bytes.live + blocks.bytes.live, dead: segments.bytes.dead + blocks.bytes.dead } }
  const index = { name: "words", indexedRows: rows, unindexedRows: Math.max(0, messages - rows) }
  return {
    rows,
    fragments: cover.length,
    version: segments.version,
    indexes: [{ ...index, bytes: blocks.bytes?.live ?? 0, createdAtMs: 0 }],
    ...bytes,
  }
}

/**
 * Proves that the store engine works on this machine: a small table is written, indexed, read by its index and searched by
 * vector, through the same code as any other table.
 */
import { mkdtempSync, rmSync } from "node:fs"
import { join } from "node:path"
import { assert } from "../model/errors.ts"
import { eq } from "./filter.ts"
import { parseLocation } from "./location.ts"
import { openStore } from "./open-store.ts"
import type { StoreContext } from "./store-context.ts"
import { defineTable, utf8, vector } from "./table-definition.ts"

const PLANTS = defineTable({
  name: "plants",
  columns: { id: utf8(), said: utf8(), place: vector(2) },
  key: ["id"],
  indexes: [{ kind: "btree", column: "id" }],
  schemaVersion: 1,
})

/** Maintenance builds a scalar index from a thousand rows on. */
const SEEDS = 1000

const ROWS = [
  { id: "reed", said: "grows at the edge of the water", place: Float32Array.of(1, 0) },
  { id: "lily", said: "lies flat, 水に浮く", place: Float32Array.of(0, 1) },
  ...Array.from({ length: SEEDS }, (_, number) => ({
    id: `seed ${number}`,
    said: "waits",
    place: Float32Array.of(-1, -1),
  })),
]

/** `parent` is a directory that pond may write to; nothing stays in it. */
export async function proveStoreEngine(parent: string, context: StoreContext): Promise<string> {
  const directory = mkdtempSync(join(parent, "self-test-"))
  const store = openStore(parseLocation(directory, { environment: {} }), context)
  try {
    const table = store.table(PLANTS)
    const { inserted } = await table.insertAbsent(ROWS)
    assert(inserted === ROWS.length, `${ROWS.length} new rows are stored, not ${inserted}`)
    await table.maintain("all")
    const [index] = (await table.statistics())?.indexes ?? []
    assert(index?.indexedRows === ROWS.length, "the index holds every row")
    const read = await table.read({ columns: ["id", "said"], where: eq("id", "lily") })
    assert(read.length === 1 && read[0]?.said === ROWS[1]?.said, "the index finds a row, as it was written")
    const vectorQuery = { column: "place", vector: Float32Array.of(0, 2), distance: "cosine" } as const
    const near = await table.searchVector(vectorQuery, { columns: ["id"], limit: 1 })
    assert(near[0]?.id === "lily", "the nearest vector comes first")
  } finally {
    store.close()
    rmSync(directory, { recursive: true, force: true })
  }
  return "wrote, indexed, read and searched a table"
}

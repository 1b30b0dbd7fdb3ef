/**
 * Proves that the store engine works on this machine: a small table is made, written, indexed, searched and read back,
 * through the same code that any other table goes through.
 */
import { mkdtempSync, rmSync } from "node:fs"
import { join } from "node:path"
import { assert } from "../model/errors.ts"
import { eq } from "./filter.ts"
import { parseLocation } from "./location.ts"
import type { StoreContext } from "./store-context.ts"
import { openStore } from "./table.ts"
import { defineTable, utf8, vector } from "./table-definition.ts"

const PLANTS = defineTable({
  name: "plants",
  columns: { id: utf8(), said: utf8(), place: vector(2) },
  key: ["id"],
  indexes: [{ kind: "fts", column: "said", options: { tokenizer: "icu" } }],
  schemaVersion: 1,
})

const ROWS = [
  { id: "reed", said: "grows at the edge of the water", place: Float32Array.of(1, 0) },
  { id: "lily", said: "lies flat, 水に浮く", place: Float32Array.of(0, 1) },
]

/** `parent` is a directory that pond may write to; nothing stays in it. */
export async function proveStoreEngine(parent: string, context: StoreContext): Promise<string> {
  const directory = mkdtempSync(join(parent, "self-test-"))
  const store = openStore(parseLocation(directory, { environment: {} }), context)
  try {
    const table = store.table(PLANTS)
    const { inserted } = await table.insertAbsent(ROWS)
    assert(inserted === 2, `two new rows are stored, not ${inserted}`)
    const read = await table.read({ columns: ["id", "said"], where: eq("id", "lily") })
    assert(read[0]?.said === ROWS[1]?.said, "a row comes back as it was written")
    const found = await table.searchText({ match: "water", column: "said" }, { columns: ["id"], limit: 1 })
    assert(found[0]?.id === "reed", "a word finds the row that has it")
    const vectorQuery = { column: "place", vector: Float32Array.of(0, 2), distance: "cosine" } as const
    const near = await table.searchVector(vectorQuery, { columns: ["id"], limit: 1 })
    assert(near[0]?.id === "lily", "the nearest vector comes first")
  } finally {
    store.close()
    rmSync(directory, { recursive: true, force: true })
  }
  return "wrote, read and searched a table"
}

/**
 * Which owners are erased, as every read and write of an erasable table asks (`lance-append-only`): known until a tombstone
 * is added.
 */
import { commitSignature } from "../local/local-table.ts"
import { type ErasedOwners, erasedOwners, NOTHING_ERASED, type TombstoneTurn } from "../tombstones.ts"
import type { Dataset } from "./dataset.ts"
import { readOnce, scanTable } from "./read.ts"

const COLUMNS = ["owner", "turn", "state"] as const

/** Keeps track of the erased sessions. In a bucket the list may be a few seconds old, like every other read. */
export function trackErased(tombstones: Dataset): () => Promise<ErasedOwners> {
  const { local } = tombstones
  let known = NOTHING_ERASED
  let reading: Promise<ErasedOwners> | undefined

  async function read(): Promise<ErasedOwners> {
    const version = await tombstones.version()
    if (version === undefined) return NOTHING_ERASED
    if (version === known.version) return known
    const rows = await readOnce(tombstones, (table) => scanTable(tombstones, table, { columns: COLUMNS }))
    known = erasedOwners(rows as unknown as TombstoneTurn[], version, { isPurgedGone: local !== undefined })
    return known
  }

  return () => {
    // Most stores have erased nothing, and a look at a folder says so.
    if (local !== undefined && commitSignature(local) === undefined) return Promise.resolve(NOTHING_ERASED)
    // A read that began before the call may have missed what was committed just before it.
    const mine = reading === undefined ? read() : reading.then(read, read)
    reading = mine
    mine.then(settle, settle)
    function settle() {
      if (reading === mine) reading = undefined
    }
    return mine
  }
}

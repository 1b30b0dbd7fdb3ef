/**
 * Which owners are erased, as every read and write of an erasable table asks (`lance-append-only`): known until a tombstone
 * is added.
 */
import { PondError } from "../../model/errors.ts"
import { commitSignature, type LocalTable } from "../local/local-table.ts"
import { type ErasedOwners, erasedOwners, NOTHING_ERASED, type TombstoneTurn } from "../tombstones.ts"
import type { Dataset } from "./dataset.ts"
import { readOnce, scanTable } from "./read.ts"

/** Notes of a table lie beside it, so they say that it was there when it is not. */
function wasThere({ files, notes }: LocalTable): boolean {
  return notes.some((path) => files.statSignature(path) !== undefined)
}

function unknownErasures({ catalog, definition }: Dataset): PondError {
  const { shown } = catalog.location
  return new PondError(
    "storage_unavailable",
    `The table ${definition.name} of ${shown} is damaged, so pond cannot tell what was erased, and shows nothing. Restore that table from a backup, or run \`pond repair\`, which continues without it: sessions that were erased but not purged are then visible again, and can be erased again.`,
    { details: { store: shown, table: definition.name } },
  )
}

const COLUMNS = ["owner", "turn", "state"] as const

/** Keeps track of the erased sessions. In a bucket the list may be a few seconds old, like every other read. */
export function trackErased(tombstones: Dataset): () => Promise<ErasedOwners> {
  const { local } = tombstones
  let known = NOTHING_ERASED
  let reading: Promise<ErasedOwners> | undefined

  async function read(): Promise<ErasedOwners> {
    const version = await tombstones.version()
    if (version !== undefined && version === known.version) return known
    // A row that is not known to be erased would be shown, to agents too: what was erased was a secret as a rule.
    if ((await tombstones.damage()) !== undefined) throw unknownErasures(tombstones)
    if (version === undefined) return NOTHING_ERASED
    const rows = await readOnce(tombstones, (table) => scanTable(tombstones, table, { columns: COLUMNS }))
    known = erasedOwners(rows as unknown as TombstoneTurn[], version, { isPurgedGone: local !== undefined })
    return known
  }

  return () => {
    // Most stores have erased nothing, and a look at a folder says so.
    if (local !== undefined && commitSignature(local) === undefined && !wasThere(local))
      return Promise.resolve(NOTHING_ERASED)
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

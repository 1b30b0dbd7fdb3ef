/** The tombstones of the store in memory. */
import {
  type ErasedOwners,
  erasedOwners,
  NOTHING_ERASED,
  TOMBSTONES,
  type TombstoneTurn,
} from "../../src/substrate/tombstones.ts"
import type { NumberedRow } from "./memory-filter.ts"

interface Stored {
  readonly rows: readonly NumberedRow[]
  readonly version: number
}

/** Whose rows of those tables are erased. */
export async function erasedIn(tables: ReadonlyMap<string, Stored> | undefined): Promise<ErasedOwners> {
  const table = await Promise.resolve(tables?.get(TOMBSTONES.name))
  if (table === undefined) return NOTHING_ERASED
  const turns = table.rows.map(({ values }) => values as unknown as TombstoneTurn)
  return erasedOwners(turns, table.version, { isPurgedGone: true })
}

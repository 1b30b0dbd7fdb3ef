/**
 * Tombstones: whose rows are erased. Rows of tables that are declared `erasable` belong to an owner, the value of their
 * first key column; rows of an erased owner are neither read nor written. One row of one table says so, so that an erasure
 * is there whole or not at all, and nothing else is rewritten until a purge (`lance-append-only`).
 */
import { FingerprintSet } from "../platform/fingerprint-set.ts"
import { columnsOf, keyHashes, valuesOf } from "./columns/column-batch.ts"
import { type Filter, isIn, not, or } from "./filter.ts"
import type { TableDefinition } from "./table-definition.ts"
import { bytes, defineTable, int32, nullable, timestampUs, utf8 } from "./table-definition.ts"

/** `purging` is noted before the first row is removed, so that a purge that was cut off is known and done again. */
export const TOMBSTONE_STATES = ["erased", "purging", "purged", "lifted"] as const
export type TombstoneState = (typeof TOMBSTONE_STATES)[number]

/** A log: the row of the highest turn counts. Two machines that say the next turn of an owner at once conflict by the key. */
export const TOMBSTONES = defineTable({
  name: "tombstones",
  schemaVersion: 1,
  columns: {
    owner: utf8(),
    turn: int32(),
    state: utf8(),
    /** The owner that this one was erased with; null where it was asked for itself. */
    because: nullable(utf8()),
    /** What the layer above recognises copies by that come later under another owner. */
    marks: nullable(bytes()),
    noted_at: timestampUs(),
    host: utf8(),
  },
  key: ["owner", "turn"],
  indexes: [],
})

export interface ErasedOwners {
  /** Changes with every tombstone. */
  readonly version: number
  readonly size: number
  has(owner: string): boolean
  /** Passes the rows that may be read; nothing where all may. */
  readableIn(table: Pick<TableDefinition, "key" | "erasable">): Filter | undefined
  /** Passes the rows of erased owners. */
  erasedIn(table: Pick<TableDefinition, "key">): Filter
  /** Whether rows of one of the owners may be among those whose owners have these hashes (see `keyHashes`). */
  mayHaveAny(hashes: Uint32Array): boolean
}

export interface TombstoneTurn {
  readonly owner: string
  readonly turn: number
  readonly state: string
}

export const NOTHING_ERASED: ErasedOwners = {
  version: 0,
  size: 0,
  has: () => false,
  readableIn: () => undefined,
  erasedIn: () => or(),
  mayHaveAny: () => false,
}

const OWNER = { columns: { owner: utf8() } }

/**
 * `isPurgedGone`: on a disk a lock makes sure that no row of a purged owner is left, and reads need not look for them. In a
 * bucket a slow writer may have stored some since.
 */
export function erasedOwners(
  turns: readonly TombstoneTurn[],
  version: number,
  { isPurgedGone }: { readonly isPurgedGone: boolean },
): ErasedOwners {
  const states = new Map(lastTurns(turns).map(({ owner, state }) => [owner, state]))
  const erased = new Set([...states].filter(([, state]) => state !== "lifted").map(([owner]) => owner))
  if (erased.size === 0) return { ...NOTHING_ERASED, version }
  const hidden = isPurgedGone ? [...erased].filter((owner) => states.get(owner) !== "purged") : [...erased]
  const fingerprints = new FingerprintSet()
  const rows = [...erased].map((owner) => ({ owner }))
  const own = keyHashes(valuesOf(columnsOf(OWNER as never, rows, ["owner"])), rows.length)
  for (let half = 0; half < own.length; half += 2) fingerprints.addHash(own[half] as number, own[half + 1] as number)
  return {
    version,
    size: erased.size,
    has: (owner) => erased.has(owner),
    readableIn: ({ key, erasable }) =>
      erasable !== true || hidden.length === 0 ? undefined : not(isIn(key[0] as string, hidden)),
    erasedIn: ({ key }) => isIn(key[0] as string, [...erased]),
    mayHaveAny: (hashes) => {
      for (let half = 0; half < hashes.length; half += 2)
        if (fingerprints.mayHaveHash(hashes[half] as number, hashes[half + 1] as number)) return true
      return false
    },
  }
}

/** Of each owner the turn that counts. */
export function lastTurns<Turn extends TombstoneTurn>(turns: readonly Turn[]): readonly Turn[] {
  const last = new Map<string, Turn>()
  for (const each of turns) if (each.turn >= (last.get(each.owner)?.turn ?? 0)) last.set(each.owner, each)
  return [...last.values()]
}

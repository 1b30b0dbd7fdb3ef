/**
 * LRU cache of message texts that were read for re-ranking. The next page of an answer and the same question in other
 * words find mostly the same messages. Messages never change, but entries are checked against the message's session and
 * ordinal: a store that was replaced has others at the same row numbers.
 */
import { LruCache } from "../../../platform/lru-cache.ts"
import type { ScannedName } from "../../../substrate/table-definition.ts"
import type { MESSAGES } from "../../tables.ts"
import type { WordTables } from "../segment/segments.ts"

type Name = ScannedName<(typeof MESSAGES)["columns"]>
type Row = Readonly<Record<string, unknown>>

export interface TextAddress {
  readonly row: number
  /** Identifies the message. Without it nothing is cached. */
  readonly message?: string
}

export interface TextCache {
  /** Columns of the messages that exist, by row number. */
  take(asked: readonly TextAddress[], columns: readonly Name[]): Promise<ReadonlyMap<number, Row>>
}

/** For all texts: about 10 MB with their objects, or what a hundred searches read. */
const CACHED_UNITS_MAX = 4_000_000
/** Longer texts are not cached. */
const TEXT_UNITS_MAX = 32_000
/** The cost of the row object, counted as text. */
const ROW_UNITS = 100

interface CachedRow {
  readonly message: string
  readonly columns: string
  readonly row: Row
}

export function createTextCache(messages: WordTables["messages"], unitsMax = CACHED_UNITS_MAX): TextCache {
  const kept = new LruCache<number, CachedRow>(unitsMax)
  return {
    take: async (asked, columns) => {
      const names = columns.join(" ")
      const found = new Map<number, Row>()
      const missing = new Map<number, string | undefined>()
      for (const { row: number, message } of asked) {
        const own = kept.get(number)
        if (own !== undefined && own.message === message && own.columns === names) found.set(number, own.row)
        else missing.set(number, message)
      }
      for (const row of await messages.takeByNumber([...missing.keys()], columns)) {
        found.set(row.row, row)
        const message = missing.get(row.row)
        const units = codeUnitsIn(row)
        if (message !== undefined && units <= TEXT_UNITS_MAX) kept.set(row.row, { message, columns: names, row }, units)
      }
      return found
    },
  }
}

function codeUnitsIn(row: object): number {
  return Object.values(row).reduce<number>(
    (sum, value) => sum + (typeof value === "string" ? value.length : 0),
    ROW_UNITS,
  )
}

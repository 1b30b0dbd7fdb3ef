/**
 * What was read of messages to weigh them, kept for the searches that come next: the next page of an answer, and the same
 * question in other words, find most of the same messages. A message is never changed. Nothing is kept of a message by its
 * number alone: another store in the place of the one that was known has others under the same numbers.
 */
import { LruCache } from "../../../platform/lru-cache.ts"
import type { ScannedName } from "../../../substrate/table-definition.ts"
import type { MESSAGES } from "../../tables.ts"
import type { WordTables } from "../segment/segments.ts"

type Name = ScannedName<(typeof MESSAGES)["columns"]>
type Row = Readonly<Record<string, unknown>>

export interface TextAddress {
  readonly row: number
  /** Which message it is; nothing of one without is kept. */
  readonly message?: string
}

export interface TextCache {
  /** Columns of those messages that are there, by the numbers of their rows. */
  take(asked: readonly TextAddress[], columns: readonly Name[]): Promise<ReadonlyMap<number, Row>>
}

/** Of all texts together: some 10 MB with what holds them, or what a hundred searches have weighed. */
const CACHED_UNITS_MAX = 4_000_000
/** One that is longer is read again. */
const TEXT_UNITS_MAX = 32_000
/** What holds a row, in units. */
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
        const units = unitsOf(row)
        if (message !== undefined && units <= TEXT_UNITS_MAX) kept.set(row.row, { message, columns: names, row }, units)
      }
      return found
    },
  }
}

function unitsOf(row: object): number {
  return Object.values(row).reduce<number>(
    (sum, value) => sum + (typeof value === "string" ? value.length : 0),
    ROW_UNITS,
  )
}

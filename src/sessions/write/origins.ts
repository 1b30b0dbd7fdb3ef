/**
 * Which sessions came by an export file, a copied store or the wire. In a separate table, so that what arrives cannot
 * claim another origin, and rows stay equal to those that were sent. The user is asked before such a session is resumed.
 */
import type { Clock } from "../../platform/host/clock.ts"
import { isIn } from "../../substrate/filter.ts"
import type { Store } from "../../substrate/table.ts"
import { ORIGINS } from "../tables.ts"

export type Arrival = "archive" | "copy" | "wire"

export interface Origins {
  /** Noted before the rows are stored: a crash between leaves a note without a session, and never the reverse. */
  note(arrival: Arrival, ids: Iterable<string>): Promise<void>
  /** Of those sessions the ones that came so at first. That never changes, so each is asked for once. */
  arrivedBy(arrival: Arrival, ids: readonly string[]): Promise<ReadonlySet<string>>
  /** Of those sessions the ones that came from elsewhere. */
  of(ids: readonly string[]): Promise<ReadonlyMap<string, string>>
}

const IDS_AT_ONCE = 10_000
const KNOWN_MAX = 100_000

export function openOrigins(store: Store, clock: Clock): Origins {
  const table = store.table(ORIGINS)
  const known = new Set<string>()
  const first = new Map<string, string>()
  const arrivals = async (ids: readonly string[]) => {
    const rows = await table.read({ columns: ["session_id", "arrival"], where: isIn("session_id", ids) })
    return new Map(rows.map(({ session_id, arrival }) => [session_id, arrival]))
  }
  return {
    note: async (arrival, ids) => {
      if (known.size > KNOWN_MAX) known.clear()
      const fresh = [...new Set(ids)].filter((id) => !known.has(id))
      const noted_at = BigInt(Math.trunc(clock.nowMs())) * 1000n
      for (let from = 0; from < fresh.length; from += IDS_AT_ONCE) {
        const rows = fresh.slice(from, from + IDS_AT_ONCE).map((session_id) => ({ session_id, arrival, noted_at }))
        await table.insertAbsent(rows)
      }
      for (const id of fresh) known.add(id)
    },
    arrivedBy: async (arrival, ids) => {
      if (first.size > KNOWN_MAX) first.clear()
      const unasked = ids.filter((id) => !first.has(id))
      if (unasked.length > 0) for (const [id, found] of await arrivals(unasked)) first.set(id, found)
      return new Set(ids.filter((id) => first.get(id) === arrival))
    },
    of: arrivals,
  }
}

/**
 * Whether one store has everything of another, proved by their ids: those of every row of every session, compared as
 * they are. A few hundred sessions at a time, so that memory does not grow with the stores.
 */
import { isIn } from "../substrate/filter.ts"
import type { Store } from "../substrate/table.ts"
import { type ArchivedTable, added, NOTHING, ownerColumn, type Tally, tablesOf } from "./tables.ts"
import { createBreather, stopIfAsked, type Work } from "./work.ts"

export interface Comparison {
  /** Rows that both have. */
  readonly present: Tally
  /** Rows of the first that the second lacks. */
  readonly missing: Tally
  /** Rows of the second that the first does not have. */
  readonly extra: Tally
  /** A few of what is missing: the table, and the key. */
  readonly examples: readonly { readonly table: string; readonly key: readonly string[] }[]
}

const OWNERS_AT_ONCE = 100
/** About what a compared key takes, as an object and as a text. */
const KEY_BYTES = 600
const EXAMPLES_MAX = 20

export async function compareStores(from: Store, to: Store, work: Work): Promise<Comparison> {
  const tables = new Map(
    [...(await tablesOf(from)), ...(await tablesOf(to))].map((each) => [each.definition.name, each]),
  )
  const sessionIds = [
    ...new Set([...(await idsOf(from, tables.get("sessions"))), ...(await idsOf(to, tables.get("sessions")))]),
  ]
  const found = { present: NOTHING, missing: NOTHING, extra: NOTHING, examples: [] as Comparison["examples"][number][] }
  const breathe = createBreather()
  for (const table of tables.values()) {
    const isBytes = table.role === "blobs"
    const owners = isBytes ? [...new Set([...(await idsOf(from, table)), ...(await idsOf(to, table))])] : sessionIds
    work.onStage(`compare ${table.definition.name}`, owners.length)
    for (let at = 0; at < owners.length; at += OWNERS_AT_ONCE) {
      stopIfAsked(work, "Stopped before everything was compared.")
      const some = owners.slice(at, at + OWNERS_AT_ONCE)
      const [left, right] = await Promise.all([keysOf(from, table, some), keysOf(to, table, some)])
      const missing = left.difference(right)
      found.present = added(found.present, table.role, left.size - missing.size)
      found.missing = added(found.missing, table.role, missing.size)
      found.extra = added(found.extra, table.role, right.difference(left).size)
      for (const key of missing) {
        if (found.examples.length >= EXAMPLES_MAX) break
        found.examples.push({ table: table.definition.name, key: JSON.parse(key) as string[] })
      }
      work.onRows(at + some.length)
      breathe((left.size + right.size) * KEY_BYTES)
    }
  }
  return found
}

async function idsOf(store: Store, table: ArchivedTable | undefined): Promise<string[]> {
  if (table === undefined) return []
  const column = ownerColumn(table)
  const ids: string[] = []
  for await (const rows of store.table(table.definition).batches({ columns: [column] })) {
    for (const row of rows) ids.push(String(row[column]))
  }
  return ids
}

async function keysOf(store: Store, table: ArchivedTable, owners: readonly string[]): Promise<Set<string>> {
  const { key } = table.definition
  const where = isIn(ownerColumn(table), owners)
  const rows = await store.table(table.definition).read({ columns: key, where })
  return new Set(rows.map((row) => JSON.stringify(key.map((name) => row[name]))))
}

/**
 * Whether one store has every row of another, proved by comparing the keys of all rows. Tables whose rows stand in the same
 * order are compared side by side; others a hundred sessions at a time, so that memory does not grow with the stores.
 */
import { lazy } from "../platform/lazy.ts"
import { openLedger } from "../platform/memory.ts"
import { isIn } from "../substrate/filter.ts"
import type { Store } from "../substrate/table.ts"
import type { AnyRow } from "../substrate/table-definition.ts"
import { type ArchivedTable, addRows, NO_ROWS, ownerColumn, type RowCounts, tablesOf } from "./rows/archived-tables.ts"
import { countSameRows } from "./rows/count-same-rows.ts"
import { stopIfAsked, type Work } from "./work.ts"

export interface Comparison {
  /** Rows that both have. */
  readonly present: RowCounts
  /** Rows of the first that the second lacks. */
  readonly missing: RowCounts
  /** Rows of the second that the first does not have. */
  readonly extra: RowCounts
  /** A few of the missing rows. */
  readonly examples: readonly { readonly table: string; readonly key: readonly string[] }[]
}

/** For each table by name: the first row number that is not compared. */
export type RowLimits = ReadonlyMap<string, number>

/** Rows that are written after this call are not compared. Otherwise a store in use could never be proved complete. */
export async function rowLimitsOf(store: Store): Promise<RowLimits> {
  const tables = await tablesOf(store)
  return new Map(
    await Promise.all(
      tables.map(async ({ definition }) => [definition.name, await store.table(definition).nextRowNumber()] as const),
    ),
  )
}

const OWNERS_AT_ONCE = 100
/** What a compared key takes as an object and as a text, about. */
const KEY_BYTES = 600
const EXAMPLES_MAX = 20
const STOPPED = "Stopped before everything was compared."

/** Whether the second store has all rows of the first that lie below the limits. */
export async function compareStores(from: Store, to: Store, work: Work, limits?: RowLimits): Promise<Comparison> {
  const until = limits ?? (await rowLimitsOf(from))
  const tables = new Map(
    [...(await tablesOf(from)), ...(await tablesOf(to))].map((each) => [each.definition.name, each]),
  )
  const sessionIds = lazy(() => idsOfBoth(from, to, tables.get("sessions")))
  const found: Found = { present: NO_ROWS, missing: NO_ROWS, extra: NO_ROWS, examples: [] }
  const memory = openLedger("archivedRows")
  for (const table of tables.values()) {
    const { definition, role } = table
    const both = [from.table(definition), to.table(definition)] as const
    work.onStage(`compare ${definition.name}`, await both[0].count())
    const reach = until.get(definition.name) ?? 0
    const hasGrown = (await both[0].nextRowNumber()) > reach
    const same = await countSameRows(definition, both, hasGrown ? reach : undefined, (rows, bytes) => {
      stopIfAsked(work, STOPPED)
      work.onRows(rows)
      memory.made(bytes)
    })
    if (same !== undefined) {
      found.present = addRows(found.present, role, same)
      continue
    }
    const owners = role === "blobs" ? await idsOfBoth(from, to, table) : await sessionIds()
    const later = hasGrown ? await keysFrom(from, table, reach) : new Set<string>()
    work.onStage(`compare ${definition.name}`, owners.length)
    for (let at = 0; at < owners.length; at += OWNERS_AT_ONCE) {
      stopIfAsked(work, STOPPED)
      const some = owners.slice(at, at + OWNERS_AT_ONCE)
      const [left, right] = await Promise.all([keysOf(from, table, some), keysOf(to, table, some)])
      compareKeys(found, table, { left, right, later })
      work.onRows(at + some.length)
      memory.made((left.size + right.size) * KEY_BYTES)
    }
  }
  return found
}

type Found = { -readonly [Name in keyof Comparison]: Comparison[Name] }

interface Keys {
  readonly left: Set<string>
  readonly right: Set<string>
  /** Of the left, those beyond the limit. */
  readonly later: Set<string>
}

function compareKeys(found: Found, { definition, role }: ArchivedTable, { left, right, later }: Keys): void {
  const absent = left.difference(right)
  const missing = absent.difference(later)
  found.present = addRows(found.present, role, left.size - absent.size)
  found.missing = addRows(found.missing, role, missing.size)
  found.extra = addRows(found.extra, role, right.difference(left).size)
  const shown = [...missing].slice(0, EXAMPLES_MAX - found.examples.length)
  const examples = shown.map((key) => ({ table: definition.name, key: JSON.parse(key) as string[] }))
  found.examples = [...found.examples, ...examples]
}

async function idsOfBoth(from: Store, to: Store, table: ArchivedTable | undefined): Promise<string[]> {
  return [...new Set([...(await idsOf(from, table)), ...(await idsOf(to, table))])]
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
  return new Set(rows.map((row) => serializeKey(table, row)))
}

async function keysFrom(store: Store, table: ArchivedTable, reach: number): Promise<Set<string>> {
  const keys = new Set<string>()
  const stretches = store.table(table.definition).scanByNumber({ from: reach, columns: table.definition.key })
  for await (const { rows } of stretches) for (const row of rows) keys.add(serializeKey(table, row))
  return keys
}

function serializeKey({ definition }: ArchivedTable, row: AnyRow): string {
  return JSON.stringify(definition.key.map((name) => row[name]))
}

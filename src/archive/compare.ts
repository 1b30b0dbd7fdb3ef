/**
 * Whether one store has every row of another with the same content, proved by comparing all rows. Tables whose rows stand in the same
 * order are compared side by side; others a hundred sessions at a time, so that memory does not grow with the stores.
 */
import { lazy } from "../platform/lazy.ts"
import { openLedger } from "../platform/memory.ts"
import { isIn } from "../substrate/filter.ts"
import type { Store } from "../substrate/table.ts"
import type { AnyRow } from "../substrate/table-definition.ts"
import {
  type ArchivedTable,
  addRows,
  comparedColumns,
  NO_ROWS,
  ownerColumn,
  type RowCounts,
  tablesOf,
} from "./rows/archived-tables.ts"
import { countSameRows } from "./rows/count-same-rows.ts"
import type { ChosenRows } from "./rows/selection.ts"
import { stopIfAsked, type Work } from "./work.ts"

export interface Comparison {
  /** Rows that both have. */
  readonly present: RowCounts
  /** Rows of the first that the second lacks. */
  readonly missing: RowCounts
  /** Rows of the second that the first does not have. */
  readonly extra: RowCounts
  /** Rows that both have, with other content. */
  readonly different: RowCounts
  /** A few of the rows that are missing or different. */
  readonly examples: readonly Example[]
}

export interface Example {
  readonly table: string
  readonly key: readonly string[]
  readonly found: "missing" | "different"
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

export interface CompareOptions {
  readonly limits?: RowLimits
  /** Which of these values the second store has to have, of those that are stored apart. */
  readonly needed?: (hashes: readonly string[]) => Promise<ReadonlySet<string>>
  /** Rows of these sessions, and these values, are compared alone. */
  readonly changed?: ChosenRows | undefined
}

/** Whether the second store has all rows of the first that lie below the limits, as they are there. */
export async function compareStores(
  from: Store,
  to: Store,
  work: Work,
  { limits, needed = (hashes) => Promise.resolve(new Set(hashes)), changed }: CompareOptions = {},
): Promise<Comparison> {
  const until = limits ?? (await rowLimitsOf(from))
  const erased = await to.erased()
  const tables = new Map(
    [...(await tablesOf(from)), ...(await tablesOf(to))].map((each) => [each.definition.name, each]),
  )
  const sessionIds = lazy(() => idsOfBoth(from, to, tables.get("sessions")))
  const found: Found = { present: NO_ROWS, missing: NO_ROWS, extra: NO_ROWS, different: NO_ROWS, examples: [] }
  const memory = openLedger("archivedRows")
  for (const table of tables.values()) {
    const { definition, role } = table
    const both = [from.table(definition), to.table(definition)] as const
    work.onStage(`compare ${definition.name}`, await both[0].count())
    const reach = until.get(definition.name) ?? 0
    const hasGrown = (await both[0].nextRowNumber()) > reach
    const sideBySide = () =>
      countSameRows(comparedColumns(table), both, hasGrown ? reach : undefined, (rows, bytes) => {
        stopIfAsked(work, STOPPED)
        work.onRows(rows)
        memory.made(bytes)
      })
    const same = changed === undefined ? await sideBySide() : undefined
    if (same !== undefined) {
      found.present = addRows(found.present, role, same)
      continue
    }
    const owners = ownersIn(changed, role) ?? (role === "blobs" ? await idsOfBoth(from, to, table) : await sessionIds())
    const later = hasGrown ? await keysFrom(from, table, reach) : new Set<string>()
    work.onStage(`compare ${definition.name}`, owners.length)
    for (let at = 0; at < owners.length; at += OWNERS_AT_ONCE) {
      stopIfAsked(work, STOPPED)
      const some = owners.slice(at, at + OWNERS_AT_ONCE)
      const [stored, right] = await Promise.all([rowsOf(from, table, some), rowsOf(to, table, some)])
      const isWanted =
        role === "blobs" ? await wantedBlobs(stored, right, needed) : (owner: string) => !erased.has(owner)
      const left = new Map([...stored].filter(([key]) => isWanted(ownerOf(key))))
      compareRows(found, table, { left, right, later })
      work.onRows(at + some.length)
      memory.made((left.size + right.size) * KEY_BYTES)
    }
  }
  return found
}

function ownersIn(changed: ChosenRows | undefined, role: ArchivedTable["role"]): readonly string[] | undefined {
  return changed && [...changed[role === "blobs" ? "blobs" : "sessions"]]
}

function ownerOf(key: string): string {
  return (JSON.parse(key) as readonly string[])[0] ?? ""
}

async function wantedBlobs(
  all: ReadonlyMap<string, unknown>,
  there: ReadonlyMap<string, unknown>,
  needed: NonNullable<CompareOptions["needed"]>,
): Promise<(hash: string) => boolean> {
  const missing = [...all.keys()].filter((key) => !there.has(key)).map(ownerOf)
  const used = missing.length === 0 ? new Set<string>() : await needed(missing)
  const spared = new Set(missing.filter((hash) => !used.has(hash)))
  return (hash) => !spared.has(hash)
}

type Found = { -readonly [Name in keyof Comparison]: Comparison[Name] }

interface Rows {
  /** By their keys, a hash of what they say. */
  readonly left: ReadonlyMap<string, bigint>
  readonly right: ReadonlyMap<string, bigint>
  /** Of the left, those beyond the limit. */
  readonly later: ReadonlySet<string>
}

function compareRows(found: Found, { definition, role }: ArchivedTable, { left, right, later }: Rows): void {
  const absent = [...left.keys()].filter((key) => !right.has(key))
  const missing = absent.filter((key) => !later.has(key))
  const different = [...left].flatMap(([key, hash]) => (right.has(key) && right.get(key) !== hash ? [key] : []))
  found.present = addRows(found.present, role, left.size - absent.length)
  found.missing = addRows(found.missing, role, missing.length)
  found.different = addRows(found.different, role, different.length)
  found.extra = addRows(found.extra, role, [...right.keys()].filter((key) => !left.has(key)).length)
  const shown = [
    ...missing.map((key) => ({ key, found: "missing" as const })),
    ...different.map((key) => ({ key, found: "different" as const })),
  ].slice(0, EXAMPLES_MAX - found.examples.length)
  const examples = shown.map(({ key, found: what }) => ({
    table: definition.name,
    key: JSON.parse(key) as string[],
    found: what,
  }))
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

async function rowsOf(
  store: Store,
  table: ArchivedTable,
  owners: readonly string[],
): Promise<ReadonlyMap<string, bigint>> {
  const columns = comparedColumns(table)
  const rows = await store.table(table.definition).read({ columns, where: isIn(ownerColumn(table), owners) })
  return new Map(rows.map((row) => [serializeKey(table, row), hashOf(columns.map((name) => row[name]))]))
}

/** Numbers of 64 bits have no form in JSON. */
function hashOf(values: readonly unknown[]): bigint {
  const text = JSON.stringify(values, (_name, value) => (typeof value === "bigint" ? `${value}n` : value))
  return Bun.hash.xxHash3(text)
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

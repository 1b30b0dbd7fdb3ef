/**
 * What a copy has verified, noted so that the next one between the same two stores reads what came since. Rows are only
 * added and keep their numbers, so what came is what has a higher number than was noted. The note counts only while both
 * stores are the ones that it speaks of: a table made anew, a repair, an erased session or a row that is gone from the target
 * has everything compared again.
 */
import { isJsonObject, type JsonValue } from "../model/json.ts"
import type { Store } from "../substrate/table.ts"
import type { RowLimits } from "./compare.ts"
import { type ArchivedTable, ownerColumn, tablesOf } from "./rows/archived-tables.ts"
import type { ChosenRows } from "./rows/selection.ts"

export interface CopyNote {
  readonly format: 1
  readonly from: NotedStore
  readonly to: NotedStore
}

interface NotedStore {
  readonly generation: number
  readonly erased: string
  /** By name. */
  readonly tables: Readonly<Record<string, NotedTable>>
}

interface NotedTable {
  readonly id: string
  /** The first row number that the copy has not looked at. */
  readonly reach: number
  /** How many rows there were below it. */
  readonly rows: number
}

/** To be asked behind a copy that is whole; `limits` are the rows of the source that it has compared. */
export async function noteCopy(from: Store, to: Store, limits: RowLimits): Promise<CopyNote> {
  return { format: 1, from: await describeStore(from, limits), to: await describeStore(to) }
}

async function describeStore(store: Store, limits?: RowLimits): Promise<NotedStore> {
  const tables: Record<string, NotedTable> = {}
  for (const table of await tablesOf(store)) {
    const { name } = table.definition
    const reach = limits === undefined ? await store.table(table.definition).nextRowNumber() : (limits.get(name) ?? 0)
    tables[name] = { id: await tableIdOf(store, table), reach, rows: await rowsBelow(store, table, reach) }
  }
  return { ...(await generationsOf(store)), tables }
}

async function generationsOf(store: Store): Promise<Omit<NotedStore, "tables">> {
  const [generation, { version }] = await Promise.all([store.generation(), store.erased()])
  return { generation, erased: String(version) }
}

async function tableIdOf(store: Store, { definition }: ArchivedTable): Promise<string> {
  // Known once the table is open.
  await store.table(definition).count()
  return store.tableId(definition.name) ?? ""
}

/** Costs the rows above. */
async function rowsBelow(store: Store, { definition }: ArchivedTable, reach: number): Promise<number> {
  const table = store.table(definition)
  const [first = ""] = definition.key
  let rows = await table.count()
  for await (const { numbers } of table.scanByNumber({ from: reach, columns: [first] })) rows -= numbers.length
  return rows
}

/**
 * The sessions, and the values stored apart, of which the source has rows that the noted copy has not seen. Undefined where
 * the note does not speak of these stores as they are: everything is to be compared.
 */
export async function changedSince(from: Store, to: Store, note: CopyNote): Promise<ChosenRows | undefined> {
  if (!(await isAsNoted(from, note.from)) || !(await isAsNoted(to, note.to))) return undefined
  const changed = { sessions: new Set<string>(), blobs: new Set<string>() }
  for (const table of await tablesOf(from)) {
    // A table that came since the note is looked at whole.
    const reach = note.from.tables[table.definition.name]?.reach ?? 0
    const column = ownerColumn(table)
    const met = table.role === "blobs" ? changed.blobs : changed.sessions
    for await (const { rows } of from.table(table.definition).scanByNumber({ from: reach, columns: [column] }))
      for (const row of rows as readonly Readonly<Record<string, unknown>>[]) met.add(String(row[column]))
  }
  return changed
}

async function isAsNoted(store: Store, noted: NotedStore): Promise<boolean> {
  const { generation, erased } = await generationsOf(store)
  if (generation !== noted.generation || erased !== noted.erased) return false
  const tables = new Map((await tablesOf(store)).map((table) => [table.definition.name, table]))
  for (const [name, { id, reach, rows }] of Object.entries(noted.tables)) {
    const table = tables.get(name)
    if (table === undefined || (await tableIdOf(store, table)) !== id) return false
    if ((await rowsBelow(store, table, reach)) !== rows) return false
  }
  return true
}

/** A note that was read from a file; nothing where it is none. */
export function copyNoteFrom(value: JsonValue): CopyNote | undefined {
  if (!isJsonObject(value) || value["format"] !== 1) return undefined
  return isStoreNote(value["from"]) && isStoreNote(value["to"]) ? (value as unknown as CopyNote) : undefined
}

function isStoreNote(value: JsonValue | undefined): boolean {
  if (value === undefined || !isJsonObject(value)) return false
  const { generation, erased, tables } = value
  const isTold = typeof generation === "number" && typeof erased === "string"
  return isTold && tables !== undefined && isJsonObject(tables) && Object.values(tables).every(isTableNote)
}

function isTableNote(value: JsonValue): boolean {
  if (!isJsonObject(value)) return false
  const { id, reach, rows } = value
  return typeof id === "string" && Number.isSafeInteger(reach) && Number.isSafeInteger(rows)
}

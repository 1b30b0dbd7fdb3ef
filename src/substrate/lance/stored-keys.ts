/**
 * Answers which keys a table holds already. A handle that alone has filled a table knows the fingerprints of all its keys,
 * so a key that is not among them needs no lookup: without them a first import looks through all that it has stored for
 * each flush, which was a third of its time at a million messages.
 *
 * The fingerprints hold while the table has as many rows as this handle has stored, because rows leave a table that is not
 * derived only in a purge, which adds tombstones; for a derived table, while nobody else has made a version of it. A fingerprint may stand for two keys,
 * and more keys may be known than were then stored, so a key that seems to be stored is looked up like any other.
 */
import { assert } from "../../model/errors.ts"
import { CompactFingerprintSet, FingerprintSet } from "../../platform/fingerprint-set.ts"
import { type ColumnBatch, columnsOf, keyHashes, ofColumns, rowsOfColumns, valuesOf } from "../columns/column-batch.ts"
import { pickRows } from "../columns/slice-columns.ts"
import { and, type FilterValue, isIn } from "../filter.ts"
import type { AnyRow, TableDefinition } from "../table-definition.ts"
import type { Dataset, OwnRows } from "./dataset.ts"
import { countNewest, keyValue, type Scan, scanNewest, scanNewestColumns } from "./read.ts"

/** The fingerprints of so many rows take 50 MB. A larger table is always asked. */
const KEYS_MAX = 8_000_000
/** Above this share of new rows, lookups have cost as much as reading every key once. */
const NEW_ROWS_SHARE = 1 / 8
/** Up to so many rows are looked up by the whole key, and more by its leading column: a longer list costs more than it saves. */
const NARROW_ROWS_MAX = 256

/** Rows that are offered to a table, in whatever form. */
export interface OfferedKeys {
  readonly length: number
  /** Two halves of a hash of the named columns for each row (see `keyHashes`). */
  hashes(names: readonly string[]): Uint32Array
  /** The key of each row. Asked for only where a fingerprint does not decide. */
  keys(): readonly AnyRow[]
}

export interface AbsentRows {
  /** Row numbers of the offer, rising: the first row of each key that is not stored. */
  readonly absent: readonly number[]
  /** The fingerprint set of the keys that were looked up; absent if the lookup asked the table. */
  readonly own: OwnRows | undefined
}

/** For a writer that holds the lock. */
export async function findAbsent(dataset: Dataset, offered: OfferedKeys): Promise<AbsentRows> {
  const { key } = dataset.definition
  const own = await currentFingerprints(dataset)
  const doubtful = own && addAndFindDoubtful(own.keys, offered.hashes(key))
  if (doubtful?.size === 0) return { own, absent: Array.from({ length: offered.length }, (_, row) => row) }
  const keys = offered.keys()
  const absent = new Map<string, number>()
  for (const [row, value] of keys.entries()) {
    const text = keyText(key, value)
    if (!absent.has(text)) absent.set(text, row)
  }
  const toLookUp = [...absent.values()].filter((row) => doubtful?.has(row) !== false)
  for (const found of await lookUp(
    dataset,
    toLookUp.map((row) => keys[row] as AnyRow),
  ))
    absent.delete(keyText(key, found))
  return { own, absent: [...absent.values()] }
}

export interface StoredRows {
  readonly inserted: number
  /** Of a derived table the version that holds them. */
  readonly version: number | undefined
  /** Of all rows that were offered. */
  hashes(names: readonly string[]): Uint32Array
}

/** Keeps the fingerprints true after a write. */
export function addStored(dataset: Dataset, { inserted, version, hashes }: StoredRows): void {
  const { own } = dataset
  if (own === undefined) return
  own.rows += inserted
  own.version = version
  for (const [name, values] of own.values) addHashes(values, hashes([name]))
  if (own.keys.size > KEYS_MAX) dataset.own = undefined
}

/** Those of the values that a row may have in a column of the key; all of them where this handle has no fingerprints. */
export async function perhapsThere(
  dataset: Dataset,
  column: string,
  values: readonly string[],
): Promise<readonly string[]> {
  if (values.length === 0) return []
  const known = await fingerprintsOfColumn(dataset, column)
  if (known === undefined) return values
  const rows = values.map((value) => ({ [column]: value }))
  const hashes = hashesOf(columnsOf(dataset.definition, rows, [column]))
  return values.filter((_, row) => known.mayHaveHash(hashes[2 * row] as number, hashes[2 * row + 1] as number))
}

// --- Fingerprints ----------------------------------------------------------------------------------------------------

/** Undefined where somebody else may have stored rows. */
async function currentFingerprints(dataset: Dataset): Promise<OwnRows | undefined> {
  const stored = await countNewest(dataset)
  const { version: erasedVersion } = await dataset.erased()
  if (stored === 0 && mayBeOwn(dataset)) dataset.own = newFingerprints(0, new CompactFingerprintSet(), erasedVersion)
  if (dataset.own !== undefined && !(await isOwn(dataset, dataset.own, { stored, erasedVersion }))) {
    dataset.own = undefined
    // Otherwise two writers that alternate would both read every key each time.
    dataset.put = 0
  }
  if (dataset.own === undefined && paysToRead(dataset, stored))
    dataset.own = newFingerprints(...(await readFingerprints(dataset, dataset.definition.key)), erasedVersion)
  return dataset.own
}

function newFingerprints(rows: number, keys: CompactFingerprintSet, erasedVersion: number): OwnRows {
  return { rows, keys, values: new Map(), version: undefined, erasedVersion }
}

/** In a bucket another machine may make a version between ours and the look at it. */
function mayBeOwn({ definition, local }: Dataset): boolean {
  return definition.derived !== true || local !== undefined
}

async function isOwn(
  { definition, newest, attempt }: Dataset,
  own: OwnRows,
  { stored, erasedVersion }: { readonly stored: number; readonly erasedVersion: number },
): Promise<boolean> {
  if (own.rows !== stored || own.erasedVersion !== erasedVersion) return false
  if (definition.derived !== true || stored === 0) return true
  const table = await newest()
  return table !== undefined && own.version === (await attempt(() => table.version()))
}

/**
 * A writer that goes on with a session that is most of the table would look through it again for every commit, and one
 * that brings much to a table would look through what it has brought.
 */
function paysToRead({ definition, lookedThrough, put }: Dataset, stored: number): boolean {
  if (definition.derived === true || stored > KEYS_MAX) return false
  return lookedThrough * 2 > stored || put > stored * NEW_ROWS_SHARE
}

async function readFingerprints(
  dataset: Dataset,
  columns: readonly string[],
): Promise<readonly [rows: number, CompactFingerprintSet]> {
  const known = new CompactFingerprintSet()
  let rows = 0
  for await (const batch of scanNewestColumns(dataset, { columns })) {
    addHashes(known, hashesOf(batch))
    rows += batch.length
  }
  return [rows, known]
}

async function fingerprintsOfColumn(dataset: Dataset, column: string): Promise<CompactFingerprintSet | undefined> {
  const { own } = dataset
  const { key, derived, name } = dataset.definition
  assert(key.includes(column), `fingerprints of ${name} are kept for its key, and ${column} is not part of it`)
  if (own === undefined || derived === true || own.rows !== (await countNewest(dataset))) return undefined
  if (key.length === 1 && key[0] === column) return own.keys
  const known = own.values.get(column)
  if (known !== undefined) return known
  const [rows, values] = await readFingerprints(dataset, [column])
  // Rows that are stored meanwhile are added to the columns that are known already, and are not in this one.
  if (dataset.own !== own || own.rows !== rows) return undefined
  own.values.set(column, values)
  return values
}

/** The rows whose key may be stored, or stands before them in the offer. All keys are known from here on. */
function addAndFindDoubtful(known: CompactFingerprintSet, hashes: Uint32Array): ReadonlySet<number> {
  const doubtful = new Set<number>()
  for (let row = 0; 2 * row < hashes.length; row++) {
    if (!known.addHash(hashes[2 * row] as number, hashes[2 * row + 1] as number)) doubtful.add(row)
  }
  return doubtful
}

function hashesOf(batch: ColumnBatch): Uint32Array {
  return keyHashes(valuesOf(batch), batch.length)
}

/** Hashes of rows that are no columns yet. */
export function hashesOfRows(
  definition: TableDefinition,
  rows: readonly AnyRow[],
  columns: readonly string[],
): Uint32Array {
  return hashesOf(columnsOf(definition, rows, columns))
}

function addHashes(keys: Pick<FingerprintSet, "addHash">, hashes: Uint32Array): void {
  for (let half = 0; half < hashes.length; half += 2) keys.addHash(hashes[half] as number, hashes[half + 1] as number)
}

// --- Lookup ----------------------------------------------------------------------------------------------------------

/** Those of the keys that are stored, and perhaps others. */
async function lookUp(dataset: Dataset, keys: readonly AnyRow[]): Promise<readonly AnyRow[]> {
  if (keys.length === 0) return []
  const { key } = dataset.definition
  const isNarrow = keys.length <= NARROW_ROWS_MAX
  const filtered = isNarrow ? key : key.slice(0, 1)
  const filters = filtered.map((name) => isIn(name, [...new Set(keys.map((row) => keyValue(row, name)))]))
  const scan = { columns: key, where: and(...filters) }
  return isNarrow ? await scanNewest(dataset, scan) : await scanForKeys(dataset, keys, scan)
}

/** A session of a million messages has a million keys: rows are made only of those that may be asked for. */
async function scanForKeys(dataset: Dataset, keys: readonly AnyRow[], scan: Scan): Promise<AnyRow[]> {
  const { definition } = dataset
  const asked = new FingerprintSet()
  addHashes(asked, hashesOfRows(definition, keys, definition.key))
  const found: AnyRow[] = []
  dataset.lookedThrough = 0
  for await (const batch of scanNewestColumns(dataset, scan)) {
    dataset.lookedThrough += batch.length
    const hashes = hashesOf(batch)
    const rows = Array.from({ length: batch.length }, (_, row) => row).filter((row) =>
      asked.mayHaveHash(hashes[2 * row] as number, hashes[2 * row + 1] as number),
    )
    found.push(...rowsOfColumns(definition, pickRows(ofColumns(batch, definition.key), rows)))
  }
  return found
}

/** One string per key. Each value says its length, so that no two keys read the same. */
function keyText(key: readonly string[], row: AnyRow): string {
  return key.map((name) => lengthPrefixed(keyValue(row, name))).join("")
}

function lengthPrefixed(value: FilterValue): string {
  const text = String(value)
  return `${text.length}:${text}`
}

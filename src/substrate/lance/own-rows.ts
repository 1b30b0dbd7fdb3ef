/**
 * What a handle knows of a table that it alone has filled: the keys of all its rows, and what stands in a column that it was
 * asked for. What is not among those is not there, and need not be looked up. A first import would otherwise look through
 * all that it has stored for each flush: of a million messages that was a third of its time.
 *
 * It holds while the table has as many rows as were put there, because rows never leave a table that is not derived; of one
 * that is, while nobody else has made a version of it. Keys are kept as fingerprints, and more may be known than
 * was then stored: what seems to be there is looked up, like any that may be.
 */

import { assert } from "../../model/errors.ts"
import { CompactFingerprintSet } from "../../platform/fingerprint-set.ts"
import { columnsOf, keyHashes, valuesOf } from "../columns/column-batch.ts"
import type { AnyRow, TableDefinition } from "../table-definition.ts"
import type { Dataset, OwnRows } from "./dataset.ts"
import { countNewest, scanNewestColumns } from "./read.ts"

/** The keys of so many rows take 50 MB. Beyond them the table is asked what it holds, as any other. */
const KEYS_MAX = 8_000_000

/** As the table is now, for a writer whose turn it is; nothing where others may have put something there. */
export async function ownRows(dataset: Dataset): Promise<OwnRows | undefined> {
  const stored = await countNewest(dataset)
  if (stored === 0 && mayBeOwn(dataset)) dataset.own = ownOf(0, new CompactFingerprintSet())
  if (dataset.own !== undefined && !(await isOwn(dataset, dataset.own, stored))) {
    dataset.own = undefined
    // Two who write by turns would both look through all of it each time.
    dataset.put = 0
  }
  if (dataset.own === undefined && isLearnt(dataset, stored)) {
    dataset.own = ownOf(...(await learnt(dataset, dataset.definition.key)))
  }
  return dataset.own
}

function ownOf(rows: number, keys: CompactFingerprintSet): OwnRows {
  return { rows, keys, values: new Map(), version: undefined }
}

/** In a bucket a version of another machine may come between ours and the look at it. */
function mayBeOwn({ definition, local }: Dataset): boolean {
  return definition.derived !== true || local !== undefined
}

async function isOwn({ definition, newest, attempt }: Dataset, own: OwnRows, stored: number): Promise<boolean> {
  if (own.rows !== stored) return false
  if (definition.derived !== true || stored === 0) return true
  const table = await newest()
  return table !== undefined && own.version === (await attempt(() => table.version()))
}

export interface PutRows {
  readonly inserted: number
  readonly version: number | undefined
  /** Of all that were offered, what stands in those columns. */
  hashesOf(names: readonly string[]): Uint32Array
}

export function addOwnRows(dataset: Dataset, { inserted, version, hashesOf }: PutRows): void {
  const { own } = dataset
  if (own === undefined) return
  own.rows += inserted
  own.version = version
  for (const [name, values] of own.values) addHashes(values, hashesOf([name]))
  if (own.keys.size > KEYS_MAX) dataset.own = undefined
}

/** Those of the values that may stand in that column: all of them, where this handle does not know all that is there. */
export async function perhapsThere(
  dataset: Dataset,
  column: string,
  values: readonly string[],
): Promise<readonly string[]> {
  if (values.length === 0) return []
  const known = await valuesIn(dataset, column)
  if (known === undefined) return values
  const hashes = hashesOfRows(
    dataset.definition,
    values.map((value) => ({ [column]: value })),
    [column],
  )
  return values.filter((_, at) => known.mayHaveHash(hashes[2 * at] as number, hashes[2 * at + 1] as number))
}

async function valuesIn(dataset: Dataset, column: string): Promise<CompactFingerprintSet | undefined> {
  const { own } = dataset
  const { key, derived, name } = dataset.definition
  assert(key.includes(column), `of ${name} what stands in ${column} is not kept: it is not part of the key`)
  if (own === undefined || derived === true || own.rows !== (await countNewest(dataset))) return undefined
  if (key.length === 1 && key[0] === column) return own.keys
  const known = own.values.get(column)
  if (known !== undefined) return known
  const [rows, values] = await learnt(dataset, [column])
  // What is stored meanwhile is added to those that are here already, and is not in this one.
  if (dataset.own !== own || own.rows !== rows) return undefined
  own.values.set(column, values)
  return values
}

/** By then the looks at what no index holds yet have cost as much as all that is there, once. */
const PUT_SHARE = 1 / 8

/**
 * Who goes on with a session that is most of the table would look through it again for every commit, and who brings much
 * to what is there would look through what he has brought.
 */
function isLearnt({ definition, lookedThrough, put }: Dataset, stored: number): boolean {
  if (definition.derived === true || stored > KEYS_MAX) return false
  return lookedThrough * 2 > stored || put > stored * PUT_SHARE
}

async function learnt(
  dataset: Dataset,
  columns: readonly string[],
): Promise<readonly [rows: number, CompactFingerprintSet]> {
  const known = new CompactFingerprintSet()
  let rows = 0
  for await (const batch of scanNewestColumns(dataset, { columns })) {
    addHashes(known, keyHashes(valuesOf(batch), batch.length))
    rows += batch.length
  }
  return [rows, known]
}

export function hashesOfRows(
  definition: TableDefinition,
  rows: readonly AnyRow[],
  columns: readonly string[],
): Uint32Array {
  return keyHashes(valuesOf(columnsOf(definition, rows, columns)), rows.length)
}

export function addHashes(keys: Pick<CompactFingerprintSet, "addHash">, hashes: Uint32Array): void {
  for (let half = 0; half < hashes.length; half += 2) keys.addHash(hashes[half] as number, hashes[half + 1] as number)
}

/**
 * A table at one version, for work that reads all of it: an export, a copy. While it lasts no clean-up of this machine
 * takes the version away, and what others write meanwhile is not seen, so that several tables begun one after the other
 * can be read in any order.
 */
import type { Table as LanceTable } from "@lancedb/lancedb"
import type { RecordBatch } from "apache-arrow"
import { answerOfRecord } from "../columns/answer.ts"
import { rowsOf } from "../columns/arrow-rows.ts"
import { batchOfRecord, batchOfRows, type RowBatch, withoutAbsentTexts } from "../columns/row-batch.ts"
import type { Filter } from "../filter.ts"
import type { Snapshot } from "../table.ts"
import type { AnyRow, Columns, TableDefinition } from "../table-definition.ts"
import type { Dataset } from "./dataset.ts"
import { batchesOf, bytesOf, countOf, readable } from "./read.ts"

/** Blobs come one by one once they are large. */
const BLOB_BYTES = 8 * 1024 * 1024

/** Nothing where the table was never written. */
export async function beginSnapshot(dataset: Dataset): Promise<Snapshot<Columns> | undefined> {
  const read = await dataset.beginRead()
  if (read === undefined) return undefined
  // A separate handle stays at the version that it was opened at.
  const table = await dataset.separate()
  if (table === undefined) {
    read.end()
    return undefined
  }
  const { definition } = dataset
  const blobs = blobColumns(definition)
  const passing = (where: Filter | undefined) => readable(dataset, read, given(where))
  return {
    count: (where) => countOf(dataset, table, passing(where).where),
    rows: async function* (columns, where) {
      for await (const record of batchesOf(dataset, table, { columns, ...passing(where) })) {
        yield rowsOf(definition, answerOfRecord(record)) as never
      }
    },
    batches: (where) =>
      blobs.length === 0
        ? columnBatches(dataset, table, Object.keys(definition.columns), passing(where).where)
        : blobBatches(dataset, table, passing(where).where),
    end: () => {
      table.close()
      read.end()
    },
  }
}

async function* columnBatches(
  dataset: Dataset,
  table: LanceTable,
  columns: readonly string[],
  where: Filter | undefined,
): AsyncGenerator<RowBatch> {
  for await (const record of batchesOf(dataset, table, { columns, ...given(where) })) {
    if (record.numRows > 0) yield batchOfRecord(dataset.definition, withoutAbsentTexts(dataset.definition, record))
  }
}

/** Of a handle that its caller keeps: whole rows with their blobs, some megabytes at a time. */
export async function* blobBatches(
  dataset: Dataset,
  table: LanceTable,
  where: Filter | undefined,
): AsyncGenerator<RowBatch> {
  const blobs = blobColumns(dataset.definition)
  const columns = [...Object.keys(dataset.definition.columns), "_rowid"]
  for await (const record of batchesOf(dataset, table, { columns, ...given(where) })) {
    const rows = rowsOf(dataset.definition, answerOfRecord(record))
    const sizes = rows.map((_, index) => blobs.reduce((sum, name) => sum + describedSize(record, name, index), 0))
    for (const group of groupsWithin(rows, sizes)) {
      yield batchOfRows(dataset.definition, await withBlobs(dataset, table, blobs, group))
    }
  }
}

export function blobColumns({ columns }: TableDefinition): readonly string[] {
  return Object.keys(columns).filter((name) => columns[name]?.kind === "blob")
}

/** In place of the bytes a scan gives where they lie, and how many there are. */
function describedSize(record: RecordBatch, name: string, index: number): number {
  const described = record.getChild(name)?.get(index) as { readonly size?: bigint } | null | undefined
  return Number(described?.size ?? 0n)
}

function groupsWithin(rows: readonly AnyRow[], sizes: readonly number[]): AnyRow[][] {
  const groups: AnyRow[][] = []
  let used = Number.POSITIVE_INFINITY
  for (const [index, row] of rows.entries()) {
    const size = sizes[index] ?? 0
    if (used + size > BLOB_BYTES) {
      groups.push([])
      used = 0
    }
    groups.at(-1)?.push(row)
    used += size
  }
  return groups
}

async function withBlobs(
  dataset: Dataset,
  table: LanceTable,
  blobs: readonly string[],
  rows: readonly AnyRow[],
): Promise<AnyRow[]> {
  const ids = rows.map((row) => row["_rowid"] as bigint)
  const bytes = await Promise.all(blobs.map((name) => bytesOf(dataset, table, name, ids)))
  return rows.map(({ _rowid, ...row }, index) => {
    const own = blobs.map((name, at) => [name, bytes[at]?.[index] ?? null])
    return { ...row, ...Object.fromEntries(own) }
  })
}

function given(where: Filter | undefined): { readonly where?: Filter } {
  return where === undefined ? {} : { where }
}

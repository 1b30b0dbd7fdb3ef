/** A table as its consumer sees it: typed rows over the read path, the write path and maintenance. */
import type { ColumnBatch } from "./columns/column-batch.ts"
import type { RowBatch } from "./columns/row-batch.ts"
import type { Filter } from "./filter.ts"
import { type Catalog, openCatalog } from "./lance/catalog.ts"
import type { Dataset } from "./lance/dataset.ts"
import { openDataset } from "./lance/open-dataset.ts"
import { perhapsThere } from "./lance/own-rows.ts"
import {
  countRows,
  explainScan,
  type Key,
  keysFilter,
  type Order,
  readBlobs,
  scanBatches,
  scanColumns,
  scanRows,
  scanWithin,
} from "./lance/read.ts"
import {
  lastCommitOf,
  reachOf,
  type Stretch,
  type StretchRequest,
  scanStretches,
  takeRows,
  versionOf,
} from "./lance/row-numbers.ts"
import type { TextQuery, VectorQuery } from "./lance/search.ts"
import { beginSnapshot, type Snapshot } from "./lance/snapshot.ts"
import {
  deleteWhere,
  type Inserted,
  type InsertedColumns,
  insertAbsent,
  insertBatches,
  insertColumns,
} from "./lance/write.ts"
import { openStoreWriteLock } from "./local/local-table.ts"
import { type Incoming, openIncoming, removeLeft } from "./local/staging.ts"
import type { Location } from "./location.ts"
import { type MaintenanceReport, maintain, type TableStatistics, tableStatistics } from "./maintain/maintain.ts"
import type { Effort } from "./maintain/maintenance-plan.ts"
import type { StoreContext } from "./store-context.ts"
import type { AnyRow, Columns, RowOf, ScannedName, TableDefinition } from "./table-definition.ts"

export interface ReadRequest<C extends Columns, Name extends ScannedName<C>> {
  readonly columns: readonly Name[]
  readonly where?: Filter
  readonly limit?: number
  readonly offset?: number
  readonly orderBy?: readonly (Order & { readonly column: ScannedName<C> })[]
}

export type SearchRequest<C extends Columns, Name extends ScannedName<C>> = Omit<
  ReadRequest<C, Name>,
  "orderBy" | "limit"
> & { readonly limit: number }

export type Picked<C extends Columns, Name extends ScannedName<C>> = Pick<RowOf<C>, Name>

export interface Table<C extends Columns> {
  readonly definition: TableDefinition<C>
  read<Name extends ScannedName<C>>(request: ReadRequest<C, Name>): Promise<Picked<C, Name>[]>
  /** The same within a time; nothing where it was too short. */
  readWithin<Name extends ScannedName<C>>(
    withinMs: number,
    request: ReadRequest<C, Name>,
  ): Promise<Picked<C, Name>[] | undefined>
  /** The same rows, a batch at a time: memory does not grow with the answer. */
  batches<Name extends ScannedName<C>>(request: ReadRequest<C, Name>): AsyncIterable<Picked<C, Name>[]>
  /** The same as columns, without a row being made of them. */
  columnBatches<Name extends ScannedName<C>>(request: ReadRequest<C, Name>): AsyncIterable<ColumnBatch>
  count(where?: Filter): Promise<number>
  /**
   * Those of the values that a row may have in this text column, some without being there. Who fills a table is told so
   * without a read.
   */
  perhapsThere(column: ScannedName<C>, values: readonly string[]): Promise<readonly string[]>
  /** Rows of those keys that are there, in no order. */
  takeByKey<Name extends ScannedName<C>>(keys: readonly Key[], columns: readonly Name[]): Promise<Picked<C, Name>[]>
  /** Rows of those numbers that are there, in no order. A row keeps its number, and a later row has a higher one. */
  takeRows<Name extends ScannedName<C>>(
    rows: readonly number[],
    columns: readonly Name[],
  ): Promise<(Picked<C, Name> & { readonly row: number })[]>
  /** Rows between two such numbers, a batch at a time, with one text column as bytes. */
  stretches<Name extends ScannedName<C>>(request: StretchRequest<Name>): AsyncIterable<Stretch<Picked<C, Name>>>
  /** The number that the next row gets: every row that is there now has a lower one. */
  reach(): Promise<number>
  /** Changes whenever the table does; nothing where it was never written. */
  version(): Promise<number | undefined>
  /** The same, as cheaply as it can be told; of a local table that a crash has left it may be one that heals away. */
  lastCommit(): Promise<string | undefined>
  /** Best first. `_score` grows with how well a row matches. */
  searchText<Name extends ScannedName<C>>(
    query: TextQuery,
    request: SearchRequest<C, Name>,
  ): Promise<(Picked<C, Name> & { readonly _score: number })[]>
  /** Nearest first. `_distance` grows with how far a row is. */
  searchVector<Name extends ScannedName<C>>(
    query: VectorQuery,
    request: SearchRequest<C, Name>,
  ): Promise<(Picked<C, Name> & { readonly _distance: number })[]>
  /** The bytes of the blob column `blob`, with the asked columns of their rows. */
  readBlobs<Blob extends Exclude<keyof C & string, ScannedName<C>>, Name extends ScannedName<C>>(
    column: Blob,
    request: ReadRequest<C, Name>,
  ): Promise<(Picked<C, Name> & { readonly [Of in Blob]: Uint8Array | null })[]>
  /** What the engine did for a read, step by step. Runs it. */
  explain(
    request: ReadRequest<C, ScannedName<C>> & { readonly text?: TextQuery; readonly vector?: VectorQuery },
  ): Promise<string>
  insertAbsent(rows: readonly RowOf<C>[]): Promise<Inserted<RowOf<C>>>
  /** The same for rows as columns. */
  insertColumns(batches: readonly ColumnBatch[]): Promise<InsertedColumns>
  /** The same for whole batches; rows whose key is refused are left out. */
  insertBatches(
    batches: readonly RowBatch[],
    isTaken?: (key: AnyRow) => boolean,
  ): Promise<Pick<Inserted, "inserted" | "present">>
  /** The table as it is now, until `end`; nothing where it was never written. */
  snapshot(): Promise<Snapshot<C> | undefined>
  /** Of a table declared as derived; refused for any other. */
  deleteWhere(where: Filter): Promise<{ readonly deleted: number }>
  /** Does what the table needs by now: `lookups` between the flushes of an import, `due` after it, `all` when asked for. */
  maintain(effort: Effort): Promise<MaintenanceReport>
  /** Nothing where the table was never written. */
  statistics(): Promise<TableStatistics | undefined>
}

export interface Store {
  readonly location: Location
  /** The table of that declaration. Costs nothing until it is used. */
  table<C extends Columns>(definition: TableDefinition<C>): Table<C>
  /**
   * Does the work while nobody else on this machine does such work on this store: what it asks of any table before it writes
   * stays so until it has written. In an object store nobody can be kept out.
   */
  withWriteLock<Result>(work: () => Promise<Result>): Promise<Result>
  /** The tables that were ever written. */
  names(): Promise<readonly string[]>
  /** The store of that name inside this one: same connection settings, same caches. */
  at(folder: string): Store
  /** Tables that nobody sees until they are put in place; nothing where there can be none. */
  incoming(): Promise<IncomingTables | undefined>
  /** Removes what an import that died has left beside the tables. */
  tidy(): Promise<void>
  /** Before anything of it is read: by a process that stays, and seldom reads. */
  keepLittle(): void
  close(): void
}

export interface IncomingTables extends Pick<Incoming, "adopt" | "end"> {
  readonly store: Store
}

export function openStore(location: Location, context: StoreContext): Store {
  return storeOf(openCatalog(location, context))
}

function storeOf(catalog: Catalog): Store {
  const datasets = new Map<string, Dataset>()
  const { location, context } = catalog
  return {
    location,
    withWriteLock: location.backend === "local" ? openStoreWriteLock(location.uri, context) : (work) => work(),
    table: (definition) => {
      const dataset = datasets.get(definition.name) ?? openDataset(catalog, definition as unknown as TableDefinition)
      datasets.set(definition.name, dataset)
      return tableOf(dataset, definition)
    },
    names: () => catalog.names(),
    at: (folder) => storeOf(catalog.at(folder)),
    incoming: async () => {
      const opened = await openIncoming(catalog)
      return opened && { store: storeOf(opened.catalog), adopt: opened.adopt, end: opened.end }
    },
    tidy: () => removeLeft(catalog),
    keepLittle: () => catalog.keepLittle(),
    close: () => catalog.close(),
  }
}

/** Rows leave the read path as the declaration types them: `rowsOf` reads each column by its declared kind. */
function tableOf<C extends Columns>(dataset: Dataset, definition: TableDefinition<C>): Table<C> {
  return {
    definition,
    read: (request) => scanRows(dataset, request) as never,
    readWithin: (withinMs, request) => scanWithin(dataset, request, withinMs) as never,
    batches: (request) => scanBatches(dataset, request) as never,
    columnBatches: (request) => scanColumns(dataset, request),
    count: (where) => countRows(dataset, where),
    perhapsThere: (column, values) => perhapsThere(dataset, column, values),
    takeByKey: (keys, columns) =>
      keys.length === 0
        ? Promise.resolve([])
        : (scanRows(dataset, { columns, where: keysFilter(dataset, keys) }) as never),
    takeRows: (rows, columns) => takeRows(dataset, rows, columns) as never,
    stretches: (request) => scanStretches(dataset, request) as never,
    version: () => versionOf(dataset),
    lastCommit: () => lastCommitOf(dataset),
    reach: () => reachOf(dataset),
    searchText: (text, request) => scanRows(dataset, { ...request, text }) as never,
    searchVector: (vector, request) => scanRows(dataset, { ...request, vector }) as never,
    readBlobs: (column, request) => readBlobs(dataset, column, request) as never,
    explain: (request) => explainScan(dataset, request),
    insertAbsent: (rows) => insertAbsent(dataset, rows as readonly AnyRow[]) as never,
    insertColumns: (batches) => insertColumns(dataset, batches),
    insertBatches: (batches, isTaken) => insertBatches(dataset, batches, isTaken),
    snapshot: () => beginSnapshot(dataset) as never,
    deleteWhere: (where) => deleteWhere(dataset, where),
    maintain: (effort) => maintain(dataset, effort),
    statistics: () => tableStatistics(dataset),
  }
}

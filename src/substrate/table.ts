/**
 * The door of the substrate, as types alone: what a store and a table can do. `open-store.ts` opens one over Lance, and
 * `test/support/memory-store.ts` is the same in memory; `test/substrate/conformance` holds both to these words.
 */
import type { ColumnBatch } from "./columns/column-batch.ts"
import type { RowBatch } from "./columns/row-batch.ts"
import type { Filter, FilterValue } from "./filter.ts"
import type { Location } from "./location.ts"
import type { Effort, MaintenanceStep, TableState } from "./maintain/maintenance-plan.ts"
import type { AnyRow, Columns, Distance, RowOf, ScannedName, TableDefinition } from "./table-definition.ts"
import type { ErasedOwners } from "./tombstones.ts"

// --- Reading ---------------------------------------------------------------------------------------------------------

export interface Order {
  readonly column: string
  readonly descending?: boolean
}

/** The values of the key columns of one row. */
export type Key = Readonly<Record<string, FilterValue>>

export interface ReadRequest<C extends Columns, Name extends ScannedName<C>> {
  readonly columns: readonly Name[]
  readonly where?: Filter
  readonly limit?: number
  readonly offset?: number
  /** By columns that are asked for: the engine fails on others. Rows without a value come last. */
  readonly orderBy?: readonly (Order & { readonly column: Name })[]
}

export interface VectorQuery {
  readonly column: string
  readonly vector: Float32Array
  readonly distance: Distance
  /** Compare with every row that the filter leaves, instead of asking the index. Right for selective filters. */
  readonly exact?: boolean
  readonly probesMin?: number
  /** Recompute this many times the limit with whole vectors. */
  readonly refine?: number
}

export type SearchRequest<C extends Columns, Name extends ScannedName<C>> = Omit<
  ReadRequest<C, Name>,
  "orderBy" | "limit"
> & { readonly limit: number }

export type Picked<C extends Columns, Name extends ScannedName<C>> = Pick<RowOf<C>, Name>

export interface NumberRange<Name extends string = string> extends TakeOptions {
  readonly from: number
  /** The first that is not read. */
  readonly to?: number
  readonly columns: readonly Name[]
  /** A text column that is given as it is stored, because not every value of it is looked at. */
  readonly text?: Name
  readonly where?: Filter
}

export interface TakeOptions {
  /** Rows of erased owners too, as long as they are there: for what proves that the rows are still the same. */
  readonly withErased?: boolean
}

/** Consecutive rows of a scan by row number. */
export interface NumberedRows<Row = AnyRow> {
  readonly rows: readonly Row[]
  /** The numbers of those rows, mostly in order. */
  readonly numbers: readonly number[]
  readonly text: {
    /** Of each row the bytes from its offset to the next one, as they are stored; of a row without a text, none. */
    readonly bytes: Uint8Array
    readonly offsets: Int32Array
    /** The text of a row as it was given. */
    at(index: number): string | null
  }
  /** A copy of the asked columns and of the text, which another thread may have. */
  columns(): ColumnBatch
}

/** A table at one version. What others write meanwhile is not seen, and no clean-up of this machine takes it away. */
export interface Snapshot<C extends Columns> {
  count(where?: Filter): Promise<number>
  rows<Name extends ScannedName<C>>(columns: readonly Name[], where?: Filter): AsyncIterable<Pick<RowOf<C>, Name>[]>
  /** Whole rows, blobs among them. */
  batches(where?: Filter): AsyncIterable<RowBatch>
  end(): void
}

// --- Writing ---------------------------------------------------------------------------------------------------------

export interface Inserted {
  readonly inserted: number
  /** Rows that were there before, or stood twice in what was given. */
  readonly present: number
}

export interface InsertedColumns extends Inserted {
  /** For each batch, how many of its rows were not there when they were looked up. */
  readonly absent: readonly number[]
}

export interface PurgedRows {
  readonly removed: number
  /** Rows that lay in the same files, and were written anew. */
  readonly moved: number
}

// --- Maintenance -----------------------------------------------------------------------------------------------------

export interface MaintenanceReport {
  /** Another process of this machine is at it: nothing was done here. */
  readonly isBusy: boolean
  readonly steps: readonly { readonly step: MaintenanceStep["step"]; readonly why: string; readonly ms: number }[]
}

export interface TableStatistics extends TableState {
  readonly version: number
  /** In a bucket what older versions need stays for an hour, whoever cleans up. */
  readonly isRemote?: true
}

// --- Integrity -------------------------------------------------------------------------------------------------------

export interface CheckOptions {
  /** Read every file and compare it with its checksum. */
  readonly isDeep: boolean
  /** Of the files, which share is read: 1 is all of them. With the number of the round, so that each has its turn. */
  readonly share?: number
  readonly round?: number
  /** Of the tables, which are checked: all of them where it is absent. */
  readonly isAsked?: (table: string) => boolean
  /** Values of the first key column: of tables whose rows are told by it, only files with rows of these are read. */
  readonly groups?: ReadonlySet<string>
  readonly signal?: AbortSignal
  readonly onTable?: (table: string) => void
}

export interface TableDamage {
  /** Below the folder of the table; empty where all of it is gone. */
  readonly path: string
  readonly found: "missing" | "changed"
  /** The values of the first key column of the rows in it: of most tables the sessions. Nothing where it is not known. */
  readonly groups: readonly string[] | undefined
}

export interface CheckedTable {
  readonly table: string
  readonly rows: number
  readonly lostRows: number
  readonly files: number
  /** Files that no checksum covers yet. */
  readonly uncovered: number
  readonly bytesRead: number
  /** What is damaged, in words. */
  readonly sentence: string | undefined
  readonly damaged: readonly TableDamage[]
}

export interface RepairedTable {
  readonly table: string
  readonly lostRows: number
  readonly groups: readonly string[] | undefined
  /** Files that came back from the quarantine, and files that went there. */
  readonly returned: readonly string[]
  readonly moved: readonly string[]
  readonly place: string | undefined
}

// --- The door --------------------------------------------------------------------------------------------------------

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
   * The values that a row may have in this text column, with some false positives. A handle that filled the table itself
   * answers without a read.
   */
  perhapsThere(column: ScannedName<C>, values: readonly string[]): Promise<readonly string[]>
  /** Rows of those keys that are there, in no order. */
  takeByKey<Name extends ScannedName<C>>(keys: readonly Key[], columns: readonly Name[]): Promise<Picked<C, Name>[]>
  /** Rows of those numbers that are there, in no order. A row keeps its number, and a later row has a higher one. */
  takeByNumber<Name extends ScannedName<C>>(
    rows: readonly number[],
    columns: readonly Name[],
    options?: TakeOptions,
  ): Promise<(Picked<C, Name> & { readonly row: number })[]>
  /** Rows between two such numbers, a batch at a time, with one text column as bytes. */
  scanByNumber<Name extends ScannedName<C>>(request: NumberRange<Name>): AsyncIterable<NumberedRows<Picked<C, Name>>>
  /** Whose rows reads leave out. `version` changes whenever rows come or go without being stored. */
  erased(): Promise<ErasedOwners>
  /** The number that the next row gets: every row that is there now has a lower one. */
  nextRowNumber(): Promise<number>
  /** Changes whenever the table does; nothing where it was never written. */
  version(): Promise<number | undefined>
  /** The same, as cheaply as it can be told; of a local table that a crash has left it may be one that heals away. */
  lastCommit(): Promise<string | undefined>
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
  explain(request: ReadRequest<C, ScannedName<C>> & { readonly vector?: VectorQuery }): Promise<string>
  insertAbsent(rows: readonly RowOf<C>[]): Promise<Inserted>
  /** The same for rows as columns. */
  insertColumns(batches: readonly ColumnBatch[]): Promise<InsertedColumns>
  /** The same for whole batches; rows whose key is refused are left out. */
  insertBatches(batches: readonly RowBatch[], isTaken?: (key: AnyRow) => boolean): Promise<Inserted>
  /** The table as it is now, until `end`; nothing where it was never written. */
  snapshot(): Promise<Snapshot<C> | undefined>
  /** Of a table declared as derived; refused for any other. */
  deleteWhere(where: Filter): Promise<{ readonly deleted: number }>
  /**
   * Removes those rows for good: rewrites every file that holds one of them, and removes every older version. Of an
   * erasable table those of erased owners alone; whoever else asks must know that nobody needs them.
   */
  purge(where: Filter): Promise<PurgedRows>
  /** Does what the table needs by now: `lookups` between the flushes of an import, `due` after it, `all` when asked for. */
  maintain(effort: Effort): Promise<MaintenanceReport>
  /** Whether all rows that were stored can be read, as far as it is known. */
  isWhole(): Promise<boolean>
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
  /** Whose rows are erased: see `tombstones.ts`. Changes with every tombstone, which no table says by its own version. */
  erased(): Promise<ErasedOwners>
  /** From here on nothing counts that anybody remembers to have stored: a sync reads everything again. */
  beginGeneration(): Promise<void>
  /** The tables that were ever written. */
  names(): Promise<readonly string[]>
  /** Which table of that name it is, as it was last opened or made here: another once it was removed and made anew. */
  tableId(name: string): string | undefined
  /** The store of that name inside this one: same connection settings, same caches. */
  at(folder: string): Store
  /** Staging tables, invisible until they are put in place; undefined where the store has no staging. */
  openStaging(): Promise<StagingTables | undefined>
  /** Removes what an import that died has left beside the tables. */
  removeStaleStaging(): Promise<void>
  /** What is not as it was written. Nothing is known of an object store that keeps no notes. */
  check(options: CheckOptions): Promise<readonly CheckedTable[]>
  /** Removes what is damaged from the tables and reports it. Lists only tables that were damaged. */
  repair(): Promise<readonly RepairedTable[]>
  /** How many repairs there were: what was remembered of an older generation is not true any more. */
  generation(): Promise<number>
  /** Whether a mark of that name was left: one request in a bucket, one look on a disk. */
  isMarked(name: string): Promise<boolean>
  mark(name: string): Promise<void>
  /**
   * In a bucket: gathers what a machine needs that reads these tables for the first time, where that has changed by now;
   * `isChanged`: where their files were written anew.
   */
  gatherOpening(tables: readonly OpeningReads[], isChanged: boolean): Promise<void>
  /** Before anything of it is read: by a process that stays, and seldom reads. */
  useSmallCaches(): void
  close(): void
}

/** Reads as answers make them, of whatever rows: what they ask for before they come to the rows is what counts. */
export interface OpeningReads {
  readonly definition: TableDefinition
  readonly scans: readonly { readonly columns: readonly string[]; readonly where?: Filter; readonly limit?: number }[]
  /** Read of one row of each file. */
  readonly columns: readonly string[]
  /** With an index: the value that a row has there is looked up. */
  readonly lookups: readonly string[]
}

/** Tables of a separate store, which become tables of the store once what is in them was judged. */
export interface StagingTables {
  readonly store: Store
  /** Puts a table in its place. False where the store has got one of that name meanwhile: then it stays here. */
  adopt(name: string): Promise<boolean>
  /** Removes what is still here. */
  end(): Promise<void>
}

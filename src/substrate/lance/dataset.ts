/** The one handle of a Lance table inside this process: what the read path, the write path and maintenance work on. */
import type { Table as LanceTable } from "@lancedb/lancedb"
import type { CompactFingerprintSet } from "../../platform/fingerprint-set.ts"
import type { BucketTable } from "../bucket/bucket-table.ts"
import type { Assessment } from "../local/assess.ts"
import type { LocalTable } from "../local/local-table.ts"
import type { TableDefinition } from "../table-definition.ts"
import type { ErasedOwners } from "../tombstones.ts"
import type { Catalog } from "./catalog.ts"

export interface ReadInProgress {
  readonly table: LanceTable
  /** Whose rows this read leaves out. */
  readonly erased: ErasedOwners
  end(): void
}

/** See `stored-keys.ts`. */
export interface OwnRows {
  rows: number
  readonly keys: CompactFingerprintSet
  /** By the name of the column: of one that was asked for, from then on. */
  readonly values: Map<string, CompactFingerprintSet>
  /** Of a derived table the version that this handle has made last. */
  version: number | undefined
  /** As of those tombstones: a purge takes rows away, and notes that before and after. */
  readonly erasedVersion: number
}

export interface Dataset {
  readonly definition: TableDefinition
  readonly catalog: Catalog
  readonly local: LocalTable | undefined
  /** The notes beside a table in a bucket. */
  readonly noted: BucketTable | undefined
  /**
   * The table as fresh as a read needs it, or nothing where it was never written. Until its end no clean-up of this
   * machine takes the version away.
   */
  beginRead(): Promise<ReadInProgress | undefined>
  /** The version of that table, without a call into the engine while nothing was committed. */
  version(): Promise<number | undefined>
  /** The table at its newest version: what was committed before the call is in it. */
  newest(): Promise<LanceTable | undefined>
  /** The table at its newest version, made if it is not there. */
  writable(): Promise<LanceTable>
  /** Does the work while the newest version is the one that it began with, however many are committed meanwhile. */
  atOneVersion<Result>(work: () => Promise<Result>): Promise<Result>
  /** Rows that this handle has stored since it last looked whether the lookup of keys needs its index built again. */
  readonly tail: { rows: number }
  /** While this handle alone has filled the table. */
  own: OwnRows | undefined
  /** How many rows were met when keys were looked up last, where they were many. */
  lookedThrough: number
  /** How many rows this handle has put there since the table was maintained. */
  put: number
  /** The number that the next row gets, as of a version. */
  reach: { readonly version: number; readonly rows: number } | undefined
  /** Whose rows are neither read nor written; of a table that is not erasable nobody's. */
  erased(): Promise<ErasedOwners>
  /** Another handle of the table, for work that takes long. */
  separate(): Promise<LanceTable | undefined>
  /** The damage that names and sizes show, and that earlier checks found. */
  damage(): Promise<Assessment | undefined>
  /** Before anything is written: recovers from a crash, and refuses a damaged table. */
  refuseDamaged(): Promise<void>
  /** Does the work while no other process of this machine writes to the table; on an object store, while no other work of this process does. */
  exclusively<Result>(work: () => Promise<Result>): Promise<Result>
  /** One call into the engine, with the bounded repeats that every call has. */
  attempt<Result>(call: (attempt: number) => Promise<Result>): Promise<Result>
  /** One call that cannot be repeated. */
  once<Result>(call: () => Promise<Result>): Promise<Result>
}

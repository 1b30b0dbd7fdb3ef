/**
 * What a consumer declares about a table: columns, key, indexes, version. Plain values, checked once by `defineTable`;
 * everything else in the substrate is derived from them. Knows no engine, and nothing of what a column means.
 */
import { assert, PondError } from "../model/errors.ts"

export type ColumnKind = "utf8" | "int32" | "int64" | "float64" | "bool" | "timestamp_us" | "bytes" | "vector" | "blob"

export interface Column<Kind extends ColumnKind = ColumnKind, Nullable extends boolean = boolean> {
  readonly kind: Kind
  readonly nullable: Nullable
  /** Of a vector: how many numbers it has. */
  readonly dimension?: number
  /** See `packed`. */
  readonly isPacked?: boolean
}

export type Columns = Readonly<Record<string, Column>>

/** Any JavaScript string, lone surrogates included. */
export const utf8 = (): Column<"utf8", false> => ({ kind: "utf8", nullable: false })
export const int32 = (): Column<"int32", false> => ({ kind: "int32", nullable: false })
export const int64 = (): Column<"int64", false> => ({ kind: "int64", nullable: false })
export const float64 = (): Column<"float64", false> => ({ kind: "float64", nullable: false })
export const bool = (): Column<"bool", false> => ({ kind: "bool", nullable: false })
/** Microseconds since the epoch, exact. */
export const timestampUs = (): Column<"timestamp_us", false> => ({ kind: "timestamp_us", nullable: false })
/** Bytes in a format that pond defines, read with their row, and derived from other rows. Large originals are blobs. */
export const bytes = (): Column<"bytes", false> => ({ kind: "bytes", nullable: false })
/** Half precision numbers, for nearness. */
export const vector = (dimension: number): Column<"vector", false> => ({ kind: "vector", nullable: false, dimension })
/** Bytes kept beside the rows, read by `readBlobs` alone. */
export const blob = (): Column<"blob", false> => ({ kind: "blob", nullable: false })

export function nullable<Kind extends ColumnKind>(column: Column<Kind>): Column<Kind, true> {
  return { ...column, nullable: true }
}

/**
 * Text that packs well together and is read in runs: compressed with its neighbours, which takes a half to a third of the
 * room. One value costs unpacking those around it, so it is not for what a search reads here and there.
 */
export function packed<Nullable extends boolean>(column: Column<"utf8", Nullable>): Column<"utf8", Nullable> {
  return { ...column, isPacked: true }
}

interface ValueOfKind {
  readonly utf8: string
  readonly int32: number
  readonly int64: bigint
  readonly float64: number
  readonly bool: boolean
  readonly timestamp_us: bigint
  readonly bytes: Uint8Array
  readonly vector: Float32Array
  readonly blob: Uint8Array
}

export type ValueOf<C extends Column> =
  C extends Column<infer Kind, infer Nullable> ? ValueOfKind[Kind] | (Nullable extends true ? null : never) : never

/** A row as it is written. */
export type RowOf<C extends Columns> = { readonly [Name in keyof C]: ValueOf<C[Name]> }

/** A row of any table. */
export type AnyRow = Readonly<Record<string, unknown>>

/** The columns that a scan can answer with: all but blobs. */
export type ScannedName<C extends Columns> = {
  [Name in keyof C]: C[Name] extends Column<"blob"> ? never : Name
}[keyof C] &
  string

export type Distance = "cosine" | "l2" | "dot"

export type IndexDefinition<Name extends string = string> =
  | { readonly kind: "btree" | "bitmap"; readonly column: Name }
  | {
      readonly kind: "ivf_rq"
      readonly column: Name
      readonly distance: Distance
      /** Below so many rows a flat scan is exact and fast enough. */
      readonly rowsMin: number
    }

/** Any declared table, for code that does not know its columns. */
export type AnyTable = Pick<TableDefinition, "name" | "columns">

export interface TableDefinition<C extends Columns = Columns> {
  readonly name: string
  readonly columns: C
  /** The first is the attribute that a store could be split by. */
  readonly key: readonly (keyof C & string)[]
  readonly indexes: readonly IndexDefinition<keyof C & string>[]
  readonly schemaVersion: number
  /** Rows that can be made again from other tables. Only such a table knows `deleteWhere`. */
  readonly derived?: boolean
  /** Rows belong to the owner that their first key column names: those of an erased one are neither read nor written. */
  readonly erasable?: boolean
}

const NAME = /^[a-z][a-z0-9_]{0,62}$/
const KEY_KINDS: readonly ColumnKind[] = ["utf8", "int32", "int64"]

/**
 * Names are snake_case because the engine lower-cases a name that stands unquoted in a filter, and a filter on a name
 * that is not there has been known to filter nothing.
 */
export function defineTable<const C extends Columns>(definition: TableDefinition<C>): TableDefinition<C> {
  const { name, columns, key, indexes, schemaVersion } = definition
  assert(NAME.test(name), `the table name "${name}" is snake_case`)
  assert(Number.isSafeInteger(schemaVersion) && schemaVersion > 0, `the schema version of ${name} counts from 1`)
  for (const [column, { kind, dimension }] of Object.entries(columns)) {
    assert(NAME.test(column), `the column name "${name}.${column}" is snake_case`)
    assert(
      (kind === "vector") === (dimension !== undefined),
      `"${name}.${column}" says its dimension if it is a vector`,
    )
  }
  assert(key.length > 0 && new Set(key).size === key.length, `the table ${name} has a key of different columns`)
  for (const column of key) {
    const declared = columns[column]
    assert(declared !== undefined, `the key column "${name}.${column}" is declared`)
    assert(KEY_KINDS.includes(declared.kind), `"${name}.${column}" can be part of a key`)
    assert(!declared.nullable, `the key column "${name}.${column}" is never null`)
  }
  assert(
    definition.erasable !== true || columns[key[0] as string]?.kind === "utf8",
    `the owner of a row of ${name} is a text`,
  )
  assert(new Set(indexes.map(indexName)).size === indexes.length, `no index of ${name} is declared twice`)
  for (const { column } of indexes) assert(column in columns, `the indexed column "${name}.${column}" is declared`)
  return definition
}

/** One name per index, so that it is found again whatever the engine would have called it. */
export function indexName({ kind, column }: IndexDefinition): string {
  return `${column}_${kind}`
}

/** A table written by a newer pond may mean by a column what this one does not know (`lance-dataset-schema-version`). */
export function refuseNewerSchema(stored: number, { name, schemaVersion }: TableDefinition, store: string): void {
  if (stored <= schemaVersion) return
  throw new PondError(
    "version_unsupported",
    `The store ${store} was written by a newer pond (table ${name}, version ${stored}). Update pond.`,
    { details: { table: name, stored, known: schemaVersion } },
  )
}

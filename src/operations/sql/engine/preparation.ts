/** The statements that make an engine the one that a query sees: empty tables, macros, then every door locked. */
import { BOUNDED_MACROS } from "../functions.ts"
import { literal } from "../literal.ts"
import { FOUND_COLUMNS, FOUND_TABLE, QUERY_TABLES, type QueryColumn } from "../query-tables.ts"

/** Without rows the first two would make a scan into nothing, and with few of them plan another way than shown. */
const UNUSED_OPTIMIZERS = [
  "statistics_propagation",
  "empty_result_pullup",
  "late_materialization",
  "sampling_pushdown",
  "limit_pushdown",
]

/**
 * Optimizers that a query runs without, and those that it is planned without where the engine cannot write down its plan
 * ("Failed to bind column reference"): a sorted and limited join needs the second, one of three tables the third. Of 270
 * queries 254, 3 and 13 are written with the first, second and third.
 */
export const OPTIMIZER_SETS: readonly (readonly string[])[] = [
  [],
  ["column_lifetime"],
  ["column_lifetime", "build_side_probe_side"],
].map((more) => [...UNUSED_OPTIMIZERS, ...more])

export function disableOptimizers(names: readonly string[]): string {
  return `set disabled_optimizers = '${names.join(",")}'`
}

/** After planning: a query that runs can change no setting. */
export const LOCK_SETTINGS = "set lock_configuration = true"

export function preparation(output: string | undefined, nowMicros: bigint): string[] {
  return [
    disableOptimizers(UNUSED_OPTIMIZERS),
    "set TimeZone = 'UTC'",
    "set Calendar = 'gregorian'",
    "set max_expression_depth = 250",
    ...QUERY_TABLES.map(({ name, columns }) => tableStatement(name, columns)),
    tableStatement(FOUND_TABLE, FOUND_COLUMNS),
    `create macro fts(source, query) as table select * exclude (fts_source, fts_query) from ${FOUND_TABLE} where fts_source = source and fts_query = query`,
    ...BOUNDED_MACROS,
    ...timeMacros(nowMicros),
    "create macro json_get_string(document, path) as json_extract_string(document, path)",
    "create macro json_get_int(document, path) as try_cast(json_extract_string(document, path) as bigint)",
    "create macro json_get_bool(document, path) as try_cast(json_extract_string(document, path) as boolean)",
    "create macro json_array_contains(document, path, wanted) as coalesce(list_contains(json_extract_string(document, path || '[*]'), cast(wanted as varchar)), false)",
    ...(output === undefined ? [] : [`set allowed_paths = [${literal(output)}]`]),
    "set enable_external_access = false",
  ]
}

/** One moment for the whole query, known while it is planned: a condition on a time is then one that the store can apply. */
function timeMacros(nowMicros: bigint): string[] {
  const now = `make_timestamptz(${nowMicros})`
  const moments = ["now", "get_current_timestamp", "transaction_timestamp"].map(
    (name) => `create macro ${name}() as ${now}`,
  )
  return [
    ...moments,
    ...["today", "current_date"].map((name) => `create macro ${name}() as cast(${now} at time zone 'UTC' as date)`),
  ]
}

const TYPES = {
  utf8: "varchar",
  int32: "integer",
  int64: "bigint",
  float64: "double",
  bool: "boolean",
  timestamp_us: "timestamptz",
} as const

export function typeOf({ kind }: QueryColumn): (typeof TYPES)[keyof typeof TYPES] {
  return TYPES[kind as keyof typeof TYPES]
}

function tableStatement(name: string, columns: readonly QueryColumn[]): string {
  return `create table ${name} (${columns.map((column) => `"${column.name}" ${typeOf(column)}`).join(", ")})`
}

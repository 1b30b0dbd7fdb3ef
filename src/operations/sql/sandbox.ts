/**
 * One engine per query, made empty, locked, and thrown away: it sees no file, no network and no setting, and its memory,
 * its threads and its time are bounded. DuckDB is loaded when the first query is asked.
 */
import type { DuckDBConnection, DuckDBInstance, DuckDBResult } from "@duckdb/node-api"
import { ensureWritable } from "../../platform/host/paths.ts"
import { ensureNative } from "../../platform/native/native.ts"
import { BOUNDED_MACROS } from "./functions.ts"
import { FOUND_COLUMNS, FOUND_TABLE, SOURCES, type SourceColumn } from "./sources.ts"
import { toSqlError } from "./sql-errors.ts"

export interface Sandbox {
  readonly connection: DuckDBConnection
  readonly duck: typeof import("@duckdb/node-api")
  /** A call into the engine that ends when the time is over. */
  bounded<Result>(call: () => Promise<Result>): Promise<Result>
  /** Rows as they come, for answers of any length. */
  stream(sql: string): Promise<DuckDBResult>
  /** The first column of the first row. */
  value(sql: string): Promise<unknown>
  readonly spill: string
  close(): void
}

export interface SandboxPlaces {
  /** Where it may put what does not fit into memory. */
  readonly spill: string
  /** The one file that it may write; nothing where it may write none. */
  readonly output: string | undefined
}

/**
 * Of tables that were brought in too. With it a process that joins all texts of a million messages stays under 600 MB
 * (`bun run bench sql`), most of which are the engines themselves and what is on its way from one to the other; what does
 * not fit goes to the spill.
 */
const MEMORY = "128MiB"
const SPILL_MAX = "4GiB"
const INTERRUPT_EVERY_MS = 20

export async function openSandbox(places: SandboxPlaces, signal: AbortSignal, nowMicros: bigint): Promise<Sandbox> {
  ensureNative("duckdb")
  const duck = await import("@duckdb/node-api")
  ensureWritable(places.spill)
  const instance = await duck.DuckDBInstance.create(":memory:", {
    memory_limit: MEMORY,
    max_temp_directory_size: SPILL_MAX,
    temp_directory: places.spill,
    threads: "2",
    preserve_insertion_order: "false",
    autoinstall_known_extensions: "false",
    autoload_known_extensions: "false",
    allow_community_extensions: "false",
  })
  const connection = await instance.connect()
  const sandbox = sandboxOf({ duck, instance, connection, signal, spill: places.spill })
  try {
    for (const statement of preparation(places.output, nowMicros)) await connection.run(statement)
    return sandbox
  } catch (error) {
    sandbox.close()
    throw error
  }
}

const UNUSED_OPTIMIZERS = [
  "statistics_propagation",
  "empty_result_pullup",
  "late_materialization",
  "sampling_pushdown",
  "limit_pushdown",
]

function preparation(output: string | undefined, nowMicros: bigint): string[] {
  return [
    // Without rows these two would make a scan into nothing, and with few of them plan another way than shown.
    // And the last makes plans that the engine itself cannot write down.
    `set disabled_optimizers = '${UNUSED_OPTIMIZERS.join(",")}'`,
    "set TimeZone = 'UTC'",
    "set Calendar = 'gregorian'",
    "set max_expression_depth = 250",
    ...SOURCES.map(({ name, columns }) => tableStatement(name, columns)),
    tableStatement(FOUND_TABLE, FOUND_COLUMNS),
    `create macro fts(source, query) as table select * exclude (fts_source, fts_query) from ${FOUND_TABLE} where fts_source = source and fts_query = query`,
    ...BOUNDED_MACROS,
    ...timeMacros(nowMicros),
    "create macro json_get_string(document, path) as json_extract_string(document, path)",
    "create macro json_get_int(document, path) as try_cast(json_extract_string(document, path) as bigint)",
    "create macro json_get_bool(document, path) as try_cast(json_extract_string(document, path) as boolean)",
    ...(output === undefined ? [] : [`set allowed_paths = [${literal(output)}]`]),
    "set enable_external_access = false",
    "set lock_configuration = true",
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

export function typeOf({ kind }: SourceColumn): (typeof TYPES)[keyof typeof TYPES] {
  return TYPES[kind as keyof typeof TYPES]
}

function tableStatement(name: string, columns: readonly SourceColumn[]): string {
  return `create table ${name} (${columns.map((column) => `"${column.name}" ${typeOf(column)}`).join(", ")})`
}

export function literal(text: string): string {
  return `'${text.replaceAll("'", "''")}'`
}

interface SandboxParts {
  readonly duck: typeof import("@duckdb/node-api")
  readonly instance: DuckDBInstance
  readonly connection: DuckDBConnection
  readonly signal: AbortSignal
  readonly spill: string
}

function sandboxOf({ duck, instance, connection, signal, spill }: SandboxParts): Sandbox {
  /** Said until it is heard: a call that has not begun yet does not hear it. */
  const bounded = async <Result>(call: () => Promise<Result>): Promise<Result> => {
    signal.throwIfAborted()
    let timer: Timer | undefined
    const stop = () => {
      connection.interrupt()
      timer ??= setInterval(() => connection.interrupt(), INTERRUPT_EVERY_MS)
    }
    signal.addEventListener("abort", stop, { once: true })
    try {
      return await call()
    } catch (error) {
      throw signal.aborted ? signal.reason : toSqlError(error)
    } finally {
      signal.removeEventListener("abort", stop)
      clearInterval(timer)
    }
  }
  return {
    connection,
    duck,
    spill,
    bounded,
    stream: (sql) => bounded(() => connection.stream(sql)),
    value: async (sql) => (await bounded(() => connection.runAndReadAll(sql))).getRows()[0]?.[0],
    close: () => {
      connection.closeSync()
      instance.closeSync()
    },
  }
}

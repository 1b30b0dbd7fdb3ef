/**
 * What a statement asks for beside the rows of a SELECT: SHOW TABLES and DESCRIBE of a table are answered from the list of
 * tables, as a SELECT of values; EXPLAIN and DESCRIBE stand before a query, which is checked and planned by itself.
 */
import { PondError } from "../../model/errors.ts"
import { typeOf } from "./engine/preparation.ts"
import { literal } from "./literal.ts"
import type { PlannedRead } from "./plan.ts"
import { FOUND_TABLE, QUERY_TABLES, type QueryColumn } from "./query-tables.ts"

export interface Statement {
  readonly kind: "rows" | "explain" | "analyze" | "describe"
  /** The query, without the word before it. */
  readonly sql: string
}

const TABLES = /^\s*show\s+(?:all\s+)?tables\s*;?\s*$/i
const ONE_TABLE = /^\s*(?:describe|desc|show)\s+(?:table\s+)?"?(\w+)"?\s*;?\s*$/i
const BEFORE_A_QUERY = /^\s*(explain\s+analyze|explain|describe|desc)\s+(?=select\b|with\b|from\b|\()/i

const KINDS = [
  ["analyze", "analyze"],
  ["explain", "explain"],
] as const

export function readStatement(text: string): Statement {
  if (TABLES.test(text)) return { kind: "rows", sql: listTables() }
  const source = QUERY_TABLES.find(({ name }) => name === ONE_TABLE.exec(text)?.[1]?.toLowerCase())
  if (source !== undefined) return { kind: "rows", sql: describeTable(source.columns) }
  const [before, words] = BEFORE_A_QUERY.exec(text) ?? []
  if (before === undefined) return { kind: "rows", sql: text }
  const word = (words ?? "").toLowerCase()
  const kind = KINDS.find(([end]) => word.endsWith(end))?.[1] ?? "describe"
  return { kind, sql: text.slice(before.length) }
}

function listTables(): string {
  const rows = QUERY_TABLES.map(
    ({ name, columns }) => `(${literal(name)}, ${literal(columns.map((each) => each.name).join(", "))})`,
  )
  return `select * from (values ${rows.join(", ")}) as tables("table", columns)`
}

function describeTable(columns: readonly QueryColumn[]): string {
  const rows = columns.map((column) => `(${literal(column.name)}, ${literal(typeOf(column))})`)
  return `select * from (values ${rows.join(", ")}) as columns(column_name, column_type)`
}

/** What the engine is given to run. */
export function statementText({ kind, sql }: Statement): string {
  if (kind === "rows") return sql
  return `${{ explain: "explain", analyze: "explain analyze", describe: "describe" }[kind]} ${sql}`
}

export function isExplained({ kind }: Statement): boolean {
  return kind === "explain" || kind === "analyze"
}

/** A plan is shown and not kept. */
export function checkOutput(statement: Statement, isFile: boolean): void {
  if (!isFile || statement.kind === "rows") return
  const message = `${statement.kind === "describe" ? "DESCRIBE" : "EXPLAIN"} is answered as table or json, and not written to a file.`
  throw new PondError("validation_failed", message, { details: { faults: [{ path: "/output", message }] } })
}

/** What pond reads of the store before the engine runs: most of the time of a slow query. */
export function readLines(reads: readonly PlannedRead[]): string[] {
  return reads.map(({ table, columns, where, limit, isCounted, joins }) => {
    const name = table === FOUND_TABLE ? "fts('messages', …)" : table
    const shown = columns.filter((column) => !column.startsWith("fts_"))
    const narrowing = [
      ...(isCounted ? ["counted, not read"] : []),
      ...(where === undefined ? [] : ["rows that meet the conditions"]),
      ...(limit === undefined ? [] : [`at most ${limit} rows`]),
      ...joins.map(
        (join) => `rows whose ${join.column} is a ${join.tableColumn} of ${join.table}, where those are few`,
      ),
    ]
    return `read ${name}(${shown.join(", ")}): ${narrowing.length === 0 ? "every row" : [...new Set(narrowing)].join("; ")}`
  })
}

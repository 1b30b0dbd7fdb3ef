/**
 * Filters as values, and the only place that writes one in the engine's language. A consumer's text reaches the engine
 * only as a quoteString literal, and a column only by a name that its table declares.
 */
import { assert, PondError } from "../model/errors.ts"
import { storedText } from "./columns/surrogate-escape.ts"
import type { AnyTable, Column } from "./table-definition.ts"

export type FilterValue = string | number | bigint | boolean

export interface Range {
  readonly from?: FilterValue
  readonly to?: FilterValue
  /** Whether the ends belong to the range. Both do unless it is said. */
  readonly fromExclusive?: boolean
  readonly toExclusive?: boolean
}

export type Filter =
  | { readonly op: "eq"; readonly column: string; readonly value: FilterValue }
  | { readonly op: "in"; readonly column: string; readonly values: readonly FilterValue[] }
  | { readonly op: "range"; readonly column: string; readonly range: Range }
  | {
      readonly op: "contains" | "starts_with" | "matches"
      readonly column: string
      readonly text: string
      readonly ignoreCase?: boolean
    }
  | { readonly op: "is_null"; readonly column: string }
  | { readonly op: "stored"; readonly from: number; readonly to?: number }
  | { readonly op: "and" | "or"; readonly filters: readonly Filter[] }
  | { readonly op: "not"; readonly filter: Filter }

export const eq = (column: string, value: FilterValue): Filter => ({ op: "eq", column, value })
export const isIn = (column: string, values: readonly FilterValue[]): Filter => ({ op: "in", column, values })
export const range = (column: string, bounds: Range): Filter => ({ op: "range", column, range: bounds })
export const contains = (column: string, text: string, ignoreCase = false): Filter => ({
  op: "contains",
  column,
  text,
  ignoreCase,
})
export const startsWith = (column: string, text: string): Filter => ({ op: "starts_with", column, text })
/** A regular expression of the engine (linear time, no look-around). */
export const matches = (column: string, text: string, ignoreCase = false): Filter => ({
  op: "matches",
  column,
  text,
  ignoreCase,
})
/**
 * Rows by their place in the order of storing, the end not inside: the first row that was ever stored has 0, and the next
 * one gets as many as there are, because rows never leave such a table. Compaction moves rows and keeps their places.
 */
export const stored = (from: number, to?: number): Filter => ({
  op: "stored",
  from,
  ...(to === undefined ? {} : { to }),
})
export const isNull = (column: string): Filter => ({ op: "is_null", column })
/** Of nothing: everything. */
export const and = (...filters: readonly Filter[]): Filter => ({ op: "and", filters })
/** Of nothing: nothing. */
export const or = (...filters: readonly Filter[]): Filter => ({ op: "or", filters })
export const not = (filter: Filter): Filter => ({ op: "not", filter })

/** The filter in the engine's language. */
export function filterText(table: AnyTable, filter: Filter): string {
  switch (filter.op) {
    case "and":
      return joinFilters(table, filter.filters, " AND ", "true")
    case "or":
      return joinFilters(table, filter.filters, " OR ", "false")
    case "not":
      return `(NOT ${filterText(table, filter.filter)})`
    case "is_null":
      return `(${declaredColumn(table, filter.column).name} IS NULL)`
    case "stored":
      return rowNumbers(filter.from, filter.to)
    case "eq":
      return comparison(table, filter.column, "=", filter.value)
    case "in":
      return membership(table, filter.column, filter.values)
    case "range":
      return interval(table, filter.column, filter.range)
    case "contains":
    case "starts_with":
    case "matches":
      return textFilter(table, filter)
  }
}

function joinFilters(table: AnyTable, filters: readonly Filter[], word: string, empty: string): string {
  if (filters.length === 0) return empty
  return `(${filters.map((filter) => filterText(table, filter)).join(word)})`
}

function declaredColumn(table: AnyTable, name: string): Column & { readonly name: string } {
  const column = Object.hasOwn(table.columns, name) ? table.columns[name] : undefined
  assert(column !== undefined, `a filter names a column of ${table.name}`)
  return { ...column, name: `\`${name}\`` }
}

function comparison(table: AnyTable, name: string, operator: string, value: FilterValue): string {
  const column = declaredColumn(table, name)
  return `(${column.name} ${operator} ${literal(column, value)})`
}

function membership(table: AnyTable, name: string, values: readonly FilterValue[]): string {
  const column = declaredColumn(table, name)
  if (values.length === 0) return "false"
  return `(${column.name} IN (${[...new Set(values)].map((value) => literal(column, value)).join(", ")}))`
}

function interval(table: AnyTable, name: string, bounds: Range): string {
  const parts: string[] = []
  if (bounds.from !== undefined) parts.push(comparison(table, name, bounds.fromExclusive ? ">" : ">=", bounds.from))
  if (bounds.to !== undefined) parts.push(comparison(table, name, bounds.toExclusive ? "<" : "<=", bounds.to))
  return parts.length === 0 ? "true" : `(${parts.join(" AND ")})`
}

function rowNumbers(from: number, to: number | undefined): string {
  assert(Number.isSafeInteger(from) && (to === undefined || Number.isSafeInteger(to)), "a place is a whole number")
  return to === undefined ? `(_rowid >= ${from})` : `(_rowid >= ${from} AND _rowid < ${to})`
}

function textFilter(table: AnyTable, filter: Extract<Filter, { text: string }>): string {
  const column = declaredColumn(table, filter.column)
  assert(column.kind === "utf8", `${filter.op} is asked of a text column`)
  if (filter.op === "matches") {
    // The engine rewrites a pattern that is plain text to LIKE, and forgets there that LIKE reads a backslash as its
    // escape: a pattern for a backslash found a percent sign. A pattern with a group in it is left as it is.
    return `regexp_like(${column.name}, ${quoteString(`()${filter.text}`)}${filter.ignoreCase ? ", 'i'" : ""})`
  }
  const name = filter.ignoreCase ? `lower(${column.name})` : column.name
  return `${filter.op}(${name}, ${quoteString(filter.ignoreCase ? filter.text.toLowerCase() : filter.text)})`
}

function literal(column: Column, value: FilterValue): string {
  switch (column.kind) {
    case "utf8":
      if (typeof value === "string") return quoteString(value)
      break
    case "bool":
      if (typeof value === "boolean") return value ? "true" : "false"
      break
    case "int32":
    case "int64":
      if (isInt64(value)) return `cast('${value}' as bigint)`
      break
    case "timestamp_us":
      if (isInt64(value)) return `arrow_cast(cast('${value}' as bigint), 'Timestamp(Microsecond, None)')`
      break
    case "float64":
      if (typeof value === "number") return `cast('${value}' as double)`
      break
    case "bytes":
    case "vector":
    case "blob":
      break
  }
  throw new PondError("internal", `pond asked a ${column.kind} column for a ${typeof value}.`)
}

function isInt64(value: FilterValue): value is number | bigint {
  return typeof value === "bigint" ? BigInt.asIntN(64, value) === value : Number.isSafeInteger(value)
}

/** The engine's literals know one escape, the doubled quote; a backslash and a NUL stand for themselves (tested). */
function quoteString(text: string): string {
  return `'${storedText(text).replaceAll("'", "''")}'`
}

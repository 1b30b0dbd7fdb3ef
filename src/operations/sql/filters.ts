/**
 * The conditions of a plan as filters of the store. A condition that the store cannot say is left out, which makes the
 * filter weaker and never wrong: the engine evaluates every condition again on the rows that it gets. Whether nothing was
 * left out decides if a LIMIT may be applied where the rows are read.
 */
import {
  and,
  contains,
  eq,
  type Filter,
  type FilterValue,
  isIn,
  isNull,
  matches,
  not,
  or,
  range,
  startsWith,
} from "../../substrate/filter.ts"
import type { ColumnKind } from "../../substrate/table-definition.ts"
import { type LetterCase, likePattern, type Pattern, textPattern } from "./patterns.ts"
import type { QueryColumn } from "./query-tables.ts"

export interface Translated {
  /** Nothing where everything passes. */
  readonly filter: Filter | undefined
  readonly isExact: boolean
}

export type PlanNode = Readonly<Record<string, unknown>>

const EVERYTHING: Translated = { filter: undefined, isExact: true }
const UNKNOWN: Translated = { filter: undefined, isExact: false }

/** Which column of the read an index of the plan means, where it means one. */
export type ColumnAt = (index: number) => QueryColumn | undefined

const exact = (filter: Filter): Translated => ({ filter, isExact: true })

export function allOf(parts: readonly Translated[]): Translated {
  const filters = parts.flatMap(({ filter }) => (filter === undefined ? [] : [filter]))
  const isExact = parts.every((part) => part.isExact)
  const [first] = filters
  if (first === undefined) return isExact ? EVERYTHING : UNKNOWN
  return { filter: filters.length === 1 ? first : and(...filters), isExact }
}

/** One branch that says nothing lets everything through. */
export function anyOf(parts: readonly Translated[]): Translated {
  const filters = parts.flatMap(({ filter }) => (filter === undefined ? [] : [filter]))
  if (filters.length < parts.length || filters.length === 0) return UNKNOWN
  return {
    filter: filters.length === 1 ? (filters[0] as Filter) : or(...filters),
    isExact: parts.every((part) => part.isExact),
  }
}

// --- The filters of a scan ------------------------------------------------------------------------------------------

export function tableFilter(node: PlanNode, column: QueryColumn): Translated {
  if (!isStored(column)) return UNKNOWN
  const children = (node["child_filters"] ?? []) as readonly PlanNode[]
  switch (node["filter_type"]) {
    case "CONSTANT_COMPARISON":
      return comparison(String(node["comparison_type"]), column, node["constant"])
    case "CONJUNCTION_AND":
      return allOf(children.map((child) => tableFilter(child, column)))
    case "CONJUNCTION_OR":
      return anyOf(children.map((child) => tableFilter(child, column)))
    case "IN_FILTER":
      return membership(column, node["values"] as readonly unknown[])
    case "IS_NULL":
      return exact(isNull(column.name))
    case "IS_NOT_NULL":
      return exact(not(isNull(column.name)))
    case "OPTIONAL_FILTER":
      // Only a hint: what it says is said again above, or is no condition of the query at all.
      return { filter: tableFilter((node["child_filter"] ?? {}) as PlanNode, column).filter, isExact: true }
    case "EXPRESSION_FILTER":
      return condition(node["expr"] as PlanNode, () => column)
    default:
      return UNKNOWN
  }
}

// --- Expressions ----------------------------------------------------------------------------------------------------

export function condition(node: PlanNode, at: ColumnAt): Translated {
  const type = String(node["type"])
  const children = (node["children"] ?? []) as readonly PlanNode[]
  switch (node["expression_class"]) {
    case "BOUND_CONJUNCTION":
      return (type === "CONJUNCTION_AND" ? allOf : anyOf)(children.map((child) => condition(child, at)))
    case "BOUND_COMPARISON":
      return sides(type, node["left"] as PlanNode, node["right"] as PlanNode, at)
    case "BOUND_OPERATOR":
      return operator(type, children, at)
    case "BOUND_FUNCTION":
      return call(String(node["name"]), children, at)
    case "BOUND_BETWEEN":
      return between(node, at)
    case "BOUND_REF":
      return comparison("COMPARE_EQUAL", boundColumn(node, at), TRUE)
    default:
      return UNKNOWN
  }
}

const TRUE = { type: { id: "BOOLEAN" }, is_null: false, value: true }

function sides(type: string, left: PlanNode, right: PlanNode, at: ColumnAt): Translated {
  if (isConstant(right)) return compared(type, left, right["value"], at)
  if (isConstant(left)) return compared(MIRRORED[type] ?? "", right, left["value"], at)
  return UNKNOWN
}

/** A column, its day, or its text in small letters, beside a constant. */
function compared(type: string, side: PlanNode, constant: unknown, at: ColumnAt): Translated {
  const day = side["expression_class"] === "BOUND_CAST" ? boundColumn(side["child"] as PlanNode, at) : undefined
  if (day?.kind === "timestamp_us" && typeOf(side["return_type"]) === "DATE") return dayComparison(type, day, constant)
  const { column, letters } = subjectOf(side, at)
  if (letters === "kept") return comparison(type, column, constant)
  const value = column === undefined ? undefined : constantOf(column.kind, constant)
  if (type !== "COMPARE_EQUAL" || column === undefined || typeof value !== "string") return UNKNOWN
  return matching(column, textPattern(value, "whole", letters))
}

const DAY_MICROS = 86_400_000_000n

/** A day of a moment is one in UTC, as the sandbox has it. */
function dayComparison(type: string, column: QueryColumn, constant: unknown): Translated {
  const { type: of, value } = constant as { readonly type?: unknown; readonly value?: unknown }
  if (typeOf(of) !== "DATE" || !Number.isSafeInteger(value)) return UNKNOWN
  const begins = BigInt(value as number) * DAY_MICROS
  const ends = begins + DAY_MICROS
  const { name } = column
  switch (type) {
    case "COMPARE_EQUAL":
      return exact(range(name, { from: begins, to: ends, toExclusive: true }))
    case "COMPARE_GREATERTHAN":
      return exact(range(name, { from: ends }))
    case "COMPARE_GREATERTHANOREQUALTO":
      return exact(range(name, { from: begins }))
    case "COMPARE_LESSTHAN":
      return exact(range(name, { to: begins, toExclusive: true }))
    case "COMPARE_LESSTHANOREQUALTO":
      return exact(range(name, { to: ends, toExclusive: true }))
    default:
      return UNKNOWN
  }
}

function typeOf(type: unknown): string | undefined {
  return (type as { readonly id?: string } | undefined)?.id
}

const MIRRORED: Readonly<Record<string, string>> = {
  COMPARE_EQUAL: "COMPARE_EQUAL",
  COMPARE_NOTEQUAL: "COMPARE_NOTEQUAL",
  COMPARE_LESSTHAN: "COMPARE_GREATERTHAN",
  COMPARE_GREATERTHAN: "COMPARE_LESSTHAN",
  COMPARE_LESSTHANOREQUALTO: "COMPARE_GREATERTHANOREQUALTO",
  COMPARE_GREATERTHANOREQUALTO: "COMPARE_LESSTHANOREQUALTO",
}

function between(node: PlanNode, at: ColumnAt): Translated {
  const { input, lower, upper } = node as {
    readonly input?: PlanNode
    readonly lower?: PlanNode
    readonly upper?: PlanNode
  }
  if (input === undefined || lower === undefined || upper === undefined) return UNKNOWN
  if (!isConstant(lower) || !isConstant(upper)) return UNKNOWN
  const from = node["lower_inclusive"] === true ? "COMPARE_GREATERTHANOREQUALTO" : "COMPARE_GREATERTHAN"
  const to = node["upper_inclusive"] === true ? "COMPARE_LESSTHANOREQUALTO" : "COMPARE_LESSTHAN"
  return allOf([compared(from, input, lower["value"], at), compared(to, input, upper["value"], at)])
}

function operator(type: string, children: readonly PlanNode[], at: ColumnAt): Translated {
  const [first, ...others] = children
  if (first === undefined) return UNKNOWN
  const column = boundColumn(first, at)
  if (type === "OPERATOR_NOT") {
    const inner = condition(first, at)
    return inner.isExact && inner.filter !== undefined ? exact(not(inner.filter)) : UNKNOWN
  }
  if (column === undefined) return UNKNOWN
  if (type === "OPERATOR_IS_NULL") return exact(isNull(column.name))
  if (type === "OPERATOR_IS_NOT_NULL") return exact(not(isNull(column.name)))
  if (type === "COMPARE_IN" && others.every(isConstant))
    return membership(
      column,
      others.map(({ value }) => value),
    )
  return UNKNOWN
}

function call(name: string, children: readonly PlanNode[], at: ColumnAt): Translated {
  const [subject, needle] = children
  if (subject === undefined || needle === undefined || children.length !== 2 || !isConstant(needle)) return UNKNOWN
  const { column, letters } = subjectOf(subject, at)
  const value = column === undefined ? undefined : constantOf(column.kind, needle["value"])
  if (column?.kind !== "utf8" || typeof value !== "string") return UNKNOWN
  const like = LIKES[name]
  if (like !== undefined) {
    const found = matching(column, likePattern(value, like.isBlind ? "blind" : letters))
    if (!like.isNegated) return found
    return found.isExact && found.filter !== undefined ? exact(not(found.filter)) : UNKNOWN
  }
  const place = PLACES[name]
  if (place === undefined) return UNKNOWN
  if (letters === "kept" && place === "inside") return exact(contains(column.name, value))
  if (letters === "kept" && place === "start") return exact(startsWith(column.name, value))
  return matching(column, textPattern(value, place, letters))
}

const LIKES: Readonly<Record<string, { readonly isBlind: boolean; readonly isNegated: boolean }>> = {
  "~~": { isBlind: false, isNegated: false },
  "!~~": { isBlind: false, isNegated: true },
  "~~*": { isBlind: true, isNegated: false },
  "!~~*": { isBlind: true, isNegated: true },
}

const PLACES: Readonly<Record<string, "inside" | "start" | "end">> = {
  contains: "inside",
  prefix: "start",
  starts_with: "start",
  "^@": "start",
  suffix: "end",
  ends_with: "end",
}

function matching(column: QueryColumn, pattern: Pattern | undefined): Translated {
  if (pattern === undefined) return UNKNOWN
  return { filter: matches(column.name, pattern.expression), isExact: pattern.isExact }
}

/** The column that is looked at, and whether its text is made small before. */
function subjectOf(
  node: PlanNode,
  at: ColumnAt,
): { readonly column: QueryColumn | undefined; readonly letters: LetterCase } {
  const isLowered = node["expression_class"] === "BOUND_FUNCTION" && ["lower", "lcase"].includes(String(node["name"]))
  if (!isLowered) return { column: boundColumn(node, at), letters: "kept" }
  const [inner] = (node["children"] ?? []) as readonly PlanNode[]
  const column = inner === undefined ? undefined : boundColumn(inner, at)
  return { column: column?.kind === "utf8" ? column : undefined, letters: "lowered" }
}

function boundColumn(node: PlanNode, at: ColumnAt): QueryColumn | undefined {
  const column = node["expression_class"] === "BOUND_REF" ? at(Number(node["index"])) : undefined
  return column !== undefined && isStored(column) ? column : undefined
}

export function isStored({ isComputed }: QueryColumn): boolean {
  return isComputed !== true
}

function isConstant(node: PlanNode): boolean {
  return node["expression_class"] === "BOUND_CONSTANT"
}

// --- Comparisons ----------------------------------------------------------------------------------------------------

function comparison(type: string, column: QueryColumn | undefined, constant: unknown): Translated {
  const value = column === undefined ? undefined : constantOf(column.kind, constant)
  if (column === undefined || value === undefined) return UNKNOWN
  const { name } = column
  switch (type) {
    case "COMPARE_EQUAL":
      return exact(eq(name, value))
    case "COMPARE_NOTEQUAL":
      return exact(not(eq(name, value)))
    case "COMPARE_GREATERTHAN":
      return exact(range(name, { from: value, fromExclusive: true }))
    case "COMPARE_GREATERTHANOREQUALTO":
      return exact(range(name, { from: value }))
    case "COMPARE_LESSTHAN":
      return exact(range(name, { to: value, toExclusive: true }))
    case "COMPARE_LESSTHANOREQUALTO":
      return exact(range(name, { to: value }))
    default:
      return UNKNOWN
  }
}

function membership(column: QueryColumn, constants: readonly unknown[]): Translated {
  const values = constants.map((constant) => constantOf(column.kind, constant))
  return values.every((value) => value !== undefined) ? exact(isIn(column.name, values)) : UNKNOWN
}

/** A constant of the plan as the store compares it; nothing where the two might not mean the same. */
function constantOf(kind: ColumnKind, constant: unknown): FilterValue | undefined {
  const { type, is_null: isNothing, value } = constant as { type?: { id?: string }; is_null?: boolean; value?: unknown }
  if (isNothing === true) return undefined
  switch (kind) {
    case "utf8":
      return type?.id === "VARCHAR" && typeof value === "string" ? value : undefined
    case "bool":
      return type?.id === "BOOLEAN" && typeof value === "boolean" ? value : undefined
    case "int32":
    case "int64":
      return ["INTEGER", "BIGINT"].includes(type?.id ?? "") && Number.isSafeInteger(value)
        ? (value as number)
        : undefined
    case "timestamp_us":
      return type?.id === "TIMESTAMP WITH TIME ZONE" && Number.isSafeInteger(value)
        ? BigInt(value as number)
        : undefined
    default:
      return undefined
  }
}

/**
 * What a filter means, in JavaScript: the second reading of `Filter`, beside the engine's. A comparison with a value that
 * is not there is neither true nor false, as in SQL, and only rows for which the whole filter is true pass.
 */
import { storedText } from "../../src/substrate/columns/surrogate-escape.ts"
import { type Filter, type FilterValue, filterText, type Range } from "../../src/substrate/filter.ts"
import { storeError } from "../../src/substrate/lance/lance-errors.ts"
import type { AnyRow, AnyTable } from "../../src/substrate/table-definition.ts"

export interface NumberedRow {
  readonly number: number
  readonly values: AnyRow
}

export type Predicate = (row: NumberedRow) => boolean

/** Undefined stands for SQL's unknown. */
type Truth = boolean | undefined
type Test = (row: NumberedRow) => Truth

export function predicateOf(table: AnyTable, filter: Filter | undefined): Predicate {
  if (filter === undefined) return () => true
  // Columns and literals are checked by the code that checks them for the engine.
  filterText(table, filter)
  const test = testOf(filter)
  return (row) => test(row) === true
}

function testOf(filter: Filter): Test {
  switch (filter.op) {
    case "and":
      return all(filter.filters.map(testOf))
    case "or":
      return negated(all(filter.filters.map((each) => negated(testOf(each)))))
    case "not":
      return negated(testOf(filter.filter))
    case "is_null":
      return ({ values }) => (values[filter.column] ?? null) === null
    case "eq":
      return compared(filter.column, filter.value, (order) => order === 0)
    case "in":
      return membership(filter.column, filter.values)
    case "range":
      return within(filter.column, filter.range)
    case "stored":
      return ({ number }) => number >= filter.from && (filter.to === undefined || number < filter.to)
    case "contains":
    case "starts_with":
    case "matches":
      return textual(filter.column, textTest(filter))
  }
}

function all(tests: readonly Test[]): Test {
  return (row) => {
    let truth: Truth = true
    for (const test of tests) {
      const own = test(row)
      if (own === false) return false
      if (own === undefined) truth = undefined
    }
    return truth
  }
}

function negated(test: Test): Test {
  return (row) => {
    const truth = test(row)
    return truth === undefined ? undefined : !truth
  }
}

function compared(column: string, value: FilterValue, says: (order: number) => boolean): Test {
  return ({ values }) => {
    const own = (values[column] ?? null) as FilterValue | null
    return own === null ? undefined : says(compareValues(own, value))
  }
}

function membership(column: string, values: readonly FilterValue[]): Test {
  if (values.length === 0) return () => false
  const texts = new Set(values.map(String))
  return ({ values: row }) => {
    const own = row[column] ?? null
    return own === null ? undefined : texts.has(String(own))
  }
}

function within(column: string, { from, to, fromExclusive, toExclusive }: Range): Test {
  const tests: Test[] = []
  if (from !== undefined)
    tests.push(compared(column, from, (order) => order > 0 || (order === 0 && fromExclusive !== true)))
  if (to !== undefined) tests.push(compared(column, to, (order) => order < 0 || (order === 0 && toExclusive !== true)))
  return all(tests)
}

function textual(column: string, test: (stored: string) => boolean): Test {
  return ({ values }) => {
    const own = (values[column] ?? null) as string | null
    return own === null ? undefined : test(own)
  }
}

/** Texts are compared as they are stored: half of an emoji is not part of a whole one. */
function textTest({ op, text, ignoreCase }: Extract<Filter, { readonly text: string }>): (own: string) => boolean {
  if (op === "matches") {
    const pattern = patternOf(text, ignoreCase === true)
    return (own) => pattern.test(storedText(own))
  }
  const folded = (given: string) => storedText(ignoreCase === true ? given.toLowerCase() : given)
  const wanted = folded(text)
  return op === "contains" ? (own) => folded(own).includes(wanted) : (own) => folded(own).startsWith(wanted)
}

/** The engine knows no look-around and no reference back to a group. */
const UNKNOWN = /\(\?<?[=!]|\\[1-9k]/

function patternOf(text: string, ignoreCase: boolean): RegExp {
  try {
    if (UNKNOWN.test(text)) throw new SyntaxError("look-around and back-references are not supported")
    return new RegExp(storedText(text).replaceAll(/\\([-&~#'"`@%!:;<>=, ])/g, "$1"), ignoreCase ? "iu" : "u")
  } catch (error) {
    throw storeError(new Error(`regex parse error: ${String(error)}`), "memory")
  }
}

/** Text is ordered by code point, as UTF-8 is. */
export function compareValues(one: FilterValue, other: FilterValue): number {
  if (typeof one === "string" && typeof other === "string") {
    if (one === other) return 0
    return Buffer.compare(Buffer.from(storedText(one)), Buffer.from(storedText(other)))
  }
  if (one < other) return -1
  return one > other ? 1 : 0
}

/**
 * Evaluates a filter on the document attributes of a segment, as a mask with one byte per message, so that filtering
 * comes before ranking. Gives up on columns that are not attributes.
 */
import type { Filter, FilterValue } from "../../../substrate/filter.ts"
import {
  type AttributeName,
  assertLoaded,
  type Codes,
  type Documents,
  isNumber,
  isText,
  type TextAttribute,
} from "../segment/documents.ts"

/** The attributes that a filter uses. */
export function attributesOf(filter: Filter): AttributeName[] {
  if (filter.op === "not") return attributesOf(filter.filter)
  if (filter.op === "and" || filter.op === "or") return filter.filters.flatMap(attributesOf)
  const { column } = filter as { readonly column: string }
  return isText(column) || isNumber(column) ? [column] : []
}

/**
 * Removes conditions on the row number that are true for the whole range. A search restricts itself to what was stored
 * when it began, a number that differs after every message; without it the masks of earlier searches stay valid.
 * Undefined where nothing is left to check.
 */
export function simplifyFilter(filter: Filter, from: number, to: number): Filter | undefined {
  if (filter.op === "stored") {
    const isWhole = filter.from <= from && (filter.to === undefined || to <= filter.to)
    return isWhole ? undefined : filter
  }
  if (filter.op !== "and") return filter
  const filters = filter.filters.flatMap((each) => simplifyFilter(each, from, to) ?? [])
  return filters.length === 0 ? undefined : { op: "and", filters }
}

/**
 * One byte per message, 1 where the filter matches; undefined where the filter uses other columns. `from` is the row
 * number of the first message.
 */
export function evaluateFilter(documents: Documents, filter: Filter, from: number): Uint8Array | undefined {
  const mask = new Uint8Array(documents.size).fill(1)
  return applyFilter({ documents, from, mask }, filter) ? mask : undefined
}

interface Narrowing {
  readonly documents: Documents
  readonly from: number
  readonly mask: Uint8Array
}

/** Clears the mask where the filter does not match. False where the filter uses other columns. */
function applyFilter(narrowing: Narrowing, filter: Filter): boolean {
  const { documents, from, mask } = narrowing
  switch (filter.op) {
    case "and":
      return filter.filters.every((each) => applyFilter(narrowing, each))
    case "or":
      return applyAny(narrowing, filter.filters)
    case "not": {
      const others = evaluateFilter(documents, filter.filter, from)
      if (others === undefined) return false
      for (let at = 0; at < mask.length; at++) mask[at] = (mask[at] as number) & (1 - (others[at] as number))
      return true
    }
    case "stored":
      mask.fill(0, 0, Math.max(0, filter.from - from))
      if (filter.to !== undefined) mask.fill(0, Math.max(0, filter.to - from))
      return true
    case "matches":
      return false
    case "is_null":
      if (isAttribute(filter.column)) mask.fill(0)
      return isAttribute(filter.column)
    default:
      return applyLeaf(documents, filter, mask)
  }
}

function applyAny({ documents, from, mask }: Narrowing, filters: readonly Filter[]): boolean {
  const any = new Uint8Array(documents.size)
  for (const filter of filters) {
    const own = evaluateFilter(documents, filter, from)
    if (own === undefined) return false
    for (let at = 0; at < any.length; at++) any[at] = (any[at] as number) | (own[at] as number)
  }
  for (let at = 0; at < mask.length; at++) mask[at] = (mask[at] as number) & (any[at] as number)
  return true
}

type Leaf = Extract<Filter, { readonly op: "eq" | "in" | "range" | "contains" | "starts_with" | "matches" }>

function applyLeaf({ texts, numbers }: Documents, leaf: Leaf, mask: Uint8Array): boolean {
  if (isText(leaf.column)) {
    applyToText(assertLoaded(texts[leaf.column]), compileTextTest(leaf), mask)
    return true
  }
  const passes = compileNumberTest(leaf)
  if (!isNumber(leaf.column) || passes === undefined) return false
  const values = assertLoaded(numbers[leaf.column])
  const bounds = leaf.op === "range" ? wholeBounds(leaf.range) : undefined
  if (bounds === undefined) {
    for (let at = 0; at < mask.length; at++) if (!passes(values[at] as number)) mask[at] = 0
    return true
  }
  const { least, most } = bounds
  for (let at = 0; at < mask.length; at++) {
    const value = values[at] as number
    if (value < least || value > most) mask[at] = 0
  }
  return true
}

function applyToText({ values, codes }: TextAttribute, passes: (value: string) => boolean, mask: Uint8Array): void {
  const isPassing = Uint8Array.from(values, (value) => (passes(value) ? 1 : 0))
  if (isPassing.every((each) => each === 1)) return
  const starts = findRuns(codes)
  if (starts === undefined) {
    for (let at = 0; at < mask.length; at++)
      mask[at] = (mask[at] as number) & (isPassing[codes[at] as number] as number)
    return
  }
  for (const [run, start] of starts.entries())
    if (isPassing[codes[start] as number] === 0) mask.fill(0, start, starts[run + 1])
}

const RUN_LENGTH_MIN = 16
const RUNS = new WeakMap<Codes, { readonly starts: Uint32Array | undefined }>()

/**
 * The starts of runs of equal values: a session's messages are consecutive, and with them those of a project. Undefined
 * where runs are shorter than 16 messages on average, because then testing each message is as fast.
 */
function findRuns(codes: Codes): Uint32Array | undefined {
  let known = RUNS.get(codes)
  if (known === undefined) {
    known = { starts: runStarts(codes) }
    RUNS.set(codes, known)
  }
  return known.starts
}

function runStarts(codes: Codes): Uint32Array | undefined {
  const starts = new Uint32Array(Math.ceil(codes.length / RUN_LENGTH_MIN))
  let count = 0
  for (let at = 0; at < codes.length; at++) {
    if (at > 0 && codes[at] === codes[at - 1]) continue
    if (count === starts.length) return undefined
    starts[count++] = at
  }
  return starts.slice(0, count)
}

const isAttribute = (column: string) => isText(column) || isNumber(column)

function compileTextTest(leaf: Leaf): (value: string) => boolean {
  switch (leaf.op) {
    case "eq":
      return (value) => value === leaf.value
    case "in": {
      const wanted = new Set<FilterValue>(leaf.values)
      return (value) => wanted.has(value)
    }
    case "range":
      return within(leaf.range)
    default: {
      const bare = (text: string) => (leaf.ignoreCase === true ? text.toLowerCase() : text)
      const wanted = bare(leaf.text)
      return leaf.op === "contains"
        ? (value) => bare(value).includes(wanted)
        : (value) => bare(value).startsWith(wanted)
    }
  }
}

function compileNumberTest(leaf: Leaf): ((value: number) => boolean) | undefined {
  switch (leaf.op) {
    case "eq":
      return (value) => value === Number(leaf.value)
    case "in": {
      const wanted = new Set(leaf.values.map(Number))
      return (value) => wanted.has(value)
    }
    case "range": {
      const { from, to, ...ends } = leaf.range
      return within({
        ...ends,
        ...(from === undefined ? {} : { from: Number(from) }),
        ...(to === undefined ? {} : { to: Number(to) }),
      })
    }
    default:
      return undefined
  }
}

type Bounds = Extract<Filter, { readonly op: "range" }>["range"]

/** A range of whole numbers with inclusive bounds; undefined where a double cannot hold them exactly. */
function wholeBounds({ from, to, fromExclusive, toExclusive }: Bounds): { least: number; most: number } | undefined {
  const least = from === undefined ? Number.MIN_SAFE_INTEGER : Number(from) + (fromExclusive === true ? 1 : 0)
  const most = to === undefined ? Number.MAX_SAFE_INTEGER : Number(to) - (toExclusive === true ? 1 : 0)
  if (!Number.isSafeInteger(least) || !Number.isSafeInteger(most)) return undefined
  return { least: from === undefined ? -Infinity : least, most: to === undefined ? Infinity : most }
}

function within({ from, to, fromExclusive, toExclusive }: Bounds): (value: FilterValue) => boolean {
  return (value) =>
    (from === undefined || value > from || (value === from && fromExclusive !== true)) &&
    (to === undefined || value < to || (value === to && toExclusive !== true))
}

/**
 * What a segment knows of each of its messages beside their terms: how many terms it has, by which ranking weighs it, and
 * every column that a search filters by, so that a filter is applied before anything is ranked. Texts are kept once each,
 * with a code per message.
 */
import { assert } from "../../model/errors.ts"
import type { Filter, FilterValue } from "../../substrate/filter.ts"
import type { MessageRow } from "../tables.ts"

const TEXT_FACETS = ["session_id", "role", "source_agent", "project", "lane"] as const
const NUMBER_FACETS = ["timestamp", "ingested_at", "ordinal"] as const
export const FACETS = [...TEXT_FACETS, ...NUMBER_FACETS] as const

export type FacetRow = Pick<MessageRow, (typeof FACETS)[number]>
type TextName = (typeof TEXT_FACETS)[number]
type NumberName = (typeof NUMBER_FACETS)[number]

type Codes = Uint8Array | Uint16Array | Uint32Array

interface TextFacet {
  readonly values: readonly string[]
  readonly codes: Codes
}

export interface Documents {
  /** How many numbers there are, of messages with terms and without. */
  readonly size: number
  /** Of those that have terms. */
  readonly count: number
  readonly tokens: number
  readonly lengths: Uint16Array
  /** Of a segment that was read, those that were asked for by now. */
  readonly texts: Partial<Record<TextName, TextFacet>>
  readonly numbers: Partial<Record<NumberName, Float64Array | Int32Array>>
}

export type FacetName = (typeof FACETS)[number]

/** Whoever has more counts as if he had so many. */
export const LENGTH_MAX = 0xffff

// --- Building ---------------------------------------------------------------------------------------------------------

export interface DocumentsBuilder {
  add(number: number, row: FacetRow, length: number): void
  finish(): Documents
}

export function createDocumentsBuilder(): DocumentsBuilder {
  const lengths: number[] = []
  const texts = TEXT_FACETS.map((name) => ({ name, codes: [] as number[], known: new Map<string, number>() }))
  const numbers = NUMBER_FACETS.map((name) => ({ name, values: [] as number[] }))
  let [count, tokens] = [0, 0]
  return {
    add: (number, row, length) => {
      // A number that no row has leaves a gap, which no list ever names.
      while (lengths.length < number) {
        lengths.push(0)
        for (const { codes } of texts) codes.push(0)
        for (const { values } of numbers) values.push(0)
      }
      lengths[number] = Math.min(length, LENGTH_MAX)
      if (length > 0) count += 1
      tokens += Math.min(length, LENGTH_MAX)
      for (const { name, codes, known } of texts) codes[number] = codeOf(known, row[name])
      for (const { name, values } of numbers) values[number] = Number(row[name])
    },
    finish: () => ({
      size: lengths.length,
      count,
      tokens,
      lengths: Uint16Array.from(lengths),
      texts: Object.fromEntries(
        texts.map(({ name, codes, known }) => [name, { values: [...known.keys()], codes: coded(codes, known.size) }]),
      ) as unknown as Documents["texts"],
      numbers: Object.fromEntries(
        numbers.map(({ name, values }) => [name, numbered(name, values)]),
      ) as unknown as Documents["numbers"],
    }),
  }
}

function codeOf(known: Map<string, number>, value: string): number {
  const code = known.get(value) ?? known.size
  if (code === known.size) known.set(value, code)
  return code
}

function coded(codes: ArrayLike<number>, values: number): Codes {
  if (values <= 0x100) return Uint8Array.from(codes)
  return values <= 0x10000 ? Uint16Array.from(codes) : Uint32Array.from(codes)
}

function numbered(name: NumberName, values: ArrayLike<number>): Float64Array | Int32Array {
  return name === "ordinal" ? Int32Array.from(values) : Float64Array.from(values)
}

/** One after the other, as if they had been built at once. */
export function joinDocuments(all: readonly Documents[]): Documents {
  const size = all.reduce((sum, each) => sum + each.size, 0)
  const lengths = new Uint16Array(size)
  place(all, (each) => each.lengths, lengths)
  const texts = TEXT_FACETS.map((name) => [name, joinTexts(all, name, size)])
  const numbers = NUMBER_FACETS.map((name) => {
    const into = name === "ordinal" ? new Int32Array(size) : new Float64Array(size)
    place(all, (each) => read(each.numbers[name]), into)
    return [name, into]
  })
  return {
    size,
    count: all.reduce((sum, each) => sum + each.count, 0),
    tokens: all.reduce((sum, each) => sum + each.tokens, 0),
    lengths,
    texts: Object.fromEntries(texts) as Documents["texts"],
    numbers: Object.fromEntries(numbers) as Documents["numbers"],
  }
}

function place(
  all: readonly Documents[],
  of: (each: Documents) => ArrayLike<number>,
  into: { set(values: ArrayLike<number>, at: number): void },
): void {
  let at = 0
  for (const each of all) {
    into.set(of(each), at)
    at += each.size
  }
}

function joinTexts(all: readonly Documents[], name: TextName, size: number): TextFacet {
  const met = new Map<string, number>()
  const codes = new Uint32Array(size)
  let at = 0
  for (const each of all) {
    const { values, codes: own } = read(each.texts[name])
    const mapped = values.map((value) => codeOf(met, value))
    for (let index = 0; index < own.length; index++) codes[at++] = mapped[own[index] as number] ?? 0
  }
  return { values: [...met.keys()], codes: coded(codes, met.size) }
}

const SHORTEST_FIRST = new WeakMap<Documents, Uint32Array>()

/** The messages that have terms, the shortest first, and of one length the newest: in this order a term counts less and less. */
export function shortestFirst(documents: Documents): Uint32Array {
  const known = SHORTEST_FIRST.get(documents)
  if (known !== undefined) return known
  const { lengths, size } = documents
  const starts = new Uint32Array(LENGTH_MAX + 2)
  for (let at = 0; at < size; at++)
    starts[(lengths[at] as number) + 1] = (starts[(lengths[at] as number) + 1] as number) + 1
  const none = starts[1] as number
  starts[1] = 0
  for (let length = 1; length < starts.length; length++)
    starts[length] = (starts[length] as number) + (starts[length - 1] as number)
  const numbers = new Uint32Array(size - none)
  for (let at = size - 1; at >= 0; at--) {
    const length = lengths[at] as number
    if (length === 0) continue
    numbers[starts[length] as number] = at
    starts[length] = (starts[length] as number) + 1
  }
  SHORTEST_FIRST.set(documents, numbers)
  return numbers
}

// --- As bytes ---------------------------------------------------------------------------------------------------------

export type DocumentBytes = Readonly<Record<"lengths" | FacetName, Uint8Array>>

export function documentBytes({ lengths, texts, numbers }: Documents): DocumentBytes {
  return {
    lengths: bytesOf(lengths),
    ...Object.fromEntries(TEXT_FACETS.map((name) => [name, textBytes(read(texts[name]))])),
    ...Object.fromEntries(NUMBER_FACETS.map((name) => [name, bytesOf(read(numbers[name]))])),
  } as DocumentBytes
}

/** Without any facet: those are added when they are asked for. */
export function readDocuments(lengths: Uint8Array, facts: Pick<Documents, "count" | "tokens">): Documents {
  const own = new Uint16Array(aligned(lengths))
  return { size: own.length, count: facts.count, tokens: facts.tokens, lengths: own, texts: {}, numbers: {} }
}

export function addFacet({ texts, numbers, size }: Documents, name: FacetName, bytes: Uint8Array): void {
  if (isText(name)) texts[name] = readText(bytes, size)
  else numbers[name] = name === "ordinal" ? new Int32Array(aligned(bytes)) : new Float64Array(aligned(bytes))
}

export function hasFacet({ texts, numbers }: Documents, name: string): boolean {
  return (isText(name) && texts[name] !== undefined) || (isNumber(name) && numbers[name] !== undefined)
}

/** As a row has it. */
export function facetOf({ texts, numbers }: Documents, name: FacetName, number: number): string | number | bigint {
  if (isText(name)) {
    const { values, codes } = read(texts[name])
    return values[codes[number] as number] ?? ""
  }
  const value = read(numbers[name])[number] ?? 0
  return name === "ordinal" ? value : BigInt(value)
}

function read<Facet>(facet: Facet | undefined): Facet {
  assert(facet !== undefined, "a facet is read before it is used")
  return facet
}

function bytesOf(values: Codes | Float64Array | Int32Array): Uint8Array {
  return new Uint8Array(values.buffer, values.byteOffset, values.byteLength)
}

/** A buffer that begins where the bytes do, as an array of wider numbers needs it. */
function aligned(bytes: Uint8Array): ArrayBuffer {
  const isWhole = bytes.byteOffset === 0 && bytes.byteLength === bytes.buffer.byteLength
  return (isWhole ? bytes.buffer : bytes.slice().buffer) as ArrayBuffer
}

/** How long the values are, the values, and a code for each message. */
function textBytes({ values, codes }: TextFacet): Uint8Array {
  const head = new TextEncoder().encode(JSON.stringify(values))
  const all = new Uint8Array(4 + head.length + codes.byteLength)
  new DataView(all.buffer).setUint32(0, head.length, true)
  all.set(head, 4)
  all.set(bytesOf(codes), 4 + head.length)
  return all
}

function readText(bytes: Uint8Array, size: number): TextFacet {
  const length = new DataView(bytes.buffer, bytes.byteOffset).getUint32(0, true)
  const values = JSON.parse(new TextDecoder().decode(bytes.subarray(4, 4 + length))) as string[]
  const codes = aligned(bytes.subarray(4 + length))
  if (codes.byteLength === size) return { values, codes: new Uint8Array(codes) }
  return { values, codes: codes.byteLength === size * 2 ? new Uint16Array(codes) : new Uint32Array(codes) }
}

/** The ordinals of the messages with terms, by session: whoever said anything has a term at least. */
export function spokenIn(all: readonly Documents[], sessionIds: readonly string[]): Map<string, number[]> {
  const spoken = new Map<string, number[]>(sessionIds.map((id) => [id, []]))
  for (const documents of all) {
    const { texts, numbers, lengths } = documents
    const { codes } = read(texts.session_id)
    const ordinals = read(numbers.ordinal)
    const { first, last, codesById } = stretchesOf(documents)
    for (const [id, own] of spoken) {
      const code = codesById.get(id)
      if (code === undefined) continue
      for (let at = first[code] ?? 0; at <= (last[code] ?? -1); at++)
        if (codes[at] === code && lengths[at] !== 0) own.push(ordinals[at] as number)
    }
  }
  for (const own of spoken.values()) own.sort((left, right) => left - right)
  return spoken
}

interface Stretches {
  readonly codesById: ReadonlyMap<string, number>
  readonly first: Uint32Array
  readonly last: Uint32Array
}

const STRETCHES = new WeakMap<Documents, Stretches>()

/** Where the messages of each session begin and end: mostly they lie together. */
function stretchesOf(documents: Documents): Stretches {
  const known = STRETCHES.get(documents)
  if (known !== undefined) return known
  const { values, codes } = read(documents.texts.session_id)
  const [first, last] = [new Uint32Array(values.length).fill(codes.length), new Uint32Array(values.length)]
  for (let at = codes.length - 1; at >= 0; at--) first[codes[at] as number] = at
  for (let at = 0; at < codes.length; at++) last[codes[at] as number] = at
  const stretches = { first, last, codesById: new Map(values.map((value, code) => [value, code])) }
  STRETCHES.set(documents, stretches)
  return stretches
}

// --- Filters ----------------------------------------------------------------------------------------------------------

/** The facets that a filter asks for. */
export function facetsOf(filter: Filter): FacetName[] {
  if (filter.op === "not") return facetsOf(filter.filter)
  if (filter.op === "and" || filter.op === "or") return filter.filters.flatMap(facetsOf)
  const { column } = filter as { readonly column: string }
  return isText(column) || isNumber(column) ? [column] : []
}

/**
 * A byte for each message, 1 where the filter lets it pass; nothing where the filter asks for what is not known here. The
 * first of them has the row number `from`.
 */
export function passing(documents: Documents, filter: Filter, from: number): Uint8Array | undefined {
  const mask = new Uint8Array(documents.size).fill(1)
  return narrowed({ documents, from, mask }, filter) ? mask : undefined
}

interface Narrowing {
  readonly documents: Documents
  readonly from: number
  readonly mask: Uint8Array
}

/** Takes out of the mask what the filter does not let pass; false where it asks for what is not known here. */
function narrowed(narrowing: Narrowing, filter: Filter): boolean {
  const { documents, from, mask } = narrowing
  switch (filter.op) {
    case "and":
      return filter.filters.every((each) => narrowed(narrowing, each))
    case "or":
      return narrowedToAny(narrowing, filter.filters)
    case "not": {
      const others = passing(documents, filter.filter, from)
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
      if (isFacet(filter.column)) mask.fill(0)
      return isFacet(filter.column)
    default:
      return narrowedByLeaf(documents, filter, mask)
  }
}

function narrowedToAny({ documents, from, mask }: Narrowing, filters: readonly Filter[]): boolean {
  const any = new Uint8Array(documents.size)
  for (const filter of filters) {
    const own = passing(documents, filter, from)
    if (own === undefined) return false
    for (let at = 0; at < any.length; at++) any[at] = (any[at] as number) | (own[at] as number)
  }
  for (let at = 0; at < mask.length; at++) mask[at] = (mask[at] as number) & (any[at] as number)
  return true
}

type Leaf = Extract<Filter, { readonly op: "eq" | "in" | "range" | "contains" | "starts_with" | "matches" }>

function narrowedByLeaf({ texts, numbers }: Documents, leaf: Leaf, mask: Uint8Array): boolean {
  if (isText(leaf.column)) {
    const { values, codes } = read(texts[leaf.column])
    const passes = textTest(leaf)
    const isPassing = Uint8Array.from(values, (value) => (passes(value) ? 1 : 0))
    if (isPassing.every((each) => each === 1)) return true
    for (let at = 0; at < mask.length; at++)
      mask[at] = (mask[at] as number) & (isPassing[codes[at] as number] as number)
    return true
  }
  const passes = numberTest(leaf)
  if (!isNumber(leaf.column) || passes === undefined) return false
  const values = read(numbers[leaf.column])
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

const isText = (column: string): column is TextName => (TEXT_FACETS as readonly string[]).includes(column)
const isNumber = (column: string): column is NumberName => (NUMBER_FACETS as readonly string[]).includes(column)
const isFacet = (column: string) => isText(column) || isNumber(column)

function textTest(leaf: Leaf): (value: string) => boolean {
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

function numberTest(leaf: Leaf): ((value: number) => boolean) | undefined {
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

/** The least and the most that pass, as two numbers: all values are whole. Nothing where a number cannot say it. */
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

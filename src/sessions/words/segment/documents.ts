/**
 * The document attributes of a segment, in columns: how many terms each message has, for ranking, and every column that
 * searches filter by (`document-filter.ts`). Text attributes are dictionary-encoded: each distinct value once, and a
 * code per message.
 */
import { assert } from "../../../model/errors.ts"
import {
  type ColumnBatch,
  type ColumnValues,
  repeatedTexts,
  textReader,
} from "../../../substrate/columns/column-batch.ts"

const TEXT_ATTRIBUTES = ["session_id", "role", "source_agent", "project", "lane"] as const
const NUMBER_ATTRIBUTES = ["timestamp", "ingested_at", "ordinal"] as const
export const ATTRIBUTES = [...TEXT_ATTRIBUTES, ...NUMBER_ATTRIBUTES] as const

type TextName = (typeof TEXT_ATTRIBUTES)[number]
type NumberName = (typeof NUMBER_ATTRIBUTES)[number]

export type Codes = Uint8Array | Uint16Array | Uint32Array

export interface TextAttribute {
  readonly values: readonly string[]
  readonly codes: Codes
}

export interface Documents {
  /** Number of messages, with and without terms. */
  readonly size: number
  /** Number of messages that have terms. */
  readonly count: number
  readonly tokens: number
  readonly lengths: Uint16Array
  /** In a segment read from the store, only the attributes that were asked for so far. */
  readonly texts: Partial<Record<TextName, TextAttribute>>
  readonly numbers: Partial<Record<NumberName, Float64Array | Int32Array>>
}

export type AttributeName = (typeof ATTRIBUTES)[number]

export const isText = (column: string): column is TextName => (TEXT_ATTRIBUTES as readonly string[]).includes(column)
export const isNumber = (column: string): column is NumberName =>
  (NUMBER_ATTRIBUTES as readonly string[]).includes(column)

/** Longer messages count as having this many terms. */
export const LENGTH_MAX = 0xffff

// --- Building ---------------------------------------------------------------------------------------------------------

/** A batch of rows: their positions in the segment and their attribute columns. */
export interface AttributeBatch {
  readonly places: Uint32Array
  readonly columns: ColumnBatch
}

export interface DocumentsBuilder {
  /** One past the highest position so far. Positions may have gaps. */
  readonly size: number
  /** Returns the session and role code of each row. Codes are stable across batches. */
  add(batch: AttributeBatch): Readonly<Record<"session_id" | "role", Uint32Array>>
  /** `lengths` has one entry per position. */
  finish(lengths: Uint16Array): Documents
  /** The value that a code stands for. */
  text(name: TextName, code: number): string
}

export function createDocumentsBuilder(): DocumentsBuilder {
  const texts = new Map(TEXT_ATTRIBUTES.map((name) => [name, new Map<string, number>()]))
  const values = new Map<TextName, string[]>(TEXT_ATTRIBUTES.map((name) => [name, []]))
  const batches: { readonly places: Uint32Array; readonly facets: ReadonlyMap<string, ArrayLike<number>> }[] = []
  let size = 0
  return {
    get size() {
      return size
    },
    add: ({ places, columns: { columns } }) => {
      const codes = TEXT_ATTRIBUTES.map((name) => {
        const met = assertLoaded(values.get(name))
        return [name, encodeTexts(assertLoaded(columns[name]), assertLoaded(texts.get(name)), met)] as const
      })
      const numbers = NUMBER_ATTRIBUTES.map(
        (name) => [name, Float64Array.from(assertLoaded(columns[name]).data, Number)] as const,
      )
      for (const each of places) size = Math.max(size, each + 1)
      batches.push({ places, facets: new Map<string, ArrayLike<number>>([...codes, ...numbers]) })
      return Object.fromEntries(codes) as Record<TextName, Uint32Array>
    },
    text: (name, code) => assertLoaded(values.get(name)?.[code]),
    finish: (lengths) => {
      const placed = <Into extends Uint32Array | Float64Array>(name: string, into: Into): Into => {
        for (const { places, facets } of batches) {
          const own = assertLoaded(facets.get(name))
          for (let row = 0; row < places.length; row++) into[places[row] as number] = own[row] as number
        }
        return into
      }
      const coded = TEXT_ATTRIBUTES.map((name) => {
        const met = assertLoaded(values.get(name))
        return [name, { values: met, codes: narrowCodes(placed(name, new Uint32Array(size)), met.length) }]
      })
      const numbers = NUMBER_ATTRIBUTES.map((name) => [name, toNumbers(name, placed(name, new Float64Array(size)))])
      return {
        size,
        count: lengths.reduce((count, length) => (length > 0 ? count + 1 : count), 0),
        tokens: lengths.reduce((sum, length) => sum + length, 0),
        lengths,
        texts: Object.fromEntries(coded) as unknown as Documents["texts"],
        numbers: Object.fromEntries(numbers) as unknown as Documents["numbers"],
      }
    },
  }
}

/** Dictionary-encodes a column. Most rows repeat the value of the row before, which needs no lookup. */
function encodeTexts(column: ColumnValues, known: Map<string, number>, values: string[]): Uint32Array {
  const textAt = textReader(column)
  const isRepeated = repeatedTexts(column)
  const codes = new Uint32Array((column.offsets?.length ?? 1) - 1)
  for (let row = 0; row < codes.length; row++) {
    if (isRepeated(row)) {
      codes[row] = codes[row - 1] as number
      continue
    }
    const text = textAt(row) ?? ""
    const code = codeOf(known, text)
    if (code === values.length) values.push(text)
    codes[row] = code
  }
  return codes
}

function codeOf(known: Map<string, number>, value: string): number {
  const code = known.get(value) ?? known.size
  if (code === known.size) known.set(value, code)
  return code
}

function narrowCodes(codes: ArrayLike<number>, values: number): Codes {
  if (values <= 0x100) return Uint8Array.from(codes)
  return values <= 0x10000 ? Uint16Array.from(codes) : Uint32Array.from(codes)
}

function toNumbers(name: NumberName, values: ArrayLike<number>): Float64Array | Int32Array {
  return name === "ordinal" ? Int32Array.from(values) : Float64Array.from(values)
}

/** Concatenates documents as if they had been built at once, with the named attributes. */
export function joinDocuments(all: readonly Documents[], names: readonly AttributeName[] = ATTRIBUTES): Documents {
  const size = all.reduce((sum, each) => sum + each.size, 0)
  const lengths = new Uint16Array(size)
  copyAll(all, (each) => each.lengths, lengths)
  const texts = names.filter(isText).map((name) => [name, joinTexts(all, name, size)])
  const numbers = names.filter(isNumber).map((name) => {
    const into = name === "ordinal" ? new Int32Array(size) : new Float64Array(size)
    copyAll(all, (each) => assertLoaded(each.numbers[name]), into)
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

function copyAll(
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

function joinTexts(all: readonly Documents[], name: TextName, size: number): TextAttribute {
  const met = new Map<string, number>()
  const codes = new Uint32Array(size)
  let at = 0
  for (const each of all) {
    const { values, codes: own } = assertLoaded(each.texts[name])
    const mapped = values.map((value) => codeOf(met, value))
    for (let index = 0; index < own.length; index++) codes[at++] = mapped[own[index] as number] ?? 0
  }
  return { values: [...met.keys()], codes: narrowCodes(codes, met.size) }
}

const BY_LENGTH = new WeakMap<Documents, Uint32Array>()

/**
 * Messages with terms by length, shortest first, and the newest first among equals: the order of falling BM25 weight.
 * Stops at about `least` entries; a later call for more returns the same beginning.
 */
export function sortByLength(documents: Documents, least = documents.count): Uint32Array {
  const known = BY_LENGTH.get(documents)
  if (known !== undefined && known.length >= Math.min(least, documents.count)) return known
  const { lengths, size } = documents
  const counts = new Uint32Array(LENGTH_MAX + 1)
  for (let at = 0; at < size; at++) counts[lengths[at] as number] = (counts[lengths[at] as number] as number) + 1
  const starts = new Uint32Array(LENGTH_MAX + 1)
  let [most, count] = [0, 0]
  while (count < least && most < LENGTH_MAX) {
    most += 1
    starts[most] = count
    count += counts[most] as number
  }
  const numbers = new Uint32Array(count)
  for (let at = size - 1; at >= 0; at--) {
    const length = lengths[at] as number
    if (length > most || length === 0) continue
    numbers[starts[length] as number] = at
    starts[length] = (starts[length] as number) + 1
  }
  BY_LENGTH.set(documents, numbers)
  return numbers
}

// --- As bytes ---------------------------------------------------------------------------------------------------------

export type DocumentBytes = Readonly<Record<"lengths" | AttributeName, Uint8Array>>

export function documentBytes(documents: Documents): DocumentBytes {
  const facets = ATTRIBUTES.map((name) => [name, attributeBytes(documents, name)])
  return { lengths: lengthBytes(documents), ...Object.fromEntries(facets) } as DocumentBytes
}

export function lengthBytes({ lengths }: Documents): Uint8Array {
  return rawBytes(lengths)
}

export function attributeBytes({ texts, numbers }: Documents, name: AttributeName): Uint8Array {
  return isText(name) ? encodeText(assertLoaded(texts[name])) : rawBytes(assertLoaded(numbers[name]))
}

/** Documents without attributes, which are added on demand. */
export function readDocuments(lengths: Uint8Array, facts: Pick<Documents, "count" | "tokens">): Documents {
  const own = new Uint16Array(alignBytes(lengths))
  return { size: own.length, count: facts.count, tokens: facts.tokens, lengths: own, texts: {}, numbers: {} }
}

export function addAttribute({ texts, numbers, size }: Documents, name: AttributeName, bytes: Uint8Array): void {
  if (isText(name)) texts[name] = decodeText(bytes, size)
  else numbers[name] = name === "ordinal" ? new Int32Array(alignBytes(bytes)) : new Float64Array(alignBytes(bytes))
}

/** Frees an attribute. It can be loaded again. */
export function dropAttribute({ texts, numbers }: Documents, name: AttributeName): void {
  if (isText(name)) delete texts[name]
  else delete numbers[name]
}

export function hasAttribute({ texts, numbers }: Documents, name: string): boolean {
  return (isText(name) && texts[name] !== undefined) || (isNumber(name) && numbers[name] !== undefined)
}

/** The value as the table's row has it. */
export function attributeOf(
  { texts, numbers }: Documents,
  name: AttributeName,
  number: number,
): string | number | bigint {
  if (isText(name)) {
    const { values, codes } = assertLoaded(texts[name])
    return values[codes[number] as number] ?? ""
  }
  const value = assertLoaded(numbers[name])[number] ?? 0
  return name === "ordinal" ? value : BigInt(value)
}

export function assertLoaded<Facet>(facet: Facet | undefined): Facet {
  assert(facet !== undefined, "a facet is read before it is used")
  return facet
}

function rawBytes(values: Codes | Float64Array | Int32Array): Uint8Array {
  return new Uint8Array(values.buffer, values.byteOffset, values.byteLength)
}

/** A buffer that starts with the bytes, as typed arrays of wider numbers need for their alignment. */
function alignBytes(bytes: Uint8Array): ArrayBuffer {
  const isWhole = bytes.byteOffset === 0 && bytes.byteLength === bytes.buffer.byteLength
  return (isWhole ? bytes.buffer : bytes.slice().buffer) as ArrayBuffer
}

/** Layout: byte length of the values, the values as a JSON array, one code per message. */
function encodeText({ values, codes }: TextAttribute): Uint8Array {
  const head = new TextEncoder().encode(JSON.stringify(values))
  const all = new Uint8Array(4 + head.length + codes.byteLength)
  new DataView(all.buffer).setUint32(0, head.length, true)
  all.set(head, 4)
  all.set(rawBytes(codes), 4 + head.length)
  return all
}

function decodeText(bytes: Uint8Array, size: number): TextAttribute {
  const length = new DataView(bytes.buffer, bytes.byteOffset).getUint32(0, true)
  const values = JSON.parse(new TextDecoder().decode(bytes.subarray(4, 4 + length))) as string[]
  const codes = alignBytes(bytes.subarray(4 + length))
  if (codes.byteLength === size) return { values, codes: new Uint8Array(codes) }
  return { values, codes: codes.byteLength === size * 2 ? new Uint16Array(codes) : new Uint32Array(codes) }
}

/** Per session, the ordinals of the messages that have terms: every message that says something has at least one. */
export function findSpoken(all: readonly Documents[], sessionIds: readonly string[]): Map<string, number[]> {
  const spoken = new Map<string, number[]>(sessionIds.map((id) => [id, []]))
  for (const documents of all) {
    const { texts, numbers, lengths } = documents
    const { codes } = assertLoaded(texts.session_id)
    const ordinals = assertLoaded(numbers.ordinal)
    const { first, last, codesById } = findSessionRanges(documents)
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

interface SessionRanges {
  readonly codesById: ReadonlyMap<string, number>
  readonly first: Uint32Array
  readonly last: Uint32Array
}

const SESSION_RANGES = new WeakMap<Documents, SessionRanges>()

/** The first and last position of each session, whose messages mostly are consecutive. */
function findSessionRanges(documents: Documents): SessionRanges {
  const known = SESSION_RANGES.get(documents)
  if (known !== undefined) return known
  const { values, codes } = assertLoaded(documents.texts.session_id)
  const [first, last] = [new Uint32Array(values.length).fill(codes.length), new Uint32Array(values.length)]
  for (let at = codes.length - 1; at >= 0; at--) first[codes[at] as number] = at
  for (let at = 0; at < codes.length; at++) last[codes[at] as number] = at
  const stretches = { first, last, codesById: new Map(values.map((value, code) => [value, code])) }
  SESSION_RANGES.set(documents, stretches)
  return stretches
}

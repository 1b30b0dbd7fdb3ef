/**
 * A growing buffer of UTF-16 code units, reused for one text after the other, and a text column as its source. Nearly
 * all text is ASCII, and its bytes go into the buffer without becoming a string.
 */
import { isAscii } from "node:buffer"
import { type ColumnValues, textReader } from "../../../substrate/columns/column-batch.ts"
import { BLOB_SCHEME, textOfColumn } from "../../rows/oversized.ts"

/** A text of megabytes is a paste. Only its beginning is indexed; an exact search still reads all of it. */
export const INDEXED_UNITS_MAX = 200_000

export interface CodeUnits {
  /** Valid up to `length`. */
  readonly units: Uint16Array
  readonly length: number
  /** Replaces the content by this text. */
  begin(text: string): void
  add(text: string): void
  addAscii(bytes: Uint8Array): void
  /** Returns a copy. */
  first(units: number): Uint16Array
}

export function createCodeUnits(): CodeUnits {
  let units = new Uint16Array(1 << 12)
  let used = 0
  const makeRoom = (more: number) => {
    if (used + more <= units.length) return
    const larger = new Uint16Array(Math.max(used + more, units.length * 2))
    larger.set(units)
    units = larger
  }
  const add = (text: string) => {
    makeRoom(text.length)
    if (text.length < SHORT_UNITS) for (let at = 0; at < text.length; at++) units[used++] = text.charCodeAt(at)
    else used += Buffer.from(units.buffer).write(text, used * 2, "utf16le") / 2
  }
  return {
    get units() {
      return units
    },
    get length() {
      return used
    },
    begin: (text) => {
      used = 0
      add(text)
    },
    add,
    addAscii: (bytes) => {
      makeRoom(bytes.length)
      units.set(bytes, used)
      used += bytes.length
    },
    first: (count) => units.slice(0, Math.min(count, used)),
  }
}

/** Shorter texts are copied faster in JavaScript than by a native call. */
const SHORT_UNITS = 48

/** A text column as stored. */
export interface TextColumn {
  isNull(row: number): boolean
  /** Whether the value is a reference to a blob. */
  isInBlob(row: number): boolean
  /** Appends the indexed beginning of a text. Returns true where the text is longer. */
  addTo(units: CodeUnits, row: number): boolean
  /** Appends the beginning of the stored value, which differs from the text for a few escaped ones. */
  addStoredTo(units: CodeUnits, row: number): void
}

const REFERENCE = Buffer.from(BLOB_SCHEME)
/** The first byte of every value that is not the text itself. */
const FIRST_OF_SCHEME = REFERENCE[0]

export function openTextColumn(column: ColumnValues): TextColumn {
  const { nulls, offsets = new Int32Array(1) } = column
  const bytes = column.data as Uint8Array
  const textAt = textReader(column)
  const isAllAscii = isAscii(bytes)
  const addAsIs = (units: CodeUnits, row: number) => {
    const own = bytes.subarray(offsets[row], offsets[row + 1])
    const isPlain = own.length <= INDEXED_UNITS_MAX && (isAllAscii || isAscii(own))
    if (isPlain) units.addAscii(own)
    return isPlain
  }
  return {
    isNull: (row) => nulls !== undefined && nulls[row] !== 0,
    isInBlob: (row) => {
      const [from, to] = [offsets[row] as number, offsets[row + 1] as number]
      if (bytes[from] !== FIRST_OF_SCHEME || to - from < REFERENCE.length) return false
      return REFERENCE.equals(bytes.subarray(from, from + REFERENCE.length))
    },
    addTo: (units, row) => {
      if (bytes[offsets[row] as number] !== FIRST_OF_SCHEME && addAsIs(units, row)) return false
      const text = textOfColumn(textAt(row) ?? "", new Map())
      units.add(text.slice(0, INDEXED_UNITS_MAX))
      return text.length > INDEXED_UNITS_MAX
    },
    addStoredTo: (units, row) => {
      if (!addAsIs(units, row)) units.add((textAt(row) ?? "").slice(0, INDEXED_UNITS_MAX))
    },
  }
}

/** A string of any length. `fromCharCode` takes a limited number of arguments. */
export function toText(units: Uint16Array, start: number, end: number): string {
  if (end - start < SHORT_UNITS)
    return String.fromCharCode.apply(null, units.subarray(start, end) as unknown as number[])
  return Buffer.from(units.buffer, units.byteOffset + start * 2, (end - start) * 2).toString("utf16le")
}

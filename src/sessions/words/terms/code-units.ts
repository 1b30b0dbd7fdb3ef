/**
 * Texts of a column as UTF-16 units in one array, which is used for one text after the other: what goes through every
 * word of a store makes no string of what is ASCII, as nearly all of it is.
 */
import { isAscii } from "node:buffer"
import { type ColumnValues, textReader } from "../../../substrate/columns/column-batch.ts"
import { BLOB_SCHEME, textOfColumn } from "../../rows/oversized.ts"

/** A text of megabytes is a paste: its beginning is what it is found by, and an exact search still reads all of it. */
export const INDEXED_UNITS_MAX = 200_000

export interface CodeUnits {
  /** Those of the text are its first; what lies behind them is of no text. */
  readonly units: Uint16Array
  readonly length: number
  /** The next text, which begins so. */
  begin(text: string): void
  add(text: string): void
  addAscii(bytes: Uint8Array): void
  /** A copy. */
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

/** A call of native code costs more than so many units. */
const SHORT_UNITS = 48

/** A column of texts as they lie in their rows. */
export interface TextColumn {
  isNull(row: number): boolean
  /** Whether it is a reference to where the text lies. */
  isInBlob(row: number): boolean
  /** Adds what is indexed of a text; true where that is not all of it. */
  addTo(units: CodeUnits, row: number): boolean
  /** The same of what stands in the column, which is another thing for a few texts. */
  addStoredTo(units: CodeUnits, row: number): void
}

const REFERENCE = Buffer.from(BLOB_SCHEME)
/** What a value that is not the text itself begins with. */
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

/** As a string. Of any length: more arguments are more than a call takes. */
export function toText(units: Uint16Array, start: number, end: number): string {
  if (end - start < SHORT_UNITS)
    return String.fromCharCode.apply(null, units.subarray(start, end) as unknown as number[])
  return Buffer.from(units.buffer, units.byteOffset + start * 2, (end - start) * 2).toString("utf16le")
}

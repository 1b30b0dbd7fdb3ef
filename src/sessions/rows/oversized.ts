/**
 * Moves values that are too large for a text column to `blobs` and leaves a reference. Nothing is cut (`adapter-bounded-values`).
 * A text that only looks like a reference is marked, so that every string comes back as it went in.
 */

import type { BlobRow } from "../tables.ts"
import { packBlob } from "./blob-packing.ts"

export const BLOB_SCHEME = "pond://blob/"
const TEXT_MARK = "pond://text/"
const OWN_SCHEME = "pond://"

/** In UTF-16 units. Below it a value is searched where it lies; a search says how many values lie elsewhere. */
export const COLUMN_UNITS_MAX = 4 * 1024 * 1024

export interface BlobSink {
  /** Keeps the bytes and gives their reference. */
  put(bytes: Uint8Array): string
  /** The same for a text. What is searched of a message is often the text of its only part. */
  putText(text: string): string
}

export function createBlobSink(): BlobSink & { take(): BlobRow[] } {
  let rows = new Map<string, BlobRow>()
  let texts = new Map<string, string>()
  const keep = (row: BlobRow): string => {
    if (!rows.has(row.sha256)) rows.set(row.sha256, row)
    return `${BLOB_SCHEME}${row.sha256}`
  }
  return {
    putText: (text) => {
      const reference = texts.get(text) ?? keep(packBlob(piecesOfText(text), () => bytesOfText(text)))
      texts.set(text, reference)
      return reference
    },
    put: (bytes) => keep(packBlob([bytes], () => bytes)),
    take() {
      const taken = [...rows.values()]
      rows = new Map()
      texts = new Map()
      return taken
    },
  }
}

export function columnOfText(text: string, blobs: BlobSink): string {
  if (text.length > COLUMN_UNITS_MAX) return blobs.putText(text)
  return text.startsWith(OWN_SCHEME) ? `${TEXT_MARK}${text}` : text
}

/** The reference that a column holds instead of its value, if it does. */
export function blobOfColumn(column: string): string | undefined {
  return column.startsWith(BLOB_SCHEME) ? column.slice(BLOB_SCHEME.length) : undefined
}

export function textOfColumn(column: string, blobs: ReadonlyMap<string, Uint8Array>): string {
  if (column.startsWith(TEXT_MARK)) return column.slice(TEXT_MARK.length)
  const sha256 = blobOfColumn(column)
  if (sha256 === undefined) return column
  const bytes = blobs.get(sha256)
  if (bytes === undefined) throw new MissingBlob(sha256)
  return textOfBytes(bytes)
}

/** A row points at bytes that are not there. The reader says which session is not whole. */
export class MissingBlob extends Error {
  readonly sha256: string

  constructor(sha256: string) {
    super(`the blob ${sha256} is not in the store`)
    this.sha256 = sha256
  }
}

const UTF8_MARK = 0x00
const UTF16_MARK = 0x01
const PIECE_UNITS = 4 * 1024 * 1024

/** A string with lone surrogates has no UTF-8 form, so it is kept as UTF-16. The first byte says which. */
function* piecesOfText(text: string): Generator<Uint8Array> {
  const isUtf8 = text.isWellFormed()
  const encoding = isUtf8 ? "utf8" : "utf16le"
  for (let from = 0; from < text.length; ) {
    let to = Math.min(from + PIECE_UNITS, text.length)
    // A pair is one character of UTF-8.
    if (isUtf8 && (text.codePointAt(to - 1) ?? 0) > 0xffff) to++
    const content = Buffer.from(text.slice(from, to), encoding)
    yield from === 0 ? Buffer.concat([Uint8Array.of(isUtf8 ? UTF8_MARK : UTF16_MARK), content]) : content
    from = to
  }
}

/** The same in one buffer. */
function bytesOfText(text: string): Uint8Array {
  const encoding = text.isWellFormed() ? "utf8" : "utf16le"
  const bytes = Buffer.from(new ArrayBuffer(1 + Buffer.byteLength(text, encoding)))
  bytes[0] = encoding === "utf8" ? UTF8_MARK : UTF16_MARK
  bytes.write(text, 1, encoding)
  return new Uint8Array(bytes.buffer)
}

function textOfBytes(bytes: Uint8Array): string {
  const content = Buffer.from(bytes.buffer, bytes.byteOffset + 1, bytes.byteLength - 1)
  return content.toString(bytes[0] === UTF16_MARK ? "utf16le" : "utf8")
}

/**
 * Lines that may be too many to hold. Beyond some size they lie in a file, whose name is taken away as soon as it is open:
 * a process that dies leaves nothing of them behind. They come back as they were pushed, a text as text and bytes as bytes.
 */
import { closeSync, mkdirSync, openSync, readSync, rmSync, writeSync } from "node:fs"
import { dirname } from "node:path"
import { madeValues } from "../memory.ts"

export type Line = string | Uint8Array

export interface LongLines extends Iterable<Line> {
  readonly length: number
  push(line: Line): void
  /** The bytes of all of them, each with its line feed. */
  chunks(): Iterable<Uint8Array>
  byteLength(): number
}

export interface LineShelf extends Disposable {
  newLines(): LongLines
}

export interface LineShelfOptions {
  /** A name for a file that is made when it is needed. */
  readonly path: string
  /** How much of one list is held. */
  readonly heldUnits?: number
}

const HELD_UNITS = 4 << 20
const CHUNK_BYTES = 1 << 20
const LINE_FEED = 10
/** What a line was made of, which is gone by now. */
const LINE_BYTES = 4_096

/** Once it is closed, no lines of it are read any more. */
export function createLineShelf({ path, heldUnits = HELD_UNITS }: LineShelfOptions): LineShelf {
  const opened: number[] = []
  function open(): number {
    const name = `${path}-${opened.length}`
    mkdirSync(dirname(name), { recursive: true, mode: 0o700 })
    const file = openSync(name, "wx+", 0o600)
    rmSync(name)
    opened.push(file)
    return file
  }
  return {
    newLines: () => createLines(open, heldUnits),
    [Symbol.dispose]: () => {
      for (const file of opened.splice(0)) closeSync(file)
    },
  }
}

function createLines(open: () => number, heldUnits: number): LongLines {
  let waiting: Line[] = []
  let waitingUnits = 0
  let length = 0
  let file: number | undefined
  let written = 0
  /** Which lines were no text. */
  const ofBytes = new Set<number>()

  function flush(): void {
    file ??= open()
    madeValues(waitingUnits + LINE_BYTES * waiting.length, waiting.length)
    for (const chunk of chunksOf(waiting)) {
      for (let at = 0; at < chunk.length; ) at += writeSync(file, chunk, at, chunk.length - at, written + at)
      written += chunk.length
    }
    waiting = []
    waitingUnits = 0
  }

  function* chunks(): Generator<Uint8Array> {
    if (file !== undefined) yield* chunksOfFile(file, written)
    yield* chunksOf(waiting)
  }

  return {
    get length() {
      return length
    },
    push: (line) => {
      if (typeof line !== "string") ofBytes.add(length)
      length++
      waiting.push(line)
      waitingUnits += line.length + 1
      if (waitingUnits >= (file === undefined ? heldUnits : CHUNK_BYTES)) flush()
    },
    chunks,
    byteLength: () => written + lengthOfLines(waiting),
    *[Symbol.iterator]() {
      let number = 0
      if (file !== undefined)
        for (const line of linesOf(chunksOfFile(file, written)))
          yield ofBytes.has(number++) ? Uint8Array.from(line) : line.toString("utf8")
      yield* waiting
    },
  }
}

/** What a list of lines is in a file, a piece at a time: of a long log nothing is held beside it. */
export function* chunksOf(lines: Iterable<Line>): Generator<Uint8Array> {
  let held: Line[] = []
  let units = 0
  for (const line of lines) {
    held.push(line)
    units += line.length + 1
    if (units < CHUNK_BYTES) continue
    yield bytesOfLines(held)
    held = []
    units = 0
  }
  if (held.length > 0) yield bytesOfLines(held)
}

export function lengthOfLines(lines: Iterable<Line>): number {
  let bytes = 0
  for (const line of lines) bytes += Buffer.byteLength(line) + 1
  return bytes
}

function bytesOfLines(lines: readonly Line[]): Uint8Array {
  const bytes = Buffer.allocUnsafe(lengthOfLines(lines))
  let at = 0
  for (const line of lines) {
    if (typeof line === "string") at += bytes.write(line, at)
    else {
      bytes.set(line, at)
      at += line.byteLength
    }
    bytes[at++] = LINE_FEED
  }
  return bytes
}

function* chunksOfFile(file: number, bytes: number): Generator<Buffer> {
  for (let at = 0; at < bytes; ) {
    const chunk = Buffer.allocUnsafe(Math.min(CHUNK_BYTES, bytes - at))
    const count = readSync(file, chunk, 0, chunk.length, at)
    if (count === 0) return
    at += count
    yield chunk.subarray(0, count)
  }
}

/** Each without its line feed. Valid until the next one is asked for. */
function* linesOf(chunks: Iterable<Buffer>): Generator<Buffer> {
  let begun: Buffer[] = []
  for (const chunk of chunks) {
    let [start, count] = [0, 1]
    for (let feed = chunk.indexOf(LINE_FEED); feed >= 0; feed = chunk.indexOf(LINE_FEED, start)) {
      const end = chunk.subarray(start, feed)
      count++
      yield begun.length === 0 ? end : Buffer.concat([...begun, end])
      begun = []
      start = feed + 1
    }
    if (start < chunk.length) begun.push(chunk.subarray(start))
    // The chunk itself, and about as much again for the strings that callers make of its lines.
    madeValues(2 * chunk.length, count)
  }
}

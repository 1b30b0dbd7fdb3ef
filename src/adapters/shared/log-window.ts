/**
 * A window on the bytes of a log: whole lines at a time, in memory that grows with the longest line and not with the log.
 * It also marks how far a log was read, so that a later reader can see whether the log still begins with the same bytes.
 * Knows nothing of what the lines hold.
 */
import { type FileHandle, open } from "node:fs/promises"
import type { SourceFile } from "../adapter.ts"

/** How far a log has been read. Plain JSON. */
export interface LogPosition {
  /** The byte after the last line feed. Of a compressed log: of what it decompresses to. */
  readonly offset: number
  /** The lines before that byte. */
  readonly line: number
  /** Hashes of the first bytes of the file and of the last ones before `offset`: `MARK_BYTES`, or as many as there are. */
  readonly head: string
  readonly tail: string
  /** Of all bytes before `offset` (`LogSum`). Absent of what is compressed, and of what an earlier build read. */
  readonly sum?: string
  /** A last line that was taken although it had no line feed. */
  readonly open?: { readonly bytes: number; readonly hash: string }
}

export interface LogWindow {
  /** The next whole lines with their line feeds; the last one of a log may have none. Empty at the end. Valid until the next call. */
  next(): Promise<Buffer>
  /** What `next` gave last is no longer needed: what a huge line took is given back, before it is parsed. */
  letGo(): void
  /** The place behind what `next` gave last, or before it where it is a line without a line feed. */
  position(): Omit<LogPosition, "line">
}

const MARK_BYTES = 4_096
/** A log up to here is compared whole before it is gone on with. */
const SUMMED_BYTES = 4 << 20
const CHUNK_BYTES = 1 << 20
const ROOM_BYTES = 2 * CHUNK_BYTES
/** Room for a line like this is not kept for the next one. */
const HUGE_BYTES = 8 << 20
/** A longer line fits into no string of this runtime, whatever is done with it afterwards. */
const LINE_BYTES_MAX = 1 << 29
const LINE_FEED = 10

/** What a log can be that no reader can mend. `resolve` makes an issue of it. */
export class UnreadableLog extends Error {
  readonly kind: "line_too_long" | "broken_compression"

  constructor(kind: UnreadableLog["kind"], found: string, cause?: unknown) {
    super(found, { cause })
    this.kind = kind
  }
}

function isCompressed(file: SourceFile): boolean {
  return file.relativePath.endsWith(".zst")
}

/** Whether a log still begins with what was read of it. Only then may it be read on from there. */
export async function isPrefixOf(file: SourceFile, position: LogPosition): Promise<boolean> {
  // A compressed log is written at once: a new one is another one, and reading it on would cost as much as reading it.
  if (isCompressed(file)) return false
  const handle = await open(file.path, "r")
  try {
    const { offset, head, tail, sum, open: unended } = position
    if (hashBytes(await bytesAt(handle, 0, Math.min(offset, MARK_BYTES))) !== head) return false
    const start = Math.max(0, offset - MARK_BYTES)
    if (hashBytes(await bytesAt(handle, start, offset - start)) !== tail) return false
    if (sum !== undefined && (await sumOnFrom(handle, offset, sum)) !== sum) return false
    if (unended === undefined) return true
    const line = await bytesAt(handle, offset, unended.bytes + 2)
    const behind = line.subarray(unended.bytes).toString("latin1")
    return hashBytes(line.subarray(0, unended.bytes)) === unended.hash && /^(?:\r?\n|$)/.test(behind)
  } finally {
    await handle.close()
  }
}

/**
 * Whether a log that was read to its end is still the same, byte by byte: of one whose middle changed at the same length the
 * beginning and the end tell nothing. Reads all of it, which takes a tenth of the time that parsing it does.
 */
export async function isAsRead(file: SourceFile, position: LogPosition): Promise<boolean> {
  const { offset, sum, open: unended } = position
  if (sum === undefined || file.sizeBytes !== offset + (unended?.bytes ?? 0)) return false
  if (!(await isPrefixOf(file, position))) return false
  if (offset <= SUMMED_BYTES) return true
  const handle = await open(file.path, "r")
  try {
    return (await sumUpTo(handle, offset)) === sum
  } finally {
    await handle.close()
  }
}

/** All of a log of usual length, in a millisecond; of a longer one the last block, which reading on needs in any case. */
async function sumOnFrom(handle: FileHandle, offset: number, sum: string): Promise<string> {
  if (offset <= SUMMED_BYTES) return await sumUpTo(handle, offset)
  const rest = restBytes(offset)
  return createLogSum(sum, await bytesAt(handle, offset - rest, rest)).text()
}

async function sumUpTo(handle: FileHandle, offset: number): Promise<string> {
  const sum = createLogSum()
  const buffer = Buffer.allocUnsafe(Math.min(CHUNK_BYTES, offset))
  for (let at = 0; at < offset; ) {
    const { bytesRead } = await handle.read(buffer, 0, Math.min(buffer.length, offset - at), at)
    if (bytesRead === 0) break
    sum.add(buffer.subarray(0, bytesRead))
    at += bytesRead
  }
  return sum.text()
}

export async function openLogWindow(handle: FileHandle, file: SourceFile, from?: LogPosition): Promise<LogWindow> {
  if (isCompressed(file)) return createWindow(decompressing(file), NOTHING)
  const offset = from?.offset ?? 0
  const marked = Math.min(offset, MARK_BYTES)
  const head = await bytesAt(handle, 0, marked)
  const tail = await bytesAt(handle, offset - marked, marked)
  const rest = restBytes(offset)
  const isSummed = from === undefined || from.sum !== undefined
  const sum = isSummed ? createLogSum(from?.sum, await bytesAt(handle, offset - rest, rest)) : undefined
  let at = offset
  async function fill(buffer: Buffer): Promise<number> {
    const { bytesRead } = await handle.read(buffer, 0, buffer.length, at)
    at += bytesRead
    return bytesRead
  }
  return createWindow(fill, { offset, head, tail, sum }, () => Math.max(0, file.sizeBytes - at))
}

/** Fills a buffer from its start and says with how many bytes: none at the end. */
type Fill = (buffer: Buffer) => Promise<number>

/** What was read before the window opens. */
interface Before {
  readonly offset: number
  readonly head: Buffer
  readonly tail: Buffer
  readonly sum: LogSum | undefined
}

const NOTHING: Before = { offset: 0, head: Buffer.alloc(0), tail: Buffer.alloc(0), sum: undefined }

/** `leftBytes` says how much of the log is still to be read, where that is known. */
function createWindow(fill: Fill, before: Before, leftBytes?: () => number): LogWindow {
  let { offset, head, tail } = before
  let unended: LogPosition["open"]
  let buffer = Buffer.from(new ArrayBuffer(Math.min(ROOM_BYTES, (leftBytes?.() ?? ROOM_BYTES) + 1)))
  // The bytes from `start` to `filled` wait for the rest of their line. Those up to `scanned` hold no line feed.
  let start = 0
  let scanned = 0
  let filled = 0

  /** For how much there has to be room. Most logs are small; one that grows meanwhile shows it by filling the last byte. */
  function readBytes(): number {
    return leftBytes === undefined ? CHUNK_BYTES : Math.min(CHUNK_BYTES, leftBytes() + 1)
  }

  function makeRoom(): void {
    const held = filled - start
    if (held > LINE_BYTES_MAX) throw new UnreadableLog("line_too_long", "a line of more than 512 MiB")
    if (buffer.length - filled >= readBytes()) return
    const left = leftBytes?.() ?? 0
    const doubled = held < CHUNK_BYTES ? ROOM_BYTES : 2 * held + CHUNK_BYTES
    resize(left === 0 ? doubled : Math.min(doubled, Math.max(ROOM_BYTES, held + left + CHUNK_BYTES)))
  }

  /** What waits moves to the front. The old room is freed at once: to a collector it would look like next to nothing. */
  function resize(bytes: number): void {
    buffer.copyWithin(0, start, filled)
    if (bytes !== buffer.length) buffer = Buffer.from((buffer.buffer as ArrayBuffer).transfer(bytes))
    scanned -= start
    filled -= start
    start = 0
  }

  function advance(end: number): Buffer {
    const lines = buffer.subarray(start, end)
    start = end
    scanned = end
    offset += lines.length
    if (head.length < MARK_BYTES) head = Buffer.concat([head, lines.subarray(0, MARK_BYTES - head.length)])
    const last = lines.subarray(-MARK_BYTES)
    tail = Buffer.concat([tail, last]).subarray(-MARK_BYTES)
    before.sum?.add(lines)
    return lines
  }

  function endUnended(): Buffer {
    const line = buffer.subarray(start, filled)
    start = filled
    if (line.length > 0) unended = { bytes: line.length, hash: hashBytes(line) }
    return line
  }

  return {
    async next() {
      for (;;) {
        const feed = buffer.subarray(scanned, filled).lastIndexOf(LINE_FEED)
        if (feed >= 0) return advance(scanned + feed + 1)
        scanned = filled
        makeRoom()
        const count = await fill(buffer.subarray(filled, filled + CHUNK_BYTES))
        if (count === 0) return endUnended()
        filled += count
      }
    },
    letGo: () => {
      if (buffer.length >= HUGE_BYTES) resize(Math.max(ROOM_BYTES, filled - start + CHUNK_BYTES))
    },
    position: () => ({
      offset,
      head: hashBytes(head),
      tail: hashBytes(tail),
      ...(before.sum === undefined ? {} : { sum: before.sum.text() }),
      ...(unended === undefined ? {} : { open: unended }),
    }),
  }
}

function decompressing(file: SourceFile): Fill {
  const chunks = Bun.file(file.path).stream().pipeThrough(new DecompressionStream("zstd"))[Symbol.asyncIterator]()
  let rest = new Uint8Array()
  return async (buffer) => {
    while (rest.length === 0) {
      const { done, value } = await chunks.next().catch((cause: unknown) => {
        throw new UnreadableLog("broken_compression", "truncated or damaged zstd data", cause)
      })
      if (done) return 0
      rest = value
    }
    const count = Math.min(rest.length, buffer.length)
    buffer.set(rest.subarray(0, count))
    rest = rest.subarray(count)
    return count
  }
}

async function bytesAt(handle: FileHandle, offset: number, length: number): Promise<Buffer> {
  const { buffer, bytesRead } = await handle.read(Buffer.alloc(length), 0, length, offset)
  return buffer.subarray(0, bytesRead)
}

/** A change by accident or by a client is what this has to see, not one by an enemy. */
function hashBytes(bytes: Uint8Array): string {
  return Bun.hash.xxHash64(bytes).toString(16).padStart(16, "0")
}

// --- Sums of a log ---------------------------------------------------------------------------------------------------

// A sum of all bytes of a log up to some place, which can be gone on with from that place: in blocks, of which only the one
// that is not full yet has to be read again. 64 KiB are summed up at 5.6 GB/s, which is 0.4 % of an import.

interface LogSum {
  add(bytes: Uint8Array): void
  /** Of the full blocks, and of the rest behind them. */
  text(): string
}

const BLOCK_BYTES = 65_536
const DIGITS = 16

/** How many of the last bytes before a place are needed to go on from there. */
function restBytes(offset: number): number {
  return offset % BLOCK_BYTES
}

function createLogSum(before?: string, restBefore: Uint8Array = new Uint8Array()): LogSum {
  let blocks = before === undefined ? 0n : BigInt(`0x${before.slice(0, DIGITS)}`)
  let rest = Buffer.from(restBefore)
  return {
    add: (bytes) => {
      let at = 0
      if (rest.length > 0) {
        at = Math.min(bytes.length, BLOCK_BYTES - rest.length)
        rest = Buffer.concat([rest, bytes.subarray(0, at)])
        if (rest.length < BLOCK_BYTES) return
        blocks = Bun.hash.xxHash64(rest, blocks)
      }
      for (; at + BLOCK_BYTES <= bytes.length; at += BLOCK_BYTES)
        blocks = Bun.hash.xxHash64(bytes.subarray(at, at + BLOCK_BYTES), blocks)
      rest = Buffer.from(bytes.subarray(at))
    },
    text: () => `${digits(blocks)}${digits(Bun.hash.xxHash64(rest, blocks))}`,
  }
}

function digits(hash: bigint): string {
  return hash.toString(16).padStart(DIGITS, "0")
}

/**
 * The tar of an export file (`FORMAT.md`), which any tar lists and unpacks. pond never unpacks it: an entry is read into
 * memory by its offset, and its name is compared and never used as a path, so no path or link can lead anywhere. A header
 * that differs in any byte from the one pond would have written is refused.
 */
import type { FileHandle } from "node:fs/promises"

const BLOCK = 512
const NAME_BYTES_MAX = 100

/** An entry is held in memory as a whole. The largest value of a session that pond reads is far smaller. */
export const ENTRY_BYTES_MAX = 512 * 1024 * 1024

export interface Entry {
  readonly name: string
  readonly offset: number
  readonly bytes: number
}

export interface EntryWriter {
  add(name: string, content: Uint8Array): Promise<void>
  /** Writes the end mark. Returns the size of the file. */
  end(): Promise<number>
}

export function createEntryWriter(write: (bytes: Uint8Array) => Promise<void>, seconds: number): EntryWriter {
  let written = 0
  const put = async (bytes: Uint8Array) => {
    if (bytes.length > 0) await write(bytes)
    written += bytes.length
  }
  return {
    add: async (name, content) => {
      await put(header(name, content.length, seconds))
      await put(content)
      await put(new Uint8Array(padding(content.length)))
    },
    end: async () => {
      await put(new Uint8Array(2 * BLOCK))
      return written
    },
  }
}

/** Says why a file is not a complete export file. */
export class InvalidArchive extends Error {
  override readonly name = "NotAnArchive"
}

/** The entries in order. Throws `InvalidArchive` at the first byte that is wrong. */
export async function* readEntries(file: FileHandle, fileBytes: number): AsyncGenerator<Entry> {
  let offset = 0
  while (offset + BLOCK <= fileBytes) {
    const block = await readAt(file, offset, BLOCK)
    if (isZero(block)) return await expectEnd(file, offset, fileBytes)
    const { name, bytes } = entryOf(block, offset)
    const content = offset + BLOCK
    offset = content + bytes + padding(bytes)
    if (offset > fileBytes) throw new InvalidArchive(`it ends inside ${name}`)
    if (!isZero(await readAt(file, content + bytes, padding(bytes)))) {
      throw new InvalidArchive(`there is unexpected data after ${name}`)
    }
    yield { name, offset: content, bytes }
  }
  throw new InvalidArchive("its end is missing")
}

export async function readContent(file: FileHandle, { offset, bytes }: Entry): Promise<Uint8Array> {
  return await readAt(file, offset, bytes)
}

async function expectEnd(file: FileHandle, offset: number, fileBytes: number): Promise<void> {
  if (fileBytes !== offset + 2 * BLOCK) throw new InvalidArchive("it has data after its end mark")
  if (!isZero(await readAt(file, offset, 2 * BLOCK))) throw new InvalidArchive("its end mark is damaged")
}

async function readAt(file: FileHandle, offset: number, length: number): Promise<Uint8Array> {
  const bytes = new Uint8Array(length)
  let used = 0
  while (used < length) {
    const { bytesRead } = await file.read(bytes, used, length - used, offset + used)
    if (bytesRead === 0) throw new InvalidArchive("it became shorter while it was being read")
    used += bytesRead
  }
  return bytes
}

// --- Headers ---------------------------------------------------------------------------------------------------------

function entryOf(block: Uint8Array, offset: number): { readonly name: string; readonly bytes: number } {
  const at = `the entry at byte ${offset}`
  const name = asciiAt(block, 0, NAME_BYTES_MAX)
  const bytes = octalAt(block, 124, 12)
  const seconds = octalAt(block, 136, 12)
  if (bytes === undefined || seconds === undefined || bytes > ENTRY_BYTES_MAX) {
    throw new InvalidArchive(`${at} has an impossible size`)
  }
  if (!/^[a-z0-9_./]+$/.test(name) || !Buffer.from(header(name, bytes, seconds)).equals(block)) {
    throw new InvalidArchive(`${at} was not written by pond`)
  }
  return { name, bytes }
}

function header(name: string, bytes: number, seconds: number): Uint8Array {
  const block = Buffer.alloc(BLOCK)
  block.write(name, 0, NAME_BYTES_MAX, "ascii")
  block.write("0000644\0", 100, "ascii")
  block.write("0000000\0", 108, "ascii")
  block.write("0000000\0", 116, "ascii")
  block.write(`${octal(bytes, 11)}\0`, 124, "ascii")
  block.write(`${octal(seconds, 11)}\0`, 136, "ascii")
  block.write("        ", 148, "ascii")
  block.write("0", 156, "ascii")
  block.write("ustar\0" + "00", 257, "ascii")
  const sum = block.reduce((total, byte) => total + byte, 0)
  block.write(`${octal(sum, 6)}\0 `, 148, "ascii")
  return block
}

function octal(value: number, digits: number): string {
  return value.toString(8).padStart(digits, "0")
}

function octalAt(block: Uint8Array, offset: number, length: number): number | undefined {
  const text = asciiAt(block, offset, length)
  return /^[0-7]{1,11}$/.test(text) ? Number.parseInt(text, 8) : undefined
}

function asciiAt(block: Uint8Array, offset: number, length: number): string {
  const field = Buffer.from(block.subarray(offset, offset + length)).toString("latin1")
  const end = field.indexOf("\0")
  return end < 0 ? field : field.slice(0, end)
}

function padding(bytes: number): number {
  return (BLOCK - (bytes % BLOCK)) % BLOCK
}

function isZero(bytes: Uint8Array): boolean {
  return bytes.every((byte) => byte === 0)
}

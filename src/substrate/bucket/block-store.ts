/**
 * Blocks of objects that never change, kept on this machine between processes, so that what was read of a bucket once is
 * not read again. A block is a separate file that is written beside its place and renamed; it says which block of which
 * object it is, how long the object is, and the hash of its bytes, and one that does not is read from the bucket again.
 * Above a limit the blocks that were used longest ago are removed.
 */
import {
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  utimesSync,
  writeFileSync,
} from "node:fs"
import { join } from "node:path"
import type { Clock } from "../../platform/host/clock.ts"
import type { Random } from "../../platform/host/random.ts"

export interface Block {
  /** Of the whole object. */
  readonly size: number
  readonly bytes: Uint8Array
}

export interface BlockStore {
  /** Whether nothing was ever kept. */
  isEmpty(): boolean
  get(object: string, block: number): Block | undefined
  set(object: string, block: number, content: Block): void
  /** All of them: of what was erased no byte may stay. */
  clear(): void
}

export interface BlockStoreOptions {
  readonly folder: string
  readonly bytesMax: number
  readonly random: Random
  readonly clock: Clock
}

/** 4 bytes that say what it is, then with 8 bytes each the name, the size of the object and the hash. */
const MAGIC = 0x444e4f50
const HEAD_BYTES = 28
/** So much is written between two looks at what there is, on average and over all processes. */
const SWEEP_BYTES = 32_000_000
const SWEPT_TO = 0.9
/** A block that was used within this time need not be marked as used again. */
const USED_MS = 3_600_000

export function openBlockStore({ folder, bytesMax, random, clock }: BlockStoreOptions): BlockStore {
  const placeOf = (object: string, block: number) => {
    const name = Bun.hash.xxHash3(`${block} ${object}`)
    const text = name.toString(16).padStart(16, "0")
    return { name, parent: join(folder, text.slice(0, 2)), path: join(folder, text.slice(0, 2), text.slice(2)) }
  }
  let isWritable = true
  return {
    isEmpty: () => !existsSync(folder),
    get: (object, block) => {
      const { name, path } = placeOf(object, block)
      const content = readIfThere(path)
      const found = content && unpack(content, name)
      if (found !== undefined) markUsed(path, clock.nowMs())
      return found
    },
    set: (object, block, content) => {
      if (!isWritable) return
      const { name, parent, path } = placeOf(object, block)
      const draft = `${path}.${process.pid}-${Math.floor(random.next() * 1e9).toString(36)}`
      try {
        mkdirSync(parent, { recursive: true, mode: 0o700 })
        writeFileSync(draft, pack(content, name), { mode: 0o600 })
        renameSync(draft, path)
        if (random.next() < (content.bytes.length + HEAD_BYTES) / SWEEP_BYTES) sweep(folder, bytesMax)
      } catch {
        // A full or read-only disk makes reads dearer and fails none.
        rmSync(draft, { force: true })
        isWritable = false
      }
    },
    clear: () => rmSync(folder, { recursive: true, force: true }),
  }
}

function pack({ size, bytes }: Block, name: bigint): Uint8Array {
  const packed = Buffer.alloc(HEAD_BYTES + bytes.length)
  packed.writeUInt32LE(MAGIC, 0)
  packed.writeBigUInt64LE(name, 4)
  packed.writeBigUInt64LE(BigInt(size), 12)
  packed.writeBigUInt64LE(Bun.hash.xxHash3(bytes, BigInt(size)), 20)
  packed.set(bytes, HEAD_BYTES)
  return packed
}

function unpack(packed: Buffer, name: bigint): Block | undefined {
  if (packed.length < HEAD_BYTES || packed.readUInt32LE(0) !== MAGIC || packed.readBigUInt64LE(4) !== name)
    return undefined
  const size = packed.readBigUInt64LE(12)
  const bytes = packed.subarray(HEAD_BYTES)
  return packed.readBigUInt64LE(20) === Bun.hash.xxHash3(bytes, size) ? { size: Number(size), bytes } : undefined
}

function readIfThere(path: string): Buffer | undefined {
  try {
    return readFileSync(path)
  } catch {
    return undefined
  }
}

function markUsed(path: string, now: number): void {
  try {
    if (now - statSync(path).mtimeMs > USED_MS) utimesSync(path, now / 1000, now / 1000)
  } catch {
    // Another process has removed it.
  }
}

function sweep(folder: string, bytesMax: number): void {
  const files = (readdirSync(folder, { recursive: true }) as string[]).flatMap((name) => {
    const found = statSync(join(folder, name), { throwIfNoEntry: false })
    return found?.isFile() === true ? [{ path: join(folder, name), bytes: found.size, usedMs: found.mtimeMs }] : []
  })
  let bytes = files.reduce((sum, file) => sum + file.bytes, 0)
  if (bytes <= bytesMax) return
  for (const file of files.toSorted((one, other) => one.usedMs - other.usedMs)) {
    if (bytes <= bytesMax * SWEPT_TO) return
    rmSync(file.path, { force: true })
    bytes -= file.bytes
  }
}

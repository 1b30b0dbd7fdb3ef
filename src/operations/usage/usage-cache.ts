/**
 * The usage that was read so far, in a file of the cache directory, so that the next answer reads only what was stored
 * since: of a million messages 3 s at the first and 0.1 s from then on. A cache: whatever is wrong with it, all is read
 * anew, and where it cannot be written the answer is the same.
 */
import { mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs"
import { dirname, join } from "node:path"
import type { Reach } from "../../sessions/read/stored-records.ts"
import type { Pond } from "../pond.ts"
import { columnBytes, columnsOfBytes, type UsageSession, type UsageTable } from "./usage-table.ts"

/** Raised when adapters read more or otherwise, or the file has another form: older files are then read by nobody. */
const VERSION = 1

export interface KnownUsage {
  readonly table: UsageTable
  readonly reach: Reach
}

interface Header {
  readonly version: number
  readonly reach: Reach
  readonly count: number
  readonly sessions: readonly UsageSession[]
  readonly models: readonly string[]
}

const LENGTH_BYTES = 4
const HASH_BYTES = 8

/** One file for each namespace of each store. */
export function usageCachePath({ host, storeName, namespace }: Pond): string {
  const name = Bun.hash.xxHash64(JSON.stringify([storeName(), namespace()])).toString(16)
  return join(host.path("cache"), "usage", `${name}.bin`)
}

/** A header as JSON behind its length, then the columns; all of it behind a hash, and compressed. */
export function writeUsageCache(path: string, { table, reach }: KnownUsage): void {
  const { count, sessions, models } = table
  const header = Buffer.from(JSON.stringify({ version: VERSION, reach, count, sessions, models } satisfies Header))
  const length = Buffer.alloc(LENGTH_BYTES)
  length.writeUInt32LE(header.length)
  const content = Buffer.concat([length, header, columnBytes(table)])
  const hash = Buffer.alloc(HASH_BYTES)
  hash.writeBigUInt64LE(Bun.hash.xxHash64(content))
  const draft = `${path}.${process.pid}`
  try {
    mkdirSync(dirname(path), { recursive: true, mode: 0o700 })
    writeFileSync(draft, Bun.zstdCompressSync(Buffer.concat([hash, content]), { level: 1 }), { mode: 0o600 })
    renameSync(draft, path)
  } catch {
    discard(draft)
  }
}

function discard(path: string): void {
  try {
    rmSync(path, { force: true })
  } catch {
    // Nobody reads it.
  }
}

export function readUsageCache(path: string): KnownUsage | undefined {
  try {
    const bytes = Bun.zstdDecompressSync(readFileSync(path))
    const content = bytes.subarray(HASH_BYTES)
    if (bytes.readBigUInt64LE() !== Bun.hash.xxHash64(content)) return undefined
    const headerEnd = LENGTH_BYTES + content.readUInt32LE()
    const header = JSON.parse(content.subarray(LENGTH_BYTES, headerEnd).toString("utf8")) as Header
    if (header.version !== VERSION) return undefined
    const { reach, count, sessions, models } = header
    const columns = columnsOfBytes(content.subarray(headerEnd), count)
    return columns === undefined ? undefined : { table: { count, columns, sessions, models }, reach }
  } catch {
    return undefined
  }
}

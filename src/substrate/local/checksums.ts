/**
 * The checksums of a table: what every file of it must hold, noted by the writer right after each commit. Lance's pages
 * carry none, so that one flipped bit reads as other rows. A text file outside the table, only appended to; each line
 * carries its own checksum, so that a damaged line is never taken for a damaged file.
 */
import { join } from "node:path"
import {
  type Checksums,
  checksumLines,
  type FileChecksum,
  isProtected,
  parseChecksums,
  provedLine,
  type StoredRows,
} from "./checksum-lines.ts"
import type { DiskFiles } from "./disk-files.ts"

export interface Covered {
  readonly present: readonly string[]
  /** Those that came with this commit. */
  readonly fresh: readonly string[]
}

export interface ChecksumLog {
  read(): Promise<Checksums>
  /**
   * Under the write lock of the table: those files that are not covered yet, and the rows of the last commit. Where lines
   * are damaged only what is `fresh` is covered: what they covered is for a repair to judge, and not to be blessed unseen.
   */
  cover(folder: string, files: Covered, rows: readonly StoredRows[]): Promise<void>
  /** All rows below that number were read back as they were given; with 0, their files are others now. */
  prove(to: number): Promise<void>
  /** Under the lock: names those groups no more, because a purge is about to remove all that they had. */
  forgetGroups(groups: ReadonlySet<string>): Promise<void>
  /** Under the lock: without the lines that are damaged, so that what they covered is covered anew. */
  renew(): Promise<void>
}

const NOTHING: Checksums = { files: new Map(), rows: [], proved: 0, damagedLines: 0 }

/** Lines of files that are gone are left out by a rewrite, once there are so many. */
const STALE_MIN = 512

interface Known {
  bytes: number
  readonly files: Map<string, FileChecksum>
  readonly rows: StoredRows[]
  proved: number
  damagedLines: number
}

export function openChecksumLog(path: string, files: DiskFiles): ChecksumLog {
  let known: Known | undefined

  /** Another process may have covered what it wrote. */
  async function current() {
    const bytes = (await files.size(path)) ?? 0
    if (known?.bytes === bytes) return known
    const read = bytes === 0 ? NOTHING : parseChecksums(Buffer.from(await files.read(path)).toString("utf8"))
    known = { ...read, bytes, files: new Map(read.files), rows: [...read.rows] }
    return known
  }

  async function write(lines: readonly string[], isWhole: boolean, into: Known): Promise<void> {
    const text = lines.join("")
    if (isWhole) {
      await files.write(`${path}.new`, text)
      await files.sync(`${path}.new`)
      await files.rename(`${path}.new`, path)
    } else {
      await files.append(path, text)
      await files.sync(path)
    }
    into.bytes = (await files.size(path)) ?? 0
  }

  async function sum(folder: string, paths: readonly string[]): Promise<Map<string, FileChecksum>> {
    const sums = new Map<string, FileChecksum>()
    for (const each of paths) {
      const own = await files.checksum(join(folder, each))
      if (own !== undefined) sums.set(each, own)
    }
    return sums
  }

  async function cover(folder: string, { present, fresh }: Covered, rows: readonly StoredRows[]): Promise<void> {
    const log = await current()
    const candidates = log.damagedLines === 0 ? present : fresh
    const uncovered = candidates.filter((each) => isProtected(each) && !log.files.has(each))
    const added = await sum(folder, uncovered)
    for (const [each, own] of added) log.files.set(each, own)
    log.rows.push(...rows)
    const isStale = log.damagedLines === 0 && log.files.size > 2 * present.length + STALE_MIN
    if (isStale) keepOnly(log.files, present)
    const lines = checksumLines(isStale ? log : { files: added, rows, proved: 0 })
    if (lines.length > 0) await write(lines, isStale, log)
  }

  async function renew(): Promise<void> {
    const log = await current()
    if (log.damagedLines === 0) return
    log.damagedLines = 0
    await write(checksumLines(log), true, log)
  }

  async function prove(to: number): Promise<void> {
    const log = await current()
    if (log.proved === to) return
    await write([provedLine(to)], false, log)
    // A writer may have added lines meanwhile.
    known = undefined
  }

  async function forgetGroups(groups: ReadonlySet<string>): Promise<void> {
    const log = await current()
    const isNamed = log.rows.some((each) => each.groups.some((group) => groups.has(group)))
    if (!isNamed) return
    const rows = log.rows.map((each) => ({ ...each, groups: each.groups.filter((group) => !groups.has(group)) }))
    await write(checksumLines({ ...log, rows }), true, log)
    known = undefined
  }

  return { read: current, cover, prove, forgetGroups, renew }
}

function keepOnly(files: Map<string, FileChecksum>, paths: readonly string[]): void {
  const there = new Set(paths)
  for (const path of files.keys()) if (!there.has(path)) files.delete(path)
}

/**
 * The checksums of a table: what every file of it must hold, noted by the writer right after each commit. Lance's pages
 * carry none, so that one flipped bit reads as other rows. A text file outside the table, only appended to; each line
 * carries a checksum of its own, so that a damaged line is never taken for a damaged file.
 */
import { join } from "node:path"
import type { DiskFiles } from "./disk-files.ts"

export interface FileChecksum {
  readonly bytes: number
  /** XXH3 of 64 bits, in hexadecimal: see `DiskFiles.checksum`. */
  readonly hash: string
}

/** Rows that one commit has stored, by their numbers. */
export interface StoredRows {
  readonly from: number
  /** The first that is not among them. */
  readonly to: number
  /** The values of the first key column: of most tables the sessions. */
  readonly groups: readonly string[]
  /** Of their content as it was given, see `columns/content-hash.ts`. Rows that may be deleted have none. */
  readonly hash?: string
}

export interface Checksums {
  readonly files: ReadonlyMap<string, FileChecksum>
  readonly rows: readonly StoredRows[]
  /** Rows with lower numbers were read back from their files as they were given. */
  readonly proved: number
  /** Lines that are not as they were written. */
  readonly damagedLines: number
}

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
  /** Under the lock: without the lines that are damaged, so that what they covered is covered anew. */
  renew(): Promise<void>
}

const NOTHING: Checksums = { files: new Map(), rows: [], proved: 0, damagedLines: 0 }

/** The engine writes it anew at each commit, and finds the newest version without it too. */
const UNCOVERED = "_versions/latest_version_hint.json"
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
    const uncovered = candidates.filter((each) => !isCovered(log, each))
    const added = await sum(folder, uncovered)
    for (const [each, own] of added) log.files.set(each, own)
    log.rows.push(...rows)
    const isStale = log.damagedLines === 0 && log.files.size > 2 * present.length + STALE_MIN
    if (isStale) keepOnly(log.files, present)
    const lines = allLines(isStale ? log : { files: added, rows, proved: 0 })
    if (lines.length > 0) await write(lines, isStale, log)
  }

  async function renew(): Promise<void> {
    const log = await current()
    if (log.damagedLines === 0) return
    log.damagedLines = 0
    await write(allLines(log), true, log)
  }

  async function prove(to: number): Promise<void> {
    const log = await current()
    if (log.proved === to) return
    await write([provedLine(to)], false, log)
    // A writer may have added lines meanwhile.
    known = undefined
  }

  return { read: current, cover, prove, renew }
}

function keepOnly(files: Map<string, FileChecksum>, paths: readonly string[]): void {
  const there = new Set(paths)
  for (const path of files.keys()) if (!there.has(path)) files.delete(path)
}

function isCovered({ files }: Pick<Checksums, "files">, path: string): boolean {
  return files.has(path) || path === UNCOVERED || path.endsWith(".tmp")
}

function allLines({ files, rows, proved }: Pick<Checksums, "files" | "rows" | "proved">): string[] {
  const proof = proved === 0 ? [] : [provedLine(proved)]
  return [...[...files].map(([each, sum]) => fileLine(each, sum)), ...rows.map(rowsLine), ...proof]
}

function provedLine(to: number): string {
  return sealed(`proved ${to}`)
}

function fileLine(path: string, { hash, bytes }: FileChecksum): string {
  return sealed(`file ${hash} ${bytes} ${path}`)
}

function rowsLine({ from, to, groups, hash }: StoredRows): string {
  return sealed(`rows ${from} ${to} ${hash === undefined ? "" : `${hash} `}${JSON.stringify(groups)}`)
}

function sealed(content: string): string {
  return `${hexOf(Bun.hash.xxHash3(content))} ${content}\n`
}

function hexOf(hash: bigint): string {
  return hash.toString(16).padStart(16, "0")
}

const LINE =
  /^([0-9a-f]{16}) (?:file ([0-9a-f]{16}) (\d+) (.+)|rows (\d+) (\d+) (?:([0-9a-f]{16}) )?(\[.*\])|proved (\d+))$/

function parseChecksums(text: string): Checksums {
  const files = new Map<string, FileChecksum>()
  const rows: StoredRows[] = []
  let [damagedLines, proved] = [0, 0]
  for (const line of text.split("\n")) {
    if (line === "") continue
    const [, sum, hash, bytes, path, from, to, content, groups, below] = LINE.exec(line) ?? []
    if (sum === undefined || sum !== hexOf(Bun.hash.xxHash3(line.slice(17)))) damagedLines++
    else if (path !== undefined) files.set(path, { hash: hash as string, bytes: Number(bytes) })
    else if (below !== undefined) proved = Number(below)
    else rows.push({ ...rowsOfLine(from, to, groups), ...(content === undefined ? {} : { hash: content }) })
  }
  return { files, rows, proved, damagedLines }
}

function rowsOfLine(from = "0", to = "0", groups = "[]"): StoredRows {
  return { from: Number(from), to: Number(to), groups: JSON.parse(groups) as string[] }
}

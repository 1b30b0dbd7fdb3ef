/**
 * Two trees of files, what a client left and what a restore made of it, compared record by record. Knows no client: a file that
 * was restored must hold every record of the original, in its order, and nothing that no original has.
 */
import { readdirSync, readFileSync } from "node:fs"
import { join, relative } from "node:path"
import { type FileRecords, recordsOf } from "./records.ts"

export interface Comparison {
  readonly same: { readonly bytes: number; readonly value: number; readonly elsewhere: number }
  readonly differing: readonly Difference[]
  /** Second copies of a session that say some of its records otherwise: pond keeps the first, and must have told of the others. */
  readonly copies: readonly { readonly file: string; readonly records: number }[]
  /** Files of the client's directory of which nothing was restored. */
  readonly unread: readonly string[]
}

export interface Difference {
  readonly file: string
  readonly what: string
}

/** Every file below a directory, by its path from there; without what SQLite keeps beside a database. A link is not followed. */
export function filesBelow(root: string, which: "all" | "compared" = "compared"): string[] {
  return readdirSync(root, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => relative(root, join(entry.parentPath, entry.name)))
    .filter((path) => which === "all" || !/-(?:wal|shm|journal)$/.test(path))
    .toSorted()
}

export function compareTrees(original: string, restored: string): Comparison {
  const [before, after] = [filesBelow(original), filesBelow(restored)]
  const originals = createPool(() => before.map((path) => recordsOf(join(original, path))))
  const written = createPool(() => after.map((path) => recordsOf(join(restored, path))))
  const same = { bytes: 0, value: 0, elsewhere: 0 }
  const differing: Difference[] = []
  const copies: { readonly file: string; readonly records: number }[] = []
  const unread: string[] = []
  const isRestored = new Set(after)
  for (const file of before) {
    const found = isRestored.has(file)
      ? compareFiles(join(original, file), join(restored, file), originals)
      : lookElsewhere(recordsOf(join(original, file)), written)
    if (found === "unread") unread.push(file)
    else if (typeof found === "string") same[found] += 1
    else if ("records" in found) copies.push({ file, ...found })
    else differing.push({ file, ...found })
  }
  const isOriginal = new Set(before)
  for (const file of after.filter((each) => !isOriginal.has(each))) {
    const invented = recordsOf(join(restored, file)).records.filter((record) => !originals.has(record))
    if (invented.length > 0)
      differing.push({ file, what: `${invented.length} records that no original has: ${shown(invented[0])}` })
  }
  return { same, differing, copies, unread }
}

type Found = "bytes" | "value" | "elsewhere" | "unread" | { readonly what: string } | { readonly records: number }

function compareFiles(original: string, restored: string, originals: Pool): Found {
  if (readFileSync(original).equals(readFileSync(restored))) return "bytes"
  const what = differenceOf(recordsOf(original), recordsOf(restored), originals)
  return what === undefined ? "value" : { what }
}

/** Shorter records, such as an empty line, stand in files that have nothing to do with each other. */
const TELLING_LENGTH = 64

/** A second copy of a session goes back to the place of the first. */
function lookElsewhere({ records }: FileRecords, written: Pool): Found {
  const telling = records.filter((record) => record.length >= TELLING_LENGTH)
  const kept = telling.filter((record) => written.has(record)).length
  if (kept === 0) return "unread"
  if (kept === telling.length) return "elsewhere"
  return { records: telling.length - kept }
}

interface Pool {
  has(record: string): boolean
}

function createPool(read: () => readonly FileRecords[]): Pool {
  let known: Set<string> | undefined
  return {
    has: (record) => {
      known ??= new Set(read().flatMap(({ records }) => records))
      return known.has(record)
    },
  }
}

/** Undefined where every record of the original came back in its place, and each other one is of another original. */
export function differenceOf(wanted: FileRecords, found: FileRecords, originals: Pool): string | undefined {
  if (wanted.kind !== found.kind) return "another kind of file"
  if (wanted.kind === "rows") return differenceOfRows(wanted.records, found.records, originals)
  let at = 0
  for (const record of found.records) {
    if (record === wanted.records[at]) at++
    else if (!originals.has(record)) return `a record that no original has: ${shown(record)}`
  }
  return at === wanted.records.length
    ? undefined
    : `record ${at + 1} of ${wanted.records.length} is not restored in its place: ${shown(wanted.records[at])}`
}

/**
 * Of the tables that anything came back of, all must have. The others are left out (accounts, caches), and a table that was empty
 * is the restored database's own: it notes which migrations its schema has.
 */
function differenceOfRows(wanted: readonly string[], found: readonly string[], originals: Pool): string | undefined {
  const restored = new Set(found)
  const tables = new Set(found.map(tableOf))
  const missing = wanted.filter((row) => tables.has(tableOf(row)) && !restored.has(row))
  const filled = new Set(wanted.map(tableOf))
  const invented = found.filter((row) => filled.has(tableOf(row)) && !originals.has(row))
  if (missing.length === 0 && invented.length === 0) return undefined
  const first = missing[0] ?? invented[0]
  return `${missing.length} rows did not come back, ${invented.length} are new: ${shown(first)}`
}

function tableOf(row: string): string {
  return row.slice(0, row.indexOf(" "))
}

function shown(record: string | undefined): string {
  return JSON.stringify((record ?? "").slice(0, 160))
}

/**
 * The check of a local store: what each table must hold, and what it holds. What it finds is noted beside the tables, so
 * that every reader leaves it out and says so until it is repaired.
 */
import { readdirSync } from "node:fs"
import { join } from "node:path"
import { PondError } from "../../model/errors.ts"
import { isSystemError } from "../../platform/system-error.ts"
import type { StoreContext } from "../store-context.ts"
import type { CheckedTable, CheckOptions, TableDamage } from "../table.ts"
import { type Assessment, type AssessOptions, assessTable, notedDamage } from "./assess.ts"
import type { Checksums, StoredRows } from "./checksum-lines.ts"
import { describeDamage } from "./describe-damage.ts"
import { type DiskFiles, diskFiles } from "./disk-files.ts"
import { type LocalTable, OWN_FOLDER, openLocalTable, type StoredTable } from "./local-table.ts"
import { type LostFragment, rowsOfManifest, withoutDamaged } from "./manifest-edit.ts"
import { blobOwner } from "./manifest-file.ts"

const TABLE_FOLDER = /^([a-z][a-z0-9_]{0,62})\.lance$/
const TABLE_NOTE = /^([a-z][a-z0-9_]{0,62})\.(?:manifest|checksums|durable)$/

/** The tables on disk, and those that only the checksum notes name. */
export function openLocalTables(root: string, context: StoreContext): LocalTable[] {
  const names = [
    ...listNames(root).map((name) => TABLE_FOLDER.exec(name)?.[1]),
    ...listNames(join(root, OWN_FOLDER)).map((name) => TABLE_NOTE.exec(name)?.[1]),
  ].filter((name) => name !== undefined)
  const files = context.disk ?? diskFiles
  return [...new Set(names)].map((name) => openLocalTable(root, name, context, files))
}

function listNames(folder: string): string[] {
  try {
    return readdirSync(folder)
  } catch (error) {
    if (isSystemError(error, "ENOENT", "ENOTDIR")) return []
    throw error
  }
}

/** Of those commits the ones whose rows are not as they were given, as far as they can be read. */
export type ReadBack = (
  table: StoredTable,
  found: Assessment,
  commits: readonly StoredRows[],
) => Promise<readonly StoredRows[]>

export async function checkTables(
  tables: readonly StoredTable[],
  note: DamageNote,
  { readBack, ...options }: CheckOptions & { readonly readBack: ReadBack },
): Promise<CheckedTable[]> {
  const checked: CheckedTable[] = []
  const noted: Record<string, readonly string[]> = {}
  const { isDeep, signal } = options
  for (const table of tables.filter(({ name }) => options.isAsked?.(name) !== false)) {
    options.onTable?.(table.name)
    const isChosen = chooser(table.name, options) ?? (await onlyFilesOfGroups(table, options.groups))
    const { found, sums, changed } = isDeep
      ? await assessAll(table, readBack, { isChosen, signal })
      : { found: await assessTable(table, { isDeep }), sums: await table.checksums.read(), changed: [] }
    if (changed.length > 0) noted[table.name] = changed
    checked.push(await report(table, found, sums))
  }
  if (isDeep) {
    const others = await notedOthers(tables, options)
    await noteIfAllowed(() => noteDamage(note, { ...others, ...noted }))
  }
  return checked
}

/** Every file against its checksum, and the rows of each commit that is not proved yet. */
export async function assessAll(
  table: StoredTable,
  readBack: ReadBack,
  chosen: Pick<AssessOptions, "isChosen" | "signal"> = {},
): Promise<{ readonly found: Assessment; readonly sums: Checksums; readonly changed: readonly string[] }> {
  const byFiles = await assessTable(table, { isDeep: true, ...chosen })
  const sums = await table.checksums.read()
  const byRows = await filesOfChangedRows(table, byFiles, { sums, isChosen: chosen.isChosen }, readBack)
  // A reader on a disk sees what is missing by itself. One in a bucket looks only where something is noted.
  const isNoted = (found: string) => found === "changed" || table.isRemote === true
  const changed = [...byFiles.damaged.flatMap(({ path, found }) => (isNoted(found) ? [path] : [])), ...byRows]
  if (byRows.length === 0) return { found: byFiles, sums, changed }
  const { bytesRead } = byFiles
  return {
    found: { ...(await assessTable(table, { isDeep: false, noted: changed })), bytesRead },
    sums,
    changed,
  }
}

/** A store that cannot be written to is checked all the same. */
async function noteIfAllowed(write: () => Promise<void>): Promise<void> {
  try {
    await write()
  } catch (error) {
    const isDenied = error instanceof PondError && error.code === "storage_unavailable"
    if (!isDenied && !isSystemError(error, "EROFS", "EACCES", "EPERM")) throw error
  }
}

/** Each commit is read back once, and again after a compaction. What is right then has a checksum that keeps it so. */
async function filesOfChangedRows(
  table: StoredTable,
  found: Assessment,
  { sums, isChosen }: { readonly sums: Checksums; readonly isChosen: AssessOptions["isChosen"] },
  readBack: ReadBack,
): Promise<readonly string[]> {
  const { rows: commits, proved, damagedLines } = sums
  const waiting = commits.filter(({ from }) => from >= proved)
  const unproved = waiting.filter(({ from, to }) => isChosen?.(`rows ${from} ${to}`) !== false)
  const { base } = found
  if (base === undefined || unproved.length === 0) return []
  const changed = await readBack(table, found, unproved)
  const isAll = unproved.length === waiting.length
  const isProof = isAll && changed.length === 0 && found.damaged.length === 0 && damagedLines === 0
  if (isProof) {
    await noteIfAllowed(async () => {
      await table.checksums.prove(Math.max(...unproved.map(({ to }) => to)))
      // In a bucket no writer has seen the bytes of the files, and now they are known to be right.
      if (table.isRemote === true) await table.record()
    })
  }
  return withoutDamaged(base.bytes, () => true)
    .lost.filter(({ ranges }) => changed.some((rows) => ranges.some(([from, to]) => from < rows.to && rows.from < to)))
    .flatMap(({ files }) => files.filter((path) => path.startsWith("data/")))
}

/** Where it is kept what a check has found. */
export interface DamageNote {
  readonly files: DiskFiles
  readonly path: string
}

/** A share of the files by a hash of the name, which moves on with each round, so that all of them have their turn. */
function chooser(table: string, { share = 1, round = 0 }: CheckOptions): ((path: string) => boolean) | undefined {
  if (share >= 1) return undefined
  const buckets = Math.max(1, Math.round(1 / share))
  return (path) => Number(Bun.hash.xxHash3(`${table}/${path}`) % BigInt(buckets)) === round % buckets
}

/** Files of other groups alone are not read; all are where a table does not say whose rows it has. */
async function onlyFilesOfGroups(table: StoredTable, groups: CheckOptions["groups"]) {
  const base = groups && (await table.recorded())
  if (base === undefined) return undefined
  const { rows } = await table.checksums.read()
  const fragments = withoutDamaged(base.bytes, () => true).lost
  const others = fragments.filter((fragment) => {
    const owners = groupsOfRows([fragment], rows)
    return owners?.some((group) => groups?.has(group)) === false
  })
  const left = new Set(others.flatMap(({ files }) => files))
  return (path: string) => !left.has(blobOwner(path))
}

async function notedOthers(tables: readonly StoredTable[], { isAsked }: CheckOptions) {
  const others = tables.filter(({ name }) => isAsked?.(name) === false)
  const noted = await Promise.all(others.map(async (table) => [table.name, await notedDamage(table)] as const))
  return Object.fromEntries(noted.filter(([, paths]) => paths.length > 0))
}

async function noteDamage({ files, path }: DamageNote, noted: Record<string, readonly string[]>): Promise<void> {
  if (Object.keys(noted).length > 0) await files.write(path, JSON.stringify(noted))
  else await files.remove(path)
}

async function report(table: StoredTable, found: Assessment, sums: Checksums): Promise<CheckedTable> {
  const { base, edited, damaged } = found
  const lost = edited?.lost ?? []
  return {
    table: table.name,
    rows: base === undefined ? 0 : rowsOfManifest(base.bytes).rows,
    lostRows: lost.reduce((sum, { rows }) => sum + rows, 0),
    files: sums.files.size,
    // Of a table that an older build has written, until it is optimized.
    uncovered: [...found.needed].filter((path) => !sums.files.has(path)).length,
    bytesRead: found.bytesRead,
    sentence: describeDamage(table.name, found),
    damaged: [
      ...damaged.flatMap(({ path, found: how }) =>
        how === "unfinished" ? [] : [{ path, found: how, groups: groupsOfFile(path, lost, sums.rows) }],
      ),
      ...(await damagedNotes(table)),
    ],
  }
}

/** The notes are as much at risk as what they are about. */
async function damagedNotes(table: StoredTable): Promise<TableDamage[]> {
  const damaged = await table.damagedNotes()
  return damaged.map((note) => ({ path: `../${OWN_FOLDER}/${note}`, found: "changed", groups: [] }))
}

/** Nothing where it is not known: rows of an older build. */
function groupsOfFile(
  path: string,
  lost: readonly LostFragment[],
  stored: readonly StoredRows[],
): readonly string[] | undefined {
  const touched = path === "" ? lost : lost.filter(({ files }) => files.includes(blobOwner(path)))
  return touched.length === 0 ? [] : groupsOfRows(touched, stored)
}

export function groupsOfRows(
  lost: readonly LostFragment[],
  stored: readonly StoredRows[],
): readonly string[] | undefined {
  const ranges = lost.flatMap((fragment) => fragment.ranges)
  const meets = stored.filter((rows) => ranges.some(([from, to]) => from < rows.to && rows.from < to))
  return meets.length === 0 ? undefined : [...new Set(meets.flatMap(({ groups }) => groups))]
}

/**
 * Finds the damage of a local table. Changes nothing, so that readers may call it: they read what is intact and report the
 * rest. `isDeep` reads every file and compares it with its checksum; without it names and sizes are compared,
 * and what an earlier deep look has found still counts.
 */
import { join } from "node:path"
import type { Checksums } from "./checksum-lines.ts"
import { manifestPath, OWN_FOLDER, type StoredTable, versionsNewestFirst } from "./local-table.ts"
import { type EditedManifest, rowsOfManifest, withoutDamaged } from "./manifest-edit.ts"
import { blobOwner, manifestVersion, referencedFiles } from "./manifest-file.ts"
import type { RecordedManifest } from "./manifest-record.ts"

export interface DamagedFile {
  /** Below the folder of the table; the folder itself where all of it is gone. */
  readonly path: string
  /** `unfinished`: of a commit that a crash cut off before it was acknowledged. The next write rolls it back. */
  readonly found: "missing" | "changed" | "unfinished"
}

export interface Assessment {
  /** The table as far as it is known: its newest manifest, or the copy of it that pond keeps. */
  readonly base: RecordedManifest | undefined
  /** Whether that manifest lies in the table, as it was written. */
  readonly isInPlace: boolean
  readonly damaged: readonly DamagedFile[]
  /** The base without what is damaged. */
  readonly edited: EditedManifest | undefined
  /** The files that the base names. */
  readonly needed: ReadonlySet<string>
  /** Bytes that were read and compared. */
  readonly bytesRead: number
}

export interface AssessOptions {
  readonly isDeep: boolean
  /** Of the files, which are read: all of them where it is absent. */
  readonly isChosen?: ((path: string) => boolean) | undefined
  readonly signal?: AbortSignal | undefined
  /** What checks have found, where that is not noted yet. */
  readonly noted?: readonly string[]
}

const NOTHING: Checksums = { files: new Map(), rows: [], proved: 0, damagedLines: 0 }

export async function assessTable(table: StoredTable, options: AssessOptions): Promise<Assessment> {
  const { isDeep, isChosen, signal } = options
  // Before the table is listed: a commit in between makes the table newer, never the record.
  const recorded = await table.recorded()
  const paths = await table.files.list(table.folder)
  if (paths.length === 0) return lostTable(recorded)
  const sums = isDeep ? await table.checksums.read() : NOTHING
  const damaged = new Map<string, DamagedFile["found"]>()
  for (const path of options.noted ?? (await notedDamage(table))) if (paths.includes(path)) damaged.set(path, "changed")
  const bytesRead = isDeep ? await compareFiles(table, { paths, sums, damaged }, { isChosen, signal }) : 0
  const { base, isInPlace } = await findBase(table, { recorded, paths, damaged })
  if (base !== undefined) await addUnusable(table, { base, paths, sums }, damaged)
  const isBad = (path: string) => damaged.has(path) || bad.has(path)
  const bad = new Set([...damaged.keys()].map(blobOwner))
  const isDurable = table.isRemote === true ? () => true : durablePaths(recorded, base)
  const files = [...damaged].map(([path, found]) => ({
    path,
    found: isDurable(path) ? found : ("unfinished" as const),
  }))
  const needed = new Set(base === undefined ? [] : (referencedFiles(base.bytes) ?? []).map(({ path }) => path))
  return {
    base,
    isInPlace,
    damaged: files,
    edited: base && withoutDamaged(base.bytes, isBad),
    needed,
    bytesRead,
  }
}

interface Compared {
  readonly paths: readonly string[]
  readonly sums: Checksums
  readonly damaged: Map<string, DamagedFile["found"]>
}

/** Reads the files, and says how much that was. */
async function compareFiles(
  { files, folder }: StoredTable,
  { paths, sums, damaged }: Compared,
  { isChosen, signal }: Pick<AssessOptions, "isChosen" | "signal">,
): Promise<number> {
  let bytesRead = 0
  for (const path of paths) {
    signal?.throwIfAborted()
    const expected = sums.files.get(path)
    if (expected === undefined || isChosen?.(path) === false) continue
    const found = await files.checksum(join(folder, path))
    if (found === undefined) continue
    bytesRead += found.bytes
    if (found.hash === expected.hash && found.bytes === expected.bytes) damaged.delete(path)
    else damaged.set(path, "changed")
  }
  return bytesRead
}

/** What is newer than the record is in doubt while a commit, or a crash, is between the two. */
function durablePaths(recorded: RecordedManifest | undefined, base: RecordedManifest | undefined) {
  if (recorded === undefined) return () => true
  const needed = new Set((referencedFiles(recorded.bytes) ?? []).map(({ path }) => path))
  return (path: string) => {
    const version = manifestVersion(path.replace("_versions/", ""))
    if (version !== undefined) return version <= recorded.version
    return base?.version === recorded.version || needed.has(blobOwner(path))
  }
}

/** A table without rows is no loss. */
function lostTable(recorded: RecordedManifest | undefined): Assessment {
  const isLost = recorded !== undefined && rowsOfManifest(recorded.bytes).rows > 0
  return {
    base: isLost ? recorded : undefined,
    isInPlace: false,
    damaged: isLost ? [{ path: "", found: "missing" }] : [],
    edited: isLost ? withoutDamaged(recorded.bytes, () => true) : undefined,
    needed: new Set(),
    bytesRead: 0,
  }
}

interface Found {
  readonly recorded: RecordedManifest | undefined
  readonly paths: readonly string[]
  readonly damaged: Map<string, DamagedFile["found"]>
}

/** The newest manifest that is whole. One that is older than the recorded one is not the table any more. */
async function findBase(
  table: StoredTable,
  { recorded, paths, damaged }: Found,
): Promise<Pick<Assessment, "base" | "isInPlace">> {
  const versions = versionsNewestFirst(paths)
  const last = recorded?.version ?? (await table.durableVersion())
  if (last !== undefined && !paths.includes(manifestPath(last))) damaged.set(manifestPath(last), "missing")
  for (const version of versions.filter((each) => recorded === undefined || each >= recorded.version)) {
    const path = manifestPath(version)
    const bytes = damaged.has(path) ? undefined : await table.files.read(join(table.folder, path))
    if (bytes !== undefined && isManifestOf(bytes, version, recorded)) {
      return { base: { version, bytes }, isInPlace: version === versions[0] }
    }
    damaged.set(path, "changed")
  }
  return { base: recorded, isInPlace: false }
}

function isManifestOf(bytes: Uint8Array, version: bigint, recorded: RecordedManifest | undefined): boolean {
  if (referencedFiles(bytes) === undefined) return false
  return version !== recorded?.version || Buffer.compare(bytes, recorded.bytes) === 0
}

interface Base {
  readonly base: RecordedManifest
  readonly paths: readonly string[]
  readonly sums: Checksums
}

/** Files that the version needs and that are not there, or have another length, or end in bytes that were never written. */
async function addUnusable(
  table: StoredTable,
  { base, paths, sums }: Base,
  damaged: Map<string, DamagedFile["found"]>,
): Promise<void> {
  const needed = referencedFiles(base.bytes) ?? []
  const owners = new Set(needed.map(({ path }) => path))
  const there = new Set(paths)
  for (const path of sums.files.keys()) {
    if (!there.has(path) && path !== blobOwner(path) && owners.has(blobOwner(path))) damaged.set(path, "missing")
  }
  for (const { path, bytes } of needed) {
    if (damaged.has(path)) continue
    const size = await table.files.size(join(table.folder, path))
    if (size === undefined) damaged.set(path, "missing")
    else if (size === 0 || (bytes !== undefined && size !== bytes) || !(await hasEnd(table, path)))
      damaged.set(path, "changed")
  }
}

async function hasEnd({ files, folder, isRemote }: StoredTable, path: string): Promise<boolean> {
  if (!path.startsWith("data/") || isRemote === true) return true
  return Buffer.from(await files.readEnd(join(folder, path), 4)).toString("latin1") === "LANC"
}

// --- What a check has found ------------------------------------------------------------------------------------------

/** A list of paths below the folder of the table, by table. Only a check writes it, and a repair removes it. */
export const DAMAGE_NOTE = "damaged.json"

export async function notedDamage({ files, folder, name }: StoredTable): Promise<readonly string[]> {
  const note = await files.find(join(folder, "..", OWN_FOLDER, DAMAGE_NOTE))
  if (note === undefined) return []
  const noted: unknown = JSON.parse(Buffer.from(note).toString("utf8"))
  const paths: unknown = (noted as Record<string, unknown>)[name]
  return Array.isArray(paths) ? paths.filter((path) => typeof path === "string") : []
}

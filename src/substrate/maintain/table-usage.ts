/**
 * Disk usage of a table, or what it takes in a bucket: bytes that the newest version needs, bytes that only older versions need, and orphans, the
 * files that a killed process wrote and no version names. Orphans are freed by age alone and count as neither.
 */
import { join } from "node:path"
import { filesOfVersion, manifestPath, type StoredTable, versionsNewestFirst } from "../local/local-table.ts"
import { blobOwner } from "../local/manifest-file.ts"

export interface TableUsage {
  readonly live: number
  readonly dead: number
}

export async function tableUsage(table: StoredTable): Promise<TableUsage> {
  return await usageOf(table, await table.files.list(table.folder))
}

/** Of a table in a bucket, where its newest version is as old as that: nothing otherwise, and nothing more is asked. */
export async function usageAtRest(table: StoredTable, madeBeforeMs: number): Promise<TableUsage | undefined> {
  const paths = await table.files.list(table.folder)
  const [newest, older] = versionsNewestFirst(paths)
  if (newest === undefined || older === undefined) return undefined
  const madeMs = await table.files.modifiedMs(join(table.folder, manifestPath(newest)))
  return madeMs === undefined || madeMs > madeBeforeMs ? undefined : await usageOf(table, paths)
}

async function usageOf(table: StoredTable, paths: readonly string[]): Promise<TableUsage> {
  const versions = versionsNewestFirst(paths)
  const [newest] = versions
  if (newest === undefined) return { live: 0, dead: 0 }
  const own = new Set([manifestPath(newest), "_versions/latest_version_hint.json"])
  const isNeeded = neededBy((await filesOfVersion(table, newest)) ?? [])
  const spare = paths.filter((path) => !own.has(path) && !isNeeded(path))
  const spareBytes = await totalBytes(table, spare)
  const live = (await totalBytes(table, paths)) - spareBytes
  // In a bucket each age would be a request, and orphans leave it with older versions.
  if (table.isRemote) return { live, dead: spareBytes }
  return {
    live,
    dead: spareBytes - (await totalBytes(table, await orphansAmong(table, spare, versions.at(-1) as bigint))),
  }
}

async function totalBytes({ files, folder }: StoredTable, paths: readonly string[]): Promise<number> {
  let bytes = 0
  for (const path of paths) bytes += (await files.size(join(folder, path))) ?? 0
  return bytes
}

/**
 * Of what the newest version does not need: what lay there before the oldest was made, which does not need it either. What
 * another one in between needs is younger than the oldest, but for what took long to write: that is freed a version later.
 */
async function orphansAmong(table: StoredTable, spare: readonly string[], oldest: bigint): Promise<readonly string[]> {
  if (!spare.some((path) => CONTENT.test(path))) return []
  const madeMs = await table.files.modifiedMs(join(table.folder, manifestPath(oldest)))
  return madeMs === undefined ? [] : await unneeded(table, spare, { versions: [oldest], beforeMs: madeMs })
}

/** Finds orphans: files that no version needs and that are older than this. Call it while nobody writes. */
export async function findOrphans(table: StoredTable, beforeMs: number): Promise<readonly string[]> {
  const paths = await table.files.list(table.folder)
  return await unneeded(table, paths, { versions: versionsNewestFirst(paths), beforeMs })
}

interface OrphanSearch {
  readonly versions: readonly bigint[]
  readonly beforeMs: number
}

/** Of content alone: what belongs to the making of versions goes with them. */
const CONTENT = /^(?:data|_indices|_deletions)\//

async function unneeded(table: StoredTable, paths: readonly string[], { versions, beforeMs }: OrphanSearch) {
  const known = await Promise.all(versions.map((version) => filesOfVersion(table, version)))
  // Where a version does not say what it needs, all may be.
  if (known.includes(undefined)) return []
  const isNeeded = neededBy(known.flatMap((files) => files ?? []))
  const left: string[] = []
  for (const path of paths) {
    if (!CONTENT.test(path) || isNeeded(path)) continue
    const touchedMs = await table.files.modifiedMs(join(table.folder, path))
    if (touchedMs !== undefined && touchedMs < beforeMs) left.push(path)
  }
  return left
}

function neededBy(files: readonly { readonly path: string }[]): (path: string) => boolean {
  const needed = new Set(files.map(({ path }) => path))
  return (path) => needed.has(path) || needed.has(blobOwner(path))
}

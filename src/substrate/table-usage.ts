/**
 * How the bytes of a local table divide: what the newest version needs, and what only older versions need. What no version
 * ever needed was left by work that was killed in the middle; nothing frees it but its age, so it counts as neither.
 */
import { join } from "node:path"
import { filesOfVersion, type LocalTable, manifestPath, versionsNewestFirst } from "./local-table.ts"
import { blobOwner } from "./manifest-file.ts"

export interface TableUsage {
  readonly live: number
  readonly dead: number
}

export async function tableUsage(table: LocalTable): Promise<TableUsage> {
  const paths = await table.files.list(table.folder)
  const versions = versionsNewestFirst(paths)
  const [newest] = versions
  if (newest === undefined) return { live: 0, dead: 0 }
  const isNeeded = neededBy((await filesOfVersion(table, newest)) ?? [])
  const own = new Set([manifestPath(newest), "_versions/latest_version_hint.json"])
  const left = new Set(await leftBySteps(table, paths, versions))
  let [live, dead] = [0, 0]
  for (const path of paths) {
    if (left.has(path)) continue
    const bytes = (await table.files.size(join(table.folder, path))) ?? 0
    if (own.has(path) || isNeeded(path)) live += bytes
    else dead += bytes
  }
  return { live, dead }
}

/**
 * What lay there before the oldest version was made, and neither that one nor the newest needs. What another one in between
 * needs is younger than the oldest, but for what took long to write: that is freed a version later.
 */
async function leftBySteps(table: LocalTable, paths: readonly string[], versions: readonly bigint[]) {
  const ends = [...new Set([versions[0] as bigint, versions.at(-1) as bigint])]
  const madeMs = await table.files.modifiedMs(join(table.folder, manifestPath(ends.at(-1) as bigint)))
  return madeMs === undefined ? [] : await unneeded(table, paths, { versions: ends, beforeMs: madeMs })
}

/** What of the table no version needs and nobody touched since then. To be asked while nobody writes. */
export async function leftBehind(table: LocalTable, beforeMs: number): Promise<readonly string[]> {
  const paths = await table.files.list(table.folder)
  return await unneeded(table, paths, { versions: versionsNewestFirst(paths), beforeMs })
}

interface Leaving {
  readonly versions: readonly bigint[]
  readonly beforeMs: number
}

/** Of content alone: what belongs to the making of versions goes with them. */
const CONTENT = /^(?:data|_indices|_deletions)\//

async function unneeded(table: LocalTable, paths: readonly string[], { versions, beforeMs }: Leaving) {
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

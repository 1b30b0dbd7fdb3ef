/** How the bytes of a local table divide: what the newest version needs, and what only older versions need. */
import { join } from "node:path"
import type { LocalTable } from "./local-table.ts"
import { newestVersion } from "./local-table.ts"
import { blobOwner, manifestName, referencedFiles } from "./manifest-file.ts"

export interface TableUsage {
  readonly live: number
  readonly dead: number
}

export async function tableUsage(table: LocalTable): Promise<TableUsage> {
  const paths = await table.files.list(table.folder)
  const newest = newestVersion(paths)
  if (newest === undefined) return { live: 0, dead: 0 }
  const manifest = `_versions/${manifestName(newest)}`
  const needed = new Set([manifest, "_versions/latest_version_hint.json"])
  for (const { path } of referencedFiles(await table.files.read(join(table.folder, manifest))) ?? []) needed.add(path)
  let live = 0
  let dead = 0
  for (const path of paths) {
    const bytes = (await table.files.size(join(table.folder, path))) ?? 0
    if (needed.has(path) || needed.has(blobOwner(path))) live += bytes
    else dead += bytes
  }
  return { live, dead }
}

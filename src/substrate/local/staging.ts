/**
 * Where rows wait that nobody may see yet: tables of their own beside those of a local store, written while what they
 * come from is still being judged, and put in place whole once it was. Only where the store has no table of that name.
 */
import { existsSync } from "node:fs"
import { rm, rmdir } from "node:fs/promises"
import { join } from "node:path"
import { openFileLock } from "../../platform/files/file-lock.ts"
import { ensureWritable } from "../../platform/host/paths.ts"
import { isSystemError } from "../../platform/system-error.ts"
import type { Catalog } from "../lance/catalog.ts"
import type { StagingTables } from "../table.ts"
import type { LocalTable } from "./local-table.ts"

export interface Staging extends Pick<StagingTables, "adopt" | "end"> {
  readonly catalog: Catalog
}

const FOLDER = ".pond/incoming"

/** Nothing on an object store, and where another process of this machine is at it. What one that died left is removed. */
export async function openStaging(catalog: Catalog): Promise<Staging | undefined> {
  if (catalog.location.backend !== "local") return undefined
  const root = catalog.location.uri
  const folder = join(root, FOLDER)
  const isNew = !existsSync(root)
  ensureWritable(join(root, ".pond"))
  const lock = openFileLock(`${folder}.lock`)
  if (!lock.take()) {
    lock.close()
    return undefined
  }
  await rm(folder, { recursive: true, force: true })
  const own = catalog.at(FOLDER)
  return {
    catalog: own,
    adopt: async (name) => {
      const table = catalog.local(name)
      return table !== undefined && (await adopted(table, join(folder, `${name}.lance`)))
    },
    end: async () => {
      own.close()
      await rm(folder, { recursive: true, force: true })
      lock.close()
      if (isNew) await removeEmpty(root, `${folder}.lock`)
    },
  }
}

/**
 * What one that died left, where the store has got tables of its own since and nothing comes in any more: it may be as much
 * as a whole store.
 */
export async function removeStaleStaging(catalog: Catalog): Promise<void> {
  const folder = join(catalog.location.uri, FOLDER)
  if (catalog.location.backend !== "local" || !existsSync(folder)) return
  const lock = openFileLock(`${folder}.lock`)
  try {
    if (lock.take()) await rm(folder, { recursive: true, force: true })
  } finally {
    lock.close()
  }
}

/** In the turn of one who writes: the renaming is the only step that anyone sees. */
async function adopted(table: LocalTable, from: string): Promise<boolean> {
  return await table.exclusively(async () => {
    if ((await table.files.list(table.folder)).length > 0) return false
    await table.files.rename(from, table.folder)
    return true
  })
}

/** A store that was refused everything leaves no folder behind. */
async function removeEmpty(root: string, lock: string): Promise<void> {
  await rm(lock, { force: true })
  for (const folder of [join(root, ".pond"), root]) {
    try {
      await rmdir(folder)
    } catch (error) {
      if (isSystemError(error, "ENOTEMPTY", "EEXIST")) return
      throw error
    }
  }
}

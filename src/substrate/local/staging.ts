/**
 * Staging: tables beside those of a local store that nobody reads yet. An import fills them while its file is still being
 * checked, and each is renamed into the store once the whole file was. Only where the store has no table of that name.
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

/** Nothing on an object store, or while another process of this machine stages. What a dead process left is removed. */
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
      const staged = own.local(name)
      return table !== undefined && staged !== undefined && (await moveIntoPlace(table, staged))
    },
    end: async () => {
      own.close()
      await rm(folder, { recursive: true, force: true })
      lock.close()
      if (isNew) await removeEmpty(root, `${folder}.lock`)
    },
  }
}

/** Removes what a process left that died while staging: it may be as large as the whole store. */
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

/** Under the write lock of the table. The rename is the only step that a reader sees. */
async function moveIntoPlace(table: LocalTable, staged: LocalTable): Promise<boolean> {
  return await table.exclusively(async () => {
    if ((await table.files.list(table.folder)).length > 0) return false
    // Its checksums go with it: they say in which rows each session lies.
    for (const [index, note] of staged.notes.entries()) {
      if ((await table.files.size(note)) !== undefined) await table.files.rename(note, table.notes[index] as string)
    }
    await table.files.rename(staged.folder, table.folder)
    return true
  })
}

/** An import that was refused leaves no empty store behind. */
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

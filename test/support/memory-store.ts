import type { Location } from "../../src/substrate/location.ts"
import type { Store } from "../../src/substrate/table.ts"
import { createMemoryDisk, type MemoryDisk, tablesIn } from "./memory-disk.ts"
import { erasedIn } from "./memory-erased.ts"
import { compareValues } from "./memory-filter.ts"
import { tableOf } from "./memory-table.ts"

// --- Store -----------------------------------------------------------------------------------------------------------

const STAGING = ".pond/incoming"

export function openMemoryStore(disk: MemoryDisk = createMemoryDisk(), folder = ""): Store {
  const shown = ["memory", disk.id, ...(folder === "" ? [] : [folder])].join("/")
  // Nobody can make a directory there: what takes the location for one fails.
  const location: Location = { backend: "local", shown, uri: `/dev/null/${shown}`, storageOptions: () => ({}) }
  const below = (name: string) => (folder === "" ? name : `${folder}/${name}`)
  return {
    location,
    table: (definition) => tableOf(disk, folder, definition),
    withWriteLock: (work) => {
      const mine = (disk.writing.get(folder) ?? Promise.resolve()).then(work, work)
      disk.writing.set(
        folder,
        mine.catch(() => undefined),
      )
      return mine
    },
    erased: () => erasedIn(disk.folders.get(folder)),
    beginGeneration: () => Promise.resolve(),
    names: () => Promise.resolve([...(disk.folders.get(folder)?.keys() ?? [])].toSorted(compareValues)),
    tableId: () => undefined,
    isMarked: async () => false,
    mark: async () => undefined,
    at: (name) => openMemoryStore(disk, below(name)),
    openStaging: () => {
      const staging = below(STAGING)
      if (disk.staging.has(staging)) return Promise.resolve(undefined)
      disk.staging.add(staging)
      disk.folders.delete(staging)
      return Promise.resolve({
        store: openMemoryStore(disk, staging),
        adopt: (name) => Promise.resolve(moveTable(disk, name, staging, folder)),
        end: () => {
          disk.folders.delete(staging)
          disk.staging.delete(staging)
          return Promise.resolve()
        },
      })
    },
    removeStaleStaging: () => {
      if (!disk.staging.has(below(STAGING))) disk.folders.delete(below(STAGING))
      return Promise.resolve()
    },
    gatherOpening: async () => undefined,
    useSmallCaches: () => undefined,
    check: async () => [],
    repair: async () => [],
    generation: async () => 0,
    close: () => undefined,
  }
}

function moveTable(disk: MemoryDisk, name: string, from: string, to: string): boolean {
  const moved = disk.folders.get(from)?.get(name)
  if (moved === undefined || disk.folders.get(to)?.has(name) === true) return false
  tablesIn(disk, to).set(name, moved)
  disk.folders.get(from)?.delete(name)
  return true
}

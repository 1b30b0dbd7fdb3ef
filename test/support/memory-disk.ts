/** What is stored in memory: tables by folder, for all handles of one store. */
import type { NumberedRow } from "./memory-filter.ts"

export interface MemoryTable {
  readonly name: string
  readonly schemaVersion: number
  /** In the order of storing. Replaced and never changed, so that who holds it holds a snapshot. */
  rows: readonly NumberedRow[]
  readonly byKey: Map<string, NumberedRow>
  nextNumber: number
  version: number
  /** What maintenance has done, as far as its plan asks: rows of each index, and commits since the last compaction. */
  readonly indexedRows: Map<string, number>
  fragments: number
}

/** What several handles of one store share, as processes share a directory. */
export interface MemoryDisk {
  readonly id: string
  readonly folders: Map<string, Map<string, MemoryTable>>
  readonly staging: Set<string>
  /** The end of the queue of each folder. */
  readonly writing: Map<string, Promise<unknown>>
}

export function createMemoryDisk(): MemoryDisk {
  return { id: crypto.randomUUID(), folders: new Map(), staging: new Set(), writing: new Map() }
}

export function tablesIn(disk: MemoryDisk, folder: string): Map<string, MemoryTable> {
  const tables = disk.folders.get(folder) ?? new Map<string, MemoryTable>()
  disk.folders.set(folder, tables)
  return tables
}

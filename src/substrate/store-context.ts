/** What a store is given instead of reaching for it: time, chance, the log, the disk. */
import type { Clock } from "../platform/host/clock.ts"
import type { Log } from "../platform/host/log.ts"
import type { Random } from "../platform/host/random.ts"
import type { DiskFiles } from "./local/disk-files.ts"

export interface StoreContext {
  readonly log: Log
  readonly clock: Clock
  readonly random: Random
  /** Where files of buckets are kept on this machine, and how many bytes at most; in memory alone where this is absent. */
  readonly cache?: { readonly folder: string; readonly bytesMax: number }
  /** For tests: how a retry waits. */
  readonly sleep?: (ms: number) => Promise<void>
  /** For tests: the disk under a local store. */
  readonly disk?: DiskFiles
}

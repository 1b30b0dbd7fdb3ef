/** What the store says of itself at once, and what this machine last did to it. Loads no adapter and looks at no source. */
import { perform } from "../operation.ts"
import type { Pond } from "../pond.ts"
import { type StatusOutput, status } from "../wire/status.ts"
import { readSyncHistory, type SyncRecord } from "./sync-history.ts"

export interface Holdings extends StatusOutput {
  /** Of this store, from this machine. */
  readonly last_sync: SyncRecord | null
}

export async function holdingsOf(pond: Pond, signal: AbortSignal): Promise<Holdings> {
  const store = pond.storeName()
  const last = readSyncHistory(pond).findLast((record) => record.store === store)
  return { ...(await perform(status, { pond, signal }, {})), last_sync: last ?? null }
}

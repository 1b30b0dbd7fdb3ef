/**
 * How things stand with the archive and this machine, in two parts: what the store says at once, and what takes a look at
 * every source. Not on the wire but for the first: it reads this machine.
 */
import { toPondError } from "../model/errors.ts"
import { type SourceSurvey, surveySources } from "../sync/survey.ts"
import { disabledIds } from "./clients.ts"
import { perform } from "./operation.ts"
import type { Pond } from "./pond.ts"
import { type ScheduleStatus, scheduleStatus } from "./schedule.ts"
import { type StatusOutput, status } from "./status.ts"
import { contextOf, importSources } from "./sync.ts"
import { readSyncHistory, type SyncRecord } from "./sync-history.ts"

export interface Holdings extends StatusOutput {
  /** Of this store, from this machine. */
  readonly last_sync: SyncRecord | null
}

export interface Surroundings {
  readonly sources: readonly SourceSurvey[]
  readonly disabled: readonly string[]
  readonly schedule: Pick<ScheduleStatus, "scheduled" | "every_minutes" | "trouble">
  /** What could not be looked at. */
  readonly troubles: readonly string[]
}

/** The cheap part. */
export async function holdingsOf(pond: Pond, signal: AbortSignal): Promise<Holdings> {
  const store = pond.storeName()
  const last = readSyncHistory(pond).findLast((record) => record.store === store)
  return { ...(await perform(status, { pond, signal }, {})), last_sync: last ?? null }
}

/** A part that cannot be looked at is said, and stops no other. */
export async function surroundingsOf(pond: Pond, signal: AbortSignal): Promise<Surroundings> {
  const troubles: string[] = []
  const orSaid = async <T>(what: string, look: () => Promise<T>, otherwise: T): Promise<T> => {
    try {
      return await look()
    } catch (error) {
      troubles.push(`${what}: ${toPondError(error).message}`)
      return otherwise
    }
  }
  const sources = await orSaid(
    "sources",
    () => surveySources(importSources(pond, { adapters: [] }), contextOf(pond, { signal })),
    [],
  )
  const schedule = await orSaid<Surroundings["schedule"]>("schedule", () => scheduleStatus(pond), NONE)
  return { sources, disabled: disabledIds(pond), schedule, troubles }
}

const NONE = { scheduled: false, every_minutes: null, trouble: null }

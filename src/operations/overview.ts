/** How things stand around the store: what waits in each source, what it was met with, and whether pond syncs by itself. */
import { toPondError } from "../model/errors.ts"
import { type SourceSurvey, surveySources } from "../sync/survey.ts"
import { disabledIds } from "./clients.ts"
import type { Pond } from "./pond.ts"
import { type ScheduleStatus, scheduleStatus } from "./schedule.ts"
import { contextOf, importSources } from "./sync.ts"

export interface Surroundings {
  readonly sources: readonly SourceSurvey[]
  readonly disabled: readonly string[]
  readonly schedule: Pick<ScheduleStatus, "scheduled" | "every_minutes" | "trouble">
  /** What could not be looked at. */
  readonly troubles: readonly string[]
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

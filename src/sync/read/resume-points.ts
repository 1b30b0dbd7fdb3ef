/** Where stored sessions end, for the units that continue them. Reads many at once, in the order of the plan. */
import type { ResumePoint } from "../../adapters/adapter.ts"
import { fromSource } from "../../adapters/source-value.ts"
import type { Presence, ResumeFacts } from "../../sessions/write/presence.ts"
import type { PlannedUnit } from "../plan/plan-root.ts"

export interface ResumePoints {
  /** Undefined if the unit continues no session. */
  of(planned: PlannedUnit): Promise<ResumeFacts | undefined>
}

const UNITS_AT_ONCE = 64

/** Reads ids from the store, because the state may be behind it. */
export function createResumePoints(units: readonly PlannedUnit[], presence: () => Promise<Presence>): ResumePoints {
  const waiting = units.flatMap(({ memory }) => memory?.session?.id ?? [])
  let read: ReadonlyMap<string, ResumeFacts> = new Map()
  return {
    of: async ({ memory }) => {
      const id = memory?.session?.id
      if (id === undefined) return undefined
      if (!read.has(id)) {
        const from = Math.max(0, waiting.indexOf(id))
        read = await (await presence()).resumeFacts([...new Set(waiting.slice(from, from + UNITS_AT_ONCE))])
      }
      return read.get(id)
    },
  }
}

export interface ResumeDecision {
  readonly planned: PlannedUnit
  readonly resume: ResumePoint | undefined
}

/**
 * Decides whether a unit continues where it ended. After a crash between storing and remembering, the memory is behind
 * the store, and continuing would store the same records again as new ones. Such a unit is read from its beginning and
 * compared with the store.
 */
export function decideResume(planned: PlannedUnit, stored: ResumeFacts | undefined): ResumeDecision {
  const { memory } = planned
  if (memory === undefined || memory.session === null || stored === undefined) return { planned, resume: undefined }
  if (memory.nextOrdinal !== stored.nextOrdinal)
    return { planned: { ...planned, change: "rewritten", memory: undefined }, resume: undefined }
  return { planned, resume: { session: memory.session, ...stored, state: fromSource(memory.parserState) } }
}

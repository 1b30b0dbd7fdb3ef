/** What the store holds of the sessions that units go on with: read for many units at once, in the order of the plan. */
import type { ResumePoint } from "../../adapters/adapter.ts"
import type { Presence, ResumeFacts } from "../../sessions/write/presence.ts"
import type { PlannedUnit } from "../plan/plan-root.ts"

export interface ResumePoints {
  /** Nothing where the unit goes on with nothing. */
  of(planned: PlannedUnit): Promise<ResumeFacts | undefined>
}

const UNITS_AT_ONCE = 64

/** The ids that are there come from the store, not from the state: the state may be behind it. */
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
 * Who died between storing rows and remembering them left a memory that is behind the store. Going on from it would read
 * the same records as new ones: of two that are equal and have no id of their own, the second is another. So such a unit
 * is read from its beginning, and compared with what is stored.
 */
export function decideResume(planned: PlannedUnit, stored: ResumeFacts | undefined): ResumeDecision {
  const { memory } = planned
  if (memory === undefined || memory.session === null || stored === undefined) return { planned, resume: undefined }
  if (memory.nextOrdinal !== stored.nextOrdinal)
    return { planned: { ...planned, change: "rewritten", memory: undefined }, resume: undefined }
  return { planned, resume: { session: memory.session, ...stored, state: memory.parserState } }
}

/**
 * One unit as rows, a stretch at a time, in this thread. The same comes from another thread in `parse-beside.ts`.
 */
import type { Adapter, ResumePoint } from "../adapters/adapter.ts"
import { prepare } from "../sessions/prepare.ts"
import type { ResumeFacts } from "../sessions/resume.ts"
import type { Sessions } from "../sessions/store.ts"
import { hydrate, type PreparedStretches } from "./hydrate.ts"
import { onlyChanged, type StoredRows } from "./only-changed.ts"
import type { PlannedUnit } from "./plan.ts"
import type { Resumes } from "./resumes.ts"

interface StretchContext {
  readonly sessions: () => Promise<Sessions>
  readonly resumes: Resumes
  readonly stored: StoredRows
  readonly nowMs: number
}

export async function* preparedStretches(
  adapter: Adapter,
  asPlanned: PlannedUnit,
  { sessions, resumes, stored, nowMs }: StretchContext,
): PreparedStretches {
  const { planned, resume } = goingOn(asPlanned, await resumes.of(asPlanned))
  const read = parsed(hydrate(adapter, planned, { resume, nowMs }), sessions)
  return yield* resume === undefined ? onlyChanged(planned, read, { adapter, sessions, stored }) : read
}

async function* parsed(stretches: ReturnType<typeof hydrate>, sessions: StretchContext["sessions"]): PreparedStretches {
  try {
    for (;;) {
      const { done, value } = await stretches.next()
      if (done) return value
      const { batch, ...rest } = value
      yield { batch: batch && prepare(batch, (await sessions()).facts()), ...rest }
    }
  } finally {
    // Who stops before the end leaves a file open otherwise.
    await stretches.return(undefined as never)
  }
}

interface GoingOn {
  readonly planned: PlannedUnit
  readonly resume: ResumePoint | undefined
}

/**
 * Who died between storing rows and remembering them left a memory that is behind the store. Going on from it would read
 * the same records as new ones: of two that are equal and have no id of their own, the second is another. So such a unit
 * is read from its beginning, and compared with what is stored.
 */
function goingOn(planned: PlannedUnit, stored: ResumeFacts | undefined): GoingOn {
  const { memory } = planned
  if (memory === undefined || memory.session === null || stored === undefined) return { planned, resume: undefined }
  if (memory.nextOrdinal !== stored.nextOrdinal)
    return { planned: { ...planned, change: "rewritten", memory: undefined }, resume: undefined }
  return { planned, resume: { session: memory.session, ...stored, state: memory.parserState } }
}

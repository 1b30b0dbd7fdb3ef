/**
 * One unit as rows, a stretch at a time, in this thread. The same comes from another thread in `parse-beside.ts`.
 */
import type { Adapter } from "../../adapters/adapter.ts"
import type { Sessions } from "../../sessions/store.ts"
import { prepare } from "../../sessions/write/prepare.ts"
import type { PlannedUnit } from "../plan/plan-root.ts"
import { type StoredRows, skipStored } from "../store/skip-stored.ts"
import { hydrate, type PreparedStretches } from "./hydrate.ts"
import { decideResume, type ResumePoints } from "./resume-points.ts"

interface StretchContext {
  readonly sessions: () => Promise<Sessions>
  readonly resumes: ResumePoints
  readonly stored: StoredRows
  readonly nowMs: number
}

export async function* readUnit(
  adapter: Adapter,
  asPlanned: PlannedUnit,
  { sessions, resumes, stored, nowMs }: StretchContext,
): PreparedStretches {
  const { planned, resume } = decideResume(asPlanned, await resumes.of(asPlanned))
  const read = prepareStretches(hydrate(adapter, planned, { resume, nowMs }), sessions)
  return yield* resume === undefined ? skipStored(planned, read, { adapter, sessions, stored }) : read
}

async function* prepareStretches(
  stretches: ReturnType<typeof hydrate>,
  sessions: StretchContext["sessions"],
): PreparedStretches {
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

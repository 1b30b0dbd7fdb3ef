/**
 * One unit as rows, a stretch at a time, in this thread. What a rewritten unit holds is first compared with what is
 * stored of it. The same comes from another thread in `parse-beside.ts`.
 */
import type { Adapter, ResumePoint } from "../adapters/adapter.ts"
import type { Issue } from "../model/report.ts"
import { type PreparedBatch, prepare } from "../sessions/prepare.ts"
import type { ResumeFacts } from "../sessions/resume.ts"
import type { Sessions } from "../sessions/store.ts"
import { hydrate } from "./hydrate.ts"
import type { PlannedUnit } from "./plan.ts"
import { createReconciler, type Reconciler } from "./reconcile.ts"
import type { Resumes } from "./resumes.ts"
import type { UnitMemory } from "./state.ts"

export interface PreparedStretch {
  /** Absent until the adapter knows which session this is. */
  readonly batch: PreparedBatch | undefined
  readonly issues: readonly Issue[]
  readonly bytes: number
}

/** Ends with what to remember of the unit. */
export type PreparedStretches = AsyncGenerator<PreparedStretch, UnitMemory>

interface StretchContext {
  readonly sessions: () => Promise<Sessions>
  readonly resumes: Resumes
  readonly nowMs: number
}

export async function* preparedStretches(
  adapter: Adapter,
  asPlanned: PlannedUnit,
  { sessions, resumes, nowMs }: StretchContext,
): PreparedStretches {
  const { planned, resume } = goingOn(asPlanned, await resumes.of(asPlanned))
  let reconciler: Reconciler | undefined
  const stretches = hydrate(adapter, planned, { resume, nowMs })
  try {
    for (;;) {
      const { done, value } = await stretches.next()
      if (done) return reconciler === undefined ? value : remembered(value, reconciler)
      const { batch, issues, bytes } = value
      if (batch === undefined) {
        yield { batch, issues, bytes }
        continue
      }
      const { session } = batch
      if (planned.change === "rewritten") reconciler ??= await createReconciler(adapter, await sessions(), session)
      const entries = reconciler?.reconcile(batch.entries) ?? batch.entries
      // What the session is stored as is known from its records.
      const asStored = reconciler?.session ?? session
      yield { batch: prepare({ session: asStored, entries }, (await sessions()).facts()), issues, bytes }
    }
  } finally {
    // Who stops before the end leaves a file open otherwise.
    await stretches.return(undefined as never)
  }
}

function remembered(memory: UnitMemory, { nextOrdinal, session }: Reconciler): UnitMemory {
  return { ...memory, nextOrdinal, session: memory.session === null ? null : session }
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

/**
 * One unit as rows, a stretch at a time, in this thread. What a rewritten unit holds is first compared with what is
 * stored of it. The same comes from another thread in `parse-beside.ts`.
 */
import type { Adapter } from "../adapters/adapter.ts"
import type { Issue } from "../model/report.ts"
import type { PreparedBatch, Preparer } from "../sessions/prepare.ts"
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
  planned: PlannedUnit,
  { sessions, resumes, nowMs }: StretchContext,
): PreparedStretches {
  const known = await resumes.of(planned)
  const { memory } = planned
  const resume =
    known === undefined || memory === undefined || memory.session === null
      ? undefined
      : { session: memory.session, ...known, state: memory.parserState }
  let reconciler: Reconciler | undefined
  let prepare: Preparer | undefined
  const stretches = hydrate(adapter, planned, { resume, nowMs })
  try {
    for (;;) {
      const { done, value } = await stretches.next()
      if (done) return value
      const { batch, issues, bytes } = value
      if (batch === undefined) {
        yield { batch, issues, bytes }
        continue
      }
      const { session } = batch
      if (planned.change === "rewritten") reconciler ??= await createReconciler(adapter, await sessions(), session)
      prepare ??=
        known === undefined
          ? await (await sessions()).prepareFrom(session.id, reconciler?.nextOrdinal ?? 0)
          : (await sessions()).prepareAfter(known.spoken)
      const entries = reconciler?.reconcile(batch.entries) ?? batch.entries
      yield { batch: prepare({ session, entries }), issues, bytes }
    }
  } finally {
    // Who stops before the end leaves a file open otherwise.
    await stretches.return(undefined as never)
  }
}

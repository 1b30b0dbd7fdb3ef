/** Reads one unit as rows, a stretch at a time: parsed in the thread where it was ordered there, and in this one otherwise. */
import type { Adapter } from "../../adapters/adapter.ts"
import type { Sessions } from "../../sessions/store.ts"
import type { PlannedUnit } from "../plan/plan-root.ts"
import { type StoredRows, skipStored } from "../store/skip-stored.ts"
import { hydrate, type Stretches } from "./hydrate.ts"
import type { ParseThread } from "./parse-in-thread.ts"
import { decideResume, type ResumePoints } from "./resume-points.ts"

interface ReadContext {
  readonly sessions: () => Promise<Sessions>
  readonly thread: Pick<ParseThread, "read">
  readonly resumes: ResumePoints
  readonly stored: StoredRows
  readonly nowMs: number
}

export async function* readUnit(
  adapter: Adapter,
  asPlanned: PlannedUnit,
  { sessions, thread, resumes, stored, nowMs }: ReadContext,
): Stretches {
  const facts = async () => (await sessions()).facts()
  const inThread = await thread.read(asPlanned, { facts, resumes })
  const { planned, resume } = inThread ?? decideResume(asPlanned, await resumes.of(asPlanned))
  const stretches = inThread?.stretches ?? hydrate(adapter, planned, { resume, nowMs, facts })
  return yield* resume === undefined ? skipStored(planned, stretches, { adapter, sessions, stored }) : stretches
}

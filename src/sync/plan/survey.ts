/**
 * Surveys the sources between two syncs: what waits to be read, what the adapters do not know, and what a client will
 * delete soon. Reads names and sizes; writes nothing and needs no lock.
 */
import type { Adapter, SourceUnit } from "../../adapters/adapter.ts"
import type { AgeRetention, Retention } from "../../adapters/capabilities.ts"
import type { UnreadClient } from "../../adapters/unread-clients.ts"
import { groupIssues, type IssueGroup } from "../../model/report.ts"
import { type ImportSource, unverifiedVersions } from "../import.ts"
import { isSilent } from "../read/hydrate.ts"
import type { SeenKinds } from "../state/sync-state.ts"
import { type SyncContext, withState } from "../sync.ts"
import { type PlannedUnit, planRoot } from "./plan-root.ts"
import { projectSources } from "./project-sources.ts"

export interface SourceSurvey {
  readonly adapter: string
  readonly title: string
  readonly path: string
  readonly sessions: number
  readonly pending: {
    readonly new: number
    readonly grown: number
    readonly rewritten: number
    readonly gone: number
    /**
     * Units that were read and do not say which session they are. They are stored once their client writes on or has
     * been silent for a day.
     */
    readonly nameless: number
  }
  readonly bytes_to_read: number
  readonly issues: readonly IssueGroup[]
  readonly unverified_versions: readonly string[]
  readonly unknown_records: readonly { readonly kind: string; readonly sessions: number }[]
  /** `due` counts sessions that the client deletes within the week unless they are continued. */
  readonly retention: (Retention & { readonly due: number }) | null
}

const DAY_MS = 86_400_000
const WEEK_DAYS = 7

export async function surveySources(
  sources: readonly ImportSource[],
  context: SyncContext,
  inProjects: readonly Adapter[] = [],
): Promise<SourceSurvey[]> {
  return await withState({ ...context, isLook: true }, async (state) => {
    const met = state.met()
    const surveys: SourceSurvey[] = []
    for (const { adapter, root } of [...sources, ...projectSources(inProjects, state, sources)]) {
      const own = met.filter((each) => each.adapter === adapter.id && each.root === root)
      const retention = adapter.retention?.of(root)
      const ages = { olderThanMs: dueBefore(retention, context), due: 0 }
      const plan = await planRoot(counting(adapter, ages), root, state, { isFull: false, signal: context.signal })
      const nowMs = context.clock.nowMs()
      const unread = plan.units.filter((unit) => !waitsForClient(unit, nowMs))
      const count = (change: string) => unread.filter((unit) => unit.change === change).length
      surveys.push({
        adapter: adapter.id,
        title: adapter.title,
        path: root,
        sessions: plan.seen,
        pending: {
          new: count("new"),
          grown: count("grown"),
          rewritten: count("rewritten"),
          gone: plan.gone.length,
          nameless: plan.units.length - unread.length,
        },
        bytes_to_read: unread.reduce((sum, { bytesToRead }) => sum + bytesToRead, 0),
        issues: groupIssues(plan.issues),
        unverified_versions: unverifiedVersions(adapter, new Set(own.flatMap(({ clientVersions }) => clientVersions))),
        unknown_records: unknownRecords(own),
        retention: retention === undefined ? null : { ...retention, due: ages.due },
      })
    }
    return surveys
  })
}

/** Whether the unit waits for its client to say which session it is. */
export function waitsForClient({ isNameless, unit }: PlannedUnit, nowMs: number): boolean {
  return isNameless === true && !isSilent(unit, nowMs)
}

/** Sessions that a client will delete soon and that pond cannot read. */
export interface UnreadSurvey {
  readonly client: string
  readonly title: string
  readonly path: string
  readonly sessions: number
  readonly retention: AgeRetention & { readonly due: number }
}

/** Reads names and times. Leaves out clients that delete nothing soon. */
export async function surveyUnread(
  clients: readonly { readonly client: UnreadClient; readonly root: string }[],
  context: Pick<SyncContext, "clock" | "signal">,
): Promise<UnreadSurvey[]> {
  const surveys: UnreadSurvey[] = []
  for (const { client, root } of clients) {
    const retention = client.retention.of(root)
    if (retention === undefined) continue
    const ages = { olderThanMs: dueBefore(retention, context), due: 0 }
    let sessions = 0
    for await (const found of counting(client, ages).source.plan(root)) {
      if (context.signal.aborted) return surveys
      if ("files" in found) sessions++
    }
    if (ages.due === 0) continue
    const { id, title } = client
    surveys.push({ client: id, title, path: root, sessions, retention: { ...retention, due: ages.due } })
  }
  return surveys
}

function dueBefore(retention: Retention | undefined, { clock }: Pick<SyncContext, "clock">): number {
  const days = retention?.days
  return days === undefined ? Number.NEGATIVE_INFINITY : clock.nowMs() - (days - WEEK_DAYS) * DAY_MS
}

/** Wraps an adapter so that planning also counts sessions that are older than `olderThanMs`. */
function counting<Client extends Pick<Adapter, "source" | "retention">>(
  adapter: Client,
  ages: { readonly olderThanMs: number; due: number },
): Client {
  const deletes = adapter.retention?.deletes
  const isDue = ({ files }: SourceUnit): boolean =>
    files.every(({ modifiedMs }) => modifiedMs < ages.olderThanMs) && deletes?.(files[0]?.relativePath ?? "") !== false
  const plan: Adapter["source"]["plan"] = async function* (root) {
    for await (const unit of adapter.source.plan(root)) {
      if ("files" in unit && isDue(unit)) ages.due++
      yield unit
    }
  }
  return { ...adapter, source: { ...adapter.source, plan } }
}

function unknownRecords(met: readonly SeenKinds[]): SourceSurvey["unknown_records"] {
  const counted = new Map<string, number>()
  for (const { unknownKinds, sessions } of met) {
    for (const kind of unknownKinds) counted.set(kind, (counted.get(kind) ?? 0) + sessions)
  }
  return [...counted].map(([kind, sessions]) => ({ kind, sessions }))
}

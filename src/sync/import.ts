/**
 * The import stage. It plans each root of each adapter, reads the units that changed and hands their rows to the
 * store. If it is asked to stop, it stops between units, and everything that was handed over is stored and remembered.
 */
import { join } from "node:path"
import type { Adapter } from "../adapters/adapter.ts"
import type { Retention } from "../adapters/capabilities.ts"
import { groupIssues, type Issue, type IssueGroup } from "../model/report.ts"
import type { Clock } from "../platform/host/clock.ts"
import { lazy } from "../platform/lazy.ts"
import type { Sessions } from "../sessions/store.ts"
import type { BatchResult } from "../sessions/write/write-sessions.ts"
import { type PlannedUnit, type PlanOptions, planRoot, type RootPlan, unitSignature } from "./plan/plan-root.ts"
import { hydrate, type Stretches, UNFINISHED } from "./read/hydrate.ts"
import { createParseThread, type ParseThread } from "./read/parse-in-thread.ts"
import { createResumePoints, decideResume, type ResumePoints } from "./read/resume-points.ts"
import type { SessionPlace, SyncState } from "./state/sync-state.ts"
import { createFlusher, type Flusher } from "./store/flush.ts"
import {
  createStoredRows,
  type FirstUnits,
  type StoredRows,
  type StoredRowsContext,
  sessionKey,
  skipStored,
} from "./store/skip-stored.ts"

export interface ImportSource extends Pick<PlanOptions, "only" | "onUnit" | "isChosen"> {
  readonly adapter: Adapter
  readonly root: string
}

export interface ImportContext {
  readonly sessions: () => Promise<Sessions>
  readonly state: SyncState
  readonly clock: Clock
  readonly signal: AbortSignal
  readonly isFull: boolean
  readonly onPlan?: ((plan: RootPlan) => void) | undefined
  /** How many bytes of the current root have been read. */
  readonly onProgress?: ((source: ImportSource, bytes: number, unit: string) => void) | undefined
  /** Called with the number of messages that were just stored. */
  readonly onStored?: ((messages: number) => void) | undefined
}

export interface RootReport {
  readonly adapter: string
  readonly path: string
  readonly sessions: {
    readonly seen: number
    readonly new: number
    readonly grown: number
    readonly rewritten: number
    readonly unchanged: number
    readonly gone: number
    readonly failed: number
    /** Units that were read and do not say yet which session they are. */
    readonly nameless: number
    /** Sessions that were read and left out, because they are erased, or their project is excluded. */
    readonly erased: number
    readonly excluded: number
  }
  readonly messages: { readonly new: number }
  readonly parts: { readonly new: number }
  readonly bytes_read: number
  readonly issues: readonly IssueGroup[]
  /** Versions of the client that the adapter was not tested with. */
  readonly unverified_versions: readonly string[]
  /** When the client will delete what pond then holds alone. */
  readonly retention: Retention | null
  readonly ms: number
}

/** Counts of one root. Its sessions are counted once the store has answered. */
interface Tally {
  readonly plan: RootPlan
  readonly startedMs: number
  readonly issues: Issue[]
  readonly versions: Set<string>
  /** The kind of change of each session, for counting it once it is stored. */
  readonly changes: Map<string, PlannedUnit["change"]>
  /** Sessions that are counted already: a long one is stored in several flushes. */
  readonly counted: Set<string>
  readonly counts: {
    new: number
    grown: number
    rewritten: number
    failed: number
    nameless: number
    erased: number
    excluded: number
    messages: number
    parts: number
    bytes: number
  }
  endedMs: number
}

export async function importAll(sources: readonly ImportSource[], context: ImportContext): Promise<RootReport[]> {
  const tallies: Tally[] = []
  const bySession = new Map<string, Tally>()
  const firstUnits: FirstUnits = new Map()
  /** The sessions that this import has stored something of. */
  const stored = new Set<string>()
  const flusher = createFlusher({
    sessions: context.sessions,
    state: context.state,
    onResults: (results) => {
      for (const result of results) {
        const key = sessionKey({ id: result.sessionId, source_agent: result.sourceAgent })
        if (result.status !== "rejected") stored.add(key)
        countResult(bySession.get(key), result)
      }
      context.onStored?.(results.reduce((sum, { inserted }) => sum + inserted.messages, 0))
    },
  })
  const thread = createParseThread()
  const presence = lazy(async () => (await context.sessions()).presence())
  const rowsContext: StoredRowsContext = {
    presence,
    firstUnits,
    settled: async (session) => {
      if (!stored.has(sessionKey(session))) await flusher.settle()
    },
    pathsOf: rememberedPaths(context.state),
  }
  try {
    for (const source of sources) {
      if (context.signal.aborted) break
      const plan = await planRoot(source.adapter, source.root, context.state, { ...source, ...context })
      context.onPlan?.(plan)
      const tally = newTally(plan, context.clock)
      tallies.push(tally)
      await thread.expect(source.adapter, plan.units, context.clock.nowMs())
      const resumes = createResumePoints(plan.units, presence)
      const rows = createStoredRows(plan.units, rowsContext)
      for (const planned of plan.units) {
        if (context.signal.aborted) break
        const { insteadOf } = planned.unit
        if (insteadOf !== undefined && (await (await presence()).hasSession(insteadOf))) continue
        await importUnit({ source, planned, tally, bySession, flusher, thread, resumes, stored: rows }, context)
      }
      if (!context.signal.aborted) context.state.forget(source.adapter.id, source.root, [...plan.gone, ...plan.renamed])
      tally.endedMs = context.clock.monotonicMs()
    }
    await flusher.settle()
    if (!context.signal.aborted) for (const { plan } of tallies) rememberRootFingerprint(plan, context.state)
  } finally {
    await thread.close()
  }
  return tallies.map(reportOf)
}

/**
 * Remembers the root fingerprint if every unit was stored as it was planned. Otherwise the next sync checks each unit.
 */
function rememberRootFingerprint({ adapter, root, look, units }: RootPlan, state: SyncState): void {
  if (look === undefined) return
  const isRemembered = ({ unit }: PlannedUnit) => state.stamp(adapter.id, root, unit.key) === unitSignature(unit)
  if (units.every(isRemembered)) state.rememberRootFingerprint(adapter.id, root, look)
}

interface UnitWork {
  readonly source: ImportSource
  readonly planned: PlannedUnit
  readonly tally: Tally
  readonly bySession: Map<string, Tally>
  readonly flusher: Flusher
  readonly thread: ParseThread
  readonly resumes: ResumePoints
  readonly stored: StoredRows
}

const NOTHING_TO_REMEMBER = undefined as never

async function importUnit(work: UnitWork, { sessions, clock, ...context }: ImportContext): Promise<void> {
  const { source, planned, thread, resumes, stored } = work
  const stretches = readUnit(source.adapter, planned, { sessions, thread, resumes, stored, nowMs: clock.nowMs() })
  try {
    await importStretches(work, stretches, context)
  } finally {
    // An early return or an error of the store would leave the log open.
    await stretches.return(NOTHING_TO_REMEMBER)
  }
}

async function importStretches(
  work: UnitWork,
  stretches: Stretches,
  context: Pick<ImportContext, "onProgress" | "signal">,
): Promise<void> {
  const { source, planned, tally, bySession, flusher } = work
  const unit = { adapter: source.adapter.id, root: source.root, key: planned.unit.key }
  for (;;) {
    const { done, value } = await stretches.next()
    if (done) {
      for (const version of value.clientVersions) tally.versions.add(version)
      if (value.session === null && value.stamp === UNFINISHED) tally.counts.nameless++
      await flusher.unitDone({ ...unit, memory: value })
      return
    }
    tally.issues.push(...value.issues)
    tally.counts.bytes += value.bytes
    context.onProgress?.(source, tally.counts.bytes, planned.unit.key)
    if (value.batch !== undefined) {
      const { id } = value.batch.session
      bySession.set(sessionKey(value.batch.session), tally)
      if (!tally.changes.has(id)) tally.changes.set(id, planned.change)
      await flusher.add(value.batch, value.bytes, value.reached && { ...unit, memory: value.reached })
    }
    // The next sync continues a long log where the last stretch ended.
    if (context.signal.aborted) return
  }
}

/**
 * Paths of the files that are remembered for a session. Needed only where a unit is new and its session is not, which
 * is rare, so all paths are read at once.
 */
function rememberedPaths(state: SyncState): StoredRowsContext["pathsOf"] {
  let places: Map<string, SessionPlace[]> | undefined
  return (session, root) => {
    places ??= Map.groupBy(state.places(), sessionKey)
    const own = (places.get(sessionKey(session)) ?? []).filter((each) => each.root === root)
    return own.map(({ place }) => join(root, place))
  }
}

function newTally(plan: RootPlan, clock: Clock): Tally {
  const counts = {
    new: 0,
    grown: 0,
    rewritten: 0,
    failed: 0,
    nameless: 0,
    erased: 0,
    excluded: 0,
    messages: 0,
    parts: 0,
    bytes: 0,
  }
  const startedMs = clock.monotonicMs()
  return {
    plan,
    startedMs,
    endedMs: startedMs,
    issues: [...plan.issues],
    versions: new Set(),
    changes: new Map(),
    counted: new Set(),
    counts,
  }
}

function countResult(tally: Tally | undefined, result: BatchResult): void {
  if (tally === undefined) return
  const { counts } = tally
  counts.messages += result.inserted.messages
  counts.parts += result.inserted.parts
  if (result.status === "rejected") {
    counts.failed++
    tally.issues.push({
      kind: "session_rejected",
      severity: "fault",
      file: result.sessionId,
      found: result.error?.message ?? "",
    })
  }
  const isLeftOut = result.status === "erased" || result.status === "excluded"
  if (isLeftOut && !tally.counted.has(result.sessionId)) {
    tally.counted.add(result.sessionId)
    counts[result.status]++
  }
  if (result.status !== "stored" || tally.counted.has(result.sessionId)) return
  tally.counted.add(result.sessionId)
  if (result.isNewSession) counts.new++
  // A session that was stored before has grown, whatever the state says of its file.
  else counts[tally.changes.get(result.sessionId) === "rewritten" ? "rewritten" : "grown"]++
}

function reportOf({ plan, startedMs, endedMs, issues, versions, counts }: Tally): RootReport {
  const { adapter, root, seen, gone } = plan
  const touched =
    counts.new + counts.grown + counts.rewritten + counts.failed + counts.nameless + counts.erased + counts.excluded
  return {
    adapter: adapter.id,
    path: root,
    sessions: {
      seen,
      new: counts.new,
      grown: counts.grown,
      rewritten: counts.rewritten,
      unchanged: Math.max(0, seen - touched),
      gone: gone.length,
      failed: counts.failed,
      nameless: counts.nameless,
      erased: counts.erased,
      excluded: counts.excluded,
    },
    messages: { new: counts.messages },
    parts: { new: counts.parts },
    bytes_read: counts.bytes,
    issues: groupIssues(issues),
    unverified_versions: unverifiedVersions(adapter, versions),
    retention: adapter.retention?.of(root) ?? null,
    ms: Math.round(endedMs - startedMs),
  }
}

/** Versions that are newer than the newest one the adapter was tested with, in order. */
export function unverifiedVersions({ judged }: Adapter, versions: Iterable<string>): string[] {
  return [...versions]
    .filter((version) => isBeyond(version, judged.to))
    .toSorted((left, right) => (isBeyond(left, right) ? 1 : -1))
}

/** Compares versions by their numbers, as far as both have them. */
function isBeyond(version: string, last: string): boolean {
  const [ours, theirs] = [numbersOf(version), numbersOf(last)]
  for (const [index, number] of ours.entries()) {
    const other = theirs[index] ?? 0
    if (number !== other) return number > other
  }
  return false
}

/** A build's name is none of them: Amp calls its versions `0.0.1767830505-ga62310`. */
function numbersOf(version: string): number[] {
  const released = version.replace(/[-+][a-z].*$/i, "")
  return (released.match(/\d+/g) ?? []).map(Number)
}

// --- Reading one unit ------------------------------------------------------------------------------------------------

// Reads one unit as rows, a stretch at a time: parsed in the thread where it was ordered there, and in this one otherwise.

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

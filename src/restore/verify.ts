/**
 * Verify: everything that a native restore would write, against the source it came from. Each unit is planned, resolved
 * and parsed as a sync does it, goes through what is to be proved (nothing, or a store), is serialized, and compared.
 * Writes nothing to the sources. Memory holds one batch of sessions, whatever the size of the corpus.
 */
import type { Adapter, RawRecord, SourceUnit, VersionRange } from "../adapters/adapter.ts"
import { resolve } from "../adapters/shared/resolve.ts"
import { stringifyJson } from "../model/json.ts"
import { createIssueTally, type Issue, type IssueGroup, type IssueTally } from "../model/report.ts"
import type { Entry, Session, SessionLog } from "../model/session.ts"
import type { Clock } from "../platform/clock.ts"
import { differences, type Mismatch, type SourceRecord } from "./compare.ts"

export interface VerifySource {
  readonly adapter: Adapter
  readonly root: string
}

/** What stands between parsing and serializing. Each session of a batch comes back, in order, as it is then, or not at all. */
export interface Passage extends AsyncDisposable {
  pass(logs: readonly SessionLog[]): Promise<readonly (SessionLog | undefined)[]>
  /** Whether it gives what it holds already: what it does not give is then missing, and not different. */
  readonly isHolding?: true
}

export interface VerifyRequest {
  readonly sources: readonly VerifySource[]
  /** Only the session with this id. */
  readonly sessionId?: string | undefined
  /** A new passage each time: a passage sees no session id twice. Absent: sessions stay in memory as they were parsed. */
  readonly openPassage?: (() => Promise<Passage>) | undefined
}

export interface VerifyContext {
  readonly clock: Clock
  readonly signal: AbortSignal
  readonly onPlan?: ((source: VerifySource, bytes: number) => void) | undefined
  /** Bytes read so far of the source at hand. */
  readonly onProgress?: ((bytes: number, unit: string) => void) | undefined
}

export interface SourceVerification {
  readonly adapter: string
  readonly path: string
  readonly sessions: number
  readonly files: number
  readonly records: number
  readonly bytes: number
  readonly mismatches: readonly Mismatch[]
  /** Sessions that a store which should hold them does not hold. */
  readonly missing: readonly string[]
  readonly issues: readonly IssueGroup[]
  readonly verified_client_versions: VersionRange
  /** The versions that wrote these sessions, where they say so. */
  readonly client_versions: readonly string[]
  /** Kinds of records and parts that were kept whole without being understood. */
  readonly unknown_records: readonly { readonly found: string; readonly count: number }[]
  readonly ms: number
}

export async function verify(request: VerifyRequest, context: VerifyContext): Promise<SourceVerification[]> {
  const reports: SourceVerification[] = []
  for (const source of request.sources) {
    if (context.signal.aborted) break
    reports.push(await verifySource(source, request, context))
  }
  return reports
}

// --- One source -------------------------------------------------------------------------------------------------------

/** Sessions go through a passage together, so that a store commits once for many. */
const BATCH_BYTES = 16 << 20
const BATCH_SESSIONS = 200

interface Tally {
  readonly issues: IssueTally
  readonly unknown: Map<string, number>
  readonly versions: Set<string>
  readonly mismatches: Mismatch[]
  readonly missing: string[]
  readonly files: Set<string>
  sessions: number
  records: number
  bytes: number
}

async function verifySource(
  source: VerifySource,
  request: VerifyRequest,
  context: VerifyContext,
): Promise<SourceVerification> {
  const startedMs = context.clock.monotonicMs()
  const tally: Tally = {
    issues: createIssueTally(),
    unknown: new Map(),
    versions: new Set(),
    mismatches: [],
    missing: [],
    files: new Set(),
    sessions: 0,
    records: 0,
    bytes: 0,
  }
  const units: SourceUnit[] = []
  for await (const found of source.adapter.source.plan(source.root)) {
    if ("files" in found) units.push(found)
    else tally.issues.add(found)
  }
  const bytes = units.flatMap(({ files }) => files).reduce((sum, { sizeBytes }) => sum + sizeBytes, 0)
  context.onPlan?.(source, bytes)
  let waiting = units
  while (waiting.length > 0 && !context.signal.aborted)
    waiting = await verifyRound(source, waiting, tally, request, context)
  return reportOf(source, tally, Math.round(context.clock.monotonicMs() - startedMs))
}

/** Copies of one session are sessions of one id: a passage sees one of them, and the others get their turn with the next. */
async function verifyRound(
  { adapter }: VerifySource,
  units: readonly SourceUnit[],
  tally: Tally,
  request: VerifyRequest,
  context: VerifyContext,
): Promise<SourceUnit[]> {
  const copies: SourceUnit[] = []
  const met = new Set<string>()
  let batch: HydratedUnit[] = []
  let batchBytes = 0
  await using passage = (await request.openPassage?.()) ?? MEMORY
  async function flush(): Promise<void> {
    const passed = await passage.pass(batch.map(({ log }) => log))
    for (const [index, { log, records }] of batch.entries()) {
      const back = passed[index]
      if (back === undefined && passage.isHolding === true) {
        tally.missing.push(log.session.id)
        continue
      }
      const files = back === undefined ? [] : adapter.serialize.native(back).files
      tally.mismatches.push(...differences(log.session.id, records, files))
    }
    batch = []
    batchBytes = 0
  }
  for (const unit of units) {
    if (context.signal.aborted) break
    const read = await hydrate(adapter, unit, request.sessionId, (bytes) =>
      context.onProgress?.(tally.bytes + bytes, unit.key),
    )
    if (read.log !== undefined && passage !== MEMORY && met.has(read.log.session.id)) {
      copies.push(unit)
      continue
    }
    count(tally, unit, read)
    if (read.log === undefined) continue
    met.add(read.log.session.id)
    batch.push({ log: read.log, records: read.records })
    batchBytes += read.bytes
    if (passage === MEMORY || batchBytes >= BATCH_BYTES || batch.length >= BATCH_SESSIONS) await flush()
  }
  await flush()
  return context.signal.aborted ? [] : copies
}

const MEMORY: Passage = { pass: (logs) => Promise.resolve(logs), [Symbol.asyncDispose]: () => Promise.resolve() }

// --- One unit ---------------------------------------------------------------------------------------------------------

interface HydratedUnit {
  readonly log: SessionLog
  readonly records: readonly SourceRecord[]
}

interface UnitReading {
  /** Absent where the unit holds no session, or another one than the one that was asked for. */
  readonly log: SessionLog | undefined
  readonly records: readonly SourceRecord[]
  readonly issues: readonly Issue[]
  readonly clientVersions: readonly string[]
  readonly bytes: number
}

async function hydrate(
  adapter: Adapter,
  unit: SourceUnit,
  sessionId: string | undefined,
  onBytes: (bytes: number) => void,
): Promise<UnitReading> {
  let session: Session | undefined
  const entries: Entry[] = []
  const issues: Issue[] = []
  const records: SourceRecord[] = []
  let bytes = 0
  const parser = adapter.parse(unit, {
    session: (begun) => {
      session = begun
    },
    entry: (entry) => entries.push(entry),
    issue: (issue) => issues.push(issue),
  })
  const isOther = () => sessionId !== undefined && session !== undefined && session.id !== sessionId
  for await (const batch of resolve(adapter.source, unit)) {
    for (const raw of batch.records) {
      records.push(kept(raw))
      parser.push(raw)
    }
    issues.push(...batch.issues)
    bytes += batch.bytes
    onBytes(bytes)
    if (isOther()) return { log: undefined, records: [], issues: [], clientVersions: [], bytes }
  }
  const { clientVersions } = parser.end(true)
  if (session === undefined || isOther()) return { log: undefined, records, issues, clientVersions, bytes }
  return { log: { session, entries }, records, issues, clientVersions, bytes }
}

function count(tally: Tally, unit: SourceUnit, { log, records, issues, clientVersions, bytes }: UnitReading): void {
  tally.bytes += bytes
  for (const issue of issues) {
    tally.issues.add(issue)
    if (issue.kind.startsWith("unknown_")) tally.unknown.set(issue.found, (tally.unknown.get(issue.found) ?? 0) + 1)
  }
  if (log === undefined) return
  tally.sessions++
  tally.records += records.length
  for (const { place } of unit.files) tally.files.add(place)
  for (const version of clientVersions) tally.versions.add(version)
}

function reportOf({ adapter, root }: VerifySource, tally: Tally, ms: number): SourceVerification {
  return {
    adapter: adapter.id,
    path: root,
    sessions: tally.sessions,
    files: tally.files.size,
    records: tally.records,
    bytes: tally.bytes,
    mismatches: tally.mismatches,
    missing: tally.missing,
    issues: tally.issues.groups(),
    verified_client_versions: adapter.verified,
    client_versions: [...tally.versions].sort((left, right) => left.localeCompare(right, "en", { numeric: true })),
    unknown_records: [...tally.unknown].map(([found, times]) => ({ found, count: times })),
    ms,
  }
}

/** A row belongs to the parser that it is handed to, which takes values out of it: what it is compared with is its JSON. */
function kept(raw: RawRecord): SourceRecord {
  if (raw.form !== "row") return raw
  return { form: "row", file: raw.file, table: raw.table, text: stringifyJson(raw.row) }
}

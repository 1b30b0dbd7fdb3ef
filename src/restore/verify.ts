/**
 * Verify: everything that a native restore would write, against the source it came from. Each unit is planned, resolved
 * and parsed as a sync does it, goes through what is to be proved (nothing, or a store), is serialized, and compared.
 * Writes nothing to the sources. Memory holds one batch of sessions, whatever the size of the corpus, and of a long session
 * one stretch.
 */
import type { Adapter, OutputFile, RawRecord, Relocation, SourceUnit } from "../adapters/adapter.ts"
import { revisionOf } from "../adapters/shared/native.ts"
import { isLeftAlone, resolve } from "../adapters/shared/resolve.ts"
import { unreadNames } from "../adapters/shared/unread-names.ts"
import { stringifyJson } from "../model/json.ts"
import { createIssueTally, type Issue, type IssueGroup, type IssueTally } from "../model/report.ts"
import type { Entry, Session, SessionLog } from "../model/session.ts"
import type { Clock } from "../platform/host/clock.ts"
import { takenKeyIssues } from "../sessions/write/prepare.ts"
import { type Compared, differences, type Mismatch, type SourceRecord, stretchDifferences } from "./compare.ts"
import { nativeFiles } from "./output-files.ts"
import { reroot } from "./reroot.ts"
import { createRestoreChecks, type RestoreChecks, type RestoreFindings } from "./verify-restores.ts"

export interface VerifySource {
  readonly adapter: Adapter
  readonly root: string
  /** Somebody named this directory: what is not read there is said. */
  readonly isChosen?: true | undefined
}

/** What stands between parsing and serializing. Each session of a batch comes back, in order, as it is then, or not at all. */
export interface Passage extends AsyncDisposable {
  pass(rests: readonly Rest[]): Promise<readonly (SessionLog | undefined)[]>
  /** The same of a stretch of a session, before all of it was read. Nothing where it does not come back by itself. */
  stretch(log: SessionLog): Promise<SessionLog | undefined>
  /** Whether it gives what it holds already: what it does not give is then missing, and not different. */
  readonly isHolding?: true
}

/** What is left of a session behind the stretches that were proved. */
export interface Rest {
  readonly log: SessionLog
  /** The first place that no stretch had. */
  readonly from: number
}

export interface VerifyRequest {
  readonly sources: readonly VerifySource[]
  /** Only the session with this id. */
  readonly sessionId?: string | undefined
  /** Where drafts may lie: then each session is also written and read back as a restore does it, but for long ones. */
  readonly draftFolder?: string | undefined
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
  readonly verified_client_versions: { readonly from: string; readonly to: string }
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
  const told: Issue[] = []
  for await (const found of source.adapter.source.plan(source.root)) {
    if ("files" in found) units.push(found)
    else told.push(found)
  }
  if (source.isChosen) told.push(...unreadNames(source.adapter, source.root, units, told))
  for (const issue of told) tally.issues.add(issue)
  const bytes = units.flatMap(({ files }) => files).reduce((sum, { sizeBytes }) => sum + sizeBytes, 0)
  context.onPlan?.(source, bytes)
  const { draftFolder } = request
  const findings: RestoreFindings = {
    onMismatch: (mismatch) => tally.mismatches.push(mismatch),
    onIssue: (issue) => tally.issues.add(issue),
  }
  const checks = draftFolder === undefined ? undefined : createRestoreChecks(source.adapter, draftFolder, findings)
  let waiting = units
  while (waiting.length > 0 && !context.signal.aborted)
    waiting = await verifyRound(source, waiting, tally, { ...request, checks }, context)
  await checks?.end()
  return reportOf(source, tally, Math.round(context.clock.monotonicMs() - startedMs))
}

/** Copies of one session are sessions of one id: a passage sees one of them, and the others get their turn with the next. */
async function verifyRound(
  { adapter }: VerifySource,
  units: readonly SourceUnit[],
  tally: Tally,
  request: VerifyRequest & { readonly checks?: RestoreChecks | undefined },
  context: VerifyContext,
): Promise<SourceUnit[]> {
  const copies: SourceUnit[] = []
  const met = new Set<string>()
  let batch: HydratedUnit[] = []
  let batchBytes = 0
  await using passage = (await request.openPassage?.()) ?? MEMORY
  async function flush(): Promise<void> {
    const passed = await passage.pass(batch)
    for (const [index, { log, from, records, compared }] of batch.entries()) {
      const back = passed[index]
      if (back === undefined && passage.isHolding === true) {
        tally.missing.push(log.session.id)
        continue
      }
      const isHolding = passage.isHolding === true
      const files = isHolding ? heldFiles(adapter, back, log) : serialized(adapter, back)
      const comparing = { before: compared, nameOf: namesOf(adapter, passage), mayBeMore: isHolding }
      const found = differences(log.session.id, records, files, comparing)
      tally.mismatches.push(...found)
      // Of a long session no more is there than its last stretch.
      if (found.length === 0 && back !== undefined && from === 0) await request.checks?.add(back)
    }
    batch = []
    batchBytes = 0
  }
  for (const unit of units) {
    if (context.signal.aborted) break
    const compared: Compared = new Map()
    // A sync leaves for later what may be in the middle of being written, so no store can hold it yet.
    const isWaiting = passage.isHolding === true && !isLeftAlone(unit, context.clock.nowMs())
    const read = await hydrate(adapter, unit, request.sessionId, {
      unendedLine: isWaiting ? "leave" : "take",
      onBytes: (bytes) => context.onProgress?.(tally.bytes + bytes, unit.key),
      prove: async (log, records) => {
        if (passage !== MEMORY && met.has(log.session.id)) return undefined
        return await proveAlone({ adapter, passage, compared }, log, records)
      },
    })
    if (read.log !== undefined && passage !== MEMORY && met.has(read.log.session.id)) {
      copies.push(unit)
      continue
    }
    count(tally, unit, read)
    if (read.log === undefined) continue
    met.add(read.log.session.id)
    batch.push({ log: read.log, from: read.from, records: read.records, compared })
    batchBytes += read.restBytes
    if (passage === MEMORY || batchBytes >= BATCH_BYTES || batch.length >= BATCH_SESSIONS) await flush()
  }
  await flush()
  return context.signal.aborted ? [] : copies
}

function serialized(adapter: Adapter, log: SessionLog | undefined): readonly OutputFile[] {
  return log === undefined ? [] : nativeFiles(adapter, log)
}

/** All that a store holds of a session, as it would lie in the directory that the source names: older forms of records, too. */
function heldFiles(adapter: Adapter, held: SessionLog | undefined, { session }: SessionLog): readonly OutputFile[] {
  if (held === undefined) return []
  const first = held.entries.filter(({ message }) => revisionOf(message) === undefined)
  const isRevised = first.length < held.entries.length
  const files = [
    ...serialized(adapter, held),
    ...(isRevised ? serialized(adapter, { session: held.session, entries: first }) : []),
  ]
  const [from, to] = [held.session.project, session.project]
  return from === to ? files : reroot(files, { from, to, relativePath: adapter.relocation?.relativePath }).files
}

const MEMORY: Passage = {
  pass: (rests) => Promise.resolve(rests.map(({ log }) => log)),
  stretch: (log) => Promise.resolve(log),
  [Symbol.asyncDispose]: () => Promise.resolve(),
}

// --- One unit ---------------------------------------------------------------------------------------------------------

interface HydratedUnit extends Rest {
  readonly records: readonly SourceRecord[]
  readonly compared: Compared
}

interface UnitReading {
  /** Absent where the unit holds no session, or another one than the one that was asked for. */
  readonly log: SessionLog | undefined
  /** Those that no stretch has proved. */
  readonly records: readonly SourceRecord[]
  readonly provedRecords: number
  readonly from: number
  readonly mismatches: readonly Mismatch[]
  readonly issues: readonly Issue[]
  readonly clientVersions: readonly string[]
  readonly bytes: number
  /** Of those, what no stretch has proved. */
  readonly restBytes: number
}

interface Hydrating {
  readonly unendedLine: "take" | "leave"
  readonly onBytes: (bytes: number) => void
  /** Proves what was read so far, so that it can be let go. Nothing where it cannot be proved alone. */
  readonly prove: (log: SessionLog, records: readonly SourceRecord[]) => Promise<Mismatch[] | undefined>
}

/** The size of a stretch of a session that is proved on its own. */
const STRETCH_UNITS = 2 << 20

async function hydrate(
  adapter: Adapter,
  unit: SourceUnit,
  sessionId: string | undefined,
  { unendedLine, onBytes, prove }: Hydrating,
): Promise<UnitReading> {
  let session: Session | undefined
  let entries: Entry[] = []
  const issues: Issue[] = []
  const mismatches: Mismatch[] = []
  let records: SourceRecord[] = []
  let [provedRecords, provedBytes, from] = [0, 0, 0]
  let bytes = 0
  let units = 0
  let stretchUnits = STRETCH_UNITS
  const parser = adapter.parse(unit, {
    session: (begun) => {
      session = begun
    },
    entry: (entry) => entries.push(entry),
    issue: (issue) => issues.push(issue),
  })
  async function proveStretch(): Promise<void> {
    issues.push(...takenKeyIssues(unit, entries))
    const found = session === undefined ? undefined : await prove({ session, entries }, records)
    units = 0
    // What does not stand alone yet is not tried again and again.
    if (found === undefined) {
      stretchUnits *= 2
      return
    }
    for (const mismatch of found) mismatches.push(mismatch)
    provedRecords += records.length
    provedBytes = bytes
    from = (entries.at(-1)?.message.ordinal ?? from - 1) + 1
    records = []
    entries = []
  }
  const isOther = () => sessionId !== undefined && session !== undefined && session.id !== sessionId
  const none = { records: [], provedRecords: 0, from: 0, mismatches: [], issues: [], clientVersions: [], restBytes: 0 }
  for await (const batch of resolve(adapter, unit, { unendedLine })) {
    for (const raw of batch.records) {
      const record = kept(raw)
      records.push(record)
      parser.push(raw)
      if ("text" in record) units += record.text.length
    }
    issues.push(...batch.issues)
    bytes += batch.bytes
    onBytes(bytes)
    if (isOther()) return { log: undefined, ...none, bytes }
    if (units >= stretchUnits) await proveStretch()
  }
  const { clientVersions } = parser.end(true)
  issues.push(...takenKeyIssues(unit, entries))
  const read = {
    records,
    provedRecords,
    from,
    mismatches,
    issues,
    clientVersions,
    bytes,
    restBytes: bytes - provedBytes,
  }
  if (session === undefined || isOther()) return { log: undefined, ...read }
  return { log: { session, entries }, ...read }
}

interface Proving {
  readonly adapter: Adapter
  readonly passage: Passage
  readonly compared: Compared
}

/** Lines and rows are written one by one. A file that is one value is looked at when all of the session was read. */
async function proveAlone(
  { adapter, passage, compared }: Proving,
  log: SessionLog,
  records: readonly SourceRecord[],
): Promise<Mismatch[] | undefined> {
  if (!records.every(({ file }) => file.form === "log" || file.form === "database")) return undefined
  const back = await passage.stretch(log)
  if (back === undefined) return undefined
  const before: Compared = new Map(compared)
  const comparing = { before, nameOf: namesOf(adapter, passage) }
  const found = stretchDifferences(log.session.id, records, nativeFiles(adapter, back), comparing)
  // What a store has otherwise may have become so since, and stand behind all that was stored first.
  if (found === undefined || (found.length > 0 && passage !== MEMORY)) return undefined
  for (const [run, length] of before) compared.set(run, length)
  return found
}

/** What was stored before may lie elsewhere by now. */
function namesOf({ relocation }: Adapter, { isHolding }: Passage): Relocation["nameOf"] {
  return isHolding === true ? relocation?.nameOf : undefined
}

function count(tally: Tally, unit: SourceUnit, read: UnitReading): void {
  const { log, records, provedRecords, mismatches, issues, clientVersions, bytes } = read
  tally.bytes += bytes
  for (const issue of issues) {
    tally.issues.add(issue)
    if (issue.kind.startsWith("unknown_")) tally.unknown.set(issue.found, (tally.unknown.get(issue.found) ?? 0) + 1)
  }
  if (log === undefined) return
  tally.sessions++
  tally.records += provedRecords + records.length
  tally.mismatches.push(...mismatches)
  for (const { relativePath } of unit.files) tally.files.add(relativePath)
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
    verified_client_versions: { from: adapter.judged.from, to: adapter.judged.to },
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

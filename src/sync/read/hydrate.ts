/**
 * Resolves and hydrates one unit: its new bytes become rows, one stretch after the other, and at the end comes what to
 * remember of the unit. One batch of lines is in memory at a time, however large the file is.
 */
import type {
  Adapter,
  ParseEnd,
  Parser,
  RawRecord,
  ResumePoint,
  SourceFile,
  SourceUnit,
} from "../../adapters/adapter.ts"
import type { LogPosition } from "../../adapters/shared/log-window.ts"
import { type Batch, isLeftAlone, resolve } from "../../adapters/shared/resolve.ts"
import type { Issue } from "../../model/report.ts"
import type { Entry, Session } from "../../model/session.ts"
import type { IngestFacts } from "../../sessions/rows/row-codecs.ts"
import { type PreparedBatch, prepare, takenKeyIssues } from "../../sessions/write/prepare.ts"
import { fileSignature, isReadToEnd, type PlannedUnit, unitSignature } from "../plan/plan-root.ts"
import type { UnitMemory } from "../state/sync-state.ts"

export interface Stretch {
  /** Absent until the adapter knows which session this is. */
  readonly batch: PreparedBatch | undefined
  readonly issues: readonly Issue[]
  /** How many bytes of the source it was read from. */
  readonly bytes: number
  /** In the middle of a log: what to remember once all rows up to here are stored. */
  readonly reached?: UnitMemory | undefined
}

/** Returns what to remember of the unit. */
export type Stretches = AsyncGenerator<Stretch, UnitMemory>

export interface HydrateOptions {
  /** What the store has of the session, if the unit continues one. */
  readonly resume: ResumePoint | undefined
  readonly nowMs: number
  /** Called when there are rows. Until then no store needs to be open. */
  readonly facts: () => Promise<IngestFacts>
}

/**
 * How long to wait for a unit to say which session it is. A session keeps its first name forever, so a log whose first
 * line is half written, or that names no directory yet, must not be stored too early.
 */
const NAMELESS_MS = 86_400_000

export async function* hydrate(
  adapter: Adapter,
  { unit, memory }: PlannedUnit,
  { resume, nowMs, facts }: HydrateOptions,
): Stretches {
  let session: Session | undefined = resume?.session
  let entries: Entry[] = []
  let issues: Issue[] = []
  let nextOrdinal = resume?.nextOrdinal ?? 0
  const unknownKinds = new Set(memory?.unknownKinds)
  const sink = {
    session: (begun: Session) => {
      session = begun
    },
    entry: (entry: Entry) => {
      entries.push(entry)
      nextOrdinal = Math.max(nextOrdinal, entry.message.ordinal + 1)
    },
    issue: (issue: Issue) => {
      issues.push(issue)
      if (issue.kind.startsWith("unknown_")) unknownKinds.add(issue.found)
    },
  }
  const take = async (bytes: number, read: readonly Issue[], reached?: UnitMemory): Promise<Stretch> => {
    if (session !== undefined) issues.push(...takenKeyIssues(unit, entries))
    const stretch = {
      batch: session === undefined ? undefined : prepare({ session, entries }, await facts()),
      issues: [...read, ...issues],
      bytes,
      reached,
    }
    if (session !== undefined) entries = []
    issues = []
    return stretch
  }

  const toRead = resume === undefined ? unit : unreadPart(unit, memory)
  const positions = new Map<string, LogPosition>(Object.entries(memory?.positions ?? {}))
  const isAtRest = isLeftAlone(unit, nowMs)
  const parser = adapter.parse(unit, sink, resume)
  const from = resume === undefined ? new Map<string, LogPosition>() : new Map(positions)
  const unendedLine = isAtRest ? ("take" as const) : ("leave" as const)
  const decideResume = resume === undefined ? {} : { since: resume.state }
  /** Signatures of files that are not read yet stay as they were when they were last stored. */
  const stamps = new Map(Object.entries((resume && memory?.files) ?? {}))
  const unread = new Set<string>()
  const reachedBy = ({ file, position }: Batch): UnitMemory | undefined => {
    if (session === undefined || position === undefined || isReadToEnd(file, position)) return undefined
    const [files, end] = [Object.fromEntries(stamps), parser.end(false)]
    const known = { unit, positions, unread, session, isSettled: false, end, unknownKinds, nextOrdinal, before: memory }
    return { ...memoryOf(known), files, stamp: UNFINISHED }
  }
  for await (const batch of resolve(adapter, toRead, { from, unendedLine, ...decideResume })) {
    pushAll(parser, batch.records)
    if (batch.position !== undefined) positions.set(batch.file.relativePath, batch.position)
    if (batch.isUnread === true) unread.add(batch.file.relativePath)
    else stamps.set(batch.file.relativePath, fileSignature(batch.file))
    yield await take(batch.bytes, batch.issues, reachedBy(batch))
  }
  const isEnded = isAtRest && (session !== undefined || isSilent(unit, nowMs))
  const end = parser.end(isEnded)
  yield await take(0, [])
  return memoryOf({
    unit,
    positions,
    unread,
    session,
    isSettled: isEnded,
    end,
    unknownKinds,
    nextOrdinal,
    before: memory,
  })
}

/** Whether the unit has been silent for so long that it will not say which session it is. */
export function isSilent({ files }: SourceUnit, nowMs: number): boolean {
  return files.every((file) => nowMs - file.modifiedMs > NAMELESS_MS)
}

/** Frees each record before the next is parsed, so that the text of a huge one is not kept beside its values. */
function pushAll(parser: Parser, records: RawRecord[]): void {
  records.reverse()
  for (let record = records.pop(); record !== undefined; record = records.pop()) parser.push(record)
}

/**
 * Leaves out files that did not change and were read to their end: reading them again would store their records twice.
 * A file with a last line that was left for later is read from there even if it did not change.
 */
function unreadPart(unit: SourceUnit, memory: UnitMemory | undefined): SourceUnit {
  const files = unit.files.filter(
    (file) =>
      file.form === "database" ||
      memory?.files[file.relativePath] !== fileSignature(file) ||
      !isReadToEnd(file, memory.positions[file.relativePath]),
  )
  return { ...unit, files }
}

interface MemoryFacts {
  readonly unit: SourceUnit
  readonly positions: ReadonlyMap<string, LogPosition>
  /** Paths of files that could not be read. */
  readonly unread: ReadonlySet<string>
  readonly session: Session | undefined
  readonly isSettled: boolean
  readonly end: ParseEnd
  readonly unknownKinds: ReadonlySet<string>
  readonly nextOrdinal: number
  readonly before: UnitMemory | undefined
}

/** Signature that equals that of no unit, so the unit is planned again. */
export const UNFINISHED = "unfinished"
/** Signature that equals that of no file. */
const UNREAD = ""

function memoryOf(facts: MemoryFacts): UnitMemory {
  const { unit, positions, unread, session, isSettled, end, unknownKinds, nextOrdinal, before } = facts
  const isWhole = unread.size === 0 && unit.files.every((file) => isReadToEnd(file, positions.get(file.relativePath)))
  const stampNow = (file: SourceFile) =>
    unread.has(file.relativePath) ? (before?.files[file.relativePath] ?? UNREAD) : fileSignature(file)
  return {
    // The unit must be planned again although no byte changes: a line was left for later, or its session is unknown.
    stamp: isWhole && (isSettled || session !== undefined) ? unitSignature(unit) : UNFINISHED,
    files: Object.fromEntries(unit.files.map((file) => [file.relativePath, stampNow(file)])),
    positions: Object.fromEntries(positions),
    session: session ?? null,
    parserState: end.state,
    clientVersions: [...new Set([...(before?.clientVersions ?? []), ...end.clientVersions])],
    unknownKinds: [...unknownKinds],
    nextOrdinal,
  }
}

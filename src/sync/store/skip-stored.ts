/**
 * Of units that are read from their beginning though their session is stored, what is to be stored of them. What is there
 * is asked for many units at once, in the order of the plan, and compared row by row: a session is read whole only where
 * something of it changed.
 */
import { existsSync, realpathSync } from "node:fs"
import { basename, dirname, join } from "node:path"
import type { Adapter, SourceUnit } from "../../adapters/adapter.ts"
import type { Session } from "../../model/session.ts"
import { openLedger } from "../../platform/memory.ts"
import type { Sessions } from "../../sessions/store.ts"
import { entriesOf, type PreparedBatch, prepare } from "../../sessions/write/prepare.ts"

import type { Presence } from "../../sessions/write/presence.ts"
import type { StoredContent } from "../../sessions/write/stored-content.ts"
import { pickRows } from "../../substrate/columns/slice-columns.ts"

import type { PlannedUnit } from "../plan/plan-root.ts"
import type { Stretch, Stretches } from "../read/hydrate.ts"
import type { UnitMemory } from "../state/sync-state.ts"
import { createReconciler, type Reconciler } from "./reconcile.ts"

export interface StoredRows {
  /** What is stored of the session that this batch of the unit is of; nothing where it is new. */
  of(planned: PlannedUnit, batch: PreparedBatch): Promise<StoredContent | undefined>
  /** The other unit that has the same session. */
  twin(planned: PlannedUnit, batch: PreparedBatch): Promise<Twin | undefined>
}

export interface Twin {
  /** Its main file. */
  readonly place: string
  /** Whether it came before in this import, and nothing says that this unit changed since it was stored. */
  readonly isFirst: boolean
}

/** Which unit was the first to come with a session in an import, by the session. */
export type FirstUnits = Map<string, { readonly unit: string; readonly path: string }>

export interface StoredRowsContext {
  readonly presence: () => Promise<Presence>
  readonly firstUnits: FirstUnits
  /** Resolves when what this import brought of the session is stored. */
  readonly settled: (session: Session) => Promise<void>
  /** The main files of the units of this root that are remembered for this session, as paths. Another root may be a backup. */
  readonly pathsOf: (session: Session, root: string) => readonly string[]
}

const UNITS_AT_ONCE = 128
/** About as much as one flush: so much of a store is decompressed at once. */
const BYTES_AT_ONCE = 16_000_000

export function createStoredRows(
  units: readonly PlannedUnit[],
  { presence, firstUnits, settled, pathsOf }: StoredRowsContext,
): StoredRows {
  const waiting = units.filter(({ change }) => change !== "grown")
  let next = 0
  let known: StoredContent | undefined
  let ids: ReadonlySet<string> = new Set()
  const met = new Set<string>()

  async function addAhead(from: number, wanted: Set<string>): Promise<void> {
    let bytes = 0
    for (next = from; next < Math.min(waiting.length, from + UNITS_AT_ONCE); next++) {
      const { unit, storedAs, bytesToRead } = waiting[next] as PlannedUnit
      const id = storedAs ?? (await (await presence()).guessSession(unit.key, met))
      if (id === undefined) continue
      bytes += bytesToRead
      if (next > from && bytes > BYTES_AT_ONCE) return
      wanted.add(id)
    }
  }

  return {
    of: async (planned, { session }) => {
      const isFirst = firstUnits.get(sessionKey(session))?.unit === unitKey(planned)
      if ((planned.change === "new" || !isFirst) && !(await (await presence()).hasSession(session))) {
        if (isFirst) return undefined
        await settled(session)
      }
      if (known !== undefined && ids.has(session.id)) return known
      const wanted = new Set([session.id])
      const from = waiting.indexOf(planned, next)
      // One that nobody could guess costs a question of its own, and those that were asked for together stay.
      if (from < 0) return await (await presence()).content([session.id])
      await addAhead(from, wanted)
      ids = wanted
      known = await (await presence()).content([...wanted])
      return known
    },
    twin: async (planned, { session }) => {
      const { unit, change, isAsStored } = planned
      const [key, own] = [sessionKey(session), unitKey(planned)]
      const path = mainPathOf(unit)
      const first = firstUnits.get(key)
      met.add(session.id)
      if (first === undefined) firstUnits.set(key, { unit: own, path })
      else if (first.unit !== own)
        return { place: placeFrom(unit, first.path), isFirst: change === "new" || isAsStored === true }
      if (change !== "new" || !(await (await presence()).hasSession(session))) return undefined
      const other = pathsOf(session, unit.root).find((each) => each !== path && isOtherFile(each, path))
      return other === undefined ? undefined : { place: placeFrom(unit, other), isFirst: false }
    },
  }
}

export function sessionKey({ id, source_agent: agent }: Pick<Session, "id" | "source_agent">): string {
  return `${agent}\n${id}`
}

function unitKey({ unit }: PlannedUnit): string {
  return `${unit.root}\n${unit.key}`
}

function mainPathOf({ root, files }: SourceUnit): string {
  return join(root, files[0]?.relativePath ?? "")
}

/** As the unit's own places are, where it lies below the same root. */
function placeFrom({ root }: SourceUnit, path: string): string {
  return path.startsWith(`${root}/`) ? path.slice(root.length + 1) : path
}

/** Links make several paths of one folder, and another of them may be told than was before. */
function isOtherFile(known: string, path: string): boolean {
  if (!existsSync(known)) return false
  return basename(known) !== basename(path) || realpathSync(dirname(known)) !== realpathSync(dirname(path))
}

export interface ComparedWith {
  readonly adapter: Adapter
  readonly sessions: () => Promise<Sessions>
  readonly stored: StoredRows
}

export async function* skipStored(planned: PlannedUnit, stretches: Stretches, context: ComparedWith): Stretches {
  const { stored } = context
  try {
    for (;;) {
      const { done, value } = await stretches.next()
      if (done) return value
      const { batch } = value
      if (batch === undefined) {
        yield value
        continue
      }
      const twin = await stored.twin(planned, batch)
      if (twin !== undefined) yield twinIssue(planned, twin)
      const rows = await stored.of(planned, batch)
      if (rows === undefined) {
        yield value
        return yield* stretches
      }
      const copyOf = twin?.isFirst === true ? twin.place : undefined
      return yield* compareWithStored({ planned, first: value, rest: stretches, rows, copyOf }, context)
    }
  } finally {
    await stretches.return(undefined as never)
  }
}

interface Compared {
  readonly planned: PlannedUnit
  /** The first stretch that says which session it is. */
  readonly first: Stretch
  readonly rest: Stretches
  readonly rows: StoredContent
  /** The place of the unit that this one is a copy of. */
  readonly copyOf: string | undefined
}

async function* compareWithStored(
  { planned, first, rest, rows, copyOf }: Compared,
  { adapter, sessions }: ComparedWith,
): Stretches {
  let reconciler: Reconciler | undefined
  const kept = createKeptCounter()
  let step: IteratorResult<Stretch, UnitMemory> = { done: false, value: first }
  for (; ; step = await rest.next()) {
    if (step.done) return adjustMemory(step.value, reconciler)
    const { value } = step
    const { batch } = value
    if (batch === undefined) {
      yield value
      continue
    }
    const { session } = batch
    const areStored = rows.areStored(batch)
    const isMoved = isElsewhere(rows, session)
    if (!isMoved && areStored.every(Boolean)) {
      kept.add(areStored.length, value.bytes)
      yield { ...value, batch: keepBlobsOnly(batch), reached: undefined }
      continue
    }
    const nextOrdinal = rows.nextOrdinal(session.id)
    const isCompared = isMoved || copyOf !== undefined || reconciler !== undefined
    if (!isCompared && isBehind(areStored, nextOrdinal - kept.messages)) {
      yield value
      return yield* rest
    }
    const known = { given: session, nextOrdinal, isKnown: kept.messages > 0, isCopy: copyOf !== undefined }
    reconciler ??= await createReconciler(adapter, await sessions(), known)
    yield { ...value, batch: await selectChanged(batch, reconciler, sessions), reached: undefined }
    if (copyOf !== undefined) yield omittedIssues(planned, copyOf, reconciler)
  }
}

function twinIssue({ unit }: PlannedUnit, { place }: Twin): Stretch {
  const file = unit.files[0]?.relativePath ?? unit.key
  const issue = { kind: "duplicate_session", severity: "note" as const, file, found: `the session of ${place}` }
  return { batch: undefined, issues: [issue], bytes: 0 }
}

function omittedIssues({ unit }: PlannedUnit, copyOf: string, reconciler: Reconciler): Stretch {
  const file = unit.files[0]?.relativePath ?? unit.key
  const issue = {
    kind: "copy_differs",
    severity: "fault" as const,
    file,
    found: `a record that ${copyOf} has otherwise`,
  }
  return { batch: undefined, issues: Array.from({ length: reconciler.takeLeftOut() }, () => issue), bytes: 0 }
}

/** Whether it is stored under another project. */
function isElsewhere(rows: StoredContent, { id, project }: PreparedBatch["session"]): boolean {
  return (rows.project(id) ?? project) !== project
}

/** What was found to be stored as it is. */
function createKeptCounter() {
  let messages = 0
  // Rows that are stored already come to no flush, which would report them.
  const memory = openLedger("columns")
  return {
    get messages() {
      return messages
    },
    add: (more: number, fromBytes: number) => {
      messages += more
      memory.made(fromBytes)
    },
  }
}

/**
 * Whether so many messages are all that is left of what is stored, each met as it is, and only new ones follow: the first
 * import of the log was interrupted, or it grew while nothing was remembered of it.
 */
function isBehind(areStored: readonly boolean[], storedLeft: number): boolean {
  return areStored.every((isStored, index) => isStored === index < storedLeft)
}

async function selectChanged(
  batch: PreparedBatch,
  reconciler: Reconciler,
  sessions: ComparedWith["sessions"],
): Promise<Stretch["batch"]> {
  const entries = reconciler.reconcile(entriesOf(batch))
  // What the session is stored as is known from its records.
  const prepared = prepare({ session: reconciler.session, entries }, (await sessions()).facts())
  return { ...prepared, blobs: [...prepared.blobs, ...batch.blobs] }
}

/** The bytes that rows point at are stored again where they are gone, though the rows are not. */
function keepBlobsOnly({ session, messages, parts, blobs }: PreparedBatch): PreparedBatch | undefined {
  if (blobs.length === 0) return undefined
  const spoken = { places: [], keys: [] }
  return { session, messages: pickRows(messages, []), parts: pickRows(parts, []), blobs, spoken }
}

/**
 * What the unit lacks of what is stored may come to it later: another host, or another unit, is ahead of it. Its own number
 * of messages is that of no such session, so that it is compared again before it goes on.
 */
function adjustMemory(memory: UnitMemory, reconciler: Reconciler | undefined): UnitMemory {
  if (memory.session === null || reconciler === undefined) return memory
  const { session, nextOrdinal, hasMetLast } = reconciler
  return { ...memory, session, ...(hasMetLast ? { nextOrdinal } : {}) }
}

/**
 * Skips rows that are stored already, for units that are read from their beginning. Asks for the stored content of
 * many units at once, in the order of the plan, and compares it message by message. Only a session in which something
 * changed is read whole.
 */
import { existsSync, realpathSync } from "node:fs"
import { basename, dirname, join } from "node:path"
import type { Adapter, SourceUnit } from "../../adapters/adapter.ts"
import type { Session } from "../../model/session.ts"
import { openLedger } from "../../platform/memory.ts"
import type { Sessions } from "../../sessions/store.ts"
import { type PreparedBatch, prepare } from "../../sessions/write/prepare.ts"

import type { Presence } from "../../sessions/write/presence.ts"
import type { StoredContent } from "../../sessions/write/stored-content.ts"
import type { PlannedUnit } from "../plan/plan-root.ts"
import type { Stretch, Stretches } from "../read/hydrate.ts"
import type { UnitMemory } from "../state/sync-state.ts"
import { pickMessages, placeMessages } from "./pick-messages.ts"
import { createReconciler, type Reconciler } from "./reconcile.ts"

export interface StoredRows {
  /** The stored content of the session of this batch; undefined if the session is new. */
  of(planned: PlannedUnit, batch: PreparedBatch): Promise<StoredContent | undefined>
  /** Another unit with the same session. */
  twin(planned: PlannedUnit, batch: PreparedBatch): Promise<Twin | undefined>
}

export interface Twin {
  /** Its main file. */
  readonly place: string
  /** Whether it came earlier in this import and this unit has not changed since it was stored. */
  readonly isFirst: boolean
}

/** The first unit of each session in an import, by session. */
export type FirstUnits = Map<string, { readonly unit: string; readonly path: string }>

export interface StoredRowsContext {
  readonly presence: () => Promise<Presence>
  readonly firstUnits: FirstUnits
  /** Resolves when everything that this import brought of the session is stored. */
  readonly settled: (session: Session) => Promise<void>
  /**
   * Absolute paths of the main files that are remembered for this session below this root. Another root may be a
   * backup.
   */
  readonly pathsOf: (session: Session, root: string) => readonly string[]
}

const UNITS_AT_ONCE = 128
/** About the size of one flush: so much content is decompressed at once. */
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
      // A session that could not be guessed is asked for alone, and the group that was asked for stays.
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

/** Relative to the root if it lies below it. */
function placeFrom({ root }: SourceUnit, path: string): string {
  return path.startsWith(`${root}/`) ? path.slice(root.length + 1) : path
}

/**
 * Whether the two paths are different files. Links give one folder several paths, and the adapter may report another
 * one than before.
 */
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
    const lackParts = rows.lackParts(batch)
    const areStored = rows.areStored(batch).map((isStored, row) => isStored || lackParts[row] === true)
    const isMoved = isElsewhere(rows, session)
    if (!isMoved && areStored.every(Boolean)) {
      kept.add(areStored.length, value.bytes)
      yield { ...value, batch: pickMessages(batch, lackParts), reached: undefined }
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
    const lacking = isMoved ? [] : lackParts
    const [selected, ...others] = await selectRows(batch, lacking, { reconciler, sessions })
    yield { ...value, batch: selected, reached: undefined }
    for (const other of others) yield { batch: other, issues: [], bytes: 0 }
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

/** Whether the session is stored under another project. */
function isElsewhere(rows: StoredContent, { id, project }: PreparedBatch["session"]): boolean {
  return (rows.project(id) ?? project) !== project
}

/** Counts messages that are stored as they are. */
function createKeptCounter() {
  let messages = 0
  // Skipped rows reach no flush, which would report them to the ledger.
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
 * Whether exactly the remaining stored messages were met, and only new ones follow: the first import of the log was
 * interrupted, or the log grew while nothing was remembered of it.
 */
function isBehind(areStored: readonly boolean[], storedLeft: number): boolean {
  return areStored.every((isStored, index) => isStored === index < storedLeft)
}

interface Selecting {
  readonly reconciler: Reconciler
  readonly sessions: ComparedWith["sessions"]
}

/** What is new or changed, and apart from that the messages whose parts alone are missing. */
async function selectRows(
  batch: PreparedBatch,
  lackParts: readonly boolean[],
  { reconciler, sessions }: Selecting,
): Promise<readonly Stretch["batch"][]> {
  if (!lackParts.includes(true)) return await selectChanged(batch, reconciler, sessions)
  const others = pickMessages(
    batch,
    lackParts.map((isLacking) => !isLacking),
  )
  const changed = others === undefined ? [] : await selectChanged(others, reconciler, sessions)
  return [pickMessages(batch, lackParts), ...changed]
}

/** New messages as the rows that they are, at the positions that they get, and behind them what had to be made. */
async function selectChanged(
  batch: PreparedBatch,
  reconciler: Reconciler,
  sessions: ComparedWith["sessions"],
): Promise<readonly Stretch["batch"][]> {
  const { rows, ordinals, made } = reconciler.reconcile(batch)
  // The project under which the session is stored is known once its records are compared.
  const { session } = reconciler
  const placed = { ...placeMessages(batch, rows, ordinals), session }
  return made.length === 0 ? [placed] : [placed, prepare({ session, entries: made }, (await sessions()).facts())]
}

/**
 * The memory after a comparison. If the store holds messages that the unit lacks (another host or unit is ahead), the
 * unit keeps its own count, which fits no stored session, so that it is compared again next time.
 */
function adjustMemory(memory: UnitMemory, reconciler: Reconciler | undefined): UnitMemory {
  if (memory.session === null || reconciler === undefined) return memory
  const { session, nextOrdinal, hasMetLast } = reconciler
  return { ...memory, session, ...(hasMetLast ? { nextOrdinal } : {}) }
}

/**
 * Of units that are read from their beginning though their session is stored, what is to be stored of them. What is there
 * is asked for many units at once, in the order of the plan, and compared row by row: a session is read whole only where
 * something of it changed.
 */
import type { Adapter } from "../adapters/adapter.ts"
import type { KnownRows } from "../sessions/known-rows.ts"
import { entriesOf, type PreparedBatch, prepare } from "../sessions/prepare.ts"
import type { Sessions } from "../sessions/store.ts"
import { pickedRows } from "../substrate/column-cuts.ts"
import type { PreparedStretch, PreparedStretches } from "./hydrate.ts"
import type { PlannedUnit } from "./plan.ts"
import { createReconciler, type Reconciler } from "./reconcile.ts"
import type { UnitMemory } from "./state.ts"
import type { StoredBefore } from "./stored-before.ts"

export interface StoredRows {
  /** What is stored of the session that this batch of the unit is of; nothing where it is new. */
  of(planned: PlannedUnit, batch: PreparedBatch): Promise<KnownRows | undefined>
  /** Whether another unit of this import has the same session, and nothing says that this one changed since it was stored. */
  isCopy(planned: PlannedUnit, batch: PreparedBatch): boolean
}

/** Which unit was the first to come with a session in an import, by the session. */
export type FirstUnits = Map<string, string>

const UNITS_AT_ONCE = 128
/** About as much as one flush: so much of a store is decompressed at once. */
const BYTES_AT_ONCE = 16_000_000
/** So much of one log is let go at once: rows that are stored already come to no flush, which does it else. */
const LET_GO_BYTES = 32_000_000

export function createStoredRows(
  units: readonly PlannedUnit[],
  before: StoredBefore,
  sessions: () => Promise<Sessions>,
  firstUnits: FirstUnits,
): StoredRows {
  const waiting = units.filter(({ change }) => change !== "grown")
  let next = 0
  let known: KnownRows | undefined
  let ids: ReadonlySet<string> = new Set()

  async function addAhead(from: number, wanted: Set<string>): Promise<void> {
    let bytes = 0
    for (next = from; next < Math.min(waiting.length, from + UNITS_AT_ONCE); next++) {
      const { unit, storedAs, bytesToRead } = waiting[next] as PlannedUnit
      const id = storedAs ?? (await before.guess(unit.key))
      if (id === undefined) continue
      bytes += bytesToRead
      if (next > from && bytes > BYTES_AT_ONCE) return
      wanted.add(id)
    }
  }

  return {
    of: async (planned, { session }) => {
      if (planned.change === "new" && !(await before.has(session))) return undefined
      if (known !== undefined && ids.has(session.id)) return known
      const wanted = new Set([session.id])
      const from = waiting.indexOf(planned, next)
      // One that nobody could guess costs a question of its own, and those that were asked for together stay.
      if (from < 0) return await (await sessions()).knownRows([session.id])
      await addAhead(from, wanted)
      ids = wanted
      known = await (await sessions()).knownRows([...wanted])
      return known
    },
    isCopy: ({ unit, change, isAsStored }, { session }) => {
      const key = `${session.source_agent}\n${session.id}`
      const own = `${unit.root}\n${unit.key}`
      const first = firstUnits.get(key) ?? own
      firstUnits.set(key, first)
      return first !== own && (change === "new" || isAsStored === true)
    },
  }
}

export interface ComparedWith {
  readonly adapter: Adapter
  readonly sessions: () => Promise<Sessions>
  readonly stored: StoredRows
}

export async function* onlyChanged(
  planned: PlannedUnit,
  stretches: PreparedStretches,
  { adapter, sessions, stored }: ComparedWith,
): PreparedStretches {
  let reconciler: Reconciler | undefined
  let rows: KnownRows | undefined
  let isCopy: boolean | undefined
  const kept = createKept()
  try {
    for (;;) {
      const { done, value } = await stretches.next()
      if (done) return rows === undefined ? value : remembered(value, rows, reconciler)
      const { batch } = value
      if (batch === undefined) {
        yield value
        continue
      }
      isCopy ??= stored.isCopy(planned, batch)
      rows ??= await stored.of(planned, batch)
      if (rows === undefined) {
        yield value
        return yield* stretches
      }
      const { session } = batch
      const areStored = rows.areStored(batch)
      const isMoved = isElsewhere(rows, session)
      if (!isMoved && areStored.every(Boolean)) {
        kept.add(areStored.length, value.bytes)
        yield { ...value, batch: blobsAlone(batch), reached: undefined }
        continue
      }
      const nextOrdinal = rows.nextOrdinal(session.id)
      const isCompared = isMoved || isCopy || reconciler !== undefined
      if (!isCompared && isBehind(areStored, nextOrdinal - kept.messages)) {
        yield value
        return yield* stretches
      }
      const isKnown = kept.messages > 0
      reconciler ??= await createReconciler(adapter, await sessions(), { given: session, nextOrdinal, isKnown, isCopy })
      yield { ...value, batch: await changedOf(batch, reconciler, sessions), reached: undefined }
    }
  } finally {
    await stretches.return(undefined as never)
  }
}

/** Whether it is stored under another project. */
function isElsewhere(rows: KnownRows, { id, project }: PreparedBatch["session"]): boolean {
  return (rows.project(id) ?? project) !== project
}

/** What was found to be stored as it is. */
function createKept() {
  let messages = 0
  let bytes = 0
  return {
    get messages() {
      return messages
    },
    add: (more: number, fromBytes: number) => {
      messages += more
      bytes += fromBytes
      if (bytes < LET_GO_BYTES) return
      bytes = 0
      Bun.gc(true)
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

async function changedOf(
  batch: PreparedBatch,
  reconciler: Reconciler,
  sessions: ComparedWith["sessions"],
): Promise<PreparedStretch["batch"]> {
  const entries = reconciler.reconcile(entriesOf(batch))
  // What the session is stored as is known from its records.
  const prepared = prepare({ session: reconciler.session, entries }, (await sessions()).facts())
  return { ...prepared, blobs: [...prepared.blobs, ...batch.blobs] }
}

/** The bytes that rows point at are stored again where they are gone, though the rows are not. */
function blobsAlone({ session, messages, parts, blobs }: PreparedBatch): PreparedBatch | undefined {
  if (blobs.length === 0) return undefined
  const spoken = { places: [], keys: [] }
  return { session, messages: pickedRows(messages, []), parts: pickedRows(parts, []), blobs, spoken }
}

function remembered(memory: UnitMemory, rows: KnownRows, reconciler: Reconciler | undefined): UnitMemory {
  if (memory.session === null) return memory
  if (reconciler === undefined) return { ...memory, nextOrdinal: rows.nextOrdinal(memory.session.id) }
  return { ...memory, nextOrdinal: reconciler.nextOrdinal, session: reconciler.session }
}

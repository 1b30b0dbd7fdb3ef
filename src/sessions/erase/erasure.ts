/**
 * Erasure of sessions. A tombstone hides a session and everything that goes with it, in one commit, from every read, and
 * keeps it from being stored again; lifting it brings back what is still there. A purge removes the bytes.
 */
import { isIn } from "../../substrate/filter.ts"
import type { Store } from "../../substrate/table.ts"
import type { TombstoneState } from "../../substrate/tombstones.ts"
import type { IngestFacts } from "../rows/row-codecs.ts"
import type { SessionTables } from "../write/write-sessions.ts"
import { attachmentsOf, withoutUsed } from "./attachments.ts"
import { closureOf, type ErasedWith } from "./closure.ts"
import { type ErasedArrivals, openErasedArrivals } from "./erased-arrivals.ts"
import { type PurgeReport, type PurgeWork, purgeErased, vectorTables } from "./purge.ts"
import { type Noted, openTombstoneLog, type TombstoneLog } from "./tombstone-log.ts"

export interface Tombstone {
  readonly id: string
  readonly state: Exclude<TombstoneState, "lifted">
  /** The session that it was erased with. */
  readonly because: string | null
  readonly notedAtMicros: bigint
  readonly host: string
}

export interface ErasureSize {
  readonly sessions: number
  readonly messages: number
  readonly parts: number
  readonly vectors: number
  /** Hashes of the values that are stored apart. */
  readonly attachments: readonly string[]
}

export interface Erasure extends ErasedArrivals {
  /** What goes with these sessions: see `closure.ts`. */
  closure(ids: readonly string[]): Promise<readonly ErasedWith[]>
  size(ids: readonly string[]): Promise<ErasureSize>
  /** Those of the attachments that sessions beside these use too. */
  sharedAttachments(hashes: readonly string[], ids: readonly string[]): Promise<ReadonlySet<string>>
  /** One commit: all of them are erased, or none is. */
  erase(closure: readonly ErasedWith[]): Promise<void>
  /** Every session that is erased now, the last one first. */
  tombstones(): Promise<readonly Tombstone[]>
  /** Those are not erased any more, nor what was erased because of them. Which sessions that was. */
  lift(ids: readonly string[]): Promise<readonly Tombstone[]>
  /** Removes the bytes of all that is erased. */
  purge(work: PurgeWork): Promise<PurgeReport>
}

export function openErasure(store: Store, tables: SessionTables, facts: () => IngestFacts): Erasure {
  const log = openTombstoneLog(store, tables, facts)
  return {
    ...openErasedArrivals(store, tables, log),
    closure: (ids) => closureOf(tables, ids),
    size: (ids) => sizeOf(store, tables, ids),
    sharedAttachments: async (hashes, ids) => {
      const alone = await withoutUsed(tables, new Set(hashes), ids)
      return new Set(hashes.filter((hash) => !alone.has(hash)))
    },
    erase: (closure) => store.withWriteLock(() => log.bury(closure)),
    tombstones: async () =>
      (await log.current())
        .filter(({ state }) => state !== "lifted")
        .map(tombstoneOf)
        .toSorted(newestFirst),
    lift: (ids) => store.withWriteLock(() => liftAll(store, log, ids)),
    purge: (work) => purgeErased(store, tables, work, log),
  }
}

async function liftAll(store: Store, log: TombstoneLog, ids: readonly string[]): Promise<readonly Tombstone[]> {
  const lifted = withDependents(await log.current(), new Set(ids)).filter(({ state }) => state !== "lifted")
  const turns = lifted.map(({ owner, turn, because }) => ({ owner, turn: turn + 1, because, marks: null }))
  await log.note(turns.map((turn) => ({ ...turn, state: "lifted" })))
  // What a sync has left out meanwhile is remembered as read.
  if (lifted.length > 0) await store.beginGeneration()
  return lifted.map(tombstoneOf)
}

function tombstoneOf({ owner, state, because, noted_at, host }: Noted): Tombstone {
  return { id: owner, state: state as Tombstone["state"], because, notedAtMicros: noted_at, host }
}

function newestFirst(left: Tombstone, right: Tombstone): number {
  if (left.notedAtMicros !== right.notedAtMicros) return left.notedAtMicros > right.notedAtMicros ? -1 : 1
  return left.id < right.id ? -1 : 1
}

function withDependents(all: readonly Noted[], asked: ReadonlySet<string>): readonly Noted[] {
  const found = new Set(asked)
  for (let before = -1; before !== found.size; ) {
    before = found.size
    for (const { owner, because } of all) if (because !== null && found.has(because)) found.add(owner)
  }
  return all.filter(({ owner }) => found.has(owner))
}

async function sizeOf(store: Store, tables: SessionTables, ids: readonly string[]): Promise<ErasureSize> {
  const where = isIn("session_id", ids)
  const [messages, parts, attachments, ...vectors] = await Promise.all([
    tables.messages.count(where),
    tables.parts.count(where),
    attachmentsOf(tables, ids),
    ...(await vectorTables(store)).map((each) => each.count(where)),
  ])
  return {
    sessions: ids.length,
    messages,
    parts,
    vectors: vectors.reduce((sum, count) => sum + count, 0),
    attachments: [...attachments],
  }
}

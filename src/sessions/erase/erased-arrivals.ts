/**
 * Sessions that arrive and are erased: by their own tombstone, or because they belong to an erased session or hold copies of
 * its messages. Those get a tombstone too, so that what follows of them is left out too.
 */
import type { Store } from "../../substrate/table.ts"
import { momentKey, type PreparedBatch } from "../write/prepare.ts"
import type { SessionTables } from "../write/write-sessions.ts"
import { erasedOrigin, markOf } from "./marks.ts"
import type { Buried, CarriedTombstone, TombstoneLog } from "./tombstone-log.ts"

/** Sessions come before messages. */
export interface ArrivalDetector {
  session(row: { readonly id: string; readonly parent_session_id: string | null }): void
  message(row: ArrivingMessage): void
  /** The arriving sessions that are erased, each with a tombstone from now on. */
  finish(): Promise<ReadonlySet<string>>
}

interface ArrivingMessage {
  readonly session_id: string
  readonly id: string
  readonly timestamp: bigint
  readonly search_text: string | null
}

export interface ErasedArrivals {
  /** Whether sessions that arrive from elsewhere are erased here; nothing where none can be. */
  detect(owners: Iterable<string>): Promise<ArrivalDetector | undefined>
  /** Which sessions of these batches are erased. For a writer who holds the write lock of the store. */
  refuse(batches: readonly PreparedBatch[]): Promise<ReadonlySet<string>>
  /** What another store needs to keep the same sessions out. */
  carried(): Promise<readonly CarriedTombstone[]>
  /** Takes those over whose sessions are not stored here, and were never erased here. */
  adopt(carried: readonly CarriedTombstone[]): Promise<void>
}

const NONE: ReadonlySet<string> = new Set()

export function openErasedArrivals(store: Store, { messages }: SessionTables, log: TombstoneLog): ErasedArrivals {
  return {
    detect: async (owners) => {
      if ((await messages.erased()).size === 0) return undefined
      return await createDetector(store, messages, log, owners)
    },
    refuse: async (batches) => {
      const erased = await messages.erased()
      if (erased.size === 0) return NONE
      const marks = await log.marks()
      const late = batches.flatMap((batch): Buried[] => {
        const { id } = batch.session
        const because = erased.has(id) ? undefined : erasedOrigin(batch, erased, marks)
        return because === undefined ? [] : [{ id, because }]
      })
      const fresh = late.length === 0 ? [] : await log.unknown(late)
      await log.bury(fresh)
      const gone = new Set(fresh.map(({ id }) => id))
      return new Set(batches.flatMap(({ session: { id } }) => (erased.has(id) || gone.has(id) ? id : [])))
    },
    carried: log.carried,
    adopt: (carried) =>
      store.withWriteLock(async () => {
        const fresh = await log.unknown(carried)
        await log.note(fresh.map(({ id, because, marks }) => ({ owner: id, turn: 1, state: "erased", because, marks })))
      }),
  }
}

async function createDetector(
  store: Store,
  messages: SessionTables["messages"],
  log: TombstoneLog,
  owners: Iterable<string>,
): Promise<ArrivalDetector> {
  const [erased, marks] = await Promise.all([messages.erased(), log.marks()])
  const because = new Map<string, string>()
  const parents = new Map<string, string>()
  const own = new Set([...owners].filter((id) => erased.has(id)))
  const isGone = (id: string) => erased.has(id) || because.has(id)
  return {
    session: ({ id, parent_session_id: parent }) => {
      if (parent !== null) parents.set(id, parent)
    },
    message: (row) => {
      const origin = row.search_text === null ? undefined : marks.get(markOf(momentKey(row)))
      if (origin !== undefined && !own.has(row.session_id)) because.set(row.session_id, origin)
    },
    finish: async () => {
      for (let before = -1; before !== because.size; ) {
        before = because.size
        for (const [id, parent] of parents) if (!isGone(id) && isGone(parent)) because.set(id, parent)
      }
      const fresh = await log.unknown([...because].map(([id, origin]): Buried => ({ id, because: origin })))
      if (fresh.length > 0) await store.withWriteLock(() => log.bury(fresh))
      return new Set([...own, ...fresh.map(({ id }) => id)])
    },
  }
}

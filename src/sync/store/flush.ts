/**
 * The hand-over to the store: entries of many units gather until a commit is worth it, and one flush is written while
 * the next gathers, so that parsing and writing use both cores. What a unit did is remembered only after it is stored.
 */
import { openLedger } from "../../platform/memory.ts"
import type { Sessions } from "../../sessions/store.ts"
import { estimateBytes, type PreparedBatch } from "../../sessions/write/prepare.ts"
import type { BatchResult } from "../../sessions/write/write-sessions.ts"
import type { SyncState, UnitMemory } from "../state/sync-state.ts"

/** A flush this large costs the commit little, and two of them, as rows and Arrow, fit the memory of an import. */
const UNITS_MAX = 12_000_000
const MESSAGES_MAX = 10_000
/** Of units that brought nothing new, what is to be remembered gathers and no row does. */
const DONE_MAX = 4_000

export interface Flusher {
  /**
   * `bytes` is what it was read from: a record may be large in what no part holds. `reached` is what is to be remembered
   * once this batch is stored, and all that was added before it.
   */
  add(batch: PreparedBatch, bytes: number, reached?: DoneUnit): Promise<void>
  /** Everything of this unit was added. */
  unitDone(unit: DoneUnit): Promise<void>
  /** Writes what was gathered, and waits until all of it is stored. */
  settle(): Promise<void>
}

export interface FlusherContext {
  readonly sessions: () => Promise<Sessions>
  readonly state: SyncState
  readonly onResults: (results: readonly BatchResult[]) => void
}

export interface DoneUnit {
  readonly adapter: string
  readonly root: string
  readonly key: string
  readonly memory: UnitMemory
}

interface Gathering {
  readonly batches: PreparedBatch[]
  readonly done: DoneUnit[]
  units: number
  messages: number
}

export function createFlusher({ sessions, state, onResults }: FlusherContext): Flusher {
  let gathering = emptyGathering()
  let writing: Promise<void> = Promise.resolve()
  const [ofMany, ofOne] = [openLedger("flushedRows"), openLedger("flushedLog")]

  async function write({ batches, done, units }: Gathering): Promise<void> {
    if (batches.length > 0) {
      const store = await sessions()
      onResults(await store.writePrepared(batches))
      await store.maintain("lookups")
    }
    // Its rows are gone now, and so are the engine's copies of them, which the collector counts for little.
    batches.length = 0
    const isOfOneLog = done.length <= 1 && units >= UNITS_MAX
    const memory = isOfOneLog ? ofOne : ofMany
    memory.made(2 * units)
    for (const group of Map.groupBy(done, (unit) => `${unit.adapter}\n${unit.root}`).values()) {
      const [first] = group
      if (first !== undefined) {
        state.remember(first.adapter, first.root, new Map(group.map((unit) => [unit.key, unit.memory])))
      }
    }
  }

  /** At most one flush is under way: the next waits for it, and its failure is the failure of whoever waits. */
  async function begin(): Promise<void> {
    await writing
    const full = gathering
    gathering = emptyGathering()
    writing = write(full)
    // Seen by whoever awaits `writing`; until then it must not count as unseen.
    writing.catch(() => undefined)
  }

  /** Of one that comes again further on, what was reached before is nothing to remember. */
  function gather(unit: DoneUnit): void {
    const last = gathering.done.at(-1)
    const isSame = last?.key === unit.key && last.root === unit.root && last.adapter === unit.adapter
    if (isSame) gathering.done.pop()
    gathering.done.push(unit)
  }

  return {
    add: async (batch, bytes, reached) => {
      gathering.batches.push(batch)
      if (reached !== undefined) gather(reached)
      gathering.units += Math.max(estimateBytes(batch), bytes)
      gathering.messages += batch.messages.length
      if (gathering.units >= UNITS_MAX || gathering.messages >= MESSAGES_MAX) await begin()
    },
    unitDone: async (unit) => {
      gather(unit)
      if (gathering.done.length >= DONE_MAX) await begin()
    },
    settle: async () => {
      await begin()
      await writing
    },
  }
}

function emptyGathering(): Gathering {
  return { batches: [], done: [], units: 0, messages: 0 }
}

/**
 * Gathers rows of many units until a commit is worth it. One flush is written while the next gathers, so that parsing
 * and writing use both cores. A unit is remembered only after its rows are stored.
 */
import { openLedger } from "../../platform/memory.ts"
import type { Sessions } from "../../sessions/store.ts"
import { estimateBytes, type PreparedBatch } from "../../sessions/write/prepare.ts"
import type { BatchResult } from "../../sessions/write/write-sessions.ts"
import type { SyncState, UnitMemory } from "../state/sync-state.ts"

/**
 * Large enough that a commit costs little; two such flushes, as rows and as Arrow, fit into the memory of an import.
 */
const UNITS_MAX = 12_000_000
const MESSAGES_MAX = 10_000
/** In a bucket each commit takes 60 requests, and each file that it leaves one or two of every search. */
const REMOTE_TIMES = 2.5
/** How many units without new rows are gathered before they are remembered. */
const DONE_MAX = 4_000

export interface Flusher {
  /**
   * `bytes` is the size of its source: a record may be large without a large part. `reached` is remembered once this
   * batch and all before it are stored.
   */
  add(batch: PreparedBatch, bytes: number, reached?: DoneUnit): Promise<void>
  /** All rows of this unit were added. */
  unitDone(unit: DoneUnit): Promise<void>
  /** Writes what was gathered and waits until it is stored. */
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
  let times = 1
  const [ofMany, ofOne] = [openLedger("flushedRows"), openLedger("flushedLog")]

  async function write({ batches, done, units }: Gathering): Promise<void> {
    if (batches.length > 0) {
      const store = await sessions()
      if (store.store.location.backend !== "local") times = REMOTE_TIMES
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

  /** At most one flush runs at a time. The next waits for it and fails with it. */
  async function begin(): Promise<void> {
    await writing
    const full = gathering
    gathering = emptyGathering()
    writing = write(full)
    // The failure is seen where `writing` is awaited; until then it must not count as unhandled.
    writing.catch(() => undefined)
  }

  /** A unit that comes again has reached further, which replaces what it reached before. */
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
      if (gathering.units >= times * UNITS_MAX || gathering.messages >= times * MESSAGES_MAX) await begin()
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

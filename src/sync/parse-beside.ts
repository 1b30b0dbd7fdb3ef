/**
 * Parsing in another thread, so that an import uses two cores: units are ordered ahead, and come back in the same order.
 * Only those that are read from their beginning; the others are parsed by `stretches.ts`, as are all where no thread starts.
 */
import type { Adapter } from "../adapters/adapter.ts"
import { adapterById } from "../adapters/registry.ts"
import { assert, PondError } from "../model/errors.ts"
import { parseJson } from "../model/json.ts"
import { threadUrl } from "../platform/threads.ts"
import type { IngestFacts } from "../sessions/rows.ts"
import { received } from "./carried.ts"
import type { PreparedStretches } from "./hydrate.ts"
import type { Taken, Told, UnitOrder } from "./parse-worker.ts"
import type { PlannedUnit } from "./plan.ts"
import type { UnitMemory } from "./state.ts"

export interface ParseBeside {
  /** Says what will be asked for next, in that order. Whatever was said before must have been read. */
  expect(adapter: Adapter, units: readonly PlannedUnit[], nowMs: number): Promise<void>
  /** Nothing where the unit is not parsed beside. */
  stretches(planned: PlannedUnit, facts: () => Promise<IngestFacts>): PreparedStretches | undefined
  close(): void
}

/** Below so many bytes a thread costs more than it saves. */
const BYTES_MIN = 4_000_000
/** So many units are ordered before the first of them is asked for: small ones must not keep the thread waiting. */
const UNITS_AHEAD = 64

export function createParseBeside(): ParseBeside {
  let thread: Thread | undefined
  let orders: UnitOrder[] = []
  let ordered = 0
  let asked = 0

  function orderAhead(): void {
    for (; ordered < Math.min(orders.length, asked + UNITS_AHEAD); ordered++) {
      const order = orders[ordered]
      if (order !== undefined) thread?.post(order)
    }
  }

  async function* read({ unit }: PlannedUnit, facts: () => Promise<IngestFacts>): PreparedStretches {
    assert(thread !== undefined, "a unit is read from the thread that parses it")
    for (;;) {
      const told = await thread.next()
      if (told.said === "failure")
        throw new PondError(told.code, told.message, { details: told.details as Record<string, unknown> })
      if (told.said === "memory") return memoryOf(told.memory, unit.key)
      if (told.said === "ready") continue
      const { batch, reached, issues, bytes } = told
      yield {
        batch: batch && received(batch, await facts()),
        reached: reached === undefined ? undefined : memoryOf(reached, unit.key),
        issues,
        bytes,
      }
      thread.post({ taken: bytes })
    }
  }

  return {
    expect: async (adapter, units, nowMs) => {
      const fit = units.filter((planned) => isFit(adapter, planned))
      ordered = 0
      asked = 0
      orders = []
      if (fit.reduce((sum, { bytesToRead }) => sum + bytesToRead, 0) < BYTES_MIN) return
      thread ??= await startThread()
      if (thread === undefined) return
      orders = fit.map((planned) => ({ adapter: adapter.id, planned, nowMs }))
      orderAhead()
    },
    stretches: (planned, facts) => {
      if (orders[asked]?.planned !== planned) return undefined
      asked++
      orderAhead()
      return read(planned, facts)
    },
    close: () => thread?.close(),
  }
}

/** A database is read by the thread that planned it, and who goes on with a log needs what is stored of it. */
function isFit(adapter: Adapter, { change, unit }: PlannedUnit): boolean {
  const isListed = adapterById(adapter.id) === adapter
  return isListed && change !== "grown" && unit.files.every(({ form }) => form !== "database")
}

function memoryOf(text: string, key: string): UnitMemory {
  const parsed = parseJson(text)
  assert(parsed.ok, `what is to be remembered of ${key} is JSON`)
  return parsed.value as unknown as UnitMemory
}

// --- The thread --------------------------------------------------------------------------------------------------------

interface Thread {
  post(message: UnitOrder | Taken): void
  next(): Promise<Told>
  close(): void
}

async function startThread(): Promise<Thread | undefined> {
  const worker = new Worker(threadUrl("src/sync/parse-worker.ts"))
  const told: Told[] = []
  let wakeUp: (() => void) | undefined
  let failure: string | undefined
  worker.onmessage = ({ data }: MessageEvent<Told>) => {
    told.push(data)
    wakeUp?.()
  }
  const end = (reason: string) => {
    failure ??= reason
    wakeUp?.()
  }
  worker.onerror = ({ message }) => end(message)
  // One that is ended from outside, for want of memory say, tells of no error.
  worker.addEventListener("close", () => end("it is not there any more"))
  const thread: Thread = {
    post: (message) => worker.postMessage(message),
    next: async () => {
      for (;;) {
        const first = told.shift()
        if (first !== undefined) return first
        if (failure !== undefined) throw new PondError("internal", `The thread that parses has ended: ${failure}`)
        const { promise, resolve } = Promise.withResolvers<void>()
        wakeUp = resolve
        await promise
      }
    },
    close: () => worker.terminate(),
  }
  const isStarted = await thread.next().then(
    () => true,
    () => false,
  )
  if (!isStarted) thread.close()
  return isStarted ? thread : undefined
}

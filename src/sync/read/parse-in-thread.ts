/**
 * Parsing in another thread, so that an import uses two cores: units are ordered ahead, and come back in the same order.
 * Only those that are read from their beginning, and those with much to go on with; the others are parsed by `stretches.ts`,
 * as are all where no thread starts.
 */
import type { Adapter } from "../../adapters/adapter.ts"
import { adapterById } from "../../adapters/registry.ts"
import { assert, PondError } from "../../model/errors.ts"
import { parseJson } from "../../model/json.ts"
import { threadUrl } from "../../platform/threads.ts"
import type { IngestFacts } from "../../sessions/rows/row-codecs.ts"
import type { PlannedUnit } from "../plan/plan-root.ts"
import type { UnitMemory } from "../state/sync-state.ts"
import type { PreparedStretches } from "./hydrate.ts"
import type { Stop, Taken, Told, UnitOrder } from "./parse-worker.ts"
import { decideResume, type ResumeDecision, type ResumePoints } from "./resume-points.ts"
import { fromTransfer } from "./transferred-batch.ts"

export interface ParseThread {
  /** Says what will be asked for next, in that order. Whatever was said before must have been read. */
  expect(adapter: Adapter, units: readonly PlannedUnit[], nowMs: number): Promise<void>
  /** Nothing where the unit is not parsed beside. */
  stretches(planned: PlannedUnit, context: ThreadContext): Promise<ThreadRead | undefined>
  close(): Promise<void>
}

interface ThreadContext {
  readonly facts: () => Promise<IngestFacts>
  readonly resumes: ResumePoints
}

interface ThreadRead extends ResumeDecision {
  readonly read: PreparedStretches
}

/** Below so many bytes a thread costs more than it saves. */
const BYTES_MIN = 4_000_000
/** So many units are ordered before the first of them is asked for: small ones must not keep the thread waiting. */
const UNITS_AHEAD = 64

export function createParseThread(): ParseThread {
  let thread: Thread | undefined
  let waiting: PlannedUnit[] = []
  let ordered = 0
  let asked = 0
  let order: (going: ResumeDecision) => void = () => undefined

  /** Where a session ends that is gone on with is asked when it is its turn: what comes before may be of it. */
  function orderAhead(): void {
    for (; ordered < Math.min(waiting.length, asked + UNITS_AHEAD); ordered++) {
      const planned = waiting[ordered]
      if (planned === undefined || planned.change === "grown") return
      order({ planned, resume: undefined })
    }
  }

  async function orderNext(planned: PlannedUnit, resumes: ResumePoints): Promise<ResumeDecision> {
    asked++
    let going: ResumeDecision = { planned, resume: undefined }
    if (planned.change === "grown") {
      going = decideResume(planned, await resumes.of(planned))
      order(going)
      ordered++
    }
    orderAhead()
    return going
  }

  async function* read({ unit }: PlannedUnit, facts: ThreadContext["facts"]): PreparedStretches {
    assert(thread !== undefined, "a unit is read from the thread that parses it")
    for (;;) {
      const told = await thread.next()
      if (told.said === "failure")
        throw new PondError(told.code, told.message, { details: told.details as Record<string, unknown> })
      if (told.said === "memory") return memoryOf(told.memory, unit.key)
      if (told.said === "ready" || told.said === "stopped") continue
      const { batch, reached, issues, bytes } = told
      yield {
        batch: batch && fromTransfer(batch, await facts()),
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
      waiting = []
      if (fit.reduce((sum, { bytesToRead }) => sum + bytesToRead, 0) < BYTES_MIN) return
      thread ??= await startThread()
      if (thread === undefined) return
      waiting = fit
      order = (going) => thread?.post({ adapter: adapter.id, ...going, nowMs })
      orderAhead()
    },
    stretches: async (planned, { facts, resumes }) => {
      if (waiting[asked] !== planned) return undefined
      return { ...(await orderNext(planned, resumes)), read: read(planned, facts) }
    },
    close: async () => {
      if (thread !== undefined) await stopThread(thread)
    },
  }
}

async function stopThread(thread: Thread): Promise<void> {
  thread.post({ isStop: true })
  try {
    for (let told = await thread.next(); told.said !== "stopped"; ) told = await thread.next()
  } catch (error) {
    // One that is not there any more has nothing open.
    if (!(error instanceof PondError)) throw error
  } finally {
    thread.close()
  }
}

/** A database is read by the thread that planned it. Who goes on with a log sends what is stored of it along. */
function isFit(adapter: Adapter, { change, unit, bytesToRead }: PlannedUnit): boolean {
  const isListed = adapterById(adapter.id) === adapter
  const isMuch = change !== "grown" || bytesToRead >= BYTES_MIN
  return isListed && isMuch && unit.files.every(({ form }) => form !== "database")
}

function memoryOf(text: string, key: string): UnitMemory {
  const parsed = parseJson(text)
  assert(parsed.ok, `what is to be remembered of ${key} is JSON`)
  return parsed.value as unknown as UnitMemory
}

// --- The thread --------------------------------------------------------------------------------------------------------

interface Thread {
  post(message: UnitOrder | Taken | Stop): void
  next(): Promise<Told>
  close(): void
}

async function startThread(): Promise<Thread | undefined> {
  const worker = new Worker(threadUrl("src/sync/read/parse-worker.ts"))
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

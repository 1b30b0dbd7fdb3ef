/**
 * Parses in another thread, so that an import uses two cores. Units are ordered ahead and come back in the same order.
 * Databases, and logs that grew by little, are parsed where they are asked for (`import.ts`), as is everything where no
 * thread starts.
 */
import type { Adapter } from "../../adapters/adapter.ts"
import { adapterById } from "../../adapters/registry.ts"
import { assert, PondError } from "../../model/errors.ts"
import { type AnsweringThread, startAnswering, threadUrl } from "../../platform/threads.ts"
import type { IngestFacts } from "../../sessions/rows/row-codecs.ts"
import type { PlannedUnit } from "../plan/plan-root.ts"
import type { Stretches } from "./hydrate.ts"
import type { ParseAnswer, ParsedItem, ParseQuestion, UnitOrder } from "./parse-worker.ts"
import { decideResume, type ResumeDecision, type ResumePoints } from "./resume-points.ts"
import { decodeMemory, fromTransfer } from "./transferred-batch.ts"

export interface ParseThread {
  /** Says which units will be read next, in that order. All units of the call before must have been read. */
  expect(adapter: Adapter, units: readonly PlannedUnit[], nowMs: number): Promise<void>
  /** Undefined where the unit is not parsed in the thread. */
  read(planned: PlannedUnit, context: ThreadContext): Promise<UnitRead | undefined>
  close(): Promise<void>
}

interface ThreadContext {
  readonly facts: () => Promise<IngestFacts>
  readonly resumes: ResumePoints
}

export interface UnitRead extends ResumeDecision {
  readonly stretches: Stretches
}

/** Below so many bytes a thread costs more than it saves. */
const BYTES_MIN = 4_000_000
/** Units that are ordered before the first of them is asked for: small ones must not keep the thread waiting. */
const UNITS_AHEAD = 64
/** Open questions, each of which asks for about a megabyte: how far parsing runs ahead of writing. */
const QUESTIONS_AHEAD = 2

export function createParseThread(): ParseThread {
  let thread: AnsweringThread<ParseQuestion, ParseAnswer> | undefined
  let parsed: ItemQueue | undefined
  let expected: { readonly adapter: string; readonly units: readonly PlannedUnit[]; readonly nowMs: number } | undefined
  let ordered = 0
  let readUnits = 0

  function order(decision: ResumeDecision): void {
    assert(expected !== undefined, "units are ordered once they are expected")
    parsed?.order({ adapter: expected.adapter, ...decision, nowMs: expected.nowMs })
    ordered++
  }

  /** Where a session goes on is asked when its turn comes: units before it may be of the same session. */
  function orderAhead(): void {
    const { units = [] } = expected ?? {}
    while (ordered < Math.min(units.length, readUnits + UNITS_AHEAD)) {
      const planned = units[ordered]
      if (planned === undefined || planned.change === "grown") return
      order({ planned, resume: undefined })
    }
  }

  async function orderNext(planned: PlannedUnit, resumes: ResumePoints): Promise<ResumeDecision> {
    readUnits++
    if (planned.change !== "grown") return { planned, resume: undefined }
    const decision = decideResume(planned, await resumes.of(planned))
    order(decision)
    return decision
  }

  return {
    expect: async (adapter, units, nowMs) => {
      const suited = units.filter((planned) => isSuited(adapter, planned))
      expected = undefined
      ordered = 0
      readUnits = 0
      if (suited.reduce((sum, { bytesToRead }) => sum + bytesToRead, 0) < BYTES_MIN) return
      thread ??= await startAnswering<ParseQuestion, ParseAnswer>(threadUrl("src/sync/read/parse-worker.ts"), "parses")
      if (thread === undefined) return
      parsed ??= createItemQueue(thread)
      expected = { adapter: adapter.id, units: suited, nowMs }
      orderAhead()
      parsed.ask()
    },
    read: async (planned, { facts, resumes }) => {
      if (parsed === undefined || expected?.units[readUnits] !== planned) return undefined
      const decision = await orderNext(planned, resumes)
      orderAhead()
      return { ...decision, stretches: stretchesOf(parsed, facts) }
    },
    close: async () => {
      if (thread === undefined) return
      try {
        await thread.ask({ ask: "stop" })
      } catch (error) {
        // A thread that has ended holds nothing open.
        if (!(error instanceof PondError)) throw error
      } finally {
        thread.close()
      }
    },
  }
}

interface ItemQueue {
  order(unit: UnitOrder): void
  /** Sends what was ordered, and asks ahead. */
  ask(): void
  next(): Promise<ParsedItem>
}

function createItemQueue(thread: AnsweringThread<ParseQuestion, ParseAnswer>): ItemQueue {
  const orders: UnitOrder[] = []
  const open: Promise<ParseAnswer>[] = []
  const items: ParsedItem[] = []
  const ask = () => {
    while (open.length < QUESTIONS_AHEAD || orders.length > 0) {
      const answer = thread.ask({ ask: "more", orders: orders.splice(0) })
      // The failure is seen where the answer is awaited; until then it must not count as unhandled.
      answer.catch(() => undefined)
      open.push(answer)
    }
  }
  return {
    order: (unit) => orders.push(unit),
    ask,
    next: async () => {
      for (;;) {
        const item = items.shift()
        if (item !== undefined) return item
        ask()
        const answer = await open.shift()
        if (answer?.said === "parsed") items.push(...answer.items)
        ask()
      }
    },
  }
}

async function* stretchesOf(parsed: ItemQueue, facts: ThreadContext["facts"]): Stretches {
  for (;;) {
    const item = await parsed.next()
    if (item.kind === "failure")
      throw new PondError(item.code, item.message, { details: item.details as Record<string, unknown> })
    if (item.kind === "memory") return decodeMemory(item.memory)
    const { batch, reached, issues, bytes } = item
    yield {
      batch: batch && fromTransfer(batch, await facts()),
      reached: reached === undefined ? undefined : decodeMemory(reached),
      issues,
      bytes,
    }
  }
}

/** A database is read by the thread that planned it. */
function isSuited(adapter: Adapter, { change, unit, bytesToRead }: PlannedUnit): boolean {
  // By what it parses with: the one of the registry stands for the adapter, and is another object.
  const isListed = adapterById(adapter.id)?.parse === adapter.parse
  const isMuch = change !== "grown" || bytesToRead >= BYTES_MIN
  return isListed && isMuch && unit.files.every(({ form }) => form !== "database")
}

/**
 * Entry of the thread that parses while the main thread writes. It keeps a queue of units, and each question is answered
 * with the next rows of it: how many questions are open bounds how far parsing runs ahead. It opens no store.
 */
import { adapterById } from "../../adapters/registry.ts"
import { assert, type ErrorCode, toPondError } from "../../model/errors.ts"
import { openLedger } from "../../platform/memory.ts"
import { hydrate, type Stretch, type Stretches } from "./hydrate.ts"
import type { ResumeDecision } from "./resume-points.ts"
import { encodeMemory, type TransferredBatch, toTransfer } from "./transferred-batch.ts"

export interface UnitOrder extends ResumeDecision {
  readonly adapter: string
  readonly nowMs: number
}

export type ParseQuestion =
  /** Adds units to the queue and asks for more of what it holds. */
  | { readonly ask: "more"; readonly orders: readonly UnitOrder[] }
  /** Closes the log that is being read: a thread that is terminated leaves it open. */
  | { readonly ask: "stop" }

export type ParsedItem =
  | ({
      readonly kind: "stretch"
      readonly batch: TransferredBatch | undefined
      readonly reached: string | undefined
    } & Omit<Stretch, "batch" | "reached">)
  /** The end of a unit: what to remember of it, as JSON, which keeps exact numbers. */
  | { readonly kind: "memory"; readonly memory: string }
  | { readonly kind: "failure"; readonly code: ErrorCode; readonly message: string; readonly details: unknown }

export type ParseAnswer =
  | { readonly said: "ready" }
  | { readonly said: "parsed"; readonly items: readonly ParsedItem[] }
  | { readonly said: "stopped" }

/** An answer is sent once it holds the rows of so many bytes, or the queue is empty. */
const ANSWER_BYTES = 1_000_000
/** The side that writes fills in when and where the rows are written. */
const NO_FACTS = Promise.resolve({ ingestedAtMicros: 0n, host: "" })

declare const self: {
  onmessage: ((event: { readonly data: ParseQuestion }) => void) | null
  postMessage(answer: ParseAnswer, moved?: readonly ArrayBufferLike[]): void
}

const orders: UnitOrder[] = []
let current: Stretches | undefined
let memory = openLedger("parsedLog")

function openNext(): Stretches | undefined {
  const order = orders.shift()
  if (order === undefined) return undefined
  const adapter = adapterById(order.adapter)
  assert(adapter !== undefined, `there is an adapter ${order.adapter}`)
  memory = openLedger("parsedLog")
  return hydrate(adapter, order.planned, { resume: order.resume, nowMs: order.nowMs, facts: () => NO_FACTS })
}

async function parseMore(): Promise<void> {
  const items: ParsedItem[] = []
  const moved: ArrayBufferLike[] = []
  try {
    for (let bytes = 0; bytes < ANSWER_BYTES; ) {
      current ??= openNext()
      if (current === undefined) break
      const { done, value } = await current.next()
      if (done) {
        items.push({ kind: "memory", memory: encodeMemory(value) })
        current = undefined
        continue
      }
      const { batch, reached, ...rest } = value
      const transfer = batch && toTransfer(batch)
      moved.push(...(transfer?.moved ?? []))
      items.push({ kind: "stretch", batch: transfer?.batch, reached: reached && encodeMemory(reached), ...rest })
      bytes += rest.bytes
      memory.made(rest.bytes)
    }
  } catch (error) {
    const { code, message, details } = toPondError(error)
    items.push({ kind: "failure", code, message, details })
  }
  self.postMessage({ said: "parsed", items }, moved)
}

async function stop(): Promise<void> {
  await current?.return(undefined as never)
  self.postMessage({ said: "stopped" })
}

/** Questions are answered one after the other, in the order in which they come. */
let answered: Promise<void> = Promise.resolve()
self.onmessage = ({ data }) => {
  if (data.ask === "more") orders.push(...data.orders)
  answered = answered.then(data.ask === "more" ? parseMore : stop)
}
self.postMessage({ said: "ready" })

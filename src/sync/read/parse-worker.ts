/**
 * The entry of the thread that parses beside the writing: units come in, their rows go out, a stretch at a time, and no
 * more of them than the other side has room for. It opens no store.
 */
import { adapterById } from "../../adapters/registry.ts"
import { assert, type ErrorCode, toPondError } from "../../model/errors.ts"
import { type JsonValue, stringifyJson } from "../../model/json.ts"
import { prepare } from "../../sessions/write/prepare.ts"
import type { UnitMemory } from "../state/sync-state.ts"
import { hydrate, type Stretch } from "./hydrate.ts"
import type { ResumeDecision } from "./resume-points.ts"
import { type TransferredBatch, toTransfer } from "./transferred-batch.ts"

export interface UnitOrder extends ResumeDecision {
  readonly adapter: string
  readonly nowMs: number
}

/** The other side has taken so many bytes: there is room for as many. */
export interface Taken {
  readonly taken: number
}

/** Nobody asks for what was ordered any more. A thread that is ended from outside leaves the log open that it reads. */
export interface Stop {
  readonly isStop: true
}

export type Told =
  /** The first word: the thread has started. */
  | { readonly said: "ready" }
  | ({
      readonly said: "stretch"
      readonly batch: TransferredBatch | undefined
      readonly reached: string | undefined
    } & Omit<Stretch, "batch" | "reached">)
  /** The last of a unit: what to remember of it, as JSON, which keeps numbers exact. */
  | { readonly said: "memory"; readonly memory: string }
  /** The last word: nothing is open. */
  | { readonly said: "stopped" }
  | { readonly said: "failure"; readonly code: ErrorCode; readonly message: string; readonly details: unknown }

/** How far the parsing may be before the writing, in bytes of the sources. */
const AHEAD_BYTES = 4_000_000
/**
 * What so many bytes of one log leave behind is let go: the other side needs as much room to write them, and a collector
 * that goes by the memory of the machine lets it pile up while gigabytes are read. Of many small logs it is not: a
 * thousand of them took 8.3 s instead of 6.4 s, for 8 MB.
 */
const LET_GO_BYTES = 16_000_000
/** The other side says when the rows are written, and where. */
const NO_FACTS = { ingestedAtMicros: 0n, host: "" }

declare const self: {
  onmessage: ((event: { readonly data: UnitOrder | Taken | Stop }) => void) | null
  postMessage(told: Told, moved?: readonly ArrayBufferLike[]): void
}

const orders: UnitOrder[] = []
let aheadBytes = 0
let isStopping = false
let wakeUp: (() => void) | undefined

async function until(isSo: () => boolean): Promise<void> {
  while (!isSo()) {
    const { promise, resolve } = Promise.withResolvers<void>()
    wakeUp = resolve
    await promise
  }
}

async function parseUnit({ adapter: id, planned, resume, nowMs }: UnitOrder): Promise<void> {
  const adapter = adapterById(id)
  assert(adapter !== undefined, `there is an adapter ${id}`)
  const stretches = hydrate(adapter, planned, { resume, nowMs })
  let keptBytes = 0
  for (;;) {
    await until(() => isStopping || aheadBytes < AHEAD_BYTES)
    if (isStopping) {
      await stretches.return(undefined as never)
      return
    }
    const { done, value } = await stretches.next()
    if (done) {
      self.postMessage({ said: "memory", memory: textOf(value) })
      return
    }
    const { bytes } = value
    aheadBytes += bytes
    // The line goes before its value is copied, and the value before the other side copies that.
    if (bytes >= LET_GO_BYTES) Bun.gc(true)
    tell(value)
    keptBytes += bytes
    if (keptBytes < LET_GO_BYTES) continue
    keptBytes = 0
    Bun.gc(true)
  }
}

function tell({ batch, reached, ...rest }: Stretch): void {
  const rows = batch && toTransfer(prepare(batch, NO_FACTS))
  self.postMessage({ said: "stretch", batch: rows?.batch, reached: reached && textOf(reached), ...rest }, rows?.moved)
}

function textOf(memory: UnitMemory): string {
  return stringifyJson(memory as unknown as JsonValue)
}

async function parseInOrder(): Promise<void> {
  while (!isStopping) {
    await until(() => isStopping || orders.length > 0)
    const order = orders.shift()
    if (order !== undefined && !isStopping) await parseUnit(order)
  }
}

self.onmessage = ({ data }) => {
  if ("isStop" in data) isStopping = true
  else if ("taken" in data) aheadBytes -= data.taken
  else orders.push(data)
  wakeUp?.()
}
parseInOrder()
  .catch((error: unknown) => {
    const { code, message, details } = toPondError(error)
    self.postMessage({ said: "failure", code, message, details })
  })
  .finally(() => self.postMessage({ said: "stopped" }))
self.postMessage({ said: "ready" })

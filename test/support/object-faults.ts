/**
 * What can go wrong between a client and an object store, by rate and from a seed: the same seed and the same order
 * of requests give the same faults. The worst of them is `dropAnswer`: the write happened and its writer is not told.
 */
import { type Random, seededRandom } from "../../src/platform/host/random.ts"

/** Rates are between 0 (never) and 1 (always), each thrown by itself for each request. */
export interface Faults {
  /** The store answers, but `ms` later. */
  readonly latency?: { readonly rate: number; readonly ms: number }
  /** 500 InternalError, and nothing was done. */
  readonly internalError?: number
  /** 503 SlowDown, and nothing was done. */
  readonly slowDown?: number
  /** 409 ConditionalRequestConflict, as Amazon answers a conditional write that met another one. */
  readonly writeConflict?: number
  /** The connection closes, and nothing was done. */
  readonly dropRequest?: number
  /** What was asked was done; then the connection closes without a word. */
  readonly dropAnswer?: number
  /** The connection closes in the middle of the body that was asked for. */
  readonly cutBody?: number
  /** The body comes in four pieces with `ms` before each. */
  readonly slowBody?: { readonly rate: number; readonly ms: number }
}

export type Refusal = "internalError" | "slowDown" | "writeConflict" | "dropRequest"
export type Delivery = "whole" | "dropAnswer" | "cutBody" | "slowBody"

/** What one request will meet. */
export interface Fate {
  readonly delayMs: number
  /** The request is not acted on at all. */
  readonly refusal?: Refusal
  readonly delivery: Delivery
  readonly pieceMs: number
}

const REFUSALS: readonly Refusal[] = ["dropRequest", "internalError", "slowDown", "writeConflict"]

export type FaultDice = (isConditionalWrite: boolean) => Fate

export function createFaultDice(faults: Faults, seed: number): FaultDice {
  const random: Random = seededRandom(seed)
  const falls = (rate = 0) => random.next() < rate
  return (isConditionalWrite) => {
    const isLate = falls(faults.latency?.rate)
    const refused = REFUSALS.filter((name) => falls(faults[name]))
    const refusal = refused.find((name) => name !== "writeConflict" || isConditionalWrite)
    const isDropped = falls(faults.dropAnswer)
    const isCut = falls(faults.cutBody)
    const isSlow = falls(faults.slowBody?.rate)
    return {
      delayMs: isLate ? (faults.latency?.ms ?? 0) : 0,
      ...(refusal === undefined ? {} : { refusal }),
      delivery: deliveryOf(isDropped, isCut, isSlow),
      pieceMs: faults.slowBody?.ms ?? 0,
    }
  }
}

function deliveryOf(isDropped: boolean, isCut: boolean, isSlow: boolean): Delivery {
  if (isDropped) return "dropAnswer"
  if (isCut) return "cutBody"
  return isSlow ? "slowBody" : "whole"
}

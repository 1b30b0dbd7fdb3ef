/**
 * Retries with exponential backoff and jitter, around every call of the engine (`lance-retry-jitter`). Transient faults
 * and lost commit races become latency, within a bound; the rest becomes one typed error with the number of attempts.
 */
import type { Random } from "../../platform/host/random.ts"
import { type Failure, failureOf, storeError } from "./lance-errors.ts"

export interface RetryContext {
  readonly random: Random
  readonly sleep: (ms: number) => Promise<void>
  /** How the store is called in messages. Never with credentials. */
  readonly store: string
}

/**
 * How often a call is made at most, by what went wrong; what is not named is not repeated. The engine itself asks an
 * object store four times before it gives up, so that it takes the store ten seconds and more to use up its attempts.
 */
const ATTEMPTS_MAX: Partial<Record<Failure, number>> = { conflict: 8, unreachable: 4 }
const DELAY_FIRST_MS = 25
const DELAY_MAX_MS = 4000

export async function withRetries<Result>(
  context: RetryContext,
  call: (attempt: number) => Promise<Result>,
  attemptsMax = Number.POSITIVE_INFINITY,
): Promise<Result> {
  for (let attempt = 1; ; attempt++) {
    try {
      return await call(attempt)
    } catch (error) {
      if (attempt >= Math.min(attemptsMax, ATTEMPTS_MAX[failureOf(error)] ?? 1)) {
        throw storeError(error, context.store, { attempts: attempt })
      }
      await context.sleep(delayMs(attempt, context.random))
    }
  }
}

/** Between half and all of a doubling span: two that collided do not collide again by keeping step. */
export function delayMs(attempt: number, random: Random): number {
  const span = Math.min(DELAY_MAX_MS, DELAY_FIRST_MS * 2 ** (attempt - 1))
  return span / 2 + (span / 2) * random.next()
}

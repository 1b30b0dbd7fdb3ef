/**
 * Maintenance of indexes while the sources are watched. It can wait and a change cannot: it begins in a lull (debounce),
 * yields between two steps, and serves many rounds at once. Where a client writes without a pause it begins after a limit
 * all the same, because every read and write carries what was not folded.
 */
import type { Clock } from "../../platform/host/clock.ts"

export interface Rest {
  /** A round brings changes into the store. */
  during<Result>(round: () => Promise<Result>): Promise<Result>
  /** There is something to be made. */
  begin(): void
  /** Between two steps: until no change is on its way. */
  stepAside(): Promise<void>
  ended(): Promise<void>
}

export interface RestContext {
  readonly run: () => Promise<void>
  readonly clock: Pick<Clock, "monotonicMs">
  readonly signal: AbortSignal
  readonly pause: (ms: number, signal: AbortSignal) => Promise<void>
}

/** A fold costs a part of the table. */
const APART_MS = 10_000
/** Debounce: changes come in bursts, and after so long without one the burst is over. */
const LULL_MS = 2_000
/** By then a client that writes twice a second has left a hundred pieces, which a read opens in a twentieth of a second. */
const LULL_WAIT_MS_MAX = 60_000
/** A first import takes hours, and a step after it is as good as one beside it. */
const STEP_WAIT_MS_MAX = 10_000
const LOOK_MS = 50

export function createWatchMaintenance({ run, clock, signal, pause }: RestContext): Rest {
  let working: Promise<void> | undefined
  let isWanted = false
  let [rounds, endedAtMs] = [0, Number.NEGATIVE_INFINITY]

  async function until(isTime: () => boolean, maxMs: number): Promise<void> {
    const endMs = clock.monotonicMs() + maxMs
    while (!(signal.aborted || isTime()) && clock.monotonicMs() < endMs) await pause(LOOK_MS, signal)
  }

  async function work(): Promise<void> {
    while (isWanted && !signal.aborted) {
      await pause(APART_MS, signal)
      await until(() => rounds === 0 && clock.monotonicMs() - endedAtMs >= LULL_MS, LULL_WAIT_MS_MAX)
      isWanted = false
      if (!signal.aborted) await run()
    }
    working = undefined
  }

  return {
    during: async (round) => {
      rounds += 1
      try {
        return await round()
      } finally {
        rounds -= 1
        endedAtMs = clock.monotonicMs()
      }
    },
    begin: () => {
      isWanted = true
      working ??= work()
    },
    stepAside: () => until(() => rounds === 0, STEP_WAIT_MS_MAX),
    ended: async () => await working,
  }
}

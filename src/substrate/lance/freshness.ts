/**
 * Whether a local table stands still: then a read need not ask the engine for a newer version, which costs a turn of its
 * threads. A search asks ten times (its tables, and again what it shows): of 33 ms at a million messages that was 7.
 *
 * A commit puts a file into the folder of manifests, and the folder then has another time. Such times are coarse, so that
 * two commits may have the same: one is relied on only if it was there well before the engine looked.
 */
import type { Clock } from "../../platform/host/clock.ts"

export interface Standstill {
  /** Whether nothing can have come since the engine looked last. */
  isKept(): boolean
  /** The engine is about to look. To be called back when it has. */
  looking(): () => void
  /** This process itself has written: that is seen at once, whatever the folder says. */
  wrote(): void
}

/** No file system has coarser times than two seconds. */
const SETTLED_MS = 2_500
/** Some that are mounted from afar give folders no time that changes: there, too, a commit is seen after so long. */
const KEPT_MS = 5_000

/** `stamp` is another after every commit; nothing where it cannot be told. */
export function openStandstill(stamp: () => string | undefined, clock: Clock): Standstill {
  let seen: { readonly stamp: string | undefined; readonly atMs: number } | undefined
  let kept: { readonly stamp: string; readonly untilMs: number } | undefined
  return {
    isKept: () => kept !== undefined && clock.monotonicMs() < kept.untilMs && stamp() === kept.stamp,
    looking: () => {
      const [own, nowMs] = [stamp(), clock.monotonicMs()]
      kept = undefined
      if (seen === undefined || seen.stamp !== own) seen = { stamp: own, atMs: nowMs }
      const before = seen
      const isSettled = own !== undefined && nowMs - before.atMs >= SETTLED_MS
      return () => {
        kept = isSettled && seen === before ? { stamp: own, untilMs: nowMs + KEPT_MS } : undefined
      }
    },
    wrote: () => {
      seen = undefined
      kept = undefined
    },
  }
}

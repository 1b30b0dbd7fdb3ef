/**
 * Freshness of an open local table: tells without the engine that nothing was committed since it last checked. A check by
 * the engine costs a switch to its threads, and a search reads ten times: 7 of 33 ms at a million messages.
 *
 * A commit adds a file to the folder of manifests, which changes the folder's stat signature. Times of folders are coarse,
 * so two commits may leave the same signature: one is trusted only if it was there well before the engine checked. Who
 * has not looked long enough to know that, as a command that ends in a tenth of a second, goes by the time that the folder
 * itself gives.
 */
import type { Clock } from "../../platform/host/clock.ts"
import { changedAtMs } from "../local/disk-files.ts"

export interface FreshnessTracker {
  /** Whether nothing can have been committed since the last check. */
  isFresh(): boolean
  /** The engine is about to check for a newer version. The answer is to be called when it has. */
  beginCheck(): () => void
  /** This process has written, which the next read sees whatever the folder says. */
  invalidate(): void
}

/** No file system has coarser times than two seconds. */
const TRUSTED_AFTER_MS = 2_500
/** Some network file systems never change the time of a folder. There a commit is seen after this long. */
const TRUSTED_FOR_MS = 5_000

/** `signature` gives the signature of the folder, which changes with every commit; nothing where it has none. */
export function trackFreshness(signature: () => string | undefined, clock: Clock): FreshnessTracker {
  let seen: { readonly signature: string | undefined; readonly atMs: number } | undefined
  let trusted: { readonly signature: string; readonly untilMs: number } | undefined
  return {
    isFresh: () => trusted !== undefined && clock.monotonicMs() < trusted.untilMs && signature() === trusted.signature,
    beginCheck: () => {
      const [own, nowMs] = [signature(), clock.monotonicMs()]
      trusted = undefined
      if (seen === undefined || seen.signature !== own) seen = { signature: own, atMs: nowMs }
      const before = seen
      const isOldEnough = own !== undefined && (nowMs - before.atMs >= TRUSTED_AFTER_MS || isLongUnchanged(own, clock))
      return () => {
        trusted = isOldEnough && seen === before ? { signature: own, untilMs: nowMs + TRUSTED_FOR_MS } : undefined
      }
    },
    invalidate: () => {
      seen = undefined
      trusted = undefined
    },
  }
}

/** Never of a folder whose time lies ahead of this machine's. */
function isLongUnchanged(signature: string, clock: Clock): boolean {
  const changed = changedAtMs(signature)
  return changed !== undefined && clock.nowMs() - changed >= TRUSTED_AFTER_MS
}

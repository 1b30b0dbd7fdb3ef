/** Time as a dependency: code takes a `Clock`, so that a test can set the time. */
export interface Clock {
  /** Milliseconds since the epoch. */
  nowMs(): number
  /** Milliseconds that only grow, for measuring. */
  monotonicMs(): number
}

export const systemClock: Clock = {
  nowMs: () => Date.now(),
  monotonicMs: () => performance.now(),
}

/** Randomness as a dependency: code takes a `Random`, so that a test can repeat a run by its seed. */
export interface Random {
  /** At least 0, below 1. */
  next(): number
}

export const systemRandom: Random = { next: () => Math.random() }

/** The same numbers for the same seed (mulberry32). */
export function seededRandom(seed: number): Random {
  let state = seed >>> 0
  return {
    next: () => {
      state = (state + 0x6d2b79f5) >>> 0
      let mixed = Math.imul(state ^ (state >>> 15), state | 1)
      mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61)) ^ mixed
      return ((mixed ^ (mixed >>> 14)) >>> 0) / 4294967296
    },
  }
}

/**
 * Work that takes turns: what one piece of it holds in memory is bounded, and so it is for all, however many ask at once.
 * Who waits is let go when its time is over.
 */

export type InTurn = <Result>(signal: AbortSignal, work: () => Promise<Result>) => Promise<Result>

export function createTurns(atOnce: number): InTurn {
  const waiting: (() => void)[] = []
  let running = 0

  /** A turn that is given is taken over, not counted again. */
  function freed(signal: AbortSignal): Promise<void> {
    return new Promise((resolve, reject) => {
      const take = () => {
        signal.removeEventListener("abort", leave)
        resolve()
      }
      const leave = () => {
        waiting.splice(waiting.indexOf(take), 1)
        reject(signal.reason)
      }
      signal.addEventListener("abort", leave, { once: true })
      waiting.push(take)
    })
  }

  return async (signal, work) => {
    signal.throwIfAborted()
    if (running >= atOnce) await freed(signal)
    else running += 1
    try {
      return await work()
    } finally {
      const next = waiting.shift()
      if (next === undefined) running -= 1
      else next()
    }
  }
}

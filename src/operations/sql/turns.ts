/** Queries take turns: memory is bounded for one of them, and so for all. Who waits is let go when its time is over. */

const AT_ONCE = 2
let running = 0
const waiting: (() => void)[] = []

export async function inTurn<Result>(signal: AbortSignal, work: () => Promise<Result>): Promise<Result> {
  if (running >= AT_ONCE) await freed(signal)
  else running += 1
  try {
    return await work()
  } finally {
    const next = waiting.shift()
    if (next === undefined) running -= 1
    else next()
  }
}

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

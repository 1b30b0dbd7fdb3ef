/**
 * Counting semaphore: at most `limit` pieces of work run at once, the others wait in order of arrival. Bounds what they
 * hold in memory together, however many ask. With a limit of 1 it is a mutex.
 */
export class Semaphore {
  readonly #limit: number
  readonly #waiting: (() => void)[] = []
  #running = 0

  constructor(limit: number) {
    this.#limit = limit
  }

  /** A signal that aborts takes the caller out of the queue. It does not stop work that has begun. */
  async run<Result>(work: () => Promise<Result>, signal?: AbortSignal): Promise<Result> {
    signal?.throwIfAborted()
    if (this.#running >= this.#limit) await this.#acquired(signal)
    else this.#running += 1
    try {
      return await work()
    } finally {
      const next = this.#waiting.shift()
      if (next === undefined) this.#running -= 1
      else next()
    }
  }

  /** Resolves when a finished piece of work hands its place over, so that the count stays as it is. */
  #acquired(signal: AbortSignal | undefined): Promise<void> {
    return new Promise((resolve, reject) => {
      const acquire = () => {
        signal?.removeEventListener("abort", leave)
        resolve()
      }
      const leave = () => {
        this.#waiting.splice(this.#waiting.indexOf(acquire), 1)
        reject(signal?.reason)
      }
      signal?.addEventListener("abort", leave, { once: true })
      this.#waiting.push(acquire)
    })
  }
}

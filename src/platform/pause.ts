/** A wait that an abort ends. It leaves nothing behind on the signal, which may live for days. */
export async function pause(ms: number, signal: AbortSignal): Promise<void> {
  if (signal.aborted) return
  const { promise, resolve } = Promise.withResolvers<void>()
  const end = () => resolve()
  const timer = setTimeout(end, ms)
  signal.addEventListener("abort", end)
  await promise
  clearTimeout(timer)
  signal.removeEventListener("abort", end)
}

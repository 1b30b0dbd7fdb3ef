/**
 * A value that is made when it is first asked for, and once. A failure is not kept, be it thrown or promised: the next
 * call tries again.
 */
export function lazy<T>(make: () => T): () => T {
  let made: { readonly value: T } | undefined
  const forget = (failed: typeof made) => {
    if (made === failed) made = undefined
  }
  return () => {
    if (made === undefined) {
      const own = { value: make() }
      made = own
      if (own.value instanceof Promise) own.value.catch(() => forget(own))
    }
    return made.value
  }
}

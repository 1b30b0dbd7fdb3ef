/** A world in which time and chance are seen, and values that nobody can change. */

/** Runs with the clock and chance watched. The calls to them come back beside the result. */
export function withoutChance<T>(run: () => T): [result: T, calls: readonly string[]] {
  const calls: string[] = []
  const watched: [holder: Record<string, unknown>, name: string][] = [
    [Date as unknown as Record<string, unknown>, "now"],
    [Math as unknown as Record<string, unknown>, "random"],
    [performance as unknown as Record<string, unknown>, "now"],
    [crypto as unknown as Record<string, unknown>, "randomUUID"],
    [crypto as unknown as Record<string, unknown>, "getRandomValues"],
    [Bun as unknown as Record<string, unknown>, "file"],
  ]
  const before = watched.map(([holder, name]) => holder[name])
  for (const [holder, name] of watched) {
    const real = holder[name] as (...given: unknown[]) => unknown
    holder[name] = (...given: unknown[]) => {
      calls.push(name)
      return real.apply(holder, given)
    }
  }
  try {
    return [run(), calls]
  } finally {
    for (const [index, [holder, name]] of watched.entries()) holder[name] = before[index]
  }
}

/** The same value, which throws where anything in it is changed. */
export function frozen<T>(value: T): T {
  if (typeof value !== "object" || value === null || Object.isFrozen(value) || ArrayBuffer.isView(value)) return value
  Object.freeze(value)
  for (const inner of Object.values(value)) frozen(inner)
  return value
}

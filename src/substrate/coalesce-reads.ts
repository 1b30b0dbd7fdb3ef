/**
 * Reads by key that are asked for at once, done as one: a read of the engine costs milliseconds before it looks at its
 * first key, and little more for thirty of them. Who asks alone waits for nobody. A read that has begun takes nobody in,
 * so that every answer holds what was committed before it was asked for (`lance-handle-freshness`).
 */

export interface Gathering<Key, Row> {
  /** The rows of all of these keys, in any order. */
  readonly read: (keys: readonly Key[]) => Promise<readonly Row[]>
  readonly keyOf: (row: Row) => Key
  /** One text per key. */
  readonly textOf: (key: Key) => string
  /** So many keys at most are read at once, unless one alone asks for more. */
  readonly keysMax: number
}

/** The rows of these keys. Rows may be shared with others who asked for them: nobody changes one. */
export type Gathered<Key, Row> = (keys: readonly Key[]) => Promise<readonly Row[]>

interface Waiting<Key, Row> {
  readonly keys: readonly Key[]
  readonly resolve: (rows: readonly Row[]) => void
  readonly reject: (reason: unknown) => void
}

/** While one read is slow, another goes on. */
const AT_ONCE = 2

export function gathered<Key, Row>(gathering: Gathering<Key, Row>): Gathered<Key, Row> {
  const waiting: Waiting<Key, Row>[] = []
  let running = 0

  async function readAll(): Promise<void> {
    running += 1
    // What is asked for in the same turn goes into one read.
    await Promise.resolve()
    while (waiting.length > 0) await readGroup(gathering, nextGroup(waiting, gathering.keysMax))
    running -= 1
  }

  return (keys) => {
    if (keys.length === 0) return Promise.resolve([])
    return new Promise((resolve, reject) => {
      waiting.push({ keys, resolve, reject })
      if (running < AT_ONCE) void readAll()
    })
  }
}

function nextGroup<Key, Row>(waiting: Waiting<Key, Row>[], keysMax: number): Waiting<Key, Row>[] {
  let keys = 0
  const end = waiting.findIndex((asked, index) => {
    keys += asked.keys.length
    return index > 0 && keys > keysMax
  })
  return waiting.splice(0, end < 0 ? waiting.length : end)
}

async function readGroup<Key, Row>(
  { read, keyOf, textOf }: Gathering<Key, Row>,
  group: readonly Waiting<Key, Row>[],
): Promise<void> {
  try {
    const keys = new Map(group.flatMap((asked) => asked.keys.map((key) => [textOf(key), key] as const)))
    const byKey = Map.groupBy(await read([...keys.values()]), (row) => textOf(keyOf(row)))
    for (const asked of group) {
      const own = new Set(asked.keys.map(textOf))
      asked.resolve([...own].flatMap((key) => byKey.get(key) ?? []))
    }
  } catch (reason) {
    for (const { reject } of group) reject(reason)
  }
}

/**
 * Coalesces concurrent reads by key into one read of the table (as DataLoader does). A read of the engine costs
 * milliseconds before its first key and little more for thirty. A single caller never waits. A read that has begun takes
 * no more keys, so that every answer holds what was committed before it was asked for (`lance-handle-freshness`).
 */

export interface CoalescedReads<Key, Row> {
  /** The rows of all of these keys, in any order. */
  readonly read: (keys: readonly Key[]) => Promise<readonly Row[]>
  readonly keyOf: (row: Row) => Key
  /** One text per key. */
  readonly textOf: (key: Key) => string
  /** At most this many keys are read at once, unless one caller asks for more. */
  readonly keysMax: number
}

/** Reads the rows of some keys. Rows are shared between callers and must not be changed. */
export type CoalescedRead<Key, Row> = (keys: readonly Key[]) => Promise<readonly Row[]>

interface Waiting<Key, Row> {
  readonly keys: readonly Key[]
  readonly resolve: (rows: readonly Row[]) => void
  readonly reject: (reason: unknown) => void
}

/** So that one slow read does not hold up the next. */
const CONCURRENT_READS = 2

export function coalesceReads<Key, Row>(reads: CoalescedReads<Key, Row>): CoalescedRead<Key, Row> {
  const waiting: Waiting<Key, Row>[] = []
  let running = 0

  async function readAll(): Promise<void> {
    running += 1
    // Calls of the same tick go into one read.
    await Promise.resolve()
    while (waiting.length > 0) await readGroup(reads, nextGroup(waiting, reads.keysMax))
    running -= 1
  }

  return (keys) => {
    if (keys.length === 0) return Promise.resolve([])
    return new Promise((resolve, reject) => {
      waiting.push({ keys, resolve, reject })
      if (running < CONCURRENT_READS) void readAll()
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
  { read, keyOf, textOf }: CoalescedReads<Key, Row>,
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

/**
 * Writes that come at once, done together: what waits while one commit runs goes into the next one. A commit costs what it
 * costs however little is in it, and each leaves a small piece that every read looks at until the store is tended.
 */
import type { Sessions } from "../../sessions/store.ts"
import type { SessionBatch } from "../../sessions/write/prepare.ts"
import type { BatchResult } from "../../sessions/write/write-sessions.ts"
import type { Pond } from "../pond.ts"

interface Waiting {
  readonly batches: readonly SessionBatch[]
  readonly done: (results: readonly BatchResult[]) => void
  readonly failed: (reason: unknown) => void
}

interface Queue {
  readonly waiting: Waiting[]
  isWriting: boolean
  tendedMs: number
}

/** A bound on what one commit holds in memory: as much as one request may bring. */
const MESSAGES_MAX = 10_000
const TENDED_EVERY_MS = 15_000

const queues = new WeakMap<Sessions, Queue>()

export function groupCommit(pond: Pond, sessions: Sessions, batches: readonly SessionBatch[]) {
  const queue = queues.get(sessions) ?? { waiting: [], isWriting: false, tendedMs: pond.host.clock.monotonicMs() }
  queues.set(sessions, queue)
  return new Promise<readonly BatchResult[]>((done, failed) => {
    queue.waiting.push({ batches, done, failed })
    if (!queue.isWriting) void writeAll(pond, sessions, queue)
  })
}

async function writeAll(pond: Pond, sessions: Sessions, queue: Queue): Promise<void> {
  queue.isWriting = true
  while (queue.waiting.length > 0) await writeGroup(sessions, nextGroup(queue))
  queue.isWriting = false
  tend(pond, sessions, queue)
}

/** A session that two requests bring is written for one after the other: the second is told what the first has changed. */
function nextGroup({ waiting }: Queue): Waiting[] {
  const group: Waiting[] = []
  const met = new Set<string>()
  let messages = 0
  for (const request of [...waiting]) {
    const ids = request.batches.map(({ session }) => session.id)
    const size = request.batches.reduce((sum, { entries }) => sum + entries.length, 0)
    if (group.length > 0 && (messages + size > MESSAGES_MAX || ids.some((id) => met.has(id)))) break
    for (const id of ids) met.add(id)
    messages += size
    group.push(request)
    waiting.shift()
  }
  return group
}

async function writeGroup(sessions: Sessions, group: readonly Waiting[]): Promise<void> {
  try {
    const results = await sessions.writeArriving(group.flatMap(({ batches }) => batches))
    let from = 0
    for (const { batches, done } of group) {
      done(results.slice(from, from + batches.length))
      from += batches.length
    }
  } catch (reason) {
    for (const { failed } of group) failed(reason)
  }
}

/**
 * Who answers a request does not wait for what the store needs by now: it is done beside, at most once in a while. What
 * fails leaves all rows where they are.
 */
function tend({ host }: Pond, sessions: Sessions, queue: Queue): void {
  const nowMs = host.clock.monotonicMs()
  if (nowMs - queue.tendedMs < TENDED_EVERY_MS) return
  queue.tendedMs = Number.POSITIVE_INFINITY
  sessions
    .maintain("due")
    .catch((error: unknown) => host.log.debug(`Store maintenance failed: ${String(error)}`))
    .finally(() => {
      queue.tendedMs = host.clock.monotonicMs()
    })
}

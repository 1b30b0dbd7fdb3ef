/**
 * What the name of a rollout says: `rollout-<local time>-<thread>.jsonl`, `….jsonl.zst` once it is cold, and
 * `rollout-<local time>-<thread>_<rollout>.jsonl` for what a thread went on in after it was reverted.
 * The first client wrote one JSON document, `rollout-<date>-<thread>.json`.
 */

export interface RolloutName {
  /** The local time, as it stands in the name: good for an order within one machine, no moment. */
  readonly stamp: string
  readonly threadId: string
  /** What other rollouts call this one. For a thread's first rollout that is the id of the thread. */
  readonly rolloutId: string
  readonly form: "log" | "document"
  readonly isCompressed: boolean
}

const NAME =
  /^rollout-([0-9T:-]+?)-([0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12})(?:_([0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}))?\.json(?:(l)(\.zst)?)?$/i

export function rolloutName(place: string): RolloutName | undefined {
  const found = NAME.exec(place.slice(place.lastIndexOf("/") + 1))
  const [, stamp, threadId, rolloutId, log, compressed] = found ?? []
  if (stamp === undefined || threadId === undefined) return undefined
  return {
    stamp,
    threadId,
    rolloutId: rolloutId ?? threadId,
    form: log === undefined ? "document" : "log",
    isCompressed: compressed !== undefined,
  }
}

/** A rollout is archived, brought back and compressed under its name. */
export function nameOf(place: string): string {
  const name = rolloutName(place)
  return name === undefined ? place : `${name.stamp} ${name.rolloutId}`
}

/** The milliseconds in which an id of version 7 was made. */
export function madeAtMs(id: string): number | undefined {
  return /^[0-9a-f]{8}-[0-9a-f]{4}-7/i.test(id) ? Number.parseInt(id.slice(0, 8) + id.slice(9, 13), 16) : undefined
}

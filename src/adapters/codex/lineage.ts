/**
 * Which records make up the history of a thread. A rollout may go on from a prefix of another one without copying it: a
 * fork from its parent's, a reverted thread from one of its own. The prefix is named by the rollout and the first ordinal
 * that is not part of it.
 */
import { isJsonObject, type JsonObject } from "../../model/json.ts"
import type { Entry, SessionLog } from "../../model/session.ts"
import { valueAt } from "../extract.ts"
import { entriesByRecord, mainPlaceOf, sourceOf } from "../shared/native.ts"
import { INDEX_PLACE } from "./parse.ts"
import { rolloutName } from "./rollout-name.ts"

/** One record of a rollout with the messages that it holds. */
export interface Step {
  readonly record: JsonObject
  readonly entries: readonly Entry[]
}

interface Base {
  readonly rolloutId: string
  readonly endOrdinal: number
}

interface Rollout {
  readonly id: string
  readonly base: Base | undefined
  readonly steps: readonly Step[]
}

/** The steps of the newest rollout of a thread behind those that it goes on from. What is not stored is left out. */
export function historyOf(log: SessionLog, ancestors: readonly SessionLog[]): readonly Step[] {
  const own = rolloutsOf(log)
  const newest = own.at(-1)
  if (newest === undefined) return []
  // An id is looked up at home first: a thread and its first rollout have the same one.
  const known = [...ancestors.toReversed().flatMap(rolloutsOf), ...own]
  return stepsOf(newest, new Map(known.map((rollout) => [rollout.id, rollout])), new Set())
}

/** The rollouts that are the bases of this thread's, and the threads that they are said to belong to. */
export function basesOf(log: SessionLog): { readonly rolloutId: string; readonly threadId: string }[] {
  const own = new Set(rolloutsOf(log).map(({ id }) => id))
  const bases = rolloutsOf(log).flatMap(({ base, steps }) => {
    if (base === undefined || own.has(base.rolloutId)) return []
    const forkedFrom = steps.map(({ record }) => valueAt(record, "payload", "forked_from_id"))
    const threadId = forkedFrom.find((id) => typeof id === "string")
    return [{ rolloutId: base.rolloutId, threadId: typeof threadId === "string" ? threadId : base.rolloutId }]
  })
  return bases
}

function stepsOf(rollout: Rollout, known: ReadonlyMap<string, Rollout>, followed: Set<string>): readonly Step[] {
  const { base, steps } = rollout
  followed.add(rollout.id)
  const before = base === undefined || followed.has(base.rolloutId) ? undefined : known.get(base.rolloutId)
  if (base === undefined || before === undefined) return steps
  const inherited = stepsOf(before, known, followed)
  const end = inherited.findIndex(({ record }) => isBehind(record, base.endOrdinal))
  return [...(end < 0 ? inherited : inherited.slice(0, end)), ...steps]
}

function isBehind(record: JsonObject, endOrdinal: number): boolean {
  const ordinal = record["ordinal"]
  return typeof ordinal === "number" && ordinal >= endOrdinal
}

function rolloutsOf(log: SessionLog): Rollout[] {
  const byPlace = new Map<string, Step[]>()
  for (const { newest, entries } of entriesByRecord(log)) {
    const { record, file } = sourceOf(newest)
    const place = typeof file === "string" ? file : mainPlaceOf(log)
    if (place === INDEX_PLACE || !isJsonObject(record)) continue
    const steps = byPlace.get(place)
    if (steps === undefined) byPlace.set(place, [{ record, entries }])
    else steps.push({ record, entries })
  }
  return [...byPlace].map(([place, steps]) => ({
    id: rolloutName(place)?.rolloutId ?? log.session.id,
    base: baseOf(steps),
    steps,
  }))
}

function baseOf(steps: readonly Step[]): Base | undefined {
  const header = steps.find(({ record }) => record["type"] === "session_meta")?.record ?? null
  const rolloutId = valueAt(header, "payload", "history_base", "thread_id")
  const endOrdinal = valueAt(header, "payload", "history_base", "end_ordinal_exclusive")
  return typeof rolloutId === "string" && typeof endOrdinal === "number" ? { rolloutId, endOrdinal } : undefined
}

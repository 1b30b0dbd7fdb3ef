/**
 * Which records make up the history of a thread. A rollout may go on from a prefix of another one without copying it: a
 * fork from its parent's, a reverted thread from its own. The prefix is named by the rollout and the first ordinal
 * that is not part of it.
 */
import { isJsonObject, type JsonObject } from "../../model/json.ts"
import type { Entry, Session, SessionLog } from "../../model/session.ts"
import type { Lineage } from "../capabilities.ts"
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

/** The threads whose rollouts this one inherits history from, and which its own client could not open it without. */
export function openBases(session: Session): Lineage {
  const opened = new Map<string, OpenedRollout>()
  return {
    push: (entries) => {
      for (const { id, steps } of rolloutsOf({ session, entries })) opened.set(id, openedFurther(opened.get(id), steps))
    },
    needs: () => {
      const bases = [...opened.values()].flatMap(({ header, forkedFrom }) => {
        const base = baseIn(header)
        return base === undefined || opened.has(base.rolloutId) ? [] : [forkedFrom ?? base.rolloutId]
      })
      return [...new Set(bases)]
    },
  }
}

/** What a rollout says of where it comes from. */
interface OpenedRollout {
  readonly header: JsonObject | undefined
  readonly forkedFrom: string | undefined
}

function openedFurther(before: OpenedRollout | undefined, steps: readonly Step[]): OpenedRollout {
  const forks = steps.map(({ record }) => valueAt(record, "payload", "forked_from_id"))
  return {
    header: before?.header ?? headerOf(steps),
    forkedFrom: before?.forkedFrom ?? forks.find((id) => typeof id === "string"),
  }
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
    base: baseIn(headerOf(steps)),
    steps,
  }))
}

function headerOf(steps: readonly Step[]): JsonObject | undefined {
  return steps.find(({ record }) => record["type"] === "session_meta")?.record
}

function baseIn(header: JsonObject | undefined): Base | undefined {
  const rolloutId = valueAt(header ?? null, "payload", "history_base", "thread_id")
  const endOrdinal = valueAt(header ?? null, "payload", "history_base", "end_ordinal_exclusive")
  return typeof rolloutId === "string" && typeof endOrdinal === "number" ? { rolloutId, endOrdinal } : undefined
}

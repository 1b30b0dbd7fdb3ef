/**
 * Places in a record. A spot is a value with the place where it stands, so that what is read there can be taken out and put
 * back; a path is the place alone. Reading a record goes from spot to spot: each step looks up one key, and no list of keys
 * is made for a value that nobody takes out.
 */
import { type JsonObject, type JsonValue, pointerToken } from "../model/json.ts"
import type { SourceList, SourceValue } from "./source-value.ts"

export type PathKey = string | number

/** Equal paths are one object, so that a pointer is spelled once for all the records of a log. */
export class Path {
  /** As a JSON pointer. */
  readonly pointer: string
  /** What `lift.ts` notes of a value that was taken out here, by the field that holds it now. */
  readonly notes: Record<string, object> = {}
  readonly #inner = new Map<PathKey, Path>()
  /** The records of a log are alike: what was asked for last is mostly what is asked for next. */
  #lastKey: PathKey | undefined
  #last: Path | undefined

  constructor(pointer: string) {
    this.pointer = pointer
  }

  inside(key: PathKey): Path {
    if (key === this.#lastKey && this.#last !== undefined) return this.#last
    const found = this.#inner.get(key) ?? this.#make(key)
    this.#lastKey = key
    this.#last = found
    return found
  }

  #make(key: PathKey): Path {
    const made = new Path(`${this.pointer}/${typeof key === "number" ? String(key) : pointerToken(key)}`)
    const isRemembered = typeof key === "number" ? key < REMEMBERED_INDEX_MAX : this.#inner.size < REMEMBERED_KEYS_MAX
    if (isRemembered) this.#inner.set(key, made)
    return made
  }
}

/** Places in long lists are spelled each time: what is remembered must not grow with what clients write. */
const REMEMBERED_INDEX_MAX = 64
const REMEMBERED_KEYS_MAX = 256

const ROOT = new Path("")

/** A class for its fixed shape alone: one is made for every block of every record. */
class Spot {
  readonly value: SourceValue
  readonly above: Spot | undefined
  readonly key: PathKey

  constructor(value: SourceValue, above: Spot | undefined, key: PathKey) {
    this.value = value
    this.above = above
    this.key = key
  }
}

export type { Spot }

/** The record itself, as a spot. */
export function whole(record: SourceValue): Spot {
  return new Spot(record, undefined, "")
}

/** Has nothing to read. */
export const NOWHERE = new Spot(null, undefined, "")

/** The record that a spot is in. */
export function recordAround(spot: Spot): SourceValue {
  let top = spot
  while (top.above !== undefined) top = top.above
  return top.value
}

/** Worked out where something is taken out: most spots are only looked at. */
export function pathTo({ above, key }: Spot): Path {
  return above === undefined ? ROOT : pathTo(above).inside(key)
}

/** What stands under a key, or nothing. */
export function inside(spot: Spot, key: PathKey): Spot | undefined {
  const value = valueUnder(spot.value, key)
  return value === undefined ? undefined : new Spot(value, spot, key)
}

/** The item of a list at an index that exists: to walk a list without making a list of spots. */
export function itemOf(list: Spot, index: number): Spot {
  return new Spot((list.value as SourceList)[index] ?? null, list, index)
}

/** Each item of a list as a spot; none where there is no list. */
export function itemsOf(spot: Spot | undefined): Spot[] {
  const items: Spot[] = []
  if (spot === undefined || !Array.isArray(spot.value)) return items
  const list: SourceList = spot.value
  for (let index = 0; index < list.length; index++) items.push(new Spot(list[index] ?? null, spot, index))
  return items
}

/** An index of a list is a number, a key of an object a string. Inherited properties are no values of an object. */
export function valueUnder(holder: SourceValue, key: PathKey): SourceValue | undefined
export function valueUnder(holder: JsonValue, key: PathKey): JsonValue | undefined
export function valueUnder(holder: JsonValue, key: PathKey): JsonValue | undefined {
  if (typeof holder !== "object" || holder === null) return undefined
  if (typeof key === "number") return Array.isArray(holder) ? holder[key] : undefined
  if (Array.isArray(holder)) return undefined
  const value: unknown = (holder as Readonly<Record<string, unknown>>)[key]
  if (value === undefined || typeof value === "function") return undefined
  if (key === "__proto__" && !Object.hasOwn(holder, key)) return undefined
  return value as JsonValue
}

/** The text under a key, or nothing: for the kinds by which a record is told apart. */
export function wordUnder(holder: JsonValue | undefined, key: string): string | undefined {
  if (typeof holder !== "object" || holder === null) return undefined
  const value = (holder as JsonObject)[key]
  return typeof value === "string" ? value : undefined
}

/**
 * The no-synthesis seam (`model-no-synthesis`). A canonical value can only be built from `Sealed` values, and the
 * functions of this file, each of which reads one record of source data, are their only makers. A literal, a default or
 * a sentinel in adapter code is therefore a compile error. Knows no client and no transport
 * (`adapter-transport-agnostic-seam`): a record is a JSON value, wherever it came from.
 */
import { isJsonObject, type JsonValue, parseJson, stringifyJson } from "../model/json.ts"
import { momentOfMs, momentOfText } from "../model/timestamp.ts"
import { inside, type PathKey, type Spot, valueUnder, whole } from "./spot.ts"

/** How a value stands in its record: as itself, as the JSON text of itself, or inside a `data:` URL. */
export type LiftForm = "value" | "json" | "data_url"

/** Where a sealed value was found, so that a part can take it out of its record and `fill` can put it back. */
export interface Origin {
  /** What holds it, and under which key. */
  readonly holder: Spot
  readonly key: PathKey
  readonly form: LiftForm
}

type Place = PathKey | readonly PathKey[]

let make: <T>(value: T, from?: Spot | JsonValue, place?: Place, form?: LiftForm) => Sealed<T>
let makeFrom: <T>(value: T, source: Sealed<unknown>, form?: LiftForm) => Sealed<T>

/** A value that was read from source data. Nothing outside this file can make one. */
export class Sealed<T> {
  readonly #value: T
  /** A spot with the key below it, or a record with the keys that lead to the value. */
  readonly #from: Spot | JsonValue | undefined
  readonly #place: Place | undefined
  readonly #form: LiftForm

  private constructor(value: T, from: Spot | JsonValue | undefined, place: Place | undefined, form: LiftForm) {
    this.#value = value
    this.#from = from
    this.#place = place
    this.#form = form
  }

  get value(): T {
    return this.#value
  }

  /** Where it stood. Made when asked for: most values are never taken out of their record. */
  get origin(): Origin | undefined {
    const place = this.#place
    if (place === undefined) return undefined
    if (typeof place !== "object") return { holder: this.#from as Spot, key: place, form: this.#form }
    return originIn(this.#from as JsonValue, place, this.#form)
  }

  static {
    make = (value, from, place, form = "value") => new Sealed(value, from, place, form)
    makeFrom = (value, source, form = source.#form) => new Sealed(value, source.#from, source.#place, form)
  }
}

/** A record as a whole has no origin: it stands in nothing. */
function originIn(record: JsonValue, path: readonly PathKey[], form: LiftForm): Origin | undefined {
  const key = path.at(-1)
  let holder: Spot | undefined = whole(record)
  for (const step of path.slice(0, -1)) holder = holder && inside(holder, step)
  return key === undefined || holder === undefined ? undefined : { holder, key, form }
}

// --- Reading one record -------------------------------------------------------------------------------------------

/** The value at a path, or nothing. An array index is a number, a key is a string. */
export function valueAt(record: JsonValue, ...path: readonly PathKey[]): JsonValue | undefined {
  return follow(record, path)
}

function follow(record: JsonValue, path: readonly PathKey[]): JsonValue | undefined {
  let value: JsonValue | undefined = record
  // Not `for of`: this is what an adapter does most.
  for (let depth = 0; depth < path.length && value !== undefined; depth++)
    value = valueUnder(value, path[depth] as PathKey)
  return value
}

export function jsonAt(record: JsonValue, ...path: readonly PathKey[]): Sealed<JsonValue> | undefined {
  const value = follow(record, path)
  return value === undefined ? undefined : make(value, record, path)
}

export function stringAt(record: JsonValue, ...path: readonly PathKey[]): Sealed<string> | undefined {
  const value = follow(record, path)
  return typeof value === "string" ? make(value, record, path) : undefined
}

/** A string that says something: an empty one counts as absent. For identities and projects. */
export function nonEmptyStringAt(record: JsonValue, ...path: readonly PathKey[]): Sealed<string> | undefined {
  const value = follow(record, path)
  return typeof value === "string" && !isBlank(value) ? make(value, record, path) : undefined
}

function isBlank(text: string): boolean {
  // Nearly every identity begins with a letter or a digit, and this is asked several times for each record.
  const first = text.charCodeAt(0)
  return !(first > 0x20 && first < 0x7f) && text.trim() === ""
}

// --- Reading at a spot: what the parsers do for every block of every record -------------------------------------------

export function jsonUnder(spot: Spot, key: PathKey): Sealed<JsonValue> | undefined {
  const value = valueUnder(spot.value, key)
  return value === undefined ? undefined : make(value, spot, key)
}

export function stringUnder(spot: Spot, key: PathKey): Sealed<string> | undefined {
  const value = valueUnder(spot.value, key)
  return typeof value === "string" ? make(value, spot, key) : undefined
}

export function nonEmptyStringUnder(spot: Spot, key: PathKey): Sealed<string> | undefined {
  const value = valueUnder(spot.value, key)
  return typeof value === "string" && !isBlank(value) ? make(value, spot, key) : undefined
}

/** The spot itself. */
export function jsonHere({ value, above, key }: Spot): Sealed<JsonValue> {
  return above === undefined ? make(value) : make(value, above, key)
}

/** The spot itself, where it is a text. */
export function stringHere({ value, above, key }: Spot): Sealed<string> | undefined {
  if (typeof value !== "string") return undefined
  return above === undefined ? make(value) : make(value, above, key)
}

// --- Flags, moments, names --------------------------------------------------------------------------------------------

export function booleanAt(record: JsonValue, ...path: readonly PathKey[]): Sealed<boolean> | undefined {
  const value = follow(record, path)
  return typeof value === "boolean" ? make(value) : undefined
}

/** Whether the text at a path is this one. For flags that a source writes as a kind. */
export function isAt(record: JsonValue, expected: string, ...path: readonly PathKey[]): Sealed<boolean> | undefined {
  const value = follow(record, path)
  return typeof value === "string" ? make(value === expected) : undefined
}

/** Whether the number at a path is any other than zero. For exit codes. */
export function isNonZeroAt(record: JsonValue, ...path: readonly PathKey[]): Sealed<boolean> | undefined {
  const value = follow(record, path)
  return typeof value === "number" ? make(value !== 0) : undefined
}

/** The key of an object that has one: how a Rust client writes which variant a value is. */
export function keyAt(record: JsonValue, ...path: readonly PathKey[]): Sealed<string> | undefined {
  const value = follow(record, path)
  const [key, ...more] = isJsonObject(value) ? Object.keys(value) : []
  return key === undefined || key === "" || more.length > 0 ? undefined : make(key)
}

/** A moment written as text, or counted in milliseconds since the epoch. Anything else is absent. */
export function timestampAt(record: JsonValue, ...path: readonly PathKey[]): Sealed<string> | undefined {
  const value = follow(record, path)
  if (typeof value === "string") {
    const moment = momentOfText(value)
    return moment === undefined ? undefined : make(moment)
  }
  const moment = typeof value === "number" ? momentOfMs(value) : undefined
  return moment === undefined ? undefined : make(moment)
}

/** The names and times under which a file lies are source data too. */
export function sealedPlace(file: { readonly place: string }): Sealed<string> {
  return make(file.place)
}

export function sealedModifiedAt(file: { readonly modifiedMs: number }): Sealed<string> | undefined {
  const moment = momentOfMs(file.modifiedMs)
  return moment === undefined ? undefined : make(moment)
}

/** The origin of an adapter, which every session that it reads records as its `source_agent`. */
export function sealedOrigin(adapter: { readonly id: string }, agent?: Sealed<string>): Sealed<string> {
  return make(agent === undefined ? adapter.id : `${adapter.id}/${agent.value}`)
}

// --- Reading inside a value: structure that a source encodes in a text is decoded once, here ------------------------

/** A group of a pattern's match. It keeps no origin: what is decoded stays in its record. */
export function matchIn(text: Sealed<string>, pattern: RegExp, group = 1): Sealed<string> | undefined {
  const found = pattern.exec(text.value)?.[group]
  return found === undefined || found === "" ? undefined : make(found)
}

/** Several values as one: an identity that a source spreads over a path or over fields. */
export function joined(values: readonly Sealed<string>[], separator: string): Sealed<string> {
  return make(values.map(({ value }) => value).join(separator))
}

/** Whether a text matches. For what a source says in words: an exit code in the text of a result. */
export function testIn(text: Sealed<string>, pattern: RegExp): Sealed<boolean> {
  return make(pattern.test(text.value))
}

/** The pieces of a text between the given offsets: together they are the whole text, so that `fill` can rejoin them. */
export function splitAt(text: Sealed<string>, offsets: readonly number[]): Sealed<string>[] {
  const bounds = [0, ...offsets.filter((offset) => offset > 0 && offset < text.value.length), text.value.length]
  return bounds.slice(1).map((end, index) => makeFrom(text.value.slice(bounds[index], end), text))
}

/** The value of a text that holds JSON. It is taken out of its record only where writing it again gives the same text. */
export function jsonIn(text: Sealed<string>): Sealed<JsonValue> | undefined {
  const parsed = parseJson(text.value)
  if (!parsed.ok) return undefined
  const isExact = text.origin?.form === "value" && stringifyJson(parsed.value) === text.value
  return isExact ? makeFrom<JsonValue>(parsed.value, text, "json") : make(parsed.value)
}

export interface DataUrl {
  readonly mediaType: Sealed<string>
  readonly base64: Sealed<string>
}

const DATA_URL = /^data:([^;,]+);base64,(.*)$/s

export function dataUrlIn(text: Sealed<string>): DataUrl | undefined {
  const found = DATA_URL.exec(text.value)
  const [, mediaType, base64] = found ?? []
  if (mediaType === undefined || base64 === undefined) return undefined
  const isWhole = text.origin?.form === "value"
  return { mediaType: make(mediaType), base64: isWhole ? makeFrom(base64, text, "data_url") : make(base64) }
}

/** How the base64 of an image begins, which is how its bytes say what they are. */
const IMAGE_OPENINGS: readonly (readonly [opening: string, mediaType: string])[] = [
  ["iVBORw0KGgo", "image/png"],
  ["/9j/", "image/jpeg"],
  ["R0lGOD", "image/gif"],
  ["UklGR", "image/webp"],
]

/** The media type that the bytes themselves show, where a source names none. */
export function imageTypeIn(base64: Sealed<string>): Sealed<string> | undefined {
  const found = IMAGE_OPENINGS.find(([opening]) => base64.value.startsWith(opening))
  return found === undefined ? undefined : make(found[1])
}

/** A text as the JSON value that it also is, for the fields that take any JSON. */
export function asJson(text: Sealed<string>): Sealed<JsonValue> {
  return makeFrom<JsonValue>(text.value, text)
}

/** The same value without its origin: it is copied, and stays in its record as well. */
export function copied<T>(sealed: Sealed<T>): Sealed<T> {
  return make(sealed.value)
}

/**
 * The no-synthesis seam (`model-no-synthesis`). A canonical value can only be built from `Sealed` values, and the
 * functions of this file, each of which reads one record of source data, are their only makers. They take nothing but
 * what was read from a client's files (`SourceValue`, a branded type). A literal, a default or a sentinel in adapter code is
 * therefore a compile error, also inside an object or under a wider type. Knows no client and no transport
 * (`adapter-transport-agnostic-seam`): a record is a JSON value, wherever it came from.
 */
import { isJsonObject, type JsonValue, parseInnerJson, parseJson, stringifyJson } from "../model/json.ts"
import type { RawRecord, SourceFile } from "./adapter.ts"
import {
  decodeFileUrl,
  decodeMoment,
  decodeSqliteMoment,
  decodeUuidMoment,
  imageTypeOfBase64,
  textFingerprint,
} from "./decode.ts"
import { fromSource, type SourceValue } from "./source-value.ts"
import { inside, type PathKey, type Spot, valueUnder, whole } from "./spot.ts"

/** How a value stands in its record: as itself, as the JSON text of itself, or inside a `data:` URL. */
export type LiftForm = "value" | "json" | "data_url"

/**
 * A value that was read from source data. Nothing outside this file can make one, and nothing says so at run time: an id, a
 * name, a moment or a flag is the bare value, because several are read from every record (`plain` gives it). What can be
 * taken out of its record is `Placed`, which is sealed, too.
 */
export declare class Sealed<T> {
  private constructor(value: T)
  private readonly sealed: T
}

/** A sealed value that knows where it stood, so that a part can take it out of its record and `fill` can put it back. */
export type Placed<T> = Sealed<T> & PlacedValue<T>

class PlacedValue<T> {
  readonly value: T
  /** What holds it, and under which key; nothing for what stands nowhere in its record: it is copied, and stays in its record. */
  readonly holder: Spot | undefined
  readonly key: PathKey
  readonly form: LiftForm

  constructor(value: T, holder: Spot | undefined, key: PathKey, form: LiftForm) {
    this.value = value
    this.holder = holder
    this.key = key
    this.form = form
  }
}

function sealed<T>(value: T): Sealed<T> {
  return value as unknown as Sealed<T>
}

function sealedIf<T>(value: T | undefined): Sealed<T> | undefined {
  return value === undefined ? undefined : sealed(value)
}

function placed<T>(value: T, holder: Spot | undefined, key: PathKey, form: LiftForm = "value"): Placed<T> {
  return new PlacedValue(value, holder, key, form) as Placed<T>
}

function unplaced<T>(value: T): Placed<T> {
  return placed(value, undefined, "")
}

/** The value of what was read. */
export function plain<T>(value: Sealed<T>): T {
  return value instanceof PlacedValue ? value.value : (value as unknown as T)
}

// --- Reading one record -------------------------------------------------------------------------------------------

/** The value at a path, or nothing. An array index is a number, a key is a string. */
export function valueAt(record: SourceValue, ...path: readonly PathKey[]): SourceValue | undefined
export function valueAt(record: JsonValue, ...path: readonly PathKey[]): JsonValue | undefined
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

export function jsonAt(record: SourceValue, ...path: readonly PathKey[]): Placed<JsonValue> | undefined {
  const value = follow(record, path)
  return value === undefined ? undefined : placedAt(value, record, path)
}

export function stringAt(record: SourceValue, ...path: readonly PathKey[]): Placed<string> | undefined {
  const value = follow(record, path)
  return typeof value === "string" ? placedAt(value, record, path) : undefined
}

/** A record as a whole has no place: it stands in nothing. */
function placedAt<T>(value: T, record: SourceValue, path: readonly PathKey[]): Placed<T> {
  const last = path.length - 1
  if (last < 0) return unplaced(value)
  let holder: Spot | undefined = whole(record)
  for (let depth = 0; depth < last && holder !== undefined; depth++) holder = inside(holder, path[depth] as PathKey)
  return placed(value, holder, path[last] as PathKey)
}

/** A string that says something: an empty one counts as absent. For identities and projects. */
export function nonEmptyStringAt(record: SourceValue, ...path: readonly PathKey[]): Sealed<string> | undefined {
  const value = follow(record, path)
  return typeof value === "string" && !isBlank(value) ? sealed(value) : undefined
}

function isBlank(text: string): boolean {
  // Nearly every identity begins with a letter or a digit, and this is asked several times for each record.
  const first = text.charCodeAt(0)
  return !(first > 0x20 && first < 0x7f) && text.trim() === ""
}

// --- Reading at a spot: what the parsers do for every block of every record -------------------------------------------

export function jsonUnder(spot: Spot, key: PathKey): Placed<JsonValue> | undefined {
  const value = valueUnder(spot.value, key)
  return value === undefined ? undefined : placed(value, spot, key)
}

export function stringUnder(spot: Spot, key: PathKey): Placed<string> | undefined {
  const value = valueUnder(spot.value, key)
  return typeof value === "string" ? placed(value, spot, key) : undefined
}

export function nonEmptyStringUnder(spot: Spot, key: PathKey): Sealed<string> | undefined {
  return nonEmptyOf(spot.value, key)
}

/** The same, of a text that a part takes out of its record. */
export function nonEmptyTextUnder(spot: Spot, key: PathKey): Placed<string> | undefined {
  const value = valueUnder(spot.value, key)
  return typeof value === "string" && !isBlank(value) ? placed(value, spot, key) : undefined
}

/** The spot itself. */
export function jsonHere({ value, above, key }: Spot): Placed<JsonValue> {
  return placed(value, above, key)
}

/** The spot itself, where it is a text. */
export function stringHere({ value, above, key }: Spot): Placed<string> | undefined {
  return typeof value === "string" ? placed(value, above, key) : undefined
}

// --- Under one key: what stays in its record ----------------------------------------------------------------------------

/** Any text, also an empty one. For names. */
export function nameOf(holder: SourceValue, key: PathKey): Sealed<string> | undefined {
  const value = valueUnder(holder, key)
  return typeof value === "string" ? sealed(value) : undefined
}

/** As `nonEmptyStringAt`. */
export function nonEmptyOf(holder: SourceValue, key: PathKey): Sealed<string> | undefined {
  const value = valueUnder(holder, key)
  return typeof value === "string" && !isBlank(value) ? sealed(value) : undefined
}

/** A number that is an identity, as text. */
export function numeralOf(holder: SourceValue, key: PathKey): Sealed<string> | undefined {
  const value = valueUnder(holder, key)
  return typeof value === "number" ? sealed(String(value)) : undefined
}

export function flagOf(holder: SourceValue, key: PathKey): Sealed<boolean> | undefined {
  const value = valueUnder(holder, key)
  return typeof value === "boolean" ? sealed(value) : undefined
}

/** As `timestampAt`. */
export function momentOf(holder: SourceValue, key: PathKey): Sealed<string> | undefined {
  return momentIn(valueUnder(holder, key))
}

/** A moment as SQLite writes it: in UTC, which it mostly does not say. */
export function momentOfSqlite(holder: SourceValue, key: PathKey): Sealed<string> | undefined {
  return sealedIf(decodeSqliteMoment(valueUnder(holder, key)))
}

/** A moment that is counted in seconds since the epoch, as Python does. */
export function momentOfSeconds(holder: SourceValue, key: PathKey): Sealed<string> | undefined {
  const value = valueUnder(holder, key)
  return typeof value === "number" ? momentIn(Math.round(value * 1000)) : undefined
}

// --- Flags, moments, names --------------------------------------------------------------------------------------------

export function booleanAt(record: SourceValue, ...path: readonly PathKey[]): Sealed<boolean> | undefined {
  const value = follow(record, path)
  return typeof value === "boolean" ? sealed(value) : undefined
}

/** Whether the text at a path is this one. For flags that a source writes as a kind. */
export function isAt(record: SourceValue, expected: string, ...path: readonly PathKey[]): Sealed<boolean> | undefined {
  const value = follow(record, path)
  return typeof value === "string" ? sealed(value === expected) : undefined
}

/** Whether the flag at a path is not set. For failures that a source writes as `success: false`. */
export function isFalseAt(record: SourceValue, ...path: readonly PathKey[]): Sealed<boolean> | undefined {
  const value = follow(record, path)
  return typeof value === "boolean" ? sealed(!value) : undefined
}

/** Whether the number at a path is any other than zero. For exit codes. */
export function isNonZeroAt(record: SourceValue, ...path: readonly PathKey[]): Sealed<boolean> | undefined {
  const value = follow(record, path)
  return typeof value === "number" ? sealed(value !== 0) : undefined
}

/** The key of an object that has one: how a Rust client writes which variant a value is. */
export function keyAt(record: SourceValue, ...path: readonly PathKey[]): Sealed<string> | undefined {
  const value = follow(record, path)
  const [key, ...more] = isJsonObject(value) ? Object.keys(value) : []
  return key === undefined || key === "" || more.length > 0 ? undefined : sealed(key)
}

/** A moment written as text, or counted in milliseconds since the epoch. Anything else is absent. */
export function timestampAt(record: SourceValue, ...path: readonly PathKey[]): Sealed<string> | undefined {
  return momentIn(follow(record, path))
}

function momentIn(value: JsonValue | undefined): Sealed<string> | undefined {
  return sealedIf(decodeMoment(value))
}

/** The names and times under which a file lies are source data too. */
export function sealedRelativePath(file: SourceFile): Sealed<string> {
  return sealed(file.relativePath)
}

/** The directory that a file lies in: the project of a session that lies in it. */
export function sealedFolder(file: SourceFile): Sealed<string> {
  return sealed(file.path.slice(0, Math.max(1, file.path.lastIndexOf("/"))))
}

export function sealedModifiedAt(file: SourceFile): Sealed<string> | undefined {
  return momentIn(file.modifiedMs)
}

/** The origin of an adapter, which every session that it reads records as its `source_agent`. */
export function sealedOrigin(adapter: { readonly id: string }, agent?: Sealed<string>): Sealed<string> {
  return sealed(agent === undefined ? adapter.id : `${adapter.id}/${plain(agent)}`)
}

// --- Reading inside a value: structure that a source encodes in a text is decoded once, here ------------------------

/** The text of a file that is no records at all. */
export function textOfFile(raw: Extract<RawRecord, { text: string }>): Sealed<string> {
  return sealed(raw.text)
}

/** The same of bytes that are no UTF-8, a character for each byte: for the ASCII in it. */
export function latinTextOfFile({ bytes }: Extract<RawRecord, { bytes: Uint8Array }>): Sealed<string> {
  return sealed(Buffer.from(bytes).toString("latin1"))
}

/** The moment that a text says, as `timestampAt`. */
export function momentInText(text: Sealed<string> | undefined): Sealed<string> | undefined {
  return text === undefined ? undefined : momentIn(plain(text))
}

/**
 * The moment of a text, also of one without a zone: the local time of a machine that nobody knows any more. It is read as UTC, so
 * that order and distances stay.
 */
export function localMomentInText(text: Sealed<string> | undefined): Sealed<string> | undefined {
  return text === undefined ? undefined : (momentIn(plain(text)) ?? momentIn(`${plain(text)}Z`))
}

/** The moment that a name counts in milliseconds since the epoch. */
export function momentOfDigits(text: Sealed<string> | undefined): Sealed<string> | undefined {
  return text === undefined ? undefined : momentIn(Number(plain(text)))
}

/** The moment at which a UUID of version 7 was made, which its first 48 bits say. */
export function momentInUuid(uuid: Sealed<string>): Sealed<string> | undefined {
  return sealedIf(decodeUuidMoment(plain(uuid)))
}

/** A group of a pattern's match: what is decoded stays in its record. */
export function matchIn(text: Sealed<string>, pattern: RegExp, group = 1): Sealed<string> | undefined {
  const found = pattern.exec(plain(text))?.[group]
  return found === undefined || found === "" ? undefined : sealed(found)
}

/** An identity of a record that has none that stays: made of the values that its client keeps, whatever else of it changes. */
export function fingerprintOf(record: SourceValue, keys: readonly string[]): Sealed<string> {
  let hash = 0n
  for (const key of keys) {
    const value = valueUnder(record, key) ?? null
    // Nearly all that a row has is text: escaping it would cost more than all else that is done with the row.
    hash = Bun.hash.xxHash64(typeof value === "string" ? value : stringifyJson(value), hash)
  }
  return sealed(`row-${hash.toString(16).padStart(16, "0")}`)
}

/** The same of a text: of the words that stay the first of a session however long it becomes. */
export function fingerprintOfText(text: Sealed<string>): Sealed<string> {
  return sealed(textFingerprint(plain(text)))
}

/** The path that a `file:` URL names, as the machine that wrote it would; nothing where it names none. */
export function pathInUrl(url: Sealed<string>): Sealed<string> | undefined {
  return sealedIf(decodeFileUrl(plain(url)))
}

/** Several values as one: an identity that a source spreads over a path or over fields. */
export function joined(values: readonly Sealed<string>[], separator: string): Sealed<string> {
  return sealed(values.map(plain).join(separator))
}

/** The groups of each match, the whole first. For a text that is a list. */
export function matchesIn(text: Sealed<string>, pattern: RegExp): Sealed<string>[][] {
  return Array.from(plain(text).matchAll(pattern), (found) => found.map((group) => sealed(group ?? "")))
}

/** Whether a text matches. For what a source says in words: an exit code in the text of a result. */
export function testIn(text: Sealed<string>, pattern: RegExp): Sealed<boolean> {
  return sealed(pattern.test(plain(text)))
}

/** The pieces of a text between the given offsets: together they are the whole text, so that `fill` can rejoin them. */
export function splitAt(text: Placed<string>, offsets: readonly number[]): Placed<string>[] {
  const { value, holder, key, form } = text
  const bounds = [0, ...offsets.filter((offset) => offset > 0 && offset < value.length), value.length]
  return bounds.slice(1).map((end, index) => placed(value.slice(bounds[index], end), holder, key, form))
}

/** The JSON that a text holds, to be read. */
export function parsedIn(text: Sealed<string>): SourceValue | undefined {
  const parsed = parseJson(plain(text))
  return parsed.ok ? fromSource(parsed.value) : undefined
}

/** A text as a value of a record. */
export function sourceText(text: Sealed<string>): SourceValue {
  return fromSource(plain(text))
}

/** The value of a text that holds JSON. It is taken out of its record only where writing it again gives the same text. */
export function jsonIn(text: Placed<string>): Placed<JsonValue> | undefined {
  const { holder, key, form } = text
  const parsed = parseInnerJson(text.value)
  if (!parsed.ok) return undefined
  const isExact = holder !== undefined && form === "value" && stringifyJson(parsed.value) === text.value
  return isExact ? placed(parsed.value, holder, key, "json") : unplaced(parsed.value)
}

/** The same, and any other text as itself. */
export function jsonOrText(text: Placed<string>): Placed<JsonValue> {
  return jsonIn(text) ?? asJson(text)
}

export interface DataUrl {
  readonly mediaType: Sealed<string>
  readonly base64: Placed<string>
}

const DATA_URL = /^data:([^;,]+);base64,(.*)$/s

export function dataUrlIn(text: Placed<string>): DataUrl | undefined {
  const { holder, key, form } = text
  const found = DATA_URL.exec(text.value)
  const [, mediaType, base64] = found ?? []
  if (mediaType === undefined || base64 === undefined) return undefined
  const isWhole = holder !== undefined && form === "value"
  return {
    mediaType: sealed(mediaType),
    base64: isWhole ? placed(base64, holder, key, "data_url") : unplaced(base64),
  }
}

/** The media type that the bytes themselves show, where a source names none. */
export function imageTypeIn(base64: Placed<string>): Sealed<string> | undefined {
  return sealedIf(imageTypeOfBase64(base64.value))
}

/** A text as the JSON value that it also is, for the fields that take any JSON. */
export function asJson({ value, holder, key, form }: Placed<string>): Placed<JsonValue> {
  return placed<JsonValue>(value, holder, key, form)
}

/** The same value without its place: it is copied, and stays in its record as well. */
export function copied<T>({ value }: Placed<T>): Placed<T> {
  return unplaced(value)
}

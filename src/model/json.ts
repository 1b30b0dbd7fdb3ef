/**
 * JSON by value. Strings keep their exact UTF-16 units, lone surrogates included; numbers keep their value even where a
 * double cannot hold it. Whitespace, key order and the spelling of equal numbers are not data.
 */

import { decimalText, hasInexact, hasManyDigits, hasTinyExponent, isHeld } from "./exact-numbers.ts"

/** A number that a double cannot hold, by the text the source wrote. `JSON.stringify` writes that text. */
export interface ExactNumber {
  readonly rawJSON: string
}

export type JsonValue = null | boolean | number | string | ExactNumber | readonly JsonValue[] | JsonObject
export interface JsonObject {
  readonly [key: string]: JsonValue
}

declare global {
  interface ArrayConstructor {
    /** The list of TypeScript's own declaration is one of `any`, which the compiler lets go everywhere. */
    isArray(value: JsonValue | undefined): value is readonly JsonValue[]
  }
}

export type ParsedJson =
  /** `keys`: how many its objects have, each counted where it stands. */
  | { readonly ok: true; readonly value: JsonValue; readonly keys: number }
  | { readonly ok: false; readonly reason: string }

/** Deeper values are kept as text: `JSON.stringify` runs out of stack somewhere above ten thousand levels. */
const DEPTH_MAX = 2_000
/** A record of a client lies some levels deep in what pond writes: what was taken in must be read again. */
const OWN_DEPTH_MAX = DEPTH_MAX + 100

/** With fifteen digits, every number between these comes back as it was spelled. */
const SAFE_MAX = 1e300
const SAFE_MIN = 1e-300

interface SourceText {
  readonly source?: string
}

/** The parts of JSON that the type library does not know yet. */
interface RawJson {
  rawJSON(text: string): ExactNumber
  isRawJSON(value: unknown): boolean
}
type Reviver = (key: string, value: unknown) => unknown
const raw = JSON as unknown as RawJson

/** Never throws. What cannot be parsed, or is nested too deeply to be written again, is for the caller to keep as text. */
export function parseJson(text: string): ParsedJson {
  lastLongTexts = 0
  return parseWithin(DEPTH_MAX, text)
}

/** JSON in a text of the value that was parsed last: what is noted of that value stays noted. */
export function parseInnerJson(text: string): ParsedJson {
  const value = lastValue
  const longTexts = lastLongTexts
  const parsed = parseWithin(DEPTH_MAX, text)
  lastValue = value
  lastLongTexts = longTexts
  return parsed
}

/** Text that pond itself has written around what came from outside. */
export function parseOwnJson(text: string): ParsedJson {
  lastLongTexts = 0
  return parseWithin(OWN_DEPTH_MAX, text)
}

function parseWithin(levels: number, text: string): ParsedJson {
  try {
    const value: JsonValue = JSON.parse(text)
    lastValue = undefined
    keysMet = 0
    const marks = marksOf(value, levels)
    if ((marks & DEEP) !== 0) return tooDeep(levels)
    if ((marks & NUMBER_INSIDE) !== 0 && mayBeInexact(text, value, marks)) return exactly(text)
    if (text.length <= HELD_UNITS_MAX) lastValue = value
    return { ok: true, value, keys: keysMet }
  } catch (error) {
    return { ok: false, reason: error instanceof Error ? error.message : "not JSON" }
  }
}

/** Texts of so many units are noted. */
export const LONG_UNITS = 96

/** The value parsed last and the length of its long texts, so that the next question about it needs no second walk. */
let lastValue: JsonValue | undefined
let lastLongTexts = 0
/** More than nearly every record has. Of a value with more of them nothing is known. */
const lastLengths = new Int32Array(128)

/** What is held lies in memory until the next text is parsed: a document of many megabytes must not. */
const HELD_UNITS_MAX = 1_000_000

function noteLongText(units: number): void {
  if (lastLongTexts < lastLengths.length) lastLengths[lastLongTexts] = units
  lastLongTexts++
}

/**
 * How many texts of so many units, which are `LONG_UNITS` at least, a value had when it was parsed. Nothing where it is large,
 * or something else was parsed since.
 */
export function textsOfLength(value: JsonValue, units: number): number | undefined {
  if (value !== lastValue || lastLongTexts > lastLengths.length) return undefined
  let count = 0
  for (let index = 0; index < lastLongTexts; index++) if (lastLengths[index] === units) count++
  return count
}

function mayBeInexact(text: string, value: JsonValue, marks: number): boolean {
  if ((marks & EXTREME) !== 0) return true
  const spare = text.length - (marks >>> MARK_BITS)
  if (spare >= MANY_UNITS - DIGITS_MAX && hasManyDigits(text) && hasInexact(text, value)) return true
  return (marks & ZERO) !== 0 && spare >= TINY_UNITS - 1 && hasTinyExponent(text)
}

function exactly(text: string): ParsedJson {
  return { ok: true, value: JSON.parse(text, exactNumber as Reviver), keys: keysMet }
}

function tooDeep(levels: number): ParsedJson {
  return { ok: false, reason: `nested more than ${levels} levels deep` }
}

const NUMBER_INSIDE = 1
const ZERO = 2
const EXTREME = 4
const DEEP = 8

/**
 * Above the marks stands how many units a text has at least that parses to the value. A number that a double cannot hold makes
 * its text longer: it is written with `MANY_UNITS` at least, a tiny one with `TINY_UNITS`, and no number was counted with more
 * than `DIGITS_MAX`, a zero with one. So most texts need not be searched. Of more units than there is room for a part is counted.
 */
const MARK_BITS = 4
const ONE_UNIT = 1 << MARK_BITS
const MARKS = ONE_UNIT - 1
const MANY_UNITS = 16
const TINY_UNITS = 6
const DIGITS_MAX = 7
/** `null` and `true`. */
const WORD_UNITS = 4 * ONE_UNIT

/** What is in a value that its text has to be looked at for. Ends where it is deeper than a recursion may be. */
function marksOf(value: unknown, levels: number): number {
  if (typeof value === "number") return marksOfNumber(value)
  return typeof value === "object" && value !== null ? marksInside(value, levels) : WORD_UNITS
}

/** Keys of the value that is looked at. */
let keysMet = 0

/** Asks each value for its type here, and is called for what holds others alone: most values are texts. */
function marksInside(holder: object, levels: number): number {
  if (levels === 0) return DEEP
  let marks = 0
  let units = 1
  if (Array.isArray(holder)) {
    for (let index = 0; index < holder.length; index++) {
      const value: unknown = holder[index]
      if (typeof value === "string") {
        units += value.length + 3
        if (value.length >= LONG_UNITS) noteLongText(value.length)
        continue
      }
      const inner = marksOf(value, levels - 1)
      marks |= inner
      units += (inner >>> MARK_BITS) + 1
    }
    return (marks & MARKS) | (units << MARK_BITS)
  }
  for (const key in holder) {
    keysMet++
    const value = (holder as Readonly<Record<string, unknown>>)[key]
    if (typeof value === "string") {
      units += key.length + value.length + 6
      if (value.length >= LONG_UNITS) noteLongText(value.length)
      continue
    }
    const inner = marksOf(value, levels - 1)
    marks |= inner
    units += key.length + (inner >>> MARK_BITS) + 4
  }
  return (marks & MARKS) | (units << MARK_BITS)
}

function marksOfNumber(value: number): number {
  if (value === 0) return ONE_UNIT | NUMBER_INSIDE | ZERO
  if (value < WHOLE_MAX && (value | 0) === value) return (leastDigitsOf(value) << MARK_BITS) | NUMBER_INSIDE
  const size = Math.abs(value)
  return size > SAFE_MAX || size < SAFE_MIN ? ONE_UNIT | NUMBER_INSIDE | EXTREME : ONE_UNIT | NUMBER_INSIDE
}

/** Moments and large counts are not counted by their digits: this is asked for every number. */
const WHOLE_MAX = 1_000_000_000

/** An exponent spells thousands shorter. */
function leastDigitsOf(whole: number): number {
  if (whole < 100) return whole < 10 ? 1 : 2
  if (whole < 1_000 || whole % 1_000 === 0) return 3
  if (whole < 100_000) return whole < 10_000 ? 4 : 5
  return whole < 1_000_000 ? 6 : DIGITS_MAX
}

export function stringifyJson(value: JsonValue): string {
  return JSON.stringify(value)
}

/** A number by its text, for a record that has to be written as it was spelled. */
export function numberSpelled(text: string): ExactNumber {
  return raw.rawJSON(text)
}

export function isExactNumber(value: unknown): value is ExactNumber {
  if (typeof value !== "object" || value === null) return false
  // Asked for nearly every object of a corpus, and the engine's own answer costs as much as reading ten fields.
  return (value as Partial<ExactNumber>).rawJSON !== undefined && raw.isRawJSON(value)
}

export function isJsonObject(value: unknown): value is JsonObject {
  return typeof value === "object" && value !== null && !Array.isArray(value) && !isExactNumber(value)
}

/** Equal by value: key order and the spelling of a number make no difference, everything else does. */
export function equalJson(left: JsonValue, right: JsonValue): boolean {
  return differingPointer(left, right) === undefined
}

/** Equal values give the same text, and others another one. */
export function canonicalJson(value: JsonValue): string {
  if (isNumeric(value)) return decimalOf(value)
  if (Array.isArray(value)) return `[${value.map(canonicalJson).join()}]`
  if (!isJsonObject(value)) return JSON.stringify(value)
  const keys = Object.keys(value).sort((left, right) => (left < right ? -1 : 1))
  return `{${keys.map((key) => `${JSON.stringify(key)}:${canonicalJson(value[key] as JsonValue)}`).join()}}`
}

/** The JSON pointer of the first place where two values differ, or nothing where they are equal. */
export function differingPointer(left: JsonValue, right: JsonValue, at = ""): string | undefined {
  if (left === right) return undefined
  if (isNumeric(left) && isNumeric(right)) return decimalOf(left) === decimalOf(right) ? undefined : at
  if (Array.isArray(left) && Array.isArray(right)) return differingItem(left, right, at)
  if (isJsonObject(left) && isJsonObject(right)) return differingKey(left, right, at)
  return at
}

/** One reference token of a JSON pointer (RFC 6901). */
export function pointerToken(key: string): string {
  return key.includes("~") || key.includes("/") ? key.replaceAll("~", "~0").replaceAll("/", "~1") : key
}

export function pointerKeys(pointer: string): string[] {
  if (pointer === "") return []
  const tokens = pointer.slice(1).split("/")
  if (!pointer.includes("~")) return tokens
  return tokens.map((token) => token.replaceAll("~1", "/").replaceAll("~0", "~"))
}

function exactNumber(_key: string, value: unknown, context: SourceText): unknown {
  if (typeof value !== "number" || context.source === undefined) return value
  return isHeld(value, context.source) ? value : raw.rawJSON(context.source)
}

function isNumeric(value: JsonValue): value is number | ExactNumber {
  return typeof value === "number" || isExactNumber(value)
}

function decimalOf(value: number | ExactNumber): string {
  return decimalText(typeof value === "number" ? String(value) : value.rawJSON)
}

function differingItem(left: readonly JsonValue[], right: readonly JsonValue[], at: string): string | undefined {
  const length = Math.max(left.length, right.length)
  for (let index = 0; index < length; index++) {
    const ours = left[index]
    const theirs = right[index]
    if (ours === undefined || theirs === undefined) return `${at}/${index}`
    const found = differingPointer(ours, theirs, `${at}/${index}`)
    if (found !== undefined) return found
  }
  return undefined
}

function differingKey(left: JsonObject, right: JsonObject, at: string): string | undefined {
  const keys = Object.keys(left)
  for (const key of keys) {
    const ours = left[key]
    const theirs = Object.hasOwn(right, key) ? right[key] : undefined
    const place = `${at}/${pointerToken(key)}`
    if (ours === undefined || theirs === undefined) return place
    const found = differingPointer(ours, theirs, place)
    if (found !== undefined) return found
  }
  const extra =
    Object.keys(right).length > keys.length ? Object.keys(right).find((key) => !Object.hasOwn(left, key)) : undefined
  return extra === undefined ? undefined : `${at}/${pointerToken(extra)}`
}

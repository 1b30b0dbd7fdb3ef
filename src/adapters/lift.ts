/**
 * A heavy value is stored once: taken out of its record into a part, with a note of where it stood, and put back when
 * the record is written again. This is what makes native restore the same few lines for every client.
 * `null` holds the place, so that the order of keys survives too.
 */
import type { JsonObject, JsonValue } from "../model/json.ts"
import {
  isExactNumber,
  isJsonObject,
  LONG_UNITS,
  pointerKeys,
  pointerToken,
  stringifyJson,
  textsOfLength,
} from "../model/json.ts"
import type { Entry, Part } from "../model/session.ts"
import type { LiftForm, Placed } from "./extract.ts"
import type { LiftedField, PartDraft, Pending } from "./parts.ts"
import { type Path, type PathKey, pathTo, recordAround } from "./spot.ts"

/**
 * Kept in `options.source.lift` of a part: a pointer, or a pointer with the form that the value stood in and the other places
 * of the record where the same text stood again.
 */
export type LiftNote = string | { readonly at: string; readonly form?: LiftForm; readonly also?: readonly string[] }

/** A message before it is one: with parts, or with the content of a message of the system. */
interface Drafted {
  readonly content?: Placed<string> | undefined
  readonly parts?: readonly PartDraft[]
}

/** A part that is about to be one: what its options say of it is known, what they will say is not. */
type Unlifted = { -readonly [K in keyof Part]: Part[K] } & { options: Part["options"] | Pending }

/**
 * Takes the values of the drafts out of their record, in place, and gives each draft's part the options that say so.
 * `lineUnits` is the length of the record as text, where it is known: a line too short to hold a text twice has no copy of it.
 */
export function takeOut(record: JsonValue, drafts: readonly Drafted[], lineUnits: number | undefined): void {
  let repeated: Unlifted[] | undefined
  // Not with closures: this and the session writer are run for every message of a corpus.
  for (let index = 0; index < drafts.length; index++) {
    const { content, parts } = drafts[index] as Drafted
    if (parts !== undefined) {
      for (let at = 0; at < parts.length; at++) {
        const part = parts[at] as unknown as Unlifted
        const units = takeOutPart(record, part)
        // In nearly every record no other text is as long.
        if (units < LONG_UNITS || textsOfLength(record, units) === 1) continue
        if (repeated === undefined) repeated = [part]
        else repeated.push(part)
      }
    } else if (content !== undefined) takeOutContent(record, content)
  }
  if (repeated !== undefined) takeOutCopies(record, repeated, lineUnits)
}

/** Gives how long the text is that was taken out. A text that was cut into pieces is the value of no part. */
function takeOutPart(record: JsonValue, part: Unlifted): number {
  const { lift, heavy, pond } = part.options as Pending
  const holder = heavy?.holder
  if (lift === undefined || heavy === undefined || holder === undefined || recordAround(holder) !== record) {
    part.options = pond === undefined ? {} : { pond }
    return 0
  }
  const { key, form, value } = heavy
  const stood = putUnder(holder.value, key, null)
  const at = pathTo(holder).inside(key)
  if (form !== "value") {
    part.options = liftOptions(lift, { at: at.pointer, form }, pond)
    return 0
  }
  part.options = plainOptions(at, lift, pond)
  return typeof stood === "string" && value === stood ? stood.length : 0
}

function liftOptions(field: LiftedField, note: JsonValue, pond: Pending["pond"]): Part["options"] {
  const source = { lift: { [field]: note } }
  return pond === undefined ? { source } : { source, pond }
}

/** Most parts of a log were taken out of few places. To change the options of one of them, copy them first. */
function plainOptions(at: Path, field: LiftedField, pond: Pending["pond"]): Part["options"] {
  if (pond !== undefined) return liftOptions(field, at.pointer, pond)
  const known = at.notes[field]
  if (known !== undefined) return known as Part["options"]
  const lift = Object.freeze({ [field]: at.pointer })
  const options = Object.freeze({ source: Object.freeze({ lift }) }) as Part["options"]
  at.notes[field] = options
  return options
}

// --- Copies of what was taken out -------------------------------------------------------------------------------------

/**
 * A text that was taken out, and the part whose options say where its copies stood. Clients write a tool's output twice: for
 * the model, and for their own screen. A copy of fewer than `LONG_UNITS` costs less than its note.
 */
interface LongText {
  readonly text: string
  readonly at: string
  readonly lift: LiftedField
  readonly part: Unlifted
  readonly also: string[]
}

function longTextOf(part: Unlifted): LongText {
  const [lift, at] = notesOf(part as Part)[0] as [LiftedField, string]
  return { text: liftedValue(part as Part, lift) as string, at, lift, part, also: [] }
}

function takeOutCopies(record: JsonValue, parts: readonly Unlifted[], lineUnits: number | undefined): void {
  if (typeof record !== "object" || record === null) return
  const longTexts = parts.map(longTextOf)
  let least = Number.POSITIVE_INFINITY
  let units = 0
  for (const { text } of longTexts) {
    least = Math.min(least, text.length)
    units += text.length
  }
  if ((lineUnits !== undefined && lineUnits - units < least) || !hasTextOf(record, least)) return
  const byText = new Map<string, LongText>()
  // Of the parts with the same text, the first one notes the copies.
  for (const long of longTexts) if (!byText.has(long.text)) byText.set(long.text, long)
  if (!takeOutCopiesIn(record, byText, new Set(longTexts.map(({ text }) => text.length)), [])) return
  for (const { at, also, lift, part } of longTexts) {
    if (also.length === 0) continue
    part.options = liftOptions(lift, { at, also }, part.options["pond"] as Pending["pond"])
  }
}

/** Whether a text of so many units is left anywhere in a value. */
function hasTextOf(holder: object, units: number): boolean {
  if (Array.isArray(holder)) {
    for (let index = 0; index < holder.length; index++) if (isOrHasTextOf(holder[index], units)) return true
    return false
  }
  for (const key in holder) if (isOrHasTextOf((holder as Readonly<Record<string, unknown>>)[key], units)) return true
  return false
}

function isOrHasTextOf(value: unknown, units: number): boolean {
  if (typeof value === "string") return value.length >= units
  return typeof value === "object" && value !== null && hasTextOf(value, units)
}

/** Whether there was one. */
function takeOutCopiesIn(
  holder: object,
  byText: ReadonlyMap<string, LongText>,
  lengths: ReadonlySet<number>,
  path: string[],
): boolean {
  let hasFound = false
  for (const key in holder) {
    const value = (holder as Record<string, unknown>)[key]
    if (typeof value === "string") {
      const long = value.length < LONG_UNITS || !lengths.has(value.length) ? undefined : byText.get(value)
      if (long === undefined || isExactNumber(holder)) continue
      putUnder(holder as JsonValue, key, null)
      long.also.push(pointerOf([...path, key]))
      hasFound = true
    } else if (typeof value === "object" && value !== null) {
      path.push(key)
      if (takeOutCopiesIn(value, byText, lengths, path)) hasFound = true
      path.pop()
    }
  }
  return hasFound
}

function pointerOf(path: readonly string[]): string {
  return path.map((key) => `/${pointerToken(key)}`).join("")
}

// --- The content of a message of the system, which has no parts ---------------------------------------------------------

function takeOutContent(record: JsonValue, { holder, key }: Placed<string>): void {
  if (holder !== undefined && recordAround(holder) === record) putUnder(holder.value, key, null)
}

/** What `options.source.lift` of such a message says, where its content was taken out of the record. */
export function contentNote(record: JsonValue, content: Placed<string> | undefined): JsonObject | undefined {
  const holder = content?.holder
  if (content === undefined || holder === undefined || recordAround(holder) !== record) return undefined
  const at = pathTo(holder).inside(content.key).pointer
  return { content: content.form === "value" ? at : { at, form: content.form } }
}

// --- The way back -----------------------------------------------------------------------------------------------------

/** The record as the source had it, from the messages that hold it, in order. Pieces of one text are joined. */
export function fill(record: JsonValue, entries: readonly Entry[]): JsonValue {
  let filled = record
  const joined = new Map<string, string>()
  function put(note: LiftNote, value: JsonValue, part?: Part): void {
    const {
      at,
      form = "value",
      also = [],
    } = typeof note === "string" ? { at: note } : (note as Exclude<LiftNote, string>)
    for (const copy of also) filled = withAt(filled, pointerKeys(copy), value)
    const stood = stoodAs(form, part, value)
    const before = joined.get(at)
    const whole = before !== undefined && typeof stood === "string" ? before + stood : stood
    if (typeof whole === "string") joined.set(at, whole)
    filled = withAt(filled, pointerKeys(at), whole)
  }
  for (const { message, parts } of entries) {
    if (message.role === "system") for (const [, note] of notesOf(message)) put(note, message.content)
    for (const part of parts) for (const [field, note] of notesOf(part)) put(note, liftedValue(part, field), part)
  }
  return filled
}

function notesOf(holder: Pick<Part, "options">): [LiftedField, LiftNote][] {
  const source = holder.options["source"]
  const lift = isJsonObject(source) ? source["lift"] : undefined
  return isJsonObject(lift) ? (Object.entries(lift) as [LiftedField, LiftNote][]) : []
}

function liftedValue(part: Part, field: LiftedField): JsonValue {
  if (field === "text" && "text" in part) return part.text
  if (field === "params" && part.type === "tool_call") return part.params as JsonValue
  if (field === "result" && part.type === "tool_result") return part.result as JsonValue
  if (field === "data" && part.type === "file") return Object.values(part.data)[0] ?? null
  return null
}

function stoodAs(form: LiftForm, part: Part | undefined, value: JsonValue): JsonValue {
  if (form === "json") return stringifyJson(value)
  if (form === "data_url" && part?.type === "file") return `data:${part.media_type};base64,${value}`
  return value
}

/** Gives what stood there. */
function putUnder(holder: JsonValue, key: PathKey, value: JsonValue): unknown {
  const stood = (holder as unknown as Record<PathKey, unknown>)[key]
  define(holder as object, key, value)
  return stood
}

/** A copy with one place changed: only the values along the path are copied. */
export function withAt(record: JsonValue, keys: readonly string[], value: JsonValue): JsonValue {
  const [key, ...rest] = keys
  if (key === undefined) return value
  if (Array.isArray(record)) {
    const copy = [...record]
    copy[Number(key)] = withAt(copy[Number(key)] ?? null, rest, value)
    return copy
  }
  const copy = copyOf(isJsonObject(record) ? record : {})
  define(copy, key, withAt(Object.hasOwn(copy, key) ? (copy[key] ?? null) : null, rest, value))
  return copy
}

/** Assignment and spreading treat the key `__proto__` as something else than a key. */
function define(holder: object, key: PathKey, value: unknown): void {
  if (key === "__proto__")
    Object.defineProperty(holder, key, { value, enumerable: true, configurable: true, writable: true })
  else (holder as Record<PathKey, unknown>)[key] = value
}

function copyOf(object: JsonObject): Record<string, JsonValue> {
  return Object.hasOwn(object, "__proto__")
    ? (Object.fromEntries(Object.entries(object)) as Record<string, JsonValue>)
    : { ...object }
}

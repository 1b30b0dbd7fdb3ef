/**
 * A heavy value is stored once: taken out of its record into a part, with a note of where it stood, and put back when
 * the record is written again. This is what makes native restore the same few lines for every client.
 * `null` holds the place, so that the order of keys survives too.
 */
import type { JsonObject, JsonValue } from "../model/json.ts"
import { isExactNumber, isJsonObject, pointerKeys, pointerToken, stringifyJson } from "../model/json.ts"
import type { Entry, Part } from "../model/session.ts"
import type { LiftForm, Origin, Sealed } from "./extract.ts"
import type { LiftedField, PartDraft } from "./parts.ts"
import { type Path, type PathKey, pathInside } from "./spot.ts"

/**
 * Kept in `options.source.lift` of a part: a pointer, or a pointer with the form that the value stood in and the other places
 * of the record where the same text stood again.
 */
export type LiftNote = string | { readonly at: string; readonly form?: LiftForm; readonly also?: readonly string[] }

/**
 * Takes the values of the drafts out of their record, in place, and gives each draft's part the options that say so.
 * `lineUnits` is the length of the record as text, where it is known: a line too short to hold a text twice has no copy of it.
 */
export function takeOut(record: JsonValue, drafts: readonly PartDraft[], lineUnits: number | undefined): void {
  let longTexts: LongTexts | undefined
  // Not with closures: this and the session writer are run for every message of a corpus.
  for (const draft of drafts) {
    const { body, lift, heavy, pond } = draft
    const part = body as { options?: Part["options"] }
    const origin = lift === undefined ? undefined : heavy?.origin
    if (lift === undefined || origin === undefined || origin.holder.record !== record) {
      part.options = pond === undefined ? {} : { pond }
      continue
    }
    const { holder, key, form } = origin
    const stood = putUnder(holder.value, key, null)
    const at = pathInside(holder.path, key)
    part.options = form === "value" ? plainOptions(at, lift, pond) : optionsOf(lift, { at: at.pointer, form }, pond)
    // A text that was cut into pieces is the value of no part.
    if (form !== "value" || typeof stood !== "string" || stood.length < LONG_UNITS) continue
    if (liftedValue(body, lift) === stood) {
      longTexts ??= newLongTexts()
      addLongText(longTexts, { text: stood, at: at.pointer, lift, part, also: [] })
    }
  }
  if (longTexts !== undefined && typeof record === "object" && record !== null)
    takeOutCopies(record, longTexts, lineUnits)
}

function optionsOf(field: LiftedField, note: JsonValue, pond: PartDraft["pond"]): Part["options"] {
  const source = { lift: { [field]: note } }
  return pond === undefined ? { source } : { source, pond }
}

const PLAIN = new WeakMap<Path, Map<LiftedField, Part["options"]>>()

/** Most parts of a log were taken out of few places. Whoever changes the options of one of them changes a copy. */
function plainOptions(at: Path, field: LiftedField, pond: PartDraft["pond"]): Part["options"] {
  if (pond !== undefined) return optionsOf(field, at.pointer, pond)
  let known = PLAIN.get(at)
  if (known === undefined) {
    known = new Map()
    PLAIN.set(at, known)
  }
  let options = known.get(field)
  if (options === undefined) {
    const lift = Object.freeze({ [field]: at.pointer })
    options = Object.freeze({ source: Object.freeze({ lift }) }) as Part["options"]
    known.set(field, options)
  }
  return options
}

// --- Copies of what was taken out -------------------------------------------------------------------------------------

/** Clients write a tool's output twice: for the model, and for their own screen. A shorter copy costs less than its note. */
const LONG_UNITS = 96

/** A text that was taken out, and the part whose options say where its copies stood. */
interface LongText {
  readonly text: string
  readonly at: string
  readonly lift: LiftedField
  readonly part: { options?: Part["options"] }
  readonly also: string[]
}

interface LongTexts {
  readonly all: LongText[]
  /** Few texts have the length of one of these: only those are compared with them. */
  readonly lengths: Set<number>
  units: number
}

function newLongTexts(): LongTexts {
  return { all: [], lengths: new Set(), units: 0 }
}

function addLongText(longTexts: LongTexts, long: LongText): void {
  longTexts.all.push(long)
  longTexts.lengths.add(long.text.length)
  longTexts.units += long.text.length
}

function takeOutCopies(record: object, longTexts: LongTexts, lineUnits: number | undefined): void {
  if (lineUnits !== undefined && lineUnits - longTexts.units < Math.min(...longTexts.lengths)) return
  const copies: Copy[] = []
  findCopies(record, longTexts.lengths, [], copies)
  if (copies.length === 0) return
  const byText = new Map<string, LongText>()
  for (const long of longTexts.all) if (!byText.has(long.text)) byText.set(long.text, long)
  for (const { holder, key, text, at } of copies) {
    const long = byText.get(text)
    if (long === undefined) continue
    putUnder(holder, key, null)
    long.also.push(at)
  }
  for (const { at, also, lift, part } of longTexts.all) {
    if (also.length === 0) continue
    part.options = optionsOf(lift, { at, also }, part.options?.["pond"] as PartDraft["pond"])
  }
}

/** A text as long as one that was taken out. */
interface Copy {
  readonly holder: JsonValue
  readonly key: PathKey
  readonly text: string
  readonly at: string
}

function findCopies(holder: object, lengths: ReadonlySet<number>, path: string[], found: Copy[]): void {
  for (const key in holder) {
    const value = (holder as Record<string, unknown>)[key]
    if (typeof value === "string") {
      if (value.length < LONG_UNITS || !lengths.has(value.length) || isExactNumber(holder)) continue
      found.push({ holder: holder as JsonValue, key, text: value, at: pointerOf([...path, key]) })
    } else if (typeof value === "object" && value !== null) {
      path.push(key)
      findCopies(value, lengths, path, found)
      path.pop()
    }
  }
}

function pointerOf(path: readonly string[]): string {
  return path.map((key) => `/${pointerToken(key)}`).join("")
}

/** The same for the content of a system message, which has no parts: the note. */
export function takeOutContent(record: JsonValue, content: Sealed<string> | undefined): JsonObject | undefined {
  const origin = content?.origin
  if (origin === undefined || origin.holder.record !== record) return undefined
  putUnder(origin.holder.value, origin.key, null)
  return { content: noteOf(origin) }
}

function noteOf({ holder, key, form }: Origin): JsonValue {
  const at = pathInside(holder.path, key).pointer
  return form === "value" ? at : { at, form }
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

type LiftedBody = Part | PartDraft["body"]

function liftedValue(part: LiftedBody, field: LiftedField): JsonValue {
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

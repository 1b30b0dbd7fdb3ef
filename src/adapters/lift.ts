/**
 * A heavy value is stored once: taken out of its record into a part, with a note of where it stood, and put back when
 * the record is written again. This is what makes native restore the same few lines for every client.
 * `null` holds the place, so that the order of keys survives too.
 */
import type { JsonObject, JsonValue } from "../model/json.ts"
import { isExactNumber, isJsonObject, pointerKeys, pointerToken, stringifyJson } from "../model/json.ts"
import type { Entry, Part } from "../model/session.ts"
import type { LiftForm, Origin, PathKey, Sealed } from "./extract.ts"
import type { LiftedField, PartDraft } from "./parts.ts"

/**
 * Kept in `options.source.lift` of a part: a pointer, or a pointer with the form that the value stood in and the other places
 * of the record where the same text stood again.
 */
export type LiftNote = string | { readonly at: string; readonly form?: LiftForm; readonly also?: readonly string[] }

/** Takes the values of the drafts out of their record, in place, and gives the note for each draft. */
export function takeOut(record: JsonValue, drafts: readonly PartDraft[]): (JsonObject | undefined)[] {
  let longTexts: LongTexts | undefined
  const notes: (JsonObject | undefined)[] = []
  // Not with closures: this and the session writer are run for every message of a corpus.
  for (const { body, lift } of drafts) {
    if (lift === undefined || lift.origin.record !== record || lift.origin.path.length === 0) {
      notes.push(undefined)
      continue
    }
    const { field, origin } = lift
    const stood = putAt(record, origin.path, null)
    const note = noteOf(origin)
    const own: Record<string, JsonValue> = { [field]: note }
    // A text that was cut into pieces is the value of no part.
    const isLong = typeof stood === "string" && stood.length >= LONG_UNITS && liftedValue(body, field) === stood
    if (isLong && typeof note === "string") {
      longTexts ??= new Map()
      if (!longTexts.has(stood)) longTexts.set(stood, { at: note, field, note: own })
    }
    notes.push(own)
  }
  if (longTexts !== undefined) takeOutCopies(record, longTexts)
  return notes
}

/** Clients write a tool's output twice: for the model, and for their own screen. A shorter copy costs less than its note. */
const LONG_UNITS = 96

/** Texts that were taken out, each with the note that says where it stood. */
type LongTexts = Map<
  string,
  { readonly at: string; readonly field: LiftedField; readonly note: Record<string, JsonValue>; also?: string[] }
>

function takeOutCopies(record: JsonValue, longTexts: LongTexts): void {
  if (typeof record === "object" && record !== null) lookForCopies(record, longTexts, [])
}

function lookForCopies(holder: object, longTexts: LongTexts, path: string[]): void {
  for (const key in holder) {
    const value = (holder as Record<string, unknown>)[key]
    if (typeof value === "string") {
      const text = value.length < LONG_UNITS ? undefined : longTexts.get(value)
      if (text === undefined || isExactNumber(holder)) continue
      define(holder, key, null)
      text.also ??= []
      text.also.push(pointerOf([...path, key]))
      text.note[text.field] = { at: text.at, also: text.also }
    } else if (typeof value === "object" && value !== null) {
      path.push(key)
      lookForCopies(value, longTexts, path)
      path.pop()
    }
  }
}

/** The same for the content of a system message, which has no parts. */
export function takeOutContent(record: JsonValue, content: Sealed<string> | undefined): JsonObject | undefined {
  const origin = content?.origin
  if (origin?.record !== record || origin.path.length === 0) return undefined
  putAt(record, origin.path, null)
  return { content: noteOf(origin) }
}

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

function noteOf(origin: Origin): JsonValue {
  const at = pointerOf(origin.path)
  return origin.form === "value" ? at : { at, form: origin.form }
}

function pointerOf(path: readonly PathKey[]): string {
  let pointer = ""
  for (const key of path) pointer += typeof key === "number" ? `/${key}` : `/${pointerToken(key)}`
  return pointer
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
function putAt(record: JsonValue, path: readonly PathKey[], value: JsonValue): unknown {
  let holder = record as unknown as Record<PathKey, unknown>
  const last = path.length - 1
  for (let depth = 0; depth < last; depth++) holder = holder[path[depth] as PathKey] as Record<PathKey, unknown>
  const key = path[last] as PathKey
  const stood = holder[key]
  define(holder, key, value)
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

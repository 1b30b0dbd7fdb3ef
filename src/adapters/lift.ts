/**
 * A heavy value is stored once: taken out of its record into a part, with a note of where it stood, and put back when
 * the record is written again. This is what makes native restore the same few lines for every client.
 * `null` holds the place, so that the order of keys survives too.
 */
import type { JsonObject, JsonValue } from "../model/json.ts"
import { isJsonObject, pointerKeys, pointerToken, stringifyJson } from "../model/json.ts"
import type { Entry, Part } from "../model/session.ts"
import type { LiftForm, Origin, PathKey, Sealed } from "./extract.ts"
import type { LiftedField, PartDraft } from "./parts.ts"

/** Kept in `options.source.lift` of a part: a pointer, or a pointer and the form that it stood in. */
export type LiftNote = string | { readonly at: string; readonly form: LiftForm }

/** Takes the values of the drafts out of their record, in place, and gives the notes for each draft. */
export function takeOut(record: JsonValue, drafts: readonly PartDraft[]): (JsonObject | undefined)[] {
  return drafts.map((draft) => {
    const notes: Record<string, JsonValue> = {}
    for (const [field, origin] of draft.lifts) {
      if (origin.record !== record || origin.path.length === 0) continue
      putAt(record, origin.path, null)
      notes[field] = noteOf(origin)
    }
    return Object.keys(notes).length === 0 ? undefined : notes
  })
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
    const { at, form } = typeof note === "string" ? { at: note, form: "value" as const } : note
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
  const at = origin.path.map((key) => `/${pointerToken(String(key))}`).join("")
  return origin.form === "value" ? at : { at, form: origin.form }
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

function putAt(record: JsonValue, path: readonly PathKey[], value: JsonValue): void {
  let holder = record as unknown as Record<PathKey, unknown>
  for (const key of path.slice(0, -1)) holder = holder[key] as Record<PathKey, unknown>
  const last = path.at(-1)
  if (last !== undefined) define(holder, last, value)
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

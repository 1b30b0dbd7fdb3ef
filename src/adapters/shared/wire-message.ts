/**
 * Messages of Protocol Buffers as JSON, by a schema that names the fields that are known. Nothing is left out: a field that the
 * schema does not name, or that is not what it says, stands under `#` with its number, as it lies. Moments and structs have the
 * form that the JSON mapping of Protocol Buffers gives them.
 */
import { isJsonObject, type JsonObject, type JsonValue } from "../../model/json.ts"
import { BYTES_KEY } from "../../platform/files/foreign-sqlite.ts"
import { type WireField, wireFields } from "./wire.ts"

export type WireKind = "text" | "number" | "flag" | "bytes" | "moment" | "struct" | "unread" | WireSchema

/** What a field is called, and what it holds. A list has a value for each time that it stands there. */
export interface WireName {
  readonly name: string
  readonly kind: WireKind
  readonly isList?: true
  /** Where one of several fields is set: the key of an object that has that one alone, by its name. */
  readonly choice?: string
}

export type WireSchema = Readonly<Record<number, WireName>>

/** The key of what no schema names: pairs of a number and a value. */
const UNNAMED_KEY = "#"
/** Messages lie in messages: damaged or hostile ones do not end. */
const DEPTH_MAX = 40

export const named = (name: string, kind: WireKind = "text"): WireName => ({ name, kind })
export const chosen = (choice: string, name: string, kind: WireKind): WireName => ({ name, kind, choice })
export const listed = (name: string, kind: WireKind = "text"): WireName => ({ name, kind, isList: true })

/** Undefined where the bytes are no such message. */
export function wireMessage(bytes: Uint8Array, schema: WireSchema, depth = 0): JsonObject | undefined {
  const fields = depth > DEPTH_MAX ? undefined : wireFields(bytes)
  if (fields === undefined) return undefined
  const message = new Map<string, JsonValue>()
  const unnamed: JsonValue[] = []
  for (const field of fields) {
    const known = schema[field.number]
    const value = known && readAs(field, known.kind, depth)
    if (known === undefined || value === undefined) unnamed.push([field.number, asItLies(field)])
    else if (known.isList === true) (listAt(message, known.name) as JsonValue[]).push(value)
    // Of a field that stands there twice the last one counts, and the other is not lost.
    else {
      const key = known.choice ?? known.name
      const before = message.get(key)
      if (before !== undefined) unnamed.push([field.number, before])
      message.set(key, known.choice === undefined ? value : { [known.name]: value })
    }
  }
  if (unnamed.length > 0) message.set(UNNAMED_KEY, unnamed)
  return Object.fromEntries(message)
}

function listAt(message: Map<string, JsonValue>, name: string): JsonValue {
  const list = message.get(name) ?? []
  message.set(name, list)
  return list
}

function readAs(field: WireField, kind: WireKind, depth: number): JsonValue | undefined {
  const { bytes, value, digits, fixed } = field
  const isNumber = bytes === undefined && fixed === undefined
  if (kind === "number") return isNumber ? (digits ?? value) : undefined
  if (kind === "flag") return isNumber && value <= 1 ? value === 1 : undefined
  if (bytes === undefined || kind === "unread") return undefined
  if (kind === "text") return decodeText(bytes)
  if (kind === "bytes") return asItLies(field)
  if (kind === "moment") return decodeMoment(bytes)
  if (kind === "struct") return structOf(bytes, depth + 1)
  return wireMessage(bytes, kind, depth + 1)
}

function asItLies({ bytes, fixed, value, digits }: WireField): JsonValue {
  if (bytes !== undefined) return { [BYTES_KEY]: Buffer.from(bytes).toString("base64") }
  if (fixed !== undefined) return { $fixed: Buffer.from(fixed).toString("base64") }
  return digits ?? value
}

const UTF_8 = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true })

function decodeText(bytes: Uint8Array): string | undefined {
  try {
    return UTF_8.decode(bytes)
  } catch {
    return undefined
  }
}

const MOMENT: WireSchema = { 1: named("seconds", "number"), 2: named("nanos", "number") }
/** The last second of the year 9999. */
const SECONDS_MAX = 253_402_300_799

function decodeMoment(bytes: Uint8Array): string | undefined {
  const { seconds = 0, nanos = 0, ...others } = wireMessage(bytes, MOMENT) ?? { others: true }
  if (typeof seconds !== "number" || typeof nanos !== "number" || Object.keys(others).length > 0) return undefined
  if (seconds > SECONDS_MAX || nanos > 999_999_999) return undefined
  const [whole] = new Date(seconds * 1000).toISOString().split(".")
  const fraction =
    nanos === 0
      ? ""
      : `.${String(nanos)
          .padStart(9, "0")
          .replace(/(?:000)+$/, "")}`
  return `${whole}${fraction}Z`
}

// --- Structs: JSON as a message ---------------------------------------------------------------------------------------

function structOf(bytes: Uint8Array, depth: number): JsonObject | undefined {
  const entries = depth > DEPTH_MAX ? undefined : wireFields(bytes)?.map((entry) => structEntry(entry, depth))
  const found = entries?.flatMap((entry) => (entry === undefined ? [] : [entry]))
  if (found === undefined || found.length !== entries?.length) return undefined
  return new Map(found).size === found.length ? Object.fromEntries(found) : undefined
}

function structEntry({ number, bytes }: WireField, depth: number): [string, JsonValue] | undefined {
  const [key, value, ...more] = (number === 1 && bytes !== undefined ? wireFields(bytes) : undefined) ?? []
  const name = key?.number === 1 && key.bytes !== undefined ? decodeText(key.bytes) : undefined
  const held = value?.number === 2 && value.bytes !== undefined ? structValue(value.bytes, depth + 1) : undefined
  return name === undefined || held === undefined || more.length > 0 ? undefined : [name, held]
}

function structValue(message: Uint8Array, depth: number): JsonValue | undefined {
  const [field, ...more] = (depth > DEPTH_MAX ? undefined : wireFields(message)) ?? []
  if (field === undefined || more.length > 0) return undefined
  const { number, bytes, fixed, value } = field
  if (number === 1 && bytes === undefined && fixed === undefined) return null
  if (number === 2 && fixed?.length === 8)
    return finite(new DataView(fixed.buffer, fixed.byteOffset, 8).getFloat64(0, true))
  if (number === 4 && bytes === undefined && fixed === undefined) return value !== 0
  if (bytes === undefined) return undefined
  if (number === 3) return decodeText(bytes)
  if (number === 5) return structOf(bytes, depth + 1)
  if (number !== 6) return undefined
  const items = wireFields(bytes)?.map((item) =>
    item.number === 1 && item.bytes !== undefined ? structValue(item.bytes, depth + 1) : undefined,
  )
  const known = items?.flatMap((item) => (item === undefined ? [] : [item]))
  return known?.length === items?.length ? known : undefined
}

/** JSON has no other numbers. */
function finite(value: number): number | undefined {
  return Number.isFinite(value) ? value : undefined
}

/** Of a message that was read: what no schema named. */
export function unnamedNumbers(message: JsonValue | undefined): readonly number[] {
  const list = isJsonObject(message) ? message[UNNAMED_KEY] : undefined
  return (Array.isArray(list) ? (list as readonly JsonValue[]) : []).flatMap((pair) =>
    Array.isArray(pair) && typeof pair[0] === "number" ? [pair[0]] : [],
  )
}

/**
 * The log of a chat: its first line is the chat, each other one a change of it (`objectMutationLog.ts` of Visual Studio Code). The
 * editor itself puts one line in the place of all after 1,024 changes, so the chat that they amount to is what is kept. Requests
 * that were taken out of it on the way, and lines that say nothing, are kept beside it.
 */
import { isJsonObject, type JsonValue, parseJson, stringifyJson } from "../../model/json.ts"
import { textIn } from "./documents.ts"

type Keys = readonly (string | number)[]
type Holder = Record<string, JsonValue> | JsonValue[]

const [INITIAL, SET, PUSH, DELETE] = [0, 1, 2, 3]

/** As the one line that says the same. */
export function replay(text: string): string {
  let state: JsonValue | undefined
  let first: JsonValue | undefined
  const unread: string[] = []
  const removed = new Map<string, JsonValue>()
  const lines = text.split("\n")
  for (const line of lines) {
    if (line.trim() === "") continue
    const parsed = parseJson(line)
    const change = parsed.ok ? parsed.value : null
    if (isJsonObject(change) && change["kind"] === INITIAL && isJsonObject(change["v"])) {
      first ??= change
      noteRequests(state, removed)
      state = change["v"]
    } else if (state === undefined || !isJsonObject(change) || !apply(state, change, removed)) unread.push(line)
  }
  // One that was written over by another form of itself is there.
  for (const request of requestsIn(state)) removed.delete(textIn(request, "requestId") ?? "")
  const kept = removed.size === 0 ? {} : { "pond:removed": [...removed.values()] }
  const odd = unread.length === 0 ? {} : { "pond:unread": unread }
  return stringifyJson({ ...(isJsonObject(first) ? first : {}), kind: INITIAL, v: state ?? null, ...kept, ...odd })
}

function requestsIn(state: JsonValue | undefined): readonly JsonValue[] {
  const requests = isJsonObject(state) ? state["requests"] : undefined
  return Array.isArray(requests) ? (requests as readonly JsonValue[]) : []
}

function noteRequests(state: JsonValue | undefined, removed: Map<string, JsonValue>): void {
  for (const request of requestsIn(state)) removed.set(textIn(request, "requestId") ?? "", request)
}

/** Returns whether the change was one. */
function apply(
  state: JsonValue,
  change: Readonly<Record<string, JsonValue>>,
  removed: Map<string, JsonValue>,
): boolean {
  const { kind, k, v, i } = change
  const keys = Array.isArray(k) ? (k as Keys) : []
  const last = keys.at(-1)
  const holder = holderAt(state, keys.slice(0, -1))
  if (last === undefined || holder === undefined) return false
  if (keys[0] === "requests" && keys.length <= 2 && (kind !== PUSH || i !== undefined)) noteRequests(state, removed)
  if (kind === SET) return v === undefined ? drop(holder, last) : put(holder, last, v)
  if (kind === DELETE) return drop(holder, last)
  return kind === PUSH && push(holder, last, v, i)
}

function holderAt(state: JsonValue, keys: Keys): Holder | undefined {
  let value: JsonValue | undefined = state
  for (const key of keys) value = valueIn(value, key)
  return typeof value === "object" && value !== null ? (value as Holder) : undefined
}

function valueIn(holder: JsonValue | undefined, key: string | number): JsonValue | undefined {
  if (Array.isArray(holder)) return typeof key === "number" ? (holder as readonly JsonValue[])[key] : undefined
  return isJsonObject(holder) && Object.hasOwn(holder, key) ? holder[key] : undefined
}

/** An index far behind the end of a list would make a list of holes. */
function put(holder: Holder, key: string | number, value: JsonValue): boolean {
  if (Array.isArray(holder)) {
    if (typeof key !== "number" || !Number.isInteger(key) || key < 0 || key > holder.length) return false
    holder[key] = value
    return true
  }
  Object.defineProperty(holder, key, { value, writable: true, enumerable: true, configurable: true })
  return true
}

/** The editor writes what is not set as nothing at all; in a list it is null. */
function drop(holder: Holder, key: string | number): boolean {
  if (Array.isArray(holder)) return put(holder, key, null)
  return Reflect.deleteProperty(holder, key)
}

function push(holder: Holder, key: string | number, v: JsonValue | undefined, i: JsonValue | undefined): boolean {
  const list = valueIn(holder as JsonValue, key) ?? []
  if (!Array.isArray(list)) return false
  const end = typeof i === "number" && Number.isInteger(i) && i >= 0 ? i : list.length
  const more = Array.isArray(v) ? (v as readonly JsonValue[]) : []
  return put(holder, key, [...(list as readonly JsonValue[]).slice(0, end), ...more])
}

/**
 * Which records of a rollout are copies. A fork of before 2026 and an agent that was given its parent's history begin
 * with the parent's records, its `session_meta` among them; newer ones say where their own begin, or mark single items.
 * Each is decided from what came before it, so that a log can be read on at any line.
 */
import { isJsonObject, type JsonObject, type JsonValue } from "../../model/json.ts"
import { microsOfText } from "../../model/timestamp.ts"
import { valueAt } from "../extract.ts"
import { madeAtMs } from "./rollout-name.ts"

/** What has to be remembered of one rollout. Plain JSON. */
export interface CopyState {
  /** The thread of the rollout, and the milliseconds in which it began. */
  readonly own?: string
  readonly startMs?: number
  /** The thread that the records at this place were copied from. */
  readonly from?: string
  readonly parent?: string
  /** Records before this ordinal are inherited. */
  readonly ownOrdinal?: number
}

/** Copies are written in one go, when the thread begins; a person needs longer than this for a first prompt. */
const COPYING_MS = 1_000

/** The thread that a record was copied from, if it was. What has to be remembered is set anew where the record changes it. */
export function copiedFrom(reading: { copy: CopyState }, record: JsonObject): string | undefined {
  const state = reading.copy
  if (record["type"] === "session_meta") return afterMeta(reading, record)
  const { ownOrdinal, parent, from } = state
  if (from === undefined && ownOrdinal === undefined && record["metadata"] === undefined) return undefined
  const ordinal = record["ordinal"]
  if (ownOrdinal !== undefined && typeof ordinal === "number" && ordinal < ownOrdinal) return from ?? parent
  if (valueAt(record, "metadata", "inherited_user_message") === true) return from ?? parent
  if (from === undefined || !isOwn(state, record)) return from
  const { from: _, ...rest } = state
  reading.copy = rest
  return undefined
}

function afterMeta(reading: { copy: CopyState }, record: JsonObject): string | undefined {
  const id = textAt(record, "payload", "id")
  if (reading.copy.own === undefined) {
    reading.copy = firstMeta(record, id)
    return undefined
  }
  const { from: _, ...rest } = reading.copy
  // The desktop client writes a thread's own header again on every resume.
  const from = id === rest.own ? undefined : id
  reading.copy = from === undefined ? rest : { ...rest, from }
  return from
}

function firstMeta(record: JsonObject, id: string | undefined): CopyState {
  const startMs = msOf(textAt(record, "payload", "timestamp")) ?? msOf(textAt(record, "timestamp"))
  const parent = textAt(record, "payload", "parent_thread_id") ?? textAt(record, "payload", "forked_from_id")
  const ownOrdinal = valueAt(record, "payload", "subagent_history_start_ordinal")
  return {
    own: id ?? "",
    ...(startMs === undefined ? {} : { startMs }),
    ...(parent === undefined ? {} : { parent }),
    ...(typeof ownOrdinal === "number" ? { ownOrdinal } : {}),
  }
}

/** A turn that began after the thread did is its own. Where no turn is named, the moment of writing has to say it. */
function isOwn({ startMs }: CopyState, record: JsonObject): boolean {
  if (startMs === undefined) return false
  const turnMs = madeAtMs(turnOf(record["payload"]) ?? "")
  if (turnMs !== undefined) return turnMs >= startMs
  const writtenMs = msOf(textAt(record, "timestamp"))
  return writtenMs !== undefined && writtenMs > startMs + COPYING_MS
}

function turnOf(payload: JsonValue | undefined): string | undefined {
  if (!isJsonObject(payload)) return undefined
  return (
    textAt(payload, "turn_id") ??
    textAt(payload, "internal_chat_message_metadata_passthrough", "turn_id") ??
    textAt(payload, "metadata", "turn_id")
  )
}

function textAt(record: JsonValue, ...path: readonly string[]): string | undefined {
  const value = valueAt(record, ...path)
  return typeof value === "string" && value !== "" ? value : undefined
}

function msOf(text: string | undefined): number | undefined {
  const micros = text === undefined ? undefined : microsOfText(text)
  return micros === undefined ? undefined : Number(micros / 1000n)
}

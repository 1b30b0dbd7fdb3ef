/** What every file of this folder has to know of Droid's records. */
import { isJsonObject, type JsonValue } from "../../model/json.ts"
import type { SourceValue } from "../source-value.ts"
import { wordUnder } from "../spot.ts"

export const BRAND = { id: "droid", title: "Droid" }

export const START = "session_start"
export const COMPACTION = "compaction_state"

/** Whether it is only shown: `visibility` stands on the record or in its message. */
export function isShownOnly(record: JsonValue): boolean {
  return visibilityOf(record) === "user_only"
}

export function visibilityOf(record: JsonValue): string | undefined {
  return wordUnder(record, "visibility") ?? wordUnder(messageOf(record), "visibility")
}

export function messageOf(record: SourceValue): SourceValue
export function messageOf(record: JsonValue): JsonValue
export function messageOf(record: JsonValue): JsonValue {
  return isJsonObject(record) ? (record["message"] ?? null) : null
}

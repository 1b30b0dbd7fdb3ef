/** What every file of this folder has to know of OpenHands' events. */
import { isJsonObject, type JsonObject, type JsonValue } from "../../model/json.ts"
import { wordUnder } from "../spot.ts"

export const BRAND = { id: "openhands", title: "OpenHands" }

/** What is known of a conversation as a whole, written anew with each event. */
export const STATE = "base_state.json"
/** `events/event-00012-<id>.json`: the number has five digits or more. */
export const EVENT = /^event-(\d{5,})-[\w-]+\.json$/

export const SUMMED_UP = "Condensation"

/** An event's kind; nothing for what is no event. */
export function kindOf(record: JsonValue | undefined): string | undefined {
  return wordUnder(record, "kind")
}

export function isState(record: JsonValue | undefined): record is JsonObject {
  return isJsonObject(record) && "execution_status" in record && !("kind" in record)
}

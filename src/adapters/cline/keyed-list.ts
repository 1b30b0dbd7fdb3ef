/** Cline gives messages new ids when a session goes on, and Roo Code marks old ones when it sums them up: neither is a new message. */
import type { JsonValue } from "../../model/json.ts"
import { keyedList } from "../shared/keyed-list.ts"

const messages = keyedList({ key: "messages", marks: ["id", "condenseParent", "truncationParent"] })

export type { Named } from "../shared/keyed-list.ts"
export const { split: splitKeyed, named: namedIn, join: joinKeyed } = messages

export function hashedKey(item: JsonValue): string {
  return messages.keys()(item)
}

/** What every file of this folder has to know of a record. */
import type { JsonValue } from "../../model/json.ts"
import { wordUnder } from "../spot.ts"

export const BRAND = { id: "qwen-code" }

/** Records of which the conversation is made. All others are links of its chain, or beside it. */
export const SPOKEN: ReadonlySet<string | undefined> = new Set(["user", "assistant", "tool_result"])

/** Of a record that the client wrote about itself. */
export function systemKind(record: JsonValue): string | undefined {
  return wordUnder(record, "type") === "system" ? wordUnder(record, "subtype") : undefined
}

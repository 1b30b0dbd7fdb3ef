/** What every file of this folder has to know of Claude.ai's conversations. */
import { isJsonObject, type JsonValue } from "../../model/json.ts"
import type { DocumentShape } from "../shared/documents.ts"

export const BRAND = { id: "claude-ai", title: "Claude.ai" }

export const shape: DocumentShape = { key: "chat_messages", idOf: (item) => textIn(item, "uuid") }

export function textIn(value: JsonValue | undefined, key: string): string | undefined {
  const text = isJsonObject(value) ? value[key] : undefined
  return typeof text === "string" && text !== "" ? text : undefined
}

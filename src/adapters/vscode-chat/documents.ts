/** What every file of this folder has to know of the chats of Visual Studio Code. */
import { isJsonObject, type JsonValue } from "../../model/json.ts"
import type { DocumentShape } from "../shared/documents.ts"

export const BRAND = { id: "vscode-chat", title: "VS Code Chat" }

/** A chat has its requests: what a person asked, with all that came of it. A log has them in the state that it amounts to. */
export const shape: DocumentShape = { key: "requests", within: "v", idOf: (request) => textIn(request, "requestId") }

export function textIn(value: JsonValue | undefined, key: string): string | undefined {
  const text = isJsonObject(value) ? value[key] : undefined
  return typeof text === "string" && text !== "" ? text : undefined
}

/** The chat itself: of a log its state. */
export function chatIn(document: JsonValue): JsonValue {
  return isJsonObject(document) && isJsonObject(document["v"]) ? document["v"] : document
}

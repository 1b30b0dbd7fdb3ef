/** What every file of this folder has to know of ChatGPT's conversations. */
import { isJsonObject, type JsonValue } from "../../model/json.ts"
import type { DocumentShape } from "../shared/documents.ts"

export const BRAND = { id: "chatgpt", title: "ChatGPT" }

/** The nodes of the tree, each under its id. */
export const shape: DocumentShape = {
  key: "mapping",
  idOf: (node) => textIn(node, "id"),
}

/** How files of a conversation are named: in pointers, in lists of attachments, and at the beginning of their own names. */
export const ASSET_IDS = /file[-_][0-9A-Za-z]{4,64}/g

export function textIn(value: JsonValue | undefined, key: string): string | undefined {
  const text = isJsonObject(value) ? value[key] : undefined
  return typeof text === "string" && text !== "" ? text : undefined
}

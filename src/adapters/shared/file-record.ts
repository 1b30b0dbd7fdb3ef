/** Reads what records of tool calls say of whole files: most clients keep the text before and after an edit for their diff. */
import { isJsonObject, type JsonObject, type JsonValue } from "../../model/json.ts"
import type { FileRecord } from "../adapter.ts"

/** The value behind some keys of nested objects. */
export function valueBelow(value: JsonValue | undefined, ...keys: readonly string[]): JsonValue | undefined {
  let found = value
  for (const key of keys) found = isJsonObject(found) ? found[key] : undefined
  return found
}

/** The item of a list whose field holds this value. */
export function itemWith(list: JsonValue | undefined, field: string, value: string): JsonObject | undefined {
  const items = Array.isArray(list) ? list : []
  return items.find((item): item is JsonObject => isJsonObject(item) && item[field] === value)
}

/** What a tool tells the model says that there was no such file, also where no record does. */
export function createdOr(created: RegExp, result: string, found: FileRecord | undefined): FileRecord | undefined {
  return created.test(result) ? { ...found, before: null } : found
}

/** Clients of Gemini's family show a diff with both texts whole, and tell the model of a file that they made. */
export function fileRecordOfDisplay(display: JsonValue | undefined, result: string): FileRecord | undefined {
  return createdOr(/^Successfully created and wrote to new file/, result, shownTexts(display))
}

function shownTexts(display: JsonValue | undefined): FileRecord | undefined {
  const before = valueBelow(display, "originalContent")
  const after = valueBelow(display, "newContent")
  if (typeof before !== "string" || typeof after !== "string") return undefined
  const diff = valueBelow(display, "fileDiff")
  // A file that is new and one that was empty have the same text before; the diff of the first begins at line 0.
  const isNew =
    valueBelow(display, "isNewFile") ?? (before === "" && typeof diff === "string" && diff.includes("\n@@ -0,0 "))
  return { before: isNew === true ? null : before, whole: after }
}

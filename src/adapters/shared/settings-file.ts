/** A settings file of a client. Settings that cannot be read say nothing to pond; the client itself may still read them. */
import { readFileSync } from "node:fs"
import { isJsonObject, type JsonObject, parseJson } from "../../model/json.ts"
import { isSystemError } from "../../platform/system-error.ts"

/** Its JSON object, or an empty one. */
export function readSettings(path: string): JsonObject {
  const parsed = parseJson(readText(path))
  return parsed.ok && isJsonObject(parsed.value) ? parsed.value : {}
}

function readText(path: string): string {
  try {
    return readFileSync(path, "utf8")
  } catch (error) {
    if (isSystemError(error)) return ""
    throw error
  }
}

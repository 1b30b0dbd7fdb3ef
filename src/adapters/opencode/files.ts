/** What opencode records of a file that a tool wrote: the metadata of the call's state. */
import { isJsonObject, type JsonValue } from "../../model/json.ts"
import type { FileRecord } from "../adapter.ts"
import { valueBelow } from "../shared/file-record.ts"

export function fileRecord(record: JsonValue, callId: string): FileRecord | undefined {
  const parts = valueBelow(record, "part")
  const data = (Array.isArray(parts) ? parts : [])
    .map((part) => (isJsonObject(part) && isJsonObject(part["data"]) ? part["data"] : part))
    .find((each) => valueBelow(each, "callID") === callId)
  const metadata = valueBelow(data, "state", "metadata")
  if (valueBelow(metadata, "exists") === false) return { before: null }
  const before = valueBelow(metadata, "filediff", "before")
  const after = valueBelow(metadata, "filediff", "after")
  return typeof before === "string" && typeof after === "string" ? { before, whole: after } : undefined
}

/** What Copilot records of a file that a tool wrote: a diff, which says whether the file is new. */
import type { JsonValue } from "../../model/json.ts"
import type { FileRecord } from "../adapter.ts"
import { createdOr, valueBelow } from "../shared/file-record.ts"

export function fileRecord(record: JsonValue, callId: string, result: string): FileRecord | undefined {
  return createdOr(/^Created file /, result, recordedFile(record, callId))
}

function recordedFile(record: JsonValue, callId: string): FileRecord | undefined {
  if (valueBelow(record, "data", "toolCallId") !== callId) return undefined
  const diff = valueBelow(record, "data", "result", "detailedContent")
  return typeof diff === "string" && /^create file mode |^--- (?:a\/)?(?:\/)?dev\/null$/m.test(diff)
    ? { before: null }
    : undefined
}

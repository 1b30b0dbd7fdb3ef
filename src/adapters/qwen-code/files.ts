/** What Qwen Code records of a file that a tool wrote: the display of the result. */
import type { JsonValue } from "../../model/json.ts"
import type { FileRecord } from "../adapter.ts"
import { fileRecordOfDisplay, valueBelow } from "../shared/file-record.ts"

export function fileRecord(record: JsonValue, callId: string): FileRecord | undefined {
  if (valueBelow(record, "toolCallResult", "callId") !== callId) return undefined
  return fileRecordOfDisplay(valueBelow(record, "toolCallResult", "resultDisplay"))
}

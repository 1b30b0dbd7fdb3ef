/** What Qwen Code records of a file that a tool wrote: the display of the result. */
import type { JsonValue } from "../../model/json.ts"
import type { FileRecord } from "../adapter.ts"
import { fileRecordOfDisplay, valueBelow } from "../shared/file-record.ts"

export function fileRecord(record: JsonValue, callId: string, result: string): FileRecord | undefined {
  const told =
    valueBelow(record, "toolCallResult", "callId") === callId ? valueBelow(record, "toolCallResult") : undefined
  return fileRecordOfDisplay(valueBelow(told, "resultDisplay"), result)
}

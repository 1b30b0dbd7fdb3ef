/** What Gemini CLI records of a file that a tool wrote: the display of the call. */
import type { JsonValue } from "../../model/json.ts"
import type { FileRecord } from "../adapter.ts"
import { fileRecordOfDisplay, itemWith, valueBelow } from "../shared/file-record.ts"

export function fileRecord(record: JsonValue, callId: string, result: string): FileRecord | undefined {
  return fileRecordOfDisplay(itemWith(valueBelow(record, "toolCalls"), "id", callId)?.["resultDisplay"], result)
}

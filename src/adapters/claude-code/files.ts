/** What Claude Code records of a file that a tool read or wrote: `toolUseResult`, in an audit `tool_use_result`. */
import { isJsonObject, type JsonValue } from "../../model/json.ts"
import type { FileRecord } from "../adapter.ts"
import { createdOr, valueBelow } from "../shared/file-record.ts"

export function fileRecord(record: JsonValue, _callId: string, result: string): FileRecord | undefined {
  return createdOr(/^File created successfully at/, result, recordedFile(record))
}

function recordedFile(record: JsonValue): FileRecord | undefined {
  const told = valueBelow(record, "toolUseResult") ?? valueBelow(record, "tool_use_result")
  if (!isJsonObject(told)) return undefined
  if (isJsonObject(told["file"])) return shownFile(told["file"])
  if (told["type"] === "create") return { before: null }
  const before = told["originalFile"]
  // Null also stands where the file was too large to keep.
  return typeof before === "string" ? { before } : undefined
}

/** A read of a part of the file says how many lines there are in all. */
function shownFile(file: { readonly [key: string]: JsonValue }): FileRecord | undefined {
  const { content, startLine, numLines, totalLines } = file
  const isWhole = startLine === 1 && numLines === totalLines
  return isWhole && typeof content === "string" ? { whole: content } : undefined
}

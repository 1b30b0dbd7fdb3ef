/** What Droid would send now: from the last summary on what was said since the message that it ends with, and nothing that is only shown. */
import { isJsonObject, type JsonValue, parseJson } from "../../model/json.ts"
import type { Entry, Part, SessionLog } from "../../model/session.ts"
import { entriesByRecord, type RecordEntries, sourceOf } from "../shared/native.ts"
import { wordUnder } from "../spot.ts"
import { COMPACTION, isShownOnly } from "./records.ts"

export function context(log: SessionLog): readonly Entry[] {
  const groups = [...entriesByRecord(log)]
  const at = groups.findLastIndex((group) => wordUnder(recordBehind(group), "type") === COMPACTION)
  const summary = groups[at]
  const live = summary === undefined ? groups : [summary, ...groups.slice(keptFrom(groups, at)).filter(isNoSummary)]
  const entries = live
    .filter((group) => !isShownOnly(recordBehind(group)))
    .flatMap((group) => group.entries.filter(({ message, parts }) => message.role !== "system" && parts.length > 0))
  return withSentences(entries)
}

/** What the client tells its model of a file that was written, instead of the JSON that it keeps. */
const SENTENCES: Readonly<Record<string, string>> = { Create: "created", Edit: "updated" }

function withSentences(entries: readonly Entry[]): readonly Entry[] {
  const names = new Map<string, string>()
  return entries.map((entry) => {
    for (const part of entry.parts) if (part.type === "tool_call") names.set(part.call_id, part.name)
    if (entry.message.role !== "tool") return entry
    const parts = entry.parts.map((part): Part => {
      const done = part.type === "tool_result" ? SENTENCES[names.get(part.call_id) ?? ""] : undefined
      const path = part.type === "tool_result" && done !== undefined ? writtenPath(part.result) : undefined
      return path === undefined
        ? part
        : ({ ...part, result: `The file ${path} has been ${done} successfully.` } as Part)
    })
    return { ...entry, parts } as Entry
  })
}

function writtenPath(result: unknown): string | undefined {
  const parsed = typeof result === "string" ? parseJson(result) : undefined
  if (parsed?.ok !== true || !isJsonObject(parsed.value) || parsed.value["success"] !== true) return undefined
  return wordUnder(parsed.value, "file_path")
}

/** The first record behind the message that the summary ends with. Where that is not there, what came after the summary. */
function keptFrom(groups: readonly RecordEntries[], at: number): number {
  const summary = groups[at]
  const record = summary === undefined ? null : recordBehind(summary)
  const anchor = isJsonObject(record) ? wordUnder(record["anchorMessage"], "id") : undefined
  const found = groups.findIndex((group, index) => index < at && wordUnder(recordBehind(group), "id") === anchor)
  return anchor === undefined || found < 0 ? at + 1 : found + 1
}

function isNoSummary(group: RecordEntries): boolean {
  return wordUnder(recordBehind(group), "type") !== COMPACTION
}

function recordBehind({ newest }: RecordEntries): JsonValue {
  return sourceOf(newest)["record"] ?? null
}

/** What Goose would send now: the rows that its model may see, in their order. A compaction hides the others. */
import { isJsonObject } from "../../model/json.ts"
import type { Entry, SessionLog } from "../../model/session.ts"
import { entriesByRecord, sourceOf } from "../shared/native.ts"
import { type LiveRow, liveRows } from "../shared/row-parser.ts"
import { MESSAGES } from "./records.ts"

export function context(log: SessionLog): readonly Entry[] {
  const rows = liveRows(log, MESSAGES)
  const entries = rows.length === 0 ? logEntries(log) : rows.filter(isSent).flatMap((each) => each.entries)
  return entries.filter(({ message, parts }) => message.role !== "system" && parts.length > 0)
}

function isSent({ row }: LiveRow): boolean {
  const metadata = row["metadata_json"] ?? null
  return !isJsonObject(metadata) || metadata["agentVisible"] !== false
}

/** A log has no rows. */
function logEntries(log: SessionLog): readonly Entry[] {
  return [...entriesByRecord(log)].flatMap(({ newest, entries }) =>
    sourceOf(newest)["table"] === undefined ? [...entries] : [],
  )
}

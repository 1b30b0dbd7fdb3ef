/** What Hermes would send now: the rows that are live, in the order of their numbers. Those that were summed up or undone are not. */
import type { Entry, SessionLog } from "../../model/session.ts"
import { entriesByRecord, sourceOf } from "../shared/native.ts"
import { liveRows } from "../shared/row-parser.ts"
import { MESSAGES } from "./records.ts"

export function context(log: SessionLog): readonly Entry[] {
  const rows = liveRows(log, MESSAGES)
  const entries = rows.length === 0 ? snapshotEntries(log) : rows.filter(isLive).flatMap((each) => each.entries)
  return entries.filter(({ message, parts }) => message.role !== "system" && parts.length > 0)
}

function isLive({ row }: { readonly row: { readonly [key: string]: unknown } }): boolean {
  return row["active"] !== 0
}

/** A snapshot has what was live when it was written. */
function snapshotEntries(log: SessionLog): readonly Entry[] {
  return [...entriesByRecord(log)].flatMap(({ newest, entries }) =>
    sourceOf(newest)["table"] === undefined ? [...entries] : [],
  )
}

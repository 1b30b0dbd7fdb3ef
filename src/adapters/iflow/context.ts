/**
 * The live conversation: what was said and called, in the order of the file. The parents of records are no help: records of
 * one step share a parent and are no branches. Reads kept records, never the disk.
 */
import type { Entry, SessionLog } from "../../model/session.ts"
import { entriesByRecord } from "../shared/native.ts"

export function context(log: SessionLog): readonly Entry[] {
  return [...entriesByRecord(log)].flatMap(({ entries }) =>
    entries.filter(({ message, parts }) => message.role !== "system" && parts.length > 0),
  )
}

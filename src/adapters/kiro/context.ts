/** The live conversation: of a log all of it, of a document what it names. Reads kept records, never the disk. */
import type { Entry, SessionLog } from "../../model/session.ts"
import { mainPlaceOf } from "../shared/native.ts"
import { conversation } from "./parse.ts"

export function context(log: SessionLog): readonly Entry[] {
  if (!mainPlaceOf(log).endsWith(".jsonl")) return conversation.context(log, [])
  return log.entries.filter(({ message, parts }) => message.role !== "system" && parts.length > 0)
}

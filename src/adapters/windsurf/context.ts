/** The live conversation: of a chat as `shared/listed-document.ts` says, of a transcript all of it. */
import type { Entry, SessionLog } from "../../model/session.ts"
import { mainPlaceOf } from "../shared/native.ts"
import { chat } from "./parse.ts"

export function context(log: SessionLog, ancestors: readonly SessionLog[]): readonly Entry[] {
  if (!mainPlaceOf(log).endsWith(".jsonl")) return chat.context(log, ancestors)
  return log.entries.filter(({ message, parts }) => message.role !== "system" && parts.length > 0)
}

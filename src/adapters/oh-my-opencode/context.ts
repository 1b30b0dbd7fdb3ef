/** The live conversation: all of the transcript. */
import type { Entry, SessionLog } from "../../model/session.ts"

export function context({ entries }: SessionLog): readonly Entry[] {
  return entries.filter(({ message, parts }) => message.role !== "system" && parts.length > 0)
}

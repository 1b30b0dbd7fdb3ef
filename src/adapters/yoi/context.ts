/** The live conversation: a segment has all that its model is sent, what was said before it included. */
import type { Entry, SessionLog } from "../../model/session.ts"

export function context({ entries }: SessionLog): readonly Entry[] {
  return entries.filter(({ message, parts }) => message.role !== "system" && parts.length > 0)
}

/** The live conversation of a session. For now every message that holds something. */
import type { Entry, SessionLog } from "../../model/session.ts"

export function context(log: SessionLog): readonly Entry[] {
  return log.entries.filter(({ parts }) => parts.length > 0)
}

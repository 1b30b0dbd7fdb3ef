/** The live conversation: everything that was said, in order. This client knows no branches and no compaction. */
import type { Entry, SessionLog } from "../../../../src/model/session.ts"

export function context({ entries }: SessionLog): readonly Entry[] {
  return entries.filter(({ parts }) => parts.length > 0)
}

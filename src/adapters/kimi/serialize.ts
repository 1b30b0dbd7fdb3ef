/** Kimi from canonical: its files as they were, or as Kimi Code would have written them (`foreign.ts`). */
import type { Serialize } from "../adapter.ts"
import { createNativeSerializer, mainPlaceOf } from "../shared/native.ts"
import { inOtherHome } from "../shared/other-home.ts"
import { foreign } from "./foreign.ts"
import { isOfOldClient } from "./records.ts"

export const serialize: Serialize = {
  /** The last kimi-cli only says that it is no longer maintained. */
  native: (session, sink) => {
    const serializer = createNativeSerializer(session, sink)
    const isOutdated = isOfOldClient(mainPlaceOf({ session, entries: [] }))
    return { push: serializer.push, end: () => ({ ...serializer.end(), ...(isOutdated ? { isOutdated } : {}) }) }
  },
  foreign,
  resume: (sessionId, cwd, { root } = {}) => {
    const command = ["kimi", "--session", sessionId]
    return root === undefined
      ? { command, cwd }
      : { ...inOtherHome("Kimi Code", { KIMI_CODE_HOME: root }), command, cwd }
  },
}

/** OpenHands from canonical: its documents as they were, or events as it would have written them (`foreign.ts`). */
import type { Serialize } from "../adapter.ts"
import { createNativeSerializer } from "../shared/native.ts"
import { inOtherHome } from "../shared/other-home.ts"
import { foreign } from "./foreign.ts"
import { BRAND } from "./records.ts"

export const serialize: Serialize = {
  native: createNativeSerializer,
  foreign,
  resume: (sessionId, cwd, { root } = {}) => {
    const command = ["openhands", "--resume", sessionId]
    if (root === undefined) return { command, cwd }
    return { ...inOtherHome(BRAND.title, { OPENHANDS_PERSISTENCE_DIR: root }), command, cwd }
  },
}

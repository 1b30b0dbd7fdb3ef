/** Droid from canonical: its log and settings as they were, or a log as it would have written it (`foreign.ts`). */
import { dirname } from "node:path"
import type { Serialize } from "../adapter.ts"
import { createNativeSerializer } from "../shared/native.ts"
import { inOtherHome } from "../shared/other-home.ts"
import { foreign } from "./foreign.ts"
import { BRAND } from "./records.ts"

export const serialize: Serialize = {
  native: createNativeSerializer,
  foreign,
  resume: (sessionId, cwd, { root } = {}) => {
    const command = ["droid", "--resume", sessionId]
    if (root === undefined) return { command, cwd }
    return { ...inOtherHome(BRAND.title, { FACTORY_HOME_OVERRIDE: dirname(root) }), command, cwd }
  },
}

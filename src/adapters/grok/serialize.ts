/** Grok from canonical: its files as they were, or as it would have written them (`foreign.ts`). */
import type { Serialize } from "../adapter.ts"
import { inOtherHome } from "../shared/other-home.ts"
import { foreign } from "./foreign.ts"
import { nativeOf } from "./history.ts"
import { BRAND } from "./records.ts"

export const serialize: Serialize = {
  native: nativeOf,
  foreign,
  resume: (sessionId, cwd, { root } = {}) => {
    const command = ["grok", "--resume", sessionId]
    return root === undefined ? { command, cwd } : { ...inOtherHome(BRAND.title, { GROK_HOME: root }), command, cwd }
  },
}

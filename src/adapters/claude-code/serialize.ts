/** Claude Code from canonical: its logs as they were, or logs as it would have written them (`foreign.ts`). */
import type { Serialize } from "../adapter.ts"
import { createNativeSerializer } from "../shared/native.ts"
import { inOtherHome } from "../shared/other-home.ts"
import { foreign } from "./foreign.ts"

export const serialize: Serialize = {
  native: createNativeSerializer,
  foreign,
  resume: (sessionId, cwd, { root } = {}) => {
    const command = ["claude", "--resume", sessionId]
    return root === undefined
      ? { command, cwd }
      : { ...inOtherHome("Claude Code", { CLAUDE_CONFIG_DIR: root }), command, cwd }
  },
}

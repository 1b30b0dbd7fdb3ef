/** Qwen Code from canonical: its logs as they were, or logs as it would have written them (`foreign.ts`). */
import type { Serialize } from "../adapter.ts"
import { createNativeSerializer } from "../shared/native.ts"
import { inOtherHome } from "../shared/other-home.ts"
import { foreign } from "./foreign.ts"

export const serialize: Serialize = {
  native: createNativeSerializer,
  foreign,
  resume: (sessionId, cwd, { root } = {}) => {
    const command = ["qwen", "--resume", sessionId]
    return root === undefined ? { command, cwd } : { ...inOtherHome("Qwen Code", { QWEN_HOME: root }), command, cwd }
  },
}

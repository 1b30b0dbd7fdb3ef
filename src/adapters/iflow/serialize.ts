/** iFlow from canonical: its log as it was, or a log as it would have written it (`foreign.ts`). */
import type { Serialize } from "../adapter.ts"
import { createNativeSerializer } from "../shared/native.ts"
import { foreign } from "./foreign.ts"

export const serialize: Serialize = {
  native: createNativeSerializer,
  foreign,
  resume: (sessionId, cwd) => ({ command: ["iflow", "-r", sessionId], cwd }),
}

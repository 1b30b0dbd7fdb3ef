/** Amp from canonical: its document as it was, or as the client would have written it (`foreign.ts`). */
import type { Serialize } from "../adapter.ts"
import { keyedSerializer } from "../shared/keyed-serializer.ts"
import { messages } from "./documents.ts"
import { foreign } from "./foreign.ts"

export const serialize: Serialize = {
  native: (session, sink) => keyedSerializer(session, sink, messages),
  foreign,
  resume: (sessionId, cwd) => ({
    ...{ command: ["amp", "threads", "continue", sessionId], cwd },
    note: "Versions of Amp from spring 2026 on keep threads on their server, and open no file.",
  }),
}

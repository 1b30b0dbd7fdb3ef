/** Copilot from canonical: its files as they were, or a log as it would have written it (`foreign.ts`). */
import type { Session } from "../../model/session.ts"
import type { FileSink, NativeSerializer, Serialize } from "../adapter.ts"
import { createNativeSerializer, mainPlaceOf } from "../shared/native.ts"
import { inOtherHome } from "../shared/other-home.ts"
import { foreign } from "./foreign.ts"

export const serialize: Serialize = {
  native,
  foreign,
  resume: (sessionId, cwd, { root } = {}) => ({
    ...(root === undefined ? {} : inOtherHome("GitHub Copilot CLI", { COPILOT_HOME: root })),
    command: ["copilot", `--resume=${sessionId}`],
    cwd,
  }),
}

/** The client of today opens no document of 2025. */
function native(session: Session, sink: FileSink): NativeSerializer {
  const records = createNativeSerializer(session, sink)
  const isOutdated = mainPlaceOf({ session, entries: [] }).endsWith(".json")
  return { push: records.push, end: () => ({ ...records.end(), isOutdated }) }
}

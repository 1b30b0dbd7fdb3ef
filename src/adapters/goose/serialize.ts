/** Goose from canonical: its rows as they are now, a log as it was, or rows as it would have written them (`foreign.ts`). */
import { dirname } from "node:path"
import type { Session } from "../../model/session.ts"
import type { FileSink, NativeSerializer, Serialize } from "../adapter.ts"
import { createNativeSerializer, mainPlaceOf } from "../shared/native.ts"
import { inOtherHome } from "../shared/other-home.ts"
import { createRowSerializer } from "../shared/row-parser.ts"
import { foreign } from "./foreign.ts"
import { clientIdOf } from "./identity.ts"
import { BRAND } from "./records.ts"

export const serialize: Serialize = {
  native,
  foreign,
  resume: (sessionId, cwd, { root } = {}) => {
    const command = ["goose", "session", "--resume", "--session-id", sessionId]
    if (root === undefined) return { command, cwd }
    return { ...inOtherHome(BRAND.title, { XDG_DATA_HOME: dirname(root) }), command, cwd }
  },
}

/** The client takes logs over when it makes its database, and reads none that come later. */
function native(session: Session, sink: FileSink): NativeSerializer {
  if (!mainPlaceOf({ session, entries: [] }).endsWith(".jsonl")) {
    const rows = createRowSerializer(session, sink)
    return { push: rows.push, end: () => ({ ...rows.end(), sessionId: clientIdOf(session.id) }) }
  }
  const serializer = createNativeSerializer(session, sink)
  return { push: serializer.push, end: () => ({ ...serializer.end(), isOutdated: true }) }
}

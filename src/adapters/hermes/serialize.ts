/** Hermes from canonical: its rows as they are now, a snapshot as it was, or rows as it would have written them (`foreign.ts`). */
import { dirname } from "node:path"
import type { Session } from "../../model/session.ts"
import type { FileSink, NativeSerializer, Serialize } from "../adapter.ts"
import { createDocumentSerializer } from "../shared/documents.ts"
import { mainPlaceOf } from "../shared/native.ts"
import { inOtherHome } from "../shared/other-home.ts"
import { createRowSerializer } from "../shared/row-parser.ts"
import { foreign } from "./foreign.ts"
import { BRAND } from "./records.ts"

export const serialize: Serialize = {
  native,
  foreign,
  resume: (sessionId, cwd, { root, relativePath = "" } = {}) => {
    const command = ["hermes", "chat", "--resume", sessionId]
    const profile = dirname(relativePath)
    if (root === undefined)
      return {
        command: profile.startsWith("profiles/") ? [...withProfile(profile), ...command.slice(1)] : command,
        cwd,
      }
    return { ...inOtherHome(BRAND.title, { HERMES_HOME: root }), command, cwd }
  },
}

function withProfile(folder: string): string[] {
  return ["hermes", "--profile", folder.split("/")[1] ?? ""]
}

const SHAPE = { key: "messages", idOf: () => undefined }

/** The client reads its database alone. */
function native(session: Session, sink: FileSink): NativeSerializer {
  const place = mainPlaceOf({ session, entries: [] })
  if (!place.endsWith(".json")) return createRowSerializer(session, sink)
  const serializer = createDocumentSerializer(session, sink, SHAPE)
  return { push: serializer.push, end: () => ({ ...serializer.end(), isOutdated: true }) }
}

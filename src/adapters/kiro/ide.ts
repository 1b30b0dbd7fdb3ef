/** Kiro: the sessions of its editor. Those of its command line have another form (`adapter.ts`). */
import type { Entry, SessionLog } from "../../model/session.ts"
import type { Adapter } from "../adapter.ts"
import { createNativeSerializer, mainPlaceOf } from "../shared/native.ts"
import { opensNothing } from "../shared/read-only.ts"
import { codecOf, IDE, parseIde } from "./ide-parse.ts"
import { ideAssemble, ideConcerns, ideSource } from "./ide-source.ts"

const UUID = "[\\da-f]{8}(?:-[\\da-f]{4}){3}-[\\da-f]{12}"

export const kiroIde: Adapter = {
  id: IDE.id,
  title: IDE.title,
  judged: { by: "source only", from: "2025", to: "2026" },
  source: ideSource,
  parse: parseIde,
  context: ideContext,
  serialize: {
    native: (session, sink) => {
      const place = mainPlaceOf({ session, entries: [] })
      return place.endsWith(".jsonl") ? createNativeSerializer(session, sink) : codecOf(place).native(session, sink)
    },
    resume: opensNothing(IDE.title),
  },
  output: {
    sessionIds: new RegExp(`^(?:(?:sess_)?${UUID}|[\\da-f]{32})$`),
    relativePaths: [
      /^[\da-f]{32}\/[\da-f]{32}\.chat$/,
      new RegExp(`^workspace-sessions/[\\w=+-]{1,255}/${UUID}\\.json$`),
      new RegExp(`^sessions/[\\w=+-]{1,255}/sess_${UUID}/(?:messages\\.jsonl|session\\.json)$`),
    ],
  },
  assemble: ideAssemble,
  watching: { concerns: ideConcerns },
}

/** Of a log all of it, of a document what it lists. */
function ideContext(log: SessionLog, ancestors: readonly SessionLog[]): readonly Entry[] {
  const place = mainPlaceOf(log)
  if (!place.endsWith(".jsonl")) return codecOf(place).context(log, ancestors)
  return log.entries.filter(({ message, parts }) => message.role !== "system" && parts.length > 0)
}

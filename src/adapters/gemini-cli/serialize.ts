/** Gemini CLI from canonical: its chats as they were, or as it would have written them (`foreign.ts`). */
import { basename, dirname } from "node:path"
import { isJsonObject, type JsonValue } from "../../model/json.ts"
import type { Session, SessionLog } from "../../model/session.ts"
import type { FileSink, NativeSerializer, Serialize } from "../adapter.ts"
import { createDocumentSerializer } from "../shared/documents.ts"
import {
  createNativeSerializer,
  mainPlaceOf,
  type NativeRecord,
  nativeRecords,
  wholeSession,
  writeRecord,
} from "../shared/native.ts"
import { inOtherHome } from "../shared/other-home.ts"
import { foreign } from "./foreign.ts"
import { isHashFolder } from "./project-folder.ts"
import { SHAPE } from "./records.ts"

export const serialize: Serialize = {
  native,
  foreign,
  resume: (sessionId, cwd, { root } = {}) => {
    const command = ["gemini", "--resume", sessionId]
    const own = { command, note: DELETES, cwd }
    // Its variable names the directory that this one is in.
    if (root === undefined || basename(root) !== ".gemini") return own
    const elsewhere = inOtherHome("Gemini CLI", { GEMINI_CLI_HOME: dirname(root) })
    return { ...own, ...elsewhere, note: `${elsewhere.note} ${DELETES}` }
  },
}

const DELETES = "It deletes chats older than general.sessionRetention.maxAge (30 days) when it starts."

function native(session: Session, sink: FileSink): NativeSerializer {
  const main = mainPlaceOf({ session, entries: [] })
  const records = main.endsWith(".json")
    ? documentSerializer(session, sink, main)
    : createNativeSerializer(session, sink)
  return {
    push: (entries) => records.push(entries),
    end: () => ({ ...records.end(), isOutdated: isHashFolder(main) }),
  }
}

/** A document that went on as a log is the log that the client made of it. */
function documentSerializer(session: Session, sink: FileSink, main: string): NativeSerializer {
  return wholeSession(session, (log) => {
    const isLog = (record: NativeRecord) => record.relativePath === main && record.form === "log"
    if ([...nativeRecords(log)].some(isLog)) writeMigrated(log, sink, main)
    else {
      const document = createDocumentSerializer(session, sink, SHAPE)
      document.push(log.entries)
      document.end()
    }
    return { sessionId: session.id }
  })
}

function writeMigrated(log: SessionLog, sink: FileSink, main: string): void {
  for (const record of nativeRecords(log)) {
    const { relativePath, content } = record
    if (relativePath !== main) writeRecord(record, sink)
    else {
      const line = "json" in content ? { json: withoutMessages(content.json) } : content
      writeRecord({ ...record, relativePath: `${main}l`, form: "log", content: line }, sink)
    }
  }
}

/** Of a header: its messages are separate lines. */
function withoutMessages(record: JsonValue): JsonValue {
  if (!isJsonObject(record) || typeof record["sessionId"] !== "string" || !Array.isArray(record["messages"]))
    return record
  const { messages: _, ...header } = record
  return header
}

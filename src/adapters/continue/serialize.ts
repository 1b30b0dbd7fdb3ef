/** Continue from canonical: its document and its entry as they were, or as the client would have written them (`foreign.ts`). */
import type { FileSink, Serialize } from "../adapter.ts"
import { keyedSerializer } from "../shared/keyed-serializer.ts"
import { inOtherHome } from "../shared/other-home.ts"
import { history, INDEX_KEY, isIndex } from "./documents.ts"
import { foreign } from "./foreign.ts"

export const serialize: Serialize = {
  native: (session, sink) => keyedSerializer(session, entrySink(sink), history),
  foreign,
  // It resumes the newest session alone; one that is named it goes on with as a copy.
  resume: (sessionId, cwd, { root } = {}) => {
    const command = ["cn", "--fork", sessionId]
    const note = "Continue resumes a named session in a copy of it."
    if (root === undefined) return { command, cwd, note }
    return { ...inOtherHome("Continue", { CONTINUE_GLOBAL_DIR: root }), command, cwd }
  },
}

/** What belongs into the list of all sessions is an entry of it. */
function entrySink(sink: FileSink): FileSink {
  return {
    ...sink,
    file: (file) =>
      sink.file(file.form === "document" && isIndex(file.relativePath) ? { ...file, entryOf: INDEX_KEY } : file),
  }
}

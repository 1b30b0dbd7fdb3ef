/** Claude Code from canonical: its logs as they were, or logs as it would have written them (`foreign.ts`). */
import type { Session } from "../../model/session.ts"
import type { FileSink, NativeSerializer, Serialize } from "../adapter.ts"
import { createNativeSerializer } from "../shared/native.ts"
import { inOtherHome } from "../shared/other-home.ts"
import type { Brand } from "./brands.ts"
import { coworkForeignOf } from "./cowork-foreign.ts"
import { foreignOf } from "./foreign.ts"
import { projectKey } from "./project-key.ts"

export function serializerOf(brand: Brand): Serialize {
  return {
    native,
    foreign: foreignOf(brand),
    resume: (sessionId, cwd, { root } = {}) => {
      const command = ["claude", "--resume", sessionId]
      return root === undefined
        ? { command, cwd }
        : { ...inOtherHome("Claude Code", { CLAUDE_CONFIG_DIR: root }), command, cwd }
    },
  }
}

/** What is left of a session without a log comes back as it was, and the client opens nothing of it. */
function native(session: Session, sink: FileSink): NativeSerializer {
  let hasLog = false
  const line: FileSink["line"] = (relativePath, ...rest) => {
    // An agent of a workflow has its log in a folder of that name too; a journal is no log.
    hasLog ||= relativePath.endsWith(".jsonl") && !relativePath.endsWith("/journal.jsonl")
    sink.line(relativePath, ...rest)
  }
  const inner = createNativeSerializer(session, { ...sink, line })
  return { ...inner, end: () => (hasLog ? inner.end() : { ...inner.end(), isOutdated: true }) }
}

const CONFIG = /^(.+\/\.claude)\/projects\/([^/]+)\//

/** No command opens a task in Claude desktop. Claude Code does, where its log lies under the key of the directory. */
export function coworkSerializerOf(brand: Brand): Serialize {
  return {
    isGuest: true,
    native: createNativeSerializer,
    foreign: coworkForeignOf(brand),
    resume: (sessionId, cwd, { root, relativePath = "" } = {}) => {
      const [, config, key] = CONFIG.exec(relativePath) ?? []
      if (root === undefined || config === undefined || key !== projectKey(cwd))
        return { command: ["pond", "resume", sessionId, "--to", "claude-code"], note: NO_COMMAND, cwd }
      const elsewhere = inOtherHome("Claude Code", { CLAUDE_CONFIG_DIR: `${root}/${config}` })
      return {
        ...elsewhere,
        note: `${NO_COMMAND} ${elsewhere.note}`,
        command: ["claude", "--resume", sessionId],
        cwd,
      }
    },
  }
}

const NO_COMMAND = "Claude desktop lists its tasks when it starts; in a terminal they go on in Claude Code."

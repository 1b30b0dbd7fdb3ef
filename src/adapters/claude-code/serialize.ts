/** Claude Code from canonical: its logs as they were, or logs as it would have written them (`foreign.ts`). */

import { stringifyJson } from "../../model/json.ts"
import type { Session } from "../../model/session.ts"
import type {
  Conversation,
  FileSink,
  ForeignEnd,
  ForeignSerializer,
  ForeignTarget,
  NativeSerializer,
  Serialize,
} from "../adapter.ts"
import { hexOf } from "../shared/derived-ids.ts"
import { createNativeSerializer } from "../shared/native.ts"
import { inOtherHome } from "../shared/other-home.ts"
import { type Brand, NOBODY } from "./brands.ts"
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

const NO_COMMAND = "Claude desktop lists its tasks only when it starts; in a terminal they continue in Claude Code."

// --- Sessions of Cowork ----------------------------------------------------------------------------------------------

/**
 * A session of another client as a task of Cowork: the record that Claude desktop lists it by, with the fields that it asks for,
 * and below the task's folder the log that Claude Code would have written. The account is not known here: it lies below
 * a placeholder, for which `cowork.ts` puts the account and the organisation that a machine has.
 */
function coworkForeignOf(brand: Brand): ForeignSerializer {
  const write = foreignOf(brand)
  return (conversation, target, sink) => {
    const files: { task?: string } = {}
    const below = (place: string) => `${taskOf(place, files)}/.claude/${place}`
    const placed: FileSink = {
      line: (place, line, isShared) => sink.line(below(place), line, isShared),
      row: (place, row) => sink.row(below(place), row),
      file: (file) => sink.file({ ...file, relativePath: below(file.relativePath) }),
    }
    const end = write(conversation, target, placed)
    const task = `${NOBODY}/local_${end.sessionId}`
    sink.file({ form: "document", relativePath: `${task}.json`, text: taskRecord(conversation, target, end) })
    return end
  }
}

/** Its log is written first, and named by the session; what else is written lies in a folder of that name. */
function taskOf(place: string, files: { task?: string }): string {
  files.task ??= `${NOBODY}/local_${/([^/]+)\.jsonl$/.exec(place)?.[1] ?? ""}`
  return files.task
}

function taskRecord({ session, entries }: Conversation, { cwd }: ForeignTarget, { sessionId }: ForeignEnd): string {
  return stringifyJson({
    sessionId: `local_${sessionId}`,
    cliSessionId: sessionId,
    processName: `pond-${hexOf(sessionId, 8)}`,
    cwd,
    userSelectedFolders: [cwd],
    hostLoopMode: true,
    ...(session.title === undefined ? {} : { title: session.title }),
    createdAt: Date.parse(session.created_at),
    lastActivityAt: Date.parse(entries.at(-1)?.message.timestamp ?? session.created_at),
    isArchived: false,
  })
}

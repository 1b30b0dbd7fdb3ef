/**
 * A session of another client as a task of Cowork: the record that Claude desktop lists it by, with the fields that it asks for,
 * and below the task's folder the log that Claude Code would have written. The account is not known here: it lies below
 * a placeholder, for which `cowork.ts` puts the account and the organisation that a machine has.
 */
import { stringifyJson } from "../../model/json.ts"
import type { Conversation, FileSink, ForeignEnd, ForeignTarget, Serialize } from "../adapter.ts"
import { hexOf } from "../shared/derived-ids.ts"
import { type Brand, NOBODY } from "./brands.ts"
import { foreignOf } from "./foreign.ts"

export function coworkForeignOf(brand: Brand): Serialize["foreign"] {
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

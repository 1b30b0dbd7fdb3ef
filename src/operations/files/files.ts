/** Which files a session read and changed, its sub-agents included. */

import { diffArrays } from "diff/lib/diff/array.js"
import { type Static, Type } from "typebox"
import { textOfMicros } from "../../model/timestamp.ts"
import { sessionNotFound } from "../../sessions/read/read-sessions.ts"
import { closedObject, defineOperation } from "../operation.ts"
import { fullSessionId } from "../store/session-ids.ts"
import { sessionTree } from "../wire/session-tree.ts"
import type { FileChange } from "./file-change.ts"
import { eventsOfSessions, type SessionEvent } from "./find-events.ts"
import { splitLines } from "./line-history.ts"

const TouchedFile = closedObject({
  path: Type.String(),
  reads: Type.Integer(),
  writes: Type.Integer({ description: "How often the whole file was written." }),
  edits: Type.Integer(),
  deleted: Type.Boolean({ description: "Whether the session deleted it in the end." }),
  lines_added: Type.Integer(),
  lines_removed: Type.Integer(),
  last_at: Type.String(),
  last_message_id: Type.String(),
  last_session_id: Type.String({ description: "The session itself, or one of its sub-agents." }),
})
export type TouchedFile = Static<typeof TouchedFile>

const FilesOutput = closedObject({
  session_id: Type.String(),
  files: Type.Array(TouchedFile, { description: "Changed files first, then those that were only read; by path." }),
})
export type FilesOutput = Static<typeof FilesOutput>

export const files = defineOperation({
  name: "files",
  summary: "List the files that a session read and changed.",
  input: closedObject({
    session_id: Type.String({ minLength: 1, description: "The session. The beginning of its id is enough." }),
  }),
  output: FilesOutput,
  errors: ["not_found"],
  surfaces: { http: true, cli: "files" },
  read: true,
  run: async ({ pond, signal }, { session_id: asked }) => {
    const sessions = await pond.sessions()
    const id = await fullSessionId(sessions, asked)
    const session = await sessions.session(id)
    if (session === undefined) throw sessionNotFound(asked)
    const family = await sessionTree(sessions, session)
    const ids = withAgents(family)
    const touched = countChanges(await eventsOfSessions(sessions, ids, signal))
    const isChanged = (file: TouchedFile) => file.writes + file.edits > 0 || file.deleted
    return {
      session_id: id,
      files: touched.toSorted(
        (left, right) => Number(isChanged(right)) - Number(isChanged(left)) || (left.path < right.path ? -1 : 1),
      ),
    }
  },
})

/** A fork is a separate session, with other agents: only the agents of this one work for it. */
function withAgents(family: Awaited<ReturnType<typeof sessionTree>>): readonly string[] {
  const ids: string[] = []
  let forkDepth = Number.POSITIVE_INFINITY
  for (const { session, depth } of family) {
    if (depth > forkDepth) continue
    const isOwn = depth === 0 || session.source_agent.includes("/")
    forkDepth = isOwn ? Number.POSITIVE_INFINITY : depth
    if (isOwn) ids.push(session.id)
  }
  return ids
}

type Counting = { -readonly [Key in keyof TouchedFile]: TouchedFile[Key] }

function countChanges(events: readonly SessionEvent[]): readonly TouchedFile[] {
  const touched = new Map<string, Counting>()
  const known = new Map<string, string>()
  for (const { path, change, atMicros, messageId, sessionId } of events) {
    const file = touched.get(path) ?? untouched(path)
    touched.set(path, file)
    const { added, removed } = countLines(change, known.get(path))
    file.lines_added += added
    file.lines_removed += removed
    if (change.kind === "read") file.reads += 1
    if (change.kind === "write") file.writes += 1
    if (change.kind === "edit") file.edits += 1
    file.deleted = change.kind === "delete" || (file.deleted && change.kind === "read")
    file.last_at = textOfMicros(atMicros)
    file.last_message_id = messageId
    file.last_session_id = sessionId
    if (change.kind === "write") known.set(path, change.content)
    else if (change.kind !== "read") known.delete(path)
  }
  return [...touched.values()]
}

function untouched(path: string): Counting {
  const nothing = { reads: 0, writes: 0, edits: 0, lines_added: 0, lines_removed: 0, deleted: false }
  return { path, ...nothing, last_at: "", last_message_id: "", last_session_id: "" }
}

/** Of a write over something that nobody recorded, all lines count as added. */
function countLines(
  change: FileChange,
  known: string | undefined,
): { readonly added: number; readonly removed: number } {
  if (change.kind === "write") return differences(change.before ?? known ?? "", change.content)
  if (change.kind !== "edit") return { added: 0, removed: 0 }
  const each = change.edits.map((edit) => differences(edit.old, edit.new))
  return {
    added: each.reduce((sum, { added }) => sum + added, 0),
    removed: each.reduce((sum, { removed }) => sum + removed, 0),
  }
}

const DIFFERENCES_MAX = 5_000

function differences(before: string, after: string): { readonly added: number; readonly removed: number } {
  const [old, next] = [[...splitLines(before)], [...splitLines(after)]]
  const steps = diffArrays(old, next, { maxEditLength: DIFFERENCES_MAX })
  if (steps === undefined) return { added: next.length, removed: old.length }
  const count = (kind: "added" | "removed") => steps.reduce((sum, step) => sum + (step[kind] ? step.count : 0), 0)
  return { added: count("added"), removed: count("removed") }
}

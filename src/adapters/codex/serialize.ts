/** Native restore: the rollouts as they lay, and the thread's lines of the index of titles. */
import { isJsonObject, type JsonValue, parseJson, stringifyJson } from "../../model/json.ts"
import type { Session } from "../../model/session.ts"
import type {
  FileSink,
  NativeSerializer,
  OutputFile,
  OutputLine,
  ResumeCommand,
  Serialize,
  SessionLocation,
} from "../adapter.ts"
import { valueAt } from "../extract.ts"
import { withAt } from "../lift.ts"
import { createNativeSerializer, entriesByRecord, mainPlaceOf, sourceOf } from "../shared/native.ts"
import { inOtherHome } from "../shared/other-home.ts"
import { foreign } from "./foreign.ts"
import { INDEX_PLACE } from "./parse.ts"
import { rolloutName } from "./rollout-name.ts"
import { isArchived } from "./source.ts"

export const serialize: Serialize = { native, foreign, resume }

/** It refuses a thread that is archived, and one that is not cannot be brought back. */
function resume(sessionId: string, cwd: string, { relativePath = "", root }: SessionLocation = {}): ResumeCommand {
  return {
    ...(root === undefined ? {} : inOtherHome("Codex", { CODEX_HOME: root })),
    ...(isArchived(relativePath) ? { before: ["codex", "unarchive", sessionId] } : {}),
    command: ["codex", "resume", sessionId],
    cwd,
  }
}

/**
 * What came before envelopes is outdated: documents, and lines that are the items themselves. The client lists neither. And
 * a rollout that a crash left with half of a character at its end, of which it reads nothing: it must be UTF-8 to the last byte.
 */
function native(session: Session, sink: FileSink): NativeSerializer {
  const records = createNativeSerializer(session, sink, (relativePath) => relativePath === INDEX_PLACE)
  let isEnveloped: boolean | undefined
  let isUnread = false
  return {
    push: (entries) => {
      records.push(entries)
      const log = { session, entries }
      for (const { newest } of entriesByRecord(log)) {
        const { file, form, record, base64 } = sourceOf(newest)
        const path = typeof file === "string" ? file : mainPlaceOf(log)
        if (form === "document" || (base64 !== undefined && rolloutName(path) !== undefined)) isUnread = true
        if (record !== undefined) isEnveloped ??= isJsonObject(record) && "payload" in record
      }
    },
    end: () => ({ ...records.end(), isOutdated: isUnread || isEnveloped === false }),
  }
}

/**
 * A rollout that goes on from another one names the byte where that one's part of the history ends. Where lines changed
 * their length (a session that goes on in another directory), the byte is counted anew: the ordinals still hold.
 */
export function repoint(files: readonly OutputFile[], sink: FileSink): void {
  const rollouts = new Map<string, LogFile>()
  for (const file of files) {
    const name = rolloutName(file.relativePath)
    if (file.form === "log" && name !== undefined) rollouts.set(name.rolloutId, file)
  }
  for (const file of files) {
    if (file.form === "database") continue
    if (file.form !== "log") sink.file(file)
    else {
      const isRollout = rolloutName(file.relativePath) !== undefined
      for (const line of file.lines)
        sink.line(file.relativePath, isRollout ? repointed(line, rollouts) : line, file.isShared)
    }
  }
}

type LogFile = Extract<OutputFile, { form: "log" }>

function repointed(line: OutputLine, rollouts: ReadonlyMap<string, LogFile>): OutputLine {
  if (typeof line !== "string" || !line.includes('"history_base"')) return line
  const parsed = parseJson(line)
  const base = parsed.ok ? valueAt(parsed.value, "payload", "history_base") : undefined
  if (!parsed.ok || !isJsonObject(base)) return line
  const { thread_id: rolloutId, end_ordinal_exclusive: end, end_byte_offset: offset } = base
  const rollout = typeof rolloutId === "string" ? rollouts.get(rolloutId) : undefined
  if (rollout === undefined || typeof end !== "number") return line
  const bytes = bytesBefore(rollout, end)
  if (bytes === offset) return line
  return stringifyJson(withAt(parsed.value, ["payload", "history_base", "end_byte_offset"], bytes))
}

export function unchangedByRepoint(record: JsonValue): JsonValue {
  const base = valueAt(record, "payload", "history_base")
  return isJsonObject(base) ? withAt(record, ["payload", "history_base", "end_byte_offset"], null) : record
}

function bytesBefore({ lines }: LogFile, endOrdinal: number): number {
  let bytes = 0
  for (const line of lines) {
    const parsed = typeof line === "string" ? parseJson(line) : undefined
    const ordinal = parsed?.ok === true ? valueAt(parsed.value, "ordinal") : undefined
    if (typeof ordinal === "number" && ordinal >= endOrdinal) break
    bytes += Buffer.byteLength(line) + 1
  }
  return bytes
}

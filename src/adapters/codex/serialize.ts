/**
 * Native restore: the rollouts as they lay, and the thread's lines of the index of titles. A rollout that goes on from
 * another thread's is nothing without it, so `needs` names that thread.
 */
import { isJsonObject, type JsonValue, parseJson, stringifyJson } from "../../model/json.ts"
import type { SessionLog } from "../../model/session.ts"
import type { OutputFile, OutputLine, Serialized } from "../adapter.ts"
import { valueAt } from "../extract.ts"
import { withAt } from "../lift.ts"
import { nativeFiles, nativeRecords } from "../shared/native.ts"
import { basesOf } from "./lineage.ts"
import { INDEX_PLACE } from "./parse.ts"
import { rolloutName } from "./rollout-name.ts"

export function native(log: SessionLog): Serialized {
  const files = nativeFiles(log).map((file): OutputFile => {
    return file.form === "log" && file.place === INDEX_PLACE ? { ...file, isShared: true } : file
  })
  return { sessionId: log.session.id, files, losses: [] }
}

/**
 * What came before envelopes: documents, and lines that are the items themselves. The client lists neither. And a rollout
 * that a crash left with half of a character at its end, of which it reads nothing: it must be UTF-8 to the last byte.
 */
export function isOutdated(log: SessionLog): boolean {
  let isEnveloped: boolean | undefined
  for (const { form, place, content } of nativeRecords(log)) {
    if (form === "document") return true
    if ("base64" in content && rolloutName(place) !== undefined) return true
    if ("json" in content) isEnveloped ??= isJsonObject(content.json) && "payload" in content.json
  }
  return isEnveloped === false
}

/** The threads whose rollouts this one inherits history from. */
export function needs(log: SessionLog): readonly string[] {
  return [...new Set(basesOf(log).map(({ threadId }) => threadId))]
}

/**
 * A rollout that goes on from another one names the byte where that one's part of the history ends. Where lines changed
 * their length (a session that goes on in another directory), the byte is counted anew: the ordinals still hold.
 */
export function repoint(files: readonly OutputFile[]): OutputFile[] {
  const rollouts = new Map<string, LogFile>()
  for (const file of files) {
    const name = rolloutName(file.place)
    if (file.form === "log" && name !== undefined) rollouts.set(name.rolloutId, file)
  }
  return files.map((file) => {
    if (file.form !== "log" || rolloutName(file.place) === undefined) return file
    return { ...file, lines: file.lines.map((line) => repointed(line, rollouts)) }
  })
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

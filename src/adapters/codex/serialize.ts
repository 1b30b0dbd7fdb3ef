/**
 * Native restore: the rollouts as they lay, and the thread's lines of the index of titles. A rollout that goes on from
 * another thread's is nothing without it, so a survey names that thread.
 */
import { isJsonObject, type JsonObject, type JsonValue, parseJson, stringifyJson } from "../../model/json.ts"
import type { SessionLog } from "../../model/session.ts"
import type { LinesDraft, OutputFile, OutputLine, Serialized, Survey } from "../adapter.ts"
import { valueAt } from "../extract.ts"
import { withAt } from "../lift.ts"
import { entriesByRecord, mainPlaceOf, nativeFiles, sourceOf } from "../shared/native.ts"
import { createBases } from "./lineage.ts"
import { INDEX_PLACE } from "./parse.ts"
import { rolloutName } from "./rollout-name.ts"

export function native(log: SessionLog): Serialized {
  const files = nativeFiles(log).map((file): OutputFile => {
    return file.form === "log" && file.relativePath === INDEX_PLACE ? { ...file, isShared: true } : file
  })
  return { sessionId: log.session.id, files, losses: [] }
}

/**
 * What came before envelopes: documents, and lines that are the items themselves. The client lists neither. And a rollout
 * that a crash left with half of a character at its end, of which it reads nothing: it must be UTF-8 to the last byte.
 */
export function createSurvey(): Survey {
  const bases = createBases()
  let isEnveloped: boolean | undefined
  let isUnread = false
  function look({ file, form, record, base64 }: JsonObject, mainPlace: string): void {
    const place = typeof file === "string" ? file : mainPlace
    if (form === "document" || (base64 !== undefined && rolloutName(place) !== undefined)) isUnread = true
    if (record !== undefined) isEnveloped ??= isJsonObject(record) && "payload" in record
  }
  return {
    add: (stretch) => {
      bases.add(stretch)
      for (const { newest } of entriesByRecord(stretch)) look(sourceOf(newest), mainPlaceOf(stretch))
    },
    needs: bases.threads,
    isOutdated: () => isUnread || isEnveloped === false,
  }
}

/**
 * A rollout that goes on from another one names the byte where that one's part of the history ends. Where lines changed
 * their length (a session that goes on in another directory), the byte is counted anew: the ordinals still hold.
 */
export function repoint(files: readonly OutputFile[], newLines?: () => LinesDraft): OutputFile[] {
  const rollouts = new Map<string, LogFile>()
  for (const file of files) {
    const name = rolloutName(file.relativePath)
    if (file.form === "log" && name !== undefined) rollouts.set(name.rolloutId, file)
  }
  return files.map((file) => {
    if (file.form !== "log" || rolloutName(file.relativePath) === undefined) return file
    const lines: LinesDraft = newLines?.() ?? []
    for (const line of file.lines) lines.push(repointed(line, rollouts))
    return { ...file, lines }
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

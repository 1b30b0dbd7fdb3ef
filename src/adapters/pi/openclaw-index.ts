/**
 * The list of OpenClaw's sessions: an object of an entry for each key, in the database since 2026.7.2 and in `sessions.json`
 * before. Of an entry everything is kept but what the client renders anew for each turn.
 */
import { isJsonObject, type JsonObject, parseJson, stringifyJson } from "../../model/json.ts"
import type { OutputFile, RawRecord } from "../adapter.ts"
import { matchIn, nonEmptyStringAt, plain, type Sealed, textOfFile, valueAt } from "../extract.ts"
import type { SessionWriter } from "../session-writer.ts"
import { readJson } from "../shared/read-json.ts"
import { fieldsOf } from "../source-value.ts"

export const INDEX = "sessions.json"

/** Copies of prompts and of settings, 12 of 15 KB of an entry, and the path of the log, which a restore sets. */
const COPIES = new Set(["skillsSnapshot", "systemPromptReport", "contextBudgetStatus", "sessionFile"])

export function withoutCopies(entry: JsonObject): JsonObject {
  return Object.fromEntries(Object.entries(entry).filter(([name]) => !COPIES.has(name)))
}

export function isIndexPlace(relativePath: string): boolean {
  return relativePath === INDEX || relativePath.endsWith(`/${INDEX}`)
}

/** `agent:<agent>:subagent:<uuid>`, `agent:<agent>:cron:<job>`: what a session without a person is for. */
const KIND = /^\{"agent:[^":]+:(subagent|cron|hook|heartbeat)[:"]/

export function kindIn(raw: RawRecord | undefined): Sealed<string> | undefined {
  return raw?.form === "document" ? matchIn(textOfFile(raw), KIND) : undefined
}

/** The key of a session, as the name of its entry. */
const KEY = /^\{"((?:[^"\\]|\\.)+)":/

export interface IndexReading {
  readonly writer: SessionWriter
  /** The ids of messages that are stored already. */
  readonly seen: ReadonlySet<string>
  /** A hash of the entry that is stored. */
  readonly known: string | undefined
}

/** Keeps the entry where it is another one than before. Returns its hash. */
export function pushIndexEntry({ writer, seen, known }: IndexReading, raw: RawRecord): string | undefined {
  const record = raw.form === "document" ? readJson(raw, writer) : undefined
  if (raw.form !== "document" || record === undefined) return undefined
  const hash = Bun.hash.xxHash64(raw.text).toString(36)
  if (hash === known) return hash
  const key = matchIn(textOfFile(raw), KEY)
  const entry = fieldsOf(Object.values(fieldsOf(record))[0] ?? null)
  const title = nonEmptyStringAt(entry, "label") ?? nonEmptyStringAt(entry, "displayName")
  const pond = title === undefined ? undefined : { title: plain(title) }
  if (key !== undefined && seen.has(plain(key)))
    writer.carrier(raw, record, { pond: { ...pond, revision_of: plain(key) } })
  else writer.carrier(raw, record, { id: key, pond })
  return hash
}

// --- The way back -----------------------------------------------------------------------------------------------------

/** The client looks for the log of an entry where the entry says that it lies. */
export function indexAtRoot(root: string): (file: OutputFile) => OutputFile {
  return (file) => {
    if (file.form !== "document" || !isIndexPlace(file.relativePath)) return file
    const parsed = parseJson(file.text)
    if (!parsed.ok || !isJsonObject(parsed.value)) return file
    const folder = file.relativePath.slice(0, -INDEX.length)
    const entries = Object.entries(parsed.value).map(([key, entry]) => {
      const id = valueAt(entry, "sessionId")
      if (!isJsonObject(entry) || typeof id !== "string") return [key, entry] as const
      return [key, { ...entry, sessionFile: `${root}/${folder}${id}.jsonl` }] as const
    })
    return { ...file, text: stringifyJson(Object.fromEntries(entries)) }
  }
}

/** The key of a session in what was written of it. */
export function keyIn(files: readonly string[]): string | undefined {
  return files.flatMap((text) => KEY.exec(text)?.[1] ?? [])[0]
}

/**
 * Saved answers of the API lie wherever somebody put them, and are named with `--path`: a list of events, a page of them, or one
 * event a line, with the session among them. Its coordinator and each thread that it delegated to are a document of their events.
 */
import { readFileSync, statSync } from "node:fs"
import { basename } from "node:path"
import { isJsonObject, type JsonObject, type JsonValue, parseJson, stringifyJson } from "../../model/json.ts"
import type { Issue } from "../../model/report.ts"
import type { Source, SourceFile, SourceUnit } from "../adapter.ts"
import { pointedSource } from "../shared/pointed-files.ts"
import { isIssue } from "../shared/walk.ts"

const NAMES = /(?:^|\/)(?:sesn_[\w-]{1,80}(?:\.events)?\.jsonl?|[\w-]{1,80}(?:\.[\w-]{1,80})?\.managed\.jsonl?)$/
const WRITTEN = /\.managed\.json$/
const OPENING =
  /"(?:sesn|sevt|sthr)_\w+".*"type"\s*:\s*"(?:user|agent|session|span)\b|"type"\s*:\s*"(?:user|agent|session|span)\b.*"(?:sesn|sevt|sthr)_/s

const files = pointedSource({
  names: NAMES,
  opening: OPENING,
  formOf: () => "document",
  endingOf: () => ".managed.json",
})

export const source: Source = { ...files, plan }

function* plan(root: string): Generator<SourceUnit | Issue> {
  for (const found of files.plan(root) as Iterable<SourceUnit | Issue>) {
    const [file] = isIssue(found) ? [] : (found as SourceUnit).files
    if (file === undefined) yield found
    else yield* unitsOf(found as SourceUnit, file)
  }
}

/** What pond wrote is one session; of anything else each thread is. */
function* unitsOf(unit: SourceUnit, file: SourceFile): Generator<SourceUnit> {
  const saved = savedIn(file)
  if (saved === undefined || saved.isWritten) {
    yield unit
    return
  }
  for (const thread of [undefined, ...saved.threads]) {
    const place = thread === undefined ? `${saved.id}.managed.json` : `${saved.id}.${thread}.managed.json`
    const text = eventsDocument(saved, thread)
    const { changedMs: _, ...rest } = file
    const inode = Number(Bun.hash.xxHash64(text) & 0x1fffffffffffffn)
    yield { key: place, root: unit.root, files: [{ ...rest, relativePath: place, inode }] }
  }
}

export function assemble(file: SourceFile): string | undefined {
  const saved = savedIn(file)
  if (saved === undefined || saved.isWritten) return undefined
  const [, thread] = /\.([\w-]+)\.managed\.json$/.exec(file.relativePath) ?? []
  return eventsDocument(saved, thread !== undefined && saved.threads.includes(thread) ? thread : undefined)
}

interface Saved {
  readonly id: string
  readonly session: JsonValue
  readonly events: readonly JsonValue[]
  readonly threads: readonly string[]
  readonly isWritten: boolean
}

function eventsDocument({ id, session, events }: Saved, thread: string | undefined): string {
  const own = events.filter((event) => threadOf(event) === thread)
  const made = events.find((event) => isCreation(event) && word(event, "session_thread_id") === thread)
  const head = { session_id: id, session: thread === undefined ? session : null, thread_id: thread ?? null }
  return stringifyJson({ ...head, agent_name: word(made, "agent_name") ?? null, events: own })
}

/** The event that a thread began stands in the coordinator's own. */
function threadOf(event: JsonValue): string | undefined {
  const type = word(event, "type") ?? ""
  return /^session\.thread_|^agent\.thread_message/.test(type) ? undefined : word(event, "session_thread_id")
}

function isCreation(event: JsonValue): boolean {
  return word(event, "type") === "session.thread_created"
}

let last: { readonly key: string; readonly saved: Saved | undefined } | undefined

function savedIn({ path }: SourceFile): Saved | undefined {
  const { size, mtimeMs, ino } = statSync(path)
  const key = [path, size, mtimeMs, ino].join("|")
  if (last?.key !== key) last = { key, saved: readSaved(path) }
  return last.saved
}

function readSaved(path: string): Saved | undefined {
  const text = readFileSync(path, "utf8")
  const whole = parseJson(text)
  const lines = whole.ok ? [] : text.split("\n").map((line) => parseJson(line))
  if (!whole.ok && lines.some((line, index) => !line.ok && index < lines.length - 1)) return undefined
  const value: JsonValue = whole.ok ? whole.value : lines.flatMap((line) => (line.ok ? [line.value] : []))
  const isWritten = WRITTEN.test(path) && isJsonObject(value) && Array.isArray(value["events"]) && "thread_id" in value
  const all = listIn(value)
  const session =
    all.find((each) => word(each, "type") === "session") ?? (isJsonObject(value) ? value["session"] : null)
  const events = all.filter((each) => word(each, "type") !== "session")
  const stem = basename(path).replace(/(?:\.events|\.managed)?\.\w+$/, "")
  const id = word(session, "id") ?? word(events[0], "session_id") ?? stem.replaceAll(/[^\w-]/g, "-")
  const threads = new Set(events.flatMap((event) => threadOf(event) ?? []).filter((each) => /^[\w-]{1,80}$/.test(each)))
  const isPlain = /^sesn_[\w-]{1,80}$/.test(id)
  return events.length === 0 || !isPlain
    ? undefined
    : { id, session: session ?? null, events, threads: [...threads], isWritten }
}

function listIn(value: JsonValue): readonly JsonValue[] {
  if (Array.isArray(value)) return value
  if (!isJsonObject(value)) return []
  const list = (value as JsonObject)["data"] ?? (value as JsonObject)["events"]
  return Array.isArray(list) ? list : [value]
}

function word(value: JsonValue | undefined, key: string): string | undefined {
  const found = isJsonObject(value) ? value[key] : undefined
  return typeof found === "string" ? found : undefined
}

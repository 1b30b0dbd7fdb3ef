/**
 * The live conversation of a Copilot session: the events in order, the newest compaction applied, without sub-agents,
 * without what a person ran in the shell, and with the bytes of files where they belong. The client's own prompt is made anew.
 */
import { isJsonObject, type JsonObject, type JsonValue } from "../../model/json.ts"
import type { Entry, FilePart, Part, SessionLog } from "../../model/session.ts"
import { valueAt } from "../extract.ts"
import { entriesByRecord, sourceOf } from "../shared/native.ts"
import { isOfAgent } from "./parse.ts"

interface Live {
  entries: Entry[]
  /** The prompts among them, which a compaction keeps. */
  prompts: Set<Entry>
  /** How many entries there were when the compaction began that is not complete. */
  compactedTo: number | undefined
}

export function context(log: SessionLog): readonly Entry[] {
  const live: Live = { entries: [], prompts: new Set(), compactedTo: undefined }
  const files: Files = { assets: new Map(), answered: new Set() }
  for (const { newest, entries } of entriesByRecord(log)) {
    const { record } = sourceOf(newest)
    if (isJsonObject(record)) follow(live, files, record, entries)
  }
  return live.entries
}

interface Files {
  readonly assets: Map<string, FilePart>
  /** Calls that have a result. */
  readonly answered: Set<string>
}

function follow(live: Live, { assets, answered }: Files, record: JsonObject, entries: readonly Entry[]): void {
  const { type } = record
  if (type === "session.binary_asset") noteAsset(assets, record, entries)
  else if (isOfAgent(record) || isOfShell(record)) return
  else if (type === "session.compaction_start") live.compactedTo = live.entries.length
  else if (type === "session.compaction_complete") compact(live, entries)
  else if (type === "session.context_cleared") clear(live)
  else {
    const whole = entries.map((entry) => withFiles(entry, record, assets))
    for (const entry of whole) if (isSent(entry, answered)) add(live, entry, type)
  }
}

/** What a person ran, and what came of it. */
function isOfShell(record: JsonObject): boolean {
  return record["type"] === "tool.user_requested" || valueAt(record, "data", "isUserRequested") === true
}

function add(live: Live, entry: Entry, type: JsonValue | undefined): void {
  live.entries.push(entry)
  if (type === "user.message") live.prompts.add(entry)
}

/** The first result of a call counts. */
function isSent({ message, parts }: Entry, answered: Set<string>): boolean {
  if (message.role === "system" || parts.length === 0) return false
  const [part] = parts
  if (part?.type !== "tool_result") return true
  if (answered.has(part.call_id)) return false
  answered.add(part.call_id)
  return true
}

/** What was said before it began becomes the prompts of it and the summary; what came since stays. */
function compact(live: Live, [summary]: readonly Entry[]): void {
  const end = live.compactedTo ?? live.entries.length
  live.compactedTo = undefined
  if (summary === undefined || summary.parts.length === 0) return
  const prompts = live.entries.slice(0, end).filter((entry) => live.prompts.has(entry))
  live.entries = [...prompts, summary, ...live.entries.slice(end)]
}

function clear(live: Live): void {
  live.entries = []
  live.compactedTo = undefined
}

// --- Files ------------------------------------------------------------------------------------------------------------

function noteAsset(assets: Map<string, FilePart>, record: JsonObject, entries: readonly Entry[]): void {
  const id = valueAt(record, "data", "assetId")
  const part = entries[0]?.parts[0]
  if (typeof id === "string" && part?.type === "file") assets.set(id, part)
}

function withFiles(entry: Entry, record: JsonObject, assets: ReadonlyMap<string, FilePart>): Entry {
  if (record["type"] === "user.message") return withAttachments(entry, record, assets)
  return record["type"] === "tool.execution_complete" ? withImages(entry, record, assets) : entry
}

function withAttachments(entry: Entry, record: JsonObject, assets: ReadonlyMap<string, FilePart>): Entry {
  const files = objectsAt(record, "data", "attachments").flatMap(({ assetId, displayName }, index): Part[] => {
    const part = typeof assetId === "string" ? assets.get(assetId) : undefined
    if (part === undefined) return []
    const id = `${entry.message.id}:asset${index}`
    const named = typeof displayName === "string" ? { file_name: displayName } : {}
    return [{ ...part, ...named, id, message_id: entry.message.id }]
  })
  return files.length === 0 ? entry : ({ ...entry, parts: [...entry.parts, ...files] } as Entry)
}

/** A result with images is the blocks that a model is given. */
function withImages(entry: Entry, record: JsonObject, assets: ReadonlyMap<string, FilePart>): Entry {
  const images = objectsAt(record, "data", "result", "binaryResultsForLlm").flatMap((found): JsonObject[] => {
    const { assetId, data, mimeType } = found
    const kept = typeof assetId === "string" ? assets.get(assetId)?.data : undefined
    const base64 = kept !== undefined && "base64" in kept ? kept.base64 : data
    return typeof base64 === "string" && typeof mimeType === "string" ? [{ type: "image", data: base64, mimeType }] : []
  })
  const [part] = entry.parts
  if (images.length === 0 || part?.type !== "tool_result") return entry
  const text = part.result as JsonValue
  const result = [...(typeof text === "string" && text !== "" ? [{ type: "text", text }] : []), ...images]
  return { ...entry, parts: [{ ...part, result }] } as Entry
}

function objectsAt(record: JsonObject, ...path: readonly string[]): JsonObject[] {
  const list = valueAt(record, ...path)
  return Array.isArray(list) ? (list as readonly JsonValue[]).filter(isJsonObject) : []
}

/**
 * The live conversation: what the client would send to its model now. It is made from the records in their order, as the
 * client makes it: steps become messages, what a person said while a tool ran comes behind its result, undone turns and
 * cleared ones are gone, and a compaction leaves what the person said and its summary. Pictures that lie in files of their
 * own are put in. Reads kept records, never the disk.
 */
import { isJsonObject, type JsonObject, type JsonValue } from "../../model/json.ts"
import type { Entry, Part, SessionLog } from "../../model/session.ts"
import { entriesByRecord, mainPlaceOf, sourceOf } from "../shared/native.ts"
import { fieldsOf } from "../source-value.ts"
import { APPENDED, BLOB_REFERENCE, COMPACTED, isOfOldClient, LIVE, LOOP_EVENT } from "./records.ts"

/** A message of the request: what the client counts when it undoes or compacts. */
interface Sent {
  readonly entries: Entry[]
  readonly role: JsonValue | undefined
  readonly origin: JsonObject | undefined
  readonly id: JsonValue | undefined
  readonly isSummary?: true
}

export function context(log: SessionLog): readonly Entry[] {
  const blobs = blobsIn(log)
  const sent = isOfOldClient(mainPlaceOf(log)) ? oldMessages(log) : messagesOf(log)
  return sent.flatMap(({ entries }) => entries).map((entry) => withBlobs(entry, blobs))
}

/** kimi-cli keeps what it sends in one file, and rewrites it. */
function oldMessages(log: SessionLog): Sent[] {
  const main = mainPlaceOf(log)
  return [...entriesByRecord(log)].flatMap(({ newest, entries }) => {
    const { file = main } = sourceOf(newest)
    const isLive = file === main || LIVE.test(String(file))
    return isLive && isSaid(entries)
      ? [{ entries: [...entries], role: undefined, origin: undefined, id: undefined }]
      : []
  })
}

function isSaid(entries: readonly Entry[]): boolean {
  return entries.some(({ message, parts }) => message.role !== "system" && parts.length > 0)
}

function messagesOf(log: SessionLog): Sent[] {
  const history = openHistory()
  for (const { newest, entries } of entriesByRecord(log)) {
    const record = fieldsOf(sourceOf(newest)["record"])
    const { type } = record
    if (type === APPENDED) history.append(fieldsOf(record["message"]), entries)
    else if (type === LOOP_EVENT) history.take(fieldsOf(record["event"]), entries)
    else if (type === COMPACTED) history.compact(record, entries)
    else if (type === "context.clear") history.clear()
    else if (type === "context.undo") history.undo(record["count"])
  }
  return history.end()
}

function openHistory() {
  let sent: Sent[] = []
  let step: { readonly id: JsonValue | undefined; readonly message: Sent } | undefined
  const pending = new Set<JsonValue>()
  let deferred: Sent[] = []

  function push(message: Sent): void {
    if (pending.size > 0) deferred.push(message)
    else sent.push(message)
  }

  /** What was said meanwhile comes when no result is waited for any more. */
  function settle(): void {
    pending.clear()
    sent.push(...deferred)
    deferred = []
    step = undefined
  }

  function stepOf(id: JsonValue | undefined): Sent {
    if (step === undefined || step.id !== id) {
      step = { id, message: { entries: [], role: "assistant", origin: undefined, id: undefined } }
      sent.push(step.message)
    }
    return step.message
  }

  return {
    append({ role, origin, id }: JsonObject, entries: readonly Entry[]) {
      push({ entries: [...entries], role, origin: origin === undefined ? undefined : fieldsOf(origin), id })
    },
    take({ type, uuid, stepUuid, toolCallId = null }: JsonObject, entries: readonly Entry[]) {
      if (type === "step.begin") {
        settle()
        stepOf(uuid)
      } else if (type === "step.end") settle()
      else if (type === "tool.result") {
        sent.push({ entries: [...entries], role: "tool", origin: undefined, id: undefined })
        pending.delete(toolCallId)
        if (pending.size === 0) sent.push(...deferred.splice(0))
      } else {
        stepOf(stepUuid).entries.push(...entries)
        if (type === "tool.call") pending.add(toolCallId)
      }
    },
    clear() {
      settle()
      sent = []
    },
    undo(count: JsonValue | undefined) {
      settle()
      sent = undone(sent, typeof count === "number" ? count : 0)
    },
    compact(record: JsonObject, entries: readonly Entry[]) {
      settle()
      sent = compacted(sent, record, {
        entries: [...entries],
        role: "user",
        origin: undefined,
        id: undefined,
        isSummary: true,
      })
    },
    end() {
      settle()
      return sent
    },
  }
}

// --- Undo ---------------------------------------------------------------------------------------------------------------

/** Back to before the last turns of a person. Never over a compaction, and not at all where there are not so many. */
function undone(sent: Sent[], count: number): Sent[] {
  let left = count
  for (let at = sent.length - 1; at >= 0 && left > 0; at--) {
    const message = sent[at] as Sent
    if (message.isSummary === true) return sent
    if (!isTyped(message) || message.origin?.["inTurn"] === true) continue
    left--
    if (left > 0) continue
    let cut = at
    while (cut > 0 && sent[cut - 1]?.origin?.["ownerPromptId"] === (message.id ?? null)) cut--
    return sent.slice(0, cut)
  }
  return sent
}

/** What a person typed, commands among it. */
function isTyped({ role, origin }: Sent): boolean {
  if (role !== "user") return false
  const { kind, trigger } = origin ?? {}
  if (origin === undefined || kind === "user") return true
  return (kind === "skill_activation" || kind === "plugin_command") && trigger === "user-slash"
}

// --- Compaction ---------------------------------------------------------------------------------------------------------

/**
 * Today: what the person said, the oldest and the newest of it where it was much, then the summary. Before: the summary, then
 * what was not summed up. Of the message at which the client cut, all is kept here.
 */
function compacted(sent: readonly Sent[], record: JsonObject, summary: Sent): Sent[] {
  const { keptUserMessageCount: kept, keptHeadUserMessageCount: head, compactedCount, count, legacyTail } = record
  if (legacyTail === true || typeof kept !== "number") {
    const summed = compactedCount ?? count
    return [summary, ...(typeof summed === "number" ? sent.slice(summed) : [])]
  }
  const typed = sent.filter((message) => isTyped(message) && message.isSummary !== true)
  const first = typeof head === "number" ? Math.min(head, kept) : 0
  const last = kept - first
  return [...typed.slice(0, first), ...(last > 0 ? typed.slice(Math.max(first, typed.length - last)) : []), summary]
}

// --- Pictures in files of their own ----------------------------------------------------------------------------------

// Large pictures lie in separate files, named by the hash of their base64; a record refers to them.

type Blobs = ReadonlyMap<string, string>

/** By their hash, as base64. */
function blobsIn({ entries }: SessionLog): Blobs {
  const blobs = new Map<string, string>()
  for (const { message } of entries) {
    const { file, base64 } = sourceOf(message)
    const hash = typeof file === "string" ? /\/blobs\/([\da-f]{64})$/.exec(file)?.[1] : undefined
    if (hash !== undefined && typeof base64 === "string") blobs.set(hash, base64)
  }
  return blobs
}

/** Pictures of results become blocks that every client's pictures are read from. */
function withBlobs({ message, parts }: Entry, blobs: Blobs): Entry {
  const filled = parts.map((part: Part) => filledPart(part, blobs))
  return (filled.some((part, at) => part !== parts[at]) ? { message, parts: filled } : { message, parts }) as Entry
}

function filledPart(part: Part, blobs: Blobs): Part {
  if (part.type === "file" && "url" in part.data) {
    const found = pictureAt(part.data.url, blobs)
    return found === undefined ? part : { ...part, media_type: found.mimeType, data: { base64: found.data } }
  }
  const result = part.type === "tool_result" ? (part.result as JsonValue) : undefined
  if (part.type !== "tool_result" || !Array.isArray(result)) return part
  const blocks = result.map((block: JsonValue) => filledBlock(block, blobs))
  return blocks.every((block, at) => block === result[at]) ? part : { ...part, result: blocks }
}

function filledBlock(block: JsonValue, blobs: Blobs): JsonValue {
  const holder = isJsonObject(block) ? (block["imageUrl"] ?? block["image_url"]) : undefined
  const url = isJsonObject(holder ?? null) ? (holder as { readonly url?: JsonValue }).url : undefined
  const found = typeof url === "string" ? pictureAt(url, blobs) : undefined
  return found === undefined ? block : { type: "image", ...found }
}

function pictureAt(url: string, blobs: Blobs): { readonly mimeType: string; readonly data: string } | undefined {
  const [, mediaType, hash = ""] = BLOB_REFERENCE.exec(url) ?? []
  const data = blobs.get(hash)
  if (mediaType !== undefined && data !== undefined) return { mimeType: mediaType, data }
  const [, mimeType, base64] = /^data:([^;,]+);base64,(.*)$/s.exec(url) ?? []
  return mimeType === undefined || base64 === undefined ? undefined : { mimeType, data: base64 }
}

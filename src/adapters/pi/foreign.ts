/** A session of another client as pi would have written it: a header, and a chain of entries. */
import { isJsonObject, type JsonObject, type JsonValue, stringifyJson } from "../../model/json.ts"
import type { Conversation, FileSink, ForeignEnd, ForeignSerializer, ForeignTarget } from "../adapter.ts"
import { hexOf, uuidV7Of } from "../shared/derived-ids.ts"
import { createForeignLog, type ForeignLog, timeOf } from "../shared/foreign-log.ts"
import { isPicture } from "../shared/translate.ts"
import {
  type AssistantTurn,
  type CallBlock,
  type CallResult,
  type FileBlock,
  runsByInjected,
  type TextBlock,
  type Turn,
  turnsOf,
  type UserTurn,
} from "../shared/turns.ts"
import type { Brand } from "./brands.ts"
import { vocabularyOf } from "./vocabulary.ts"

/** Sub-agents are no idea of pi's own: each becomes a session beside, with its first words for a name. */
export function foreignOf(brand: Brand): ForeignSerializer {
  return (conversation: Conversation, target: ForeignTarget, sink: FileSink): ForeignEnd => {
    const entries: Record<string, JsonObject> = {}
    const write = (told: Conversation, parentKey?: string): ForeignEnd => {
      const own = writeSession(brand, told, target, sink)
      const key = brand.listing?.keyOf(own.sessionId, parentKey)
      if (key !== undefined) entries[key] = listedAs(told, own.sessionId, parentKey)
      const children = told.children.map((child) => write(child, key))
      return { sessionId: own.sessionId, losses: [...own.losses, ...children.flatMap(({ losses }) => losses)] }
    }
    const end = write(conversation)
    if (brand.listing !== undefined) {
      const { place: relativePath } = brand.listing
      sink.file({ form: "document", relativePath, text: stringifyJson(entries), entryOf: "" })
    }
    return end
  }
}

/** What a list of sessions says of one. */
function listedAs({ session, entries }: Conversation, sessionId: string, parentKey: string | undefined): JsonObject {
  const last = entries.at(-1)?.message.timestamp ?? session.created_at
  const title = session.title?.toWellFormed()
  return {
    ...{ sessionId, updatedAt: Date.parse(last), sessionStartedAt: Date.parse(session.created_at) },
    ...(title === undefined ? {} : { displayName: title }),
    ...(parentKey === undefined ? {} : { spawnedBy: parentKey }),
  }
}

function writeSession(
  brand: Brand,
  conversation: Conversation,
  { cwd, reasoning }: ForeignTarget,
  sink: FileSink,
): ForeignEnd {
  const { session } = conversation
  const { turns, losses } = turnsOf(conversation, vocabularyOf(brand), reasoning)
  const created = Date.parse(session.created_at)
  const sessionId = uuidV7Of(created, `${brand.id} ${session.source_agent} ${session.id}`)
  const timestamp = timeOf(session.created_at)
  const inFolder = `${brand.sessions}${directoryOf(cwd)}/${timestamp.replace(/[:.]/g, "-")}_${sessionId}.jsonl`
  const relativePath = brand.logPlace?.(sessionId) ?? inFolder
  const log = createLog(brand, sessionId, createForeignLog(sink, relativePath, losses))
  const { title } = session
  const inHeader = title === undefined || brand.sessions === "" ? {} : { title, titleSource: "user" }
  log.add({ type: "session", version: 3, id: sessionId, ...inHeader, timestamp, cwd })
  if (title !== undefined && brand.sessions === "") log.addEntry("session_info", timestamp, () => ({ name: title }))
  for (const [index, turn] of turns.entries()) addTurn(log, turn, index, providerOf(conversation))
  return { sessionId, losses: log.losses }
}

/** Where pi looks for the sessions of a directory. */
export function directoryOf(cwd: string): string {
  return `--${cwd.replace(/^[/\\]/, "").replace(/[/\\:]/g, "-")}--`
}

// --- The log ----------------------------------------------------------------------------------------------------------

interface Log extends ForeignLog {
  readonly brand: Brand
  /** The next entry of the path. Its fields may name its own id. */
  addEntry(type: string, timestamp: string, fields: (id: string) => JsonObject): void
}

function createLog(brand: Brand, sessionId: string, log: ForeignLog): Log {
  const ids = new Set<string>()
  let parentId: string | null = null
  /** Eight digits, as pi's own. They need to differ only inside the file. */
  function nextId(): string {
    for (let salt = 0; ; salt++) {
      const id = hexOf(`${sessionId} ${log.length} ${salt}`, 8)
      if (ids.has(id)) continue
      ids.add(id)
      return id
    }
  }
  return Object.assign(log, {
    brand,
    addEntry(type: string, timestamp: string, fields: (id: string) => JsonObject) {
      const id = nextId()
      log.add({ type, id, parentId, timestamp, ...fields(id) })
      parentId = id
    },
  })
}

function addTurn(log: Log, turn: Turn, index: number, provider: Provider): void {
  if (turn.role === "user") addUserTurn(log, turn, index === 0)
  else addAssistantTurn(log, turn, provider)
}

// --- Turns of the user ------------------------------------------------------------------------------------------------

function addUserTurn(log: Log, turn: UserTurn, isFirst: boolean): void {
  const timestamp = timeOf(turn.timestamp)
  const [only, ...more] = turn.blocks
  if (isFirst && only?.type === "text" && only.injected === "compact-summary" && more.length === 0) {
    addCompaction(log, timestamp, only.text)
    return
  }
  // What a harness put in the user's slot is a custom message here: sent to the model, and told apart from a person's words.
  for (const { injected, blocks } of runsByInjected(turn.blocks)) {
    const content = blocks.flatMap((block) => contentBlock(log, turn.messageId, block) ?? [])
    if (content.length === 0) continue
    if (injected === undefined) addMessage(log, timestamp, { role: "user", content })
    else log.addEntry("custom_message", timestamp, () => ({ customType: injected, content, display: false }))
  }
}

/** A compaction that keeps nothing names itself as the first entry that it keeps. */
function addCompaction(log: Log, timestamp: string, summary: string): void {
  log.addEntry("compaction", timestamp, (id) => ({ summary, firstKeptEntryId: id, tokensBefore: 0 }))
}

function addMessage(log: Log, timestamp: string, message: JsonObject): void {
  log.addEntry("message", timestamp, () => ({ message: { ...message, timestamp: Date.parse(timestamp) } }))
}

function contentBlock(log: Log, messageId: string, block: TextBlock | FileBlock): JsonObject | undefined {
  if (block.type === "text") {
    // What a person wrote as the client itself would: it is read in several pieces.
    const pieces = block.injected === undefined ? (log.brand.piecesOfText?.(block.text) ?? 1) : 1
    for (let piece = 1; piece < pieces; piece++) log.lose("cut_text", messageId)
    return { type: "text", text: block.text }
  }
  const { data, media_type: mimeType, file_name: name } = block.file
  if ("text" in data) return { type: "text", text: data.text }
  if ("base64" in data && mimeType.startsWith("image/")) return { type: "image", data: data.base64, mimeType }
  log.lose("attachment", messageId, name ?? mimeType)
  return undefined
}

// --- Turns of the model -----------------------------------------------------------------------------------------------

function addAssistantTurn(log: Log, turn: AssistantTurn, provider: Provider): void {
  const { messageId, blocks } = turn
  const content = blocks.flatMap((block) => {
    if (block.type === "file") log.lose("attachment", messageId, block.file.file_name ?? block.file.media_type)
    return modelBlock(block) ?? []
  })
  const calls = blocks.filter((block) => block.type === "call")
  const stopReason = calls.length > 0 ? "toolUse" : "stop"
  const message = { role: "assistant", content, ...modelOf(turn, provider), usage: NO_USAGE, stopReason }
  addMessage(log, timeOf(turn.timestamp), message)
  for (const call of calls) if (call.result !== undefined) addResult(log, messageId, call, call.result)
}

function modelBlock(block: AssistantTurn["blocks"][number]): JsonObject | undefined {
  if (block.type === "text") return { type: "text", text: block.text }
  // Shown, and sent to no model: only the one that wrote it could verify it. Without the mark pi sends it as an answer.
  if (block.type === "reasoning") return { type: "thinking", thinking: block.text, redacted: true }
  if (block.type === "call") {
    const { id, name, params } = block
    return { type: "toolCall", id, name, arguments: isJsonObject(params) ? params : { input: params } }
  }
  return undefined
}

function addResult(log: Log, messageId: string, { id, name }: CallBlock, result: CallResult): void {
  const { content, isFailure, timestamp } = result
  const blocks = content.flatMap((block): JsonValue[] => {
    if (block.type === "text") return [{ type: "text", text: block.text }]
    if (isPicture(block)) return [{ type: "image", data: block.base64, mimeType: block.mediaType }]
    log.lose("attachment", messageId, block.mediaType)
    return []
  })
  const message = { role: "toolResult", toolCallId: id, toolName: name, content: blocks, isError: isFailure }
  addMessage(log, timeOf(timestamp), message)
}

/** Which client said it, and where its models are to be had. pi goes on with the model of the last answer if it can. */
interface Provider {
  readonly brand: string
  readonly name: string
}

function providerOf({ session, origin }: Conversation): Provider {
  const brand = session.source_agent.split("/")[0] ?? session.source_agent
  return { brand, name: origin?.models?.provider ?? brand }
}

/** An `api` that is none of pi's own: what was said over it is never taken for what this provider can verify. */
function modelOf({ model }: AssistantTurn, { brand, name }: Provider): JsonObject {
  return { api: brand, provider: name, model: model ?? "unknown" }
}

/** pi adds up what sessions cost. What another client was paid is not known here. */
const NO_USAGE: JsonObject = {
  ...{ input: 0, output: 0, cacheRead: 0, cacheWrite: 0, totalTokens: 0 },
  cost: { input: 0, output: 0, cacheRead: 0, cacheWrite: 0, total: 0 },
}

/** A session of another client as Copilot would have written it: a log of events, and the summary that its list shows. */
import { isJsonObject, type JsonObject, type JsonValue, stringifyJson } from "../../model/json.ts"
import { sha256Of } from "../../platform/sha256.ts"
import type { Conversation, FileSink, ForeignEnd, ForeignTarget } from "../adapter.ts"
import { uuidV4Of } from "../shared/derived-ids.ts"
import { createForeignLog, type ForeignLog, timeOf } from "../shared/foreign-log.ts"
import { hasTextBehind } from "../shared/translate.ts"
import {
  type AssistantTurn,
  type CallBlock,
  type CallResult,
  type FileBlock,
  type TextBlock,
  turnsOf,
  type UserTurn,
} from "../shared/turns.ts"
import { withWholeCharacters } from "../shared/whole-characters.ts"
import { BRAND } from "./parse.ts"
import { OTHER_SOURCE } from "./provenance.ts"
import { LOG, WORKSPACE } from "./source.ts"
import { vocabulary } from "./vocabulary.ts"

/** The version whose logs these are like. */
const LIKE_VERSION = "1.0.102"

/** Copilot writes its agents into the log of the session. Those of another client become sessions beside it. */
export function foreign(conversation: Conversation, target: ForeignTarget, sink: FileSink): ForeignEnd {
  const own = writeSession(conversation, target, sink)
  const children = conversation.children.map((child) => foreign(child, target, sink))
  return { sessionId: own.sessionId, losses: [...own.losses, ...children.flatMap(({ losses }) => losses)] }
}

function writeSession(conversation: Conversation, { cwd, reasoning }: ForeignTarget, sink: FileSink): ForeignEnd {
  const { session } = conversation
  const sessionId = uuidV4Of(`${BRAND.id} ${session.source_agent} ${session.id}`)
  const { turns, losses } = withWholeCharacters(turnsOf(conversation, vocabulary, reasoning))
  const folder = `session-state/${sessionId}`
  const log = createLog(sessionId, createForeignLog(sink, `${folder}/${LOG}`, losses))
  const startTime = timeOf(session.created_at)
  log.addEvent("session.start", startTime, {
    ...{ sessionId, version: 1, producer: "copilot-agent", copilotVersion: LIKE_VERSION, startTime },
    ...{ context: { cwd }, alreadyInUse: false, remoteSteerable: false },
  })
  for (const turn of turns) {
    if (turn.role === "user") addUserTurn(log, turn)
    else addAssistantTurn(log, turn)
  }
  const title = session.title?.trim() === "" ? undefined : session.title
  const text = workspace({ id: sessionId, cwd, name: title, user_named: title !== undefined, created_at: startTime })
  sink.file({ form: "text", relativePath: `${folder}/${WORKSPACE}`, text })
  return { sessionId, losses: log.losses }
}

/** YAML, in which a text in the quotes of JSON is a text. */
function workspace(fields: Readonly<Record<string, string | boolean | undefined>>): string {
  const lines = Object.entries(fields).flatMap(([key, value]) => {
    if (value === undefined) return []
    return [`${key}: ${typeof value === "string" ? stringifyJson(value.toWellFormed()) : value}\n`]
  })
  return lines.join("")
}

// --- The log ----------------------------------------------------------------------------------------------------------

interface Log extends ForeignLog {
  /** The next event, after the one before. */
  addEvent(type: string, timestamp: string, data: JsonObject): void
  /** An id of what stands in the next event. */
  idOf(what: string): string
}

function createLog(sessionId: string, log: ForeignLog): Log {
  let parentId: string | null = null
  const idOf = (what: string) => uuidV4Of(`${sessionId} ${log.length} ${what}`)
  return Object.assign(log, {
    idOf,
    addEvent(type: string, timestamp: string, data: JsonObject) {
      const id = idOf("event")
      log.add({ type, data, id, timestamp, parentId })
      parentId = id
    },
  })
}

// --- Turns of the user ------------------------------------------------------------------------------------------------

/** A prompt is one text and the files behind it. What a harness put beside it is a prompt with the source that says so. */
function addUserTurn(log: Log, turn: UserTurn): void {
  const timestamp = timeOf(turn.timestamp)
  for (const { text, files, injected } of promptsOf(turn)) {
    const attachments = files.flatMap((file) => attachment(log, turn, file) ?? [])
    if (text === undefined && attachments.length === 0) continue
    log.addEvent("user.message", timestamp, {
      content: text ?? "",
      ...(attachments.length === 0 ? {} : { attachments }),
      ...(injected === undefined ? {} : { source: `${OTHER_SOURCE}${injected}` }),
      messageId: log.idOf("message"),
    })
  }
}

interface Prompt {
  readonly injected: string | undefined
  readonly text: string | undefined
  readonly files: FileBlock[]
}

function promptsOf({ blocks }: UserTurn): Prompt[] {
  const prompts: Prompt[] = []
  for (const block of blocks) {
    const { injected } = block
    const text = promptText(block)
    const last = prompts.at(-1)
    if (block.type === "text" || text !== undefined) prompts.push({ injected, text, files: [] })
    else if (last !== undefined && last.injected === injected) last.files.push(block)
    else prompts.push({ injected, text: undefined, files: [block] })
  }
  return prompts
}

function promptText(block: TextBlock | FileBlock): string | undefined {
  if (block.type === "text") return block.text
  return "text" in block.file.data ? block.file.data.text : undefined
}

/** The bytes go into a separate event. */
function attachment(log: Log, { messageId, timestamp }: UserTurn, block: FileBlock): JsonObject | undefined {
  const { data, media_type: mimeType, file_name: displayName } = block.file
  if (!("base64" in data) || !mimeType.startsWith("image/")) {
    log.lose("attachment", messageId, displayName ?? mimeType)
    return undefined
  }
  const bytes = Buffer.from(data.base64, "base64")
  const stored = { assetId: `sha256:${sha256Of(bytes)}`, mimeType, byteLength: bytes.length }
  log.addEvent("session.binary_asset", timeOf(timestamp), { ...stored, type: "image", data: data.base64 })
  return { type: "blob", ...stored, ...(displayName === undefined ? {} : { displayName }) }
}

// --- Turns of the model -----------------------------------------------------------------------------------------------

function addAssistantTurn(log: Log, turn: AssistantTurn): void {
  for (const block of turn.blocks)
    if (block.type === "file") log.lose("attachment", turn.messageId, block.file.file_name ?? block.file.media_type)
  for (const answer of answersOf(turn)) addAnswer(log, turn, answer)
}

/** What one event says: a thought, a text and calls, in this order. */
interface Answer {
  thought?: string
  text?: string
  readonly calls: CallBlock[]
}

function answersOf({ blocks }: AssistantTurn): Answer[] {
  const answers: Answer[] = []
  for (const block of blocks) {
    if (block.type === "file") continue
    const last = answers.at(-1)
    const isFull = last === undefined || (block.type !== "call" && (last.text !== undefined || last.calls.length > 0))
    const open: Answer = isFull || (block.type === "reasoning" && last.thought !== undefined) ? { calls: [] } : last
    if (open !== last) answers.push(open)
    if (block.type === "reasoning") open.thought = block.text
    else if (block.type === "text") open.text = block.text
    else open.calls.push(block)
  }
  return answers
}

/** The results of its calls come before the model speaks again. */
function addAnswer(log: Log, turn: AssistantTurn, { thought, text, calls }: Answer): void {
  const timestamp = timeOf(turn.timestamp)
  log.addEvent("assistant.message", timestamp, {
    messageId: log.idOf("message"),
    ...(turn.model === undefined ? {} : { model: turn.model }),
    content: text ?? "",
    toolRequests: calls.map(request),
    ...(thought === undefined ? {} : { reasoningText: thought }),
  })
  for (const { id, name, params } of calls)
    log.addEvent("tool.execution_start", timestamp, { toolCallId: id, toolName: name, arguments: params })
  for (const { id, result } of calls) if (result !== undefined) addResult(log, turn, { id, result })
}

/** A tool whose input is one text is a custom one. */
function request({ id, name, params }: CallBlock): JsonObject {
  const type = typeof params === "string" ? "custom" : "function"
  return {
    toolCallId: id,
    name,
    arguments: isJsonObject(params) || type === "custom" ? params : { input: params },
    type,
  }
}

function addResult(
  log: Log,
  { messageId }: AssistantTurn,
  { id: toolCallId, result }: { readonly id: string; readonly result: CallResult },
): void {
  const { content, isFailure, timestamp } = result
  if (hasTextBehind(content)) log.lose("result_order", messageId)
  const text = content.flatMap((block) => (block.type === "text" ? [block.text] : [])).join("\n")
  const images = content.flatMap((block): JsonValue[] =>
    block.type === "image" ? [{ type: "image", data: block.base64, mimeType: block.mediaType }] : [],
  )
  const answer: JsonObject =
    isFailure && images.length === 0
      ? { success: false, error: { message: text, code: "failure" } }
      : {
          success: !isFailure,
          result: { content: text, ...(images.length === 0 ? {} : { binaryResultsForLlm: images }) },
        }
  log.addEvent("tool.execution_complete", timeOf(timestamp), { toolCallId, ...answer })
}

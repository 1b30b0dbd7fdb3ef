/**
 * A session of another client in iFlow's form: a log of records, each naming the one before it. Nobody could ask the client
 * whether it goes on with one. Pure: ids and moments come from the source.
 */
import { isJsonObject, type JsonObject, type JsonValue } from "../../model/json.ts"
import type { Conversation, FileSink, ForeignEnd, ForeignTarget } from "../adapter.ts"
import { uuidV4Of } from "../shared/derived-ids.ts"
import { createForeignLog, type ForeignLog, timeOf } from "../shared/foreign-log.ts"
import {
  type AssistantTurn,
  type CallBlock,
  type CallResult,
  type FileBlock,
  type TextBlock,
  turnsOf,
  type UserTurn,
} from "../shared/turns.ts"
import { BRAND } from "./parse.ts"
import { keyOfDirectory } from "./project-key.ts"
import { vocabulary } from "./vocabulary.ts"

/** Of the form, which every record of a person names. */
const FORM_VERSION = "1.0.0"

interface Log extends ForeignLog {
  addRecord(type: "user" | "assistant", timestamp: string, fields: JsonObject): void
}

export function foreign(conversation: Conversation, { cwd, reasoning }: ForeignTarget, sink: FileSink): ForeignEnd {
  const { session, children } = conversation
  const { turns, losses } = turnsOf(conversation, vocabulary, reasoning)
  const sessionId = `session-${uuidV4Of(`${BRAND.id} ${session.source_agent} ${session.id}`)}`
  const relativePath = `projects/${keyOfDirectory(cwd)}/${sessionId}.jsonl`
  const log = createLog(createForeignLog(sink, relativePath, losses), sessionId)
  for (const child of children) log.lose("subagent", child.session.id, child.session.id)
  const beside = { cwd, gitBranch: null, version: FORM_VERSION }
  for (const turn of turns) {
    if (turn.role === "user") addUserTurn(log, turn, beside)
    else addAssistantTurn(log, turn, beside)
  }
  // A log without a record is no session.
  if (log.length === 0)
    log.addRecord("user", timeOf(session.created_at), {
      isMeta: true,
      message: { role: "user", content: "" },
      ...beside,
    })
  return { sessionId, losses: log.losses }
}

function createLog(log: ForeignLog, sessionId: string): Log {
  let parentUuid: string | null = null
  return Object.assign(log, {
    addRecord(type: "user" | "assistant", timestamp: string, fields: JsonObject) {
      const uuid = uuidV4Of(`${sessionId} ${log.length}`)
      log.add({ uuid, parentUuid, sessionId, timestamp, type, isSidechain: false, userType: "external", ...fields })
      parentUuid = uuid
    },
  })
}

// --- Turns of the user --------------------------------------------------------------------------------------------------

/** Each text is a separate record: no prompt of several texts was seen. */
function addUserTurn(log: Log, turn: UserTurn, beside: JsonObject): void {
  for (const block of turn.blocks) {
    const meta = block.injected === undefined ? {} : { isMeta: true }
    for (const content of textsIn(log, turn.messageId, block))
      log.addRecord("user", timeOf(turn.timestamp), { ...meta, message: { role: "user", content }, ...beside })
  }
}

/** No form of a picture is known. */
function textsIn(log: Log, messageId: string, block: TextBlock | FileBlock): readonly string[] {
  if (block.type === "text") return [block.text]
  const { data, media_type: mediaType, file_name: name } = block.file
  if ("text" in data) return [data.text]
  log.lose("attachment", messageId, name ?? mediaType)
  return []
}

// --- Turns of the model -------------------------------------------------------------------------------------------------

/** All calls of a step stand in one record. */
function addAssistantTurn(log: Log, turn: AssistantTurn, beside: JsonObject): void {
  const { messageId, blocks, timestamp } = turn
  const content = blocks.flatMap((block): JsonObject[] => {
    if (block.type === "reasoning") log.lose("reasoning", messageId, block.text.slice(0, SHOWN_UNITS))
    if (block.type === "file") log.lose("attachment", messageId, block.file.file_name ?? block.file.media_type)
    if (block.type === "text") return [{ type: "text", text: block.text }]
    return block.type === "call" ? [callOf(block)] : []
  })
  const message = {
    ...{ id: `response-${Date.parse(timestamp)}-${log.length}`, type: "message", role: "assistant", content },
    ...{ model: turn.model ?? "unknown", stop_reason: null, stop_sequence: null },
    usage: { input_tokens: 0, output_tokens: 0 },
  }
  // Answers name no directory, but for one that nothing comes before.
  if (content.length > 0)
    log.addRecord("assistant", timeOf(timestamp), { message, ...(log.length === 0 ? beside : {}) })
  for (const block of blocks)
    if (block.type === "call" && block.result !== undefined) addResult(log, messageId, block, block.result, beside)
}

/** So much of a thought tells which it is. */
const SHOWN_UNITS = 60

function callOf({ id, name, params }: CallBlock): JsonObject {
  return { type: "tool_use", id, name, input: isJsonObject(params) ? params : { input: params } }
}

function addResult(log: Log, messageId: string, { id, name }: CallBlock, result: CallResult, beside: JsonObject): void {
  const { content, isFailure, timestamp } = result
  const texts = content.flatMap((piece) => {
    if (piece.type !== "text") log.lose("attachment", messageId, piece.mediaType)
    return piece.type === "text" ? [piece.text] : []
  })
  const text = texts.join("\n")
  const response = { [isFailure ? "error" : "output"]: text }
  const given: JsonValue = {
    callId: id,
    responseParts: { functionResponse: { id, name, response } },
    resultDisplay: text,
  }
  log.addRecord("user", timeOf(timestamp), {
    message: { role: "user", content: [{ type: "tool_result", tool_use_id: id, content: given }] },
    ...beside,
    toolUseResult: { toolName: name, status: isFailure ? "error" : "success", timestamp: Date.parse(timestamp) },
  })
}

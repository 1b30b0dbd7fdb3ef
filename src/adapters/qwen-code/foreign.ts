/**
 * A session of another client as Qwen Code would have written it: a log of records, each naming the one before it, and for
 * each sub-agent a log with what is said of it beside. Pure: ids and moments come from the source.
 */
import { isJsonObject, type JsonObject, type JsonValue, stringifyJson } from "../../model/json.ts"
import type { Conversation, FileSink, ForeignEnd, ForeignTarget } from "../adapter.ts"
import { agentCallsOf, type Started } from "../shared/agent-calls.ts"
import { hexOf, uuidV4Of } from "../shared/derived-ids.ts"
import { createForeignLog, type ForeignLog, timeOf } from "../shared/foreign-log.ts"
import { hasTextBehind } from "../shared/translate.ts"
import {
  type AssistantTurn,
  type CallBlock,
  type CallResult,
  type FileBlock,
  type ReasoningBlock,
  runsByInjected,
  type TextBlock,
  type Turn,
  turnsOf,
  type UserTurn,
} from "../shared/turns.ts"
import { keyOfDirectory } from "./project-key.ts"
import { piecesOfText } from "./provenance.ts"
import { BRAND } from "./records.ts"
import { vocabulary } from "./vocabulary.ts"

/** The version whose files these are like. */
const LIKE_VERSION = "0.24.4"

export function foreign(conversation: Conversation, target: ForeignTarget, sink: FileSink): ForeignEnd {
  const { session } = conversation
  const sessionId = uuidV4Of(`${BRAND.id} ${session.source_agent} ${session.id}`)
  const project = `projects/${keyOfDirectory(target.cwd)}`
  const losses = writeLog(conversation, target, sink, {
    ...{ relativePath: `${project}/chats/${sessionId}.jsonl`, sessionId, beside: {} },
  })
  return { sessionId, losses: [...losses, ...writeAgents(conversation, target, sink, { project, sessionId })] }
}

/** All agents of a chat lie in one folder, those that agents started too. */
function writeAgents(
  conversation: Conversation,
  target: ForeignTarget,
  sink: FileSink,
  place: { readonly project: string; readonly sessionId: string; readonly parentAgentId?: string },
): ForeignEnd["losses"] {
  const { project, sessionId, parentAgentId } = place
  return agentCallsOf(conversation).flatMap((started) => {
    const { child } = started
    const agentType = typeOf(started)
    const agentId = `${agentType}-${callOf(started)}`
    const stem = `${project}/subagents/${sessionId}/agent-${agentId}`
    const beside = { agentId, agentName: agentType, isSidechain: true }
    const losses = writeLog(child, target, sink, { relativePath: `${stem}.jsonl`, sessionId, beside })
    const moment = timeOf(child.session.created_at)
    const meta = {
      ...{ agentId, agentType, description: child.session.title ?? started.start?.purpose ?? agentType },
      ...{ parentSessionId: sessionId, toolUseId: started.start?.call ?? null, parentAgentId: parentAgentId ?? null },
      ...{ createdAt: moment, status: "completed", isBackgrounded: false, lastUpdatedAt: moment },
      ...{ subagentName: agentType, resumeCount: 0, depth: parentAgentId === undefined ? 0 : 1 },
    }
    sink.file({ form: "document", relativePath: `${stem}.meta.json`, text: stringifyJson(meta) })
    return [...losses, ...writeAgents(child, target, sink, { project, sessionId, parentAgentId: agentId })]
  })
}

function typeOf({ child, start }: Started): string {
  const said = child.session.source_agent.split("/")[1] ?? start?.agent ?? "agent"
  return said.replace(/[^\w-]/g, "-")
}

/** Ids of other clients may hold what no name of a file does. */
function callOf({ child, start }: Started): string {
  const call = start?.call ?? ""
  return /^\w+$/.test(call) ? call : hexOf(`${child.session.id} ${call}`, 16)
}

// --- The log ----------------------------------------------------------------------------------------------------------

interface Place {
  readonly relativePath: string
  readonly sessionId: string
  /** What each record of an agent says of it. */
  readonly beside: JsonObject
}

interface Log extends ForeignLog {
  addRecord(type: string, timestamp: string, fields: JsonObject): void
}

function writeLog(
  conversation: Conversation,
  { cwd, reasoning }: ForeignTarget,
  sink: FileSink,
  place: Place,
): ForeignEnd["losses"] {
  const { session } = conversation
  const { turns, losses } = turnsOf(conversation, vocabulary, reasoning)
  const log = createLog(createForeignLog(sink, place.relativePath, losses), place, cwd)
  for (const turn of turns) {
    if (turn.role === "user") addUserTurn(log, turn)
    else addAssistantTurn(log, turn)
  }
  if (session.title !== undefined || log.length === 0)
    log.addRecord("system", timeOf(turns.at(-1)?.timestamp ?? session.created_at), {
      ...{ subtype: "custom_title", systemPayload: { customTitle: session.title ?? "", titleSource: "auto" } },
    })
  return log.losses
}

function createLog(log: ForeignLog, { relativePath, sessionId, beside }: Place, cwd: string): Log {
  let parentUuid: string | null = null
  return Object.assign(log, {
    addRecord(type: string, timestamp: string, fields: JsonObject) {
      const uuid = uuidV4Of(`${relativePath} ${log.length}`)
      log.add({ uuid, parentUuid, sessionId, timestamp, type, ...beside, cwd, version: LIKE_VERSION, ...fields })
      parentUuid = uuid
    },
  })
}

// --- Turns of the user ------------------------------------------------------------------------------------------------

/** What a harness put in the user's slot is a record that no real user wrote. */
function addUserTurn(log: Log, turn: UserTurn): void {
  for (const { injected, blocks } of runsByInjected(turn.blocks)) {
    const parts = blocks.flatMap((block) => plainPart(log, turn, block) ?? [])
    const provenance = injected === undefined ? "real_user" : "system"
    if (parts.length > 0)
      log.addRecord("user", timeOf(turn.timestamp), { provenance, message: { role: "user", parts } })
  }
}

/** Media that its models read. */
const MEDIA = /^(?:image|audio|video)\/|^application\/pdf$/

/** So much of a prompt tells which it is. */
const SHOWN_UNITS = 60

function plainPart(log: Log, { messageId, role }: Turn, block: TextBlock | FileBlock): JsonObject | undefined {
  if (block.type === "text") {
    const pieces = role === "user" && block.injected === undefined ? piecesOfText(block.text) : 1
    for (let piece = 1; piece < pieces; piece++) log.lose("cut_text", messageId, block.text.slice(0, SHOWN_UNITS))
    return { text: block.text }
  }
  const { data, media_type: mimeType, file_name: name } = block.file
  if ("text" in data) return { text: data.text }
  if ("base64" in data && MEDIA.test(mimeType)) return { inlineData: { mimeType, data: data.base64 } }
  log.lose("attachment", messageId, name ?? mimeType)
  return undefined
}

// --- Turns of the model -----------------------------------------------------------------------------------------------

/** Calls of one turn are one record: of several, the client would know the results of the last alone. */
function addAssistantTurn(log: Log, turn: AssistantTurn): void {
  const parts = turn.blocks.flatMap((block) => modelPart(log, turn, block) ?? [])
  if (parts.length === 0) return
  log.addRecord("assistant", timeOf(turn.timestamp), {
    provenance: "assistant_output",
    ...(turn.model === undefined ? {} : { model: turn.model }),
    message: { role: "model", parts },
  })
  for (const block of turn.blocks)
    if (block.type === "call" && block.result !== undefined) addResult(log, turn.messageId, block, block.result)
}

function modelPart(
  log: Log,
  turn: Turn,
  block: TextBlock | FileBlock | ReasoningBlock | CallBlock,
): JsonObject | undefined {
  if (block.type === "reasoning") return { text: block.text, thought: true }
  if (block.type === "call") return { functionCall: { id: block.id, name: block.name, args: argsOf(block.params) } }
  return plainPart(log, turn, block)
}

/** A call with anything else than an object for its arguments breaks the request. */
function argsOf(params: JsonValue): JsonObject {
  return isJsonObject(params) ? params : { input: params }
}

function addResult(log: Log, messageId: string, { id, name }: CallBlock, result: CallResult): void {
  const { content, isFailure, timestamp } = result
  if (hasTextBehind(content)) log.lose("result_order", messageId, name)
  const texts = content.flatMap((piece) => (piece.type === "text" ? [piece.text] : []))
  const pictures = content.flatMap((piece): JsonObject[] =>
    piece.type === "text" ? [] : [{ inlineData: { mimeType: piece.mediaType, data: piece.base64 } }],
  )
  const response = { [isFailure ? "error" : "output"]: texts.join("\n") }
  const functionResponse = { id, name, response, ...(pictures.length === 0 ? {} : { parts: pictures }) }
  log.addRecord("tool_result", timeOf(timestamp), {
    provenance: "tool_result",
    message: { role: "user", parts: [{ functionResponse }] },
    toolCallResult: { callId: id, status: isFailure ? "error" : "success" },
  })
}

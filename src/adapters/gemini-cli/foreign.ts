/**
 * A session of another client as Gemini CLI would have written it: a log with metadata and messages, and one for each
 * sub-agent. Pure: ids and moments come from the source.
 */
import type { JsonObject, JsonValue } from "../../model/json.ts"
import { sha256Of } from "../../platform/sha256.ts"
import type { Conversation, FileSink, ForeignEnd, ForeignTarget } from "../adapter.ts"
import { agentCallsOf } from "../shared/agent-calls.ts"
import { uuidV4Of } from "../shared/derived-ids.ts"
import { createForeignLog, type ForeignLog, timeOf } from "../shared/foreign-log.ts"
import { hasTextBehind } from "../shared/translate.ts"
import {
  type AssistantTurn,
  type CallBlock,
  type CallResult,
  type FileBlock,
  type TextBlock,
  type Turn,
  turnsOf,
  type UserTurn,
} from "../shared/turns.ts"
import { UNSENT } from "./context.ts"
import { slugOf } from "./project-folder.ts"
import { BRAND } from "./records.ts"
import { vocabulary } from "./vocabulary.ts"

export function foreign(conversation: Conversation, target: ForeignTarget, sink: FileSink): ForeignEnd {
  return writeChat(conversation, target, sink, undefined)
}

/** `parent` is the chat whose agent this is. */
function writeChat(
  conversation: Conversation,
  target: ForeignTarget,
  sink: FileSink,
  parent: string | undefined,
): ForeignEnd {
  const { session } = conversation
  const { cwd, reasoning } = target
  const sessionId = idOf(conversation, parent)
  const started = agentCallsOf(conversation)
  const agents = new Map(started.map(({ child, start }) => [start?.call, idOf(child, sessionId)]))
  const { turns, losses } = turnsOf(conversation, vocabulary, reasoning)
  const startTime = timeOf(session.created_at)
  const chats = `tmp/${slugOf(cwd)}/chats`
  const name = `session-${startTime.slice(0, 16).replace(":", "-")}-${sessionId.slice(0, 8)}`
  const relativePath = `${chats}/${parent === undefined ? name : `${parent}/${sessionId}`}.jsonl`
  const chat: Chat = { log: createForeignLog(sink, relativePath, losses), sessionId, agents }
  chat.log.add({
    ...{ sessionId, projectHash: sha256Of(cwd), startTime },
    // Without `lastUpdated` the client takes the chat for one of now. With it, it would delete an old one when it starts.
    kind: parent === undefined ? "main" : "subagent",
    ...(parent === undefined ? {} : { directories: [cwd] }),
    ...(session.title === undefined ? {} : { summary: session.title }),
  })
  for (const turn of turns) addTurn(chat, turn)
  const children = conversation.children.map((child) => writeChat(child, target, sink, sessionId))
  return { sessionId, losses: [...chat.log.losses, ...children.flatMap((child) => child.losses)] }
}

/** Random in its first eight characters: chats that share them are deleted together. */
function idOf({ session }: Conversation, parent: string | undefined): string {
  return uuidV4Of(`${BRAND.id} ${parent ?? ""} ${session.source_agent} ${session.id}`)
}

interface Chat {
  readonly log: ForeignLog
  readonly sessionId: string
  /** The ids of agents by the call that started them. */
  readonly agents: ReadonlyMap<string | undefined, string>
}

function addMessage({ log, sessionId }: Chat, turn: Turn, fields: JsonObject): void {
  const id = uuidV4Of(`${sessionId} ${log.length}`)
  log.add({ id, timestamp: timeOf(turn.timestamp), ...fields })
}

function addTurn(chat: Chat, turn: Turn): void {
  if (turn.role === "user") addUserTurn(chat, turn)
  else for (const blocks of stepsOf(turn)) addStep(chat, turn, blocks)
}

// --- Turns of the user ------------------------------------------------------------------------------------------------

function addUserTurn(chat: Chat, turn: UserTurn): void {
  const content = turn.blocks.flatMap((block): JsonObject[] => {
    const part = contentPart(chat, turn, block)
    return part === undefined ? [] : [part]
  })
  if (content.length === 0) return
  const texts = content.flatMap((part) => (typeof part["text"] === "string" ? [part["text"]] : []))
  if (texts.length === content.length && UNSENT.test(texts.join("")))
    for (const text of texts) if (text.trim() !== "") chat.log.lose("unsent_prompt", turn.messageId, text.slice(0, 60))
  // What was typed stands beside what is sent, where the two differ.
  const isMixed = turn.blocks.some(({ injected }) => injected !== undefined)
  const typed = turn.blocks.flatMap((block) =>
    block.type === "text" && block.injected === undefined ? [{ text: block.text }] : [],
  )
  addMessage(chat, turn, { type: "user", content, ...(isMixed ? { displayContent: typed } : {}) })
}

/** Media that its models read. */
const MEDIA = /^(?:image|audio|video)\/|^application\/pdf$/

function contentPart({ log }: Chat, { messageId }: Turn, block: TextBlock | FileBlock): JsonObject | undefined {
  if (block.type === "text") return { text: block.text }
  const { data, media_type: mimeType, file_name: name } = block.file
  if ("text" in data) return { text: data.text }
  if ("base64" in data && MEDIA.test(mimeType)) return { inlineData: { mimeType, data: data.base64 } }
  log.lose("attachment", messageId, name ?? mimeType)
  return undefined
}

// --- Turns of the model -----------------------------------------------------------------------------------------------

type Block = AssistantTurn["blocks"][number]

/** A message thinks, then speaks, then calls: a turn that does so in another order is several of them. */
function stepsOf({ blocks }: AssistantTurn): Block[][] {
  const steps: Block[][] = []
  let stage = 0
  for (const block of blocks) {
    const next = STAGE[block.type]
    const last = steps.at(-1)
    if (last === undefined || next < stage) steps.push([block])
    else last.push(block)
    stage = next
  }
  return steps
}

const STAGE: Readonly<Record<Block["type"], number>> = { reasoning: 0, text: 1, file: 1, call: 2 }

function addStep(chat: Chat, turn: AssistantTurn, blocks: readonly Block[]): void {
  const timestamp = timeOf(turn.timestamp)
  const thoughts: JsonObject[] = []
  const texts: JsonObject[] = []
  const toolCalls: JsonObject[] = []
  for (const block of blocks) {
    if (block.type === "reasoning") thoughts.push({ subject: "", description: block.text, timestamp })
    else if (block.type === "call") toolCalls.push(toolCall(chat, turn, block))
    else texts.push(...modelPart(chat, turn, block))
  }
  if (thoughts.length + texts.length + toolCalls.length === 0) return
  addMessage(chat, turn, {
    type: "gemini",
    content: texts.length > 1 ? texts : (texts[0]?.["text"] ?? ""),
    ...(thoughts.length === 0 ? {} : { thoughts }),
    ...(turn.model === undefined ? {} : { model: turn.model }),
    ...(toolCalls.length === 0 ? {} : { toolCalls }),
  })
}

function modelPart({ log }: Chat, { messageId }: Turn, block: TextBlock | FileBlock): JsonObject[] {
  if (block.type === "text") return [{ text: block.text }]
  const { data, media_type: mimeType, file_name: name } = block.file
  if ("text" in data) return [{ text: data.text }]
  log.lose("attachment", messageId, name ?? mimeType)
  return []
}

function toolCall({ log, agents }: Chat, turn: AssistantTurn, call: CallBlock): JsonObject {
  const { id, name, params, result } = call
  const agentId = agents.get(id)
  const made = {
    ...{ id, name, args: argsOf(params) },
    ...(agentId === undefined ? {} : { agentId }),
  }
  if (result === undefined) return { ...made, status: "cancelled", timestamp: timeOf(turn.timestamp) }
  if (hasTextBehind(result.content)) log.lose("result_order", turn.messageId, name)
  return {
    ...made,
    result: [responsePart(call, result)],
    status: result.isFailure ? "error" : "success",
    timestamp: timeOf(result.timestamp),
  }
}

/** A call with anything else than an object for its arguments breaks the request. */
function argsOf(params: JsonValue): JsonObject {
  const isObject = typeof params === "object" && params !== null && !Array.isArray(params)
  return isObject ? (params as JsonObject) : { input: params }
}

function responsePart({ id, name }: CallBlock, { content, isFailure }: CallResult): JsonObject {
  const texts = content.flatMap((piece) => (piece.type === "text" ? [piece.text] : []))
  const parts = content.flatMap((piece): JsonObject[] =>
    piece.type === "text" ? [] : [{ inlineData: { mimeType: piece.mediaType, data: piece.base64 } }],
  )
  const response = { [isFailure ? "error" : "output"]: texts.join("\n") }
  return { functionResponse: { id, name, response, ...(parts.length === 0 ? {} : { parts }) } }
}

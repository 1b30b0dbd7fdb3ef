/** A session of another client as Amp wrote its threads until spring 2026: one document. Sub-agents become separate threads. */
import { isJsonObject, type JsonObject } from "../../model/json.ts"
import type { Loss } from "../../model/report.ts"
import type { Conversation, FileSink, ForeignEnd, ForeignTarget } from "../adapter.ts"
import { uuidV7Of } from "../shared/derived-ids.ts"
import { loss } from "../shared/losses.ts"
import {
  type AssistantTurn,
  type CallBlock,
  type FileBlock,
  runsByInjected,
  type TextBlock,
  type Turn,
  turnsOf,
  type UserTurn,
} from "../shared/turns.ts"
import { BRAND } from "./documents.ts"
import { vocabulary } from "./vocabulary.ts"

export function foreign(conversation: Conversation, target: ForeignTarget, sink: FileSink): ForeignEnd {
  return writeThread(conversation, target, sink, undefined)
}

function writeThread(
  conversation: Conversation,
  target: ForeignTarget,
  sink: FileSink,
  mainThreadID: string | undefined,
): ForeignEnd {
  const { session, children } = conversation
  const { turns, losses } = turnsOf(conversation, vocabulary, target.reasoning)
  const created = Date.parse(session.created_at)
  const id = `T-${uuidV7Of(created, `${BRAND.id} ${session.source_agent} ${session.id}`)}`
  const list = createThread([...losses])
  for (const turn of turns) {
    if (turn.role === "user") addUserTurn(list, turn)
    else addAssistantTurn(list, turn)
  }
  const name = target.cwd.split(/[\\/]/).findLast((part) => part !== "") ?? target.cwd
  const thread = {
    ...{ v: list.messages.length, id, created },
    ...(session.title === undefined ? {} : { title: session.title }),
    ...{ messages: list.messages, agentMode: "smart", nextMessageId: list.messages.length },
    ...(mainThreadID === undefined ? {} : { mainThreadID }),
    env: { initial: { trees: [{ displayName: name, uri: urlOf(target.cwd) }] } },
  }
  sink.file({ form: "document", relativePath: `threads/${id}.json`, text: JSON.stringify(thread, null, 2) })
  const inner = children.flatMap((child) => writeThread(child, target, sink, id).losses)
  return { sessionId: id, losses: [...list.losses, ...inner] }
}

/** As an editor writes the address of a directory. */
function urlOf(cwd: string): string {
  const path = cwd.replaceAll("\\", "/").split("/").map(encodeURIComponent).join("/")
  return `file://${path.startsWith("/") ? "" : "/"}${path}`
}

// --- The thread ---------------------------------------------------------------------------------------------------------

interface Thread {
  readonly messages: JsonObject[]
  readonly losses: Loss[]
  add(message: JsonObject): void
  lose(...given: Parameters<typeof loss>): void
}

function createThread(losses: Loss[]): Thread {
  const messages: JsonObject[] = []
  return {
    messages,
    losses,
    add: (message) => void messages.push({ ...message, messageId: messages.length }),
    lose: (...given) => void losses.push(loss(...given)),
  }
}

function addUserTurn(thread: Thread, turn: UserTurn): void {
  const meta = { sentAt: Date.parse(turn.timestamp) }
  for (const { injected, blocks } of runsByInjected(turn.blocks)) {
    const content = blocks.flatMap((block) => plainBlock(thread, turn, block))
    // What a harness put there is what the client calls a correction: told to the model, and no person's.
    const source = injected === undefined ? {} : { source: { type: "course-correction" } }
    if (content.length > 0) thread.add({ role: "user", content, agentMode: "smart", meta, ...source })
  }
}

function plainBlock(thread: Thread, { messageId }: Turn, block: TextBlock | FileBlock): JsonObject[] {
  if (block.type === "text") return [{ type: "text", text: block.text }]
  const { data, media_type: mediaType, file_name: name } = block.file
  if ("text" in data) return [{ type: "text", text: data.text }]
  if ("base64" in data && mediaType.startsWith("image/"))
    return [{ type: "image", source: { type: "base64", mediaType, data: data.base64 } }]
  thread.lose("attachment", messageId, name ?? mediaType)
  return []
}

/** So much of a thought tells which it is. */
const SHOWN_UNITS = 60

/** All results of a step stand in the next message of the user. */
function addAssistantTurn(thread: Thread, turn: AssistantTurn): void {
  const { messageId, blocks } = turn
  const calls = blocks.filter((block) => block.type === "call")
  const content = blocks.flatMap((block): JsonObject[] => {
    // Without the signature of the model that thought it, no model takes a thought.
    if (block.type === "reasoning") thread.lose("reasoning", messageId, block.text.slice(0, SHOWN_UNITS))
    if (block.type === "file") thread.lose("attachment", messageId, block.file.file_name ?? block.file.media_type)
    if (block.type === "text") return [{ type: "text", text: block.text }]
    return block.type === "call" ? [callOf(block)] : []
  })
  if (content.length === 0) return
  const stopReason = calls.length === 0 ? "end_turn" : "tool_use"
  thread.add({ role: "assistant", content, state: { type: "complete", stopReason } })
  const results = calls.flatMap((call) => resultOf(thread, messageId, call))
  if (results.length > 0) thread.add({ role: "user", content: results })
}

function callOf({ id, name, params }: CallBlock): JsonObject {
  const input = isJsonObject(params) ? params : { input: params }
  return { type: "tool_use", complete: true, id, name, input }
}

function resultOf(thread: Thread, messageId: string, { id, result }: CallBlock): JsonObject[] {
  if (result === undefined) return []
  const texts = result.content.flatMap((piece) => {
    if (piece.type !== "text") thread.lose("attachment", messageId, piece.mediaType)
    return piece.type === "text" ? [piece.text] : []
  })
  if (result.isFailure) thread.lose("failure_mark", messageId, id)
  return [{ type: "tool_result", toolUseID: id, run: { status: "done", result: texts.join("\n") } }]
}

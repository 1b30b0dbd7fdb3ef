/**
 * A session of another client as Droid would have written it: a log of messages, each naming the one before it; a sub-agent is
 * a session that names the call which started it. Pure: ids and moments come from the source.
 */
import { isJsonObject, type JsonObject, type JsonValue } from "../../model/json.ts"
import type { Conversation, FileSink, ForeignEnd, ForeignTarget } from "../adapter.ts"
import { agentCallsOf, type Start } from "../shared/agent-calls.ts"
import { uuidV4Of } from "../shared/derived-ids.ts"
import { createForeignLog, type ForeignLog, timeOf } from "../shared/foreign-log.ts"
import { isPicture, type ResultContent } from "../shared/translate.ts"
import {
  type AssistantTurn,
  type CallBlock,
  type FileBlock,
  type ReasoningBlock,
  runsByInjected,
  type TextBlock,
  type Turn,
  turnsOf,
  type UserTurn,
} from "../shared/turns.ts"
import { keyOfDirectory } from "./directory-key.ts"
import { piecesOfText } from "./provenance.ts"
import { BRAND, START } from "./records.ts"
import { vocabulary } from "./vocabulary.ts"

/** The number of the format, which all versions write. */
const FORMAT = 2

interface Parent {
  readonly sessionId: string
  readonly start: Start | undefined
}

export function foreign(
  conversation: Conversation,
  target: ForeignTarget,
  sink: FileSink,
  parent?: Parent,
): ForeignEnd {
  const { session } = conversation
  const sessionId = uuidV4Of(`${BRAND.id} ${session.source_agent} ${session.id}`)
  const { turns, losses } = turnsOf(conversation, vocabulary, target.reasoning)
  const relativePath = `sessions/${keyOfDirectory(target.cwd)}/${sessionId}.jsonl`
  const log = createLog(sessionId, createForeignLog(sink, relativePath, losses))
  log.add({
    ...{ type: START, id: sessionId, title: titleFor(conversation, parent), owner: "pond", version: FORMAT },
    ...{ cwd: target.cwd, isSessionTitleManuallySet: session.title !== undefined },
    ...(parent === undefined ? {} : { callingSessionId: parent.sessionId }),
    ...(parent?.start === undefined ? {} : { callingToolUseId: parent.start.call }),
  })
  for (const turn of turns) {
    if (turn.role === "user") addUserTurn(log, turn)
    else addAssistantTurn(log, turn)
  }
  const children = agentCallsOf(conversation).map(({ child, start }) =>
    foreign(child, target, sink, { sessionId, start }),
  )
  return { sessionId, losses: [...log.losses, ...children.flatMap((each) => each.losses)] }
}

const AGENT = "worker"

function titleFor({ session, entries }: Conversation, parent: Parent | undefined): string {
  if (parent !== undefined) return `${AGENT}: ${parent.start?.purpose ?? session.title ?? "restored"}`
  const first = entries
    .flatMap((entry): readonly { readonly type: string }[] => entry.parts)
    .find(({ type }) => type === "text")
  const text = first !== undefined && "text" in first && typeof first.text === "string" ? first.text : session.id
  return session.title ?? text.slice(0, TITLE_UNITS)
}

const TITLE_UNITS = 100

// --- The log ----------------------------------------------------------------------------------------------------------

interface Log extends ForeignLog {
  addMessage(role: string, timestamp: string, content: readonly JsonObject[], more?: JsonObject): void
}

function createLog(sessionId: string, log: ForeignLog): Log {
  let parentId: string | undefined
  return Object.assign(log, {
    addMessage(
      role: string,
      timestamp: string,
      content: readonly JsonObject[],
      { visibility, ...more }: JsonObject = {},
    ) {
      if (content.length === 0) return
      const id = uuidV4Of(`${sessionId} ${log.length}`)
      const link = parentId === undefined ? {} : { parentId }
      const shown = visibility === undefined ? {} : { visibility }
      log.add({
        type: "message",
        id,
        ...link,
        timestamp: timeOf(timestamp),
        message: { role, content, ...more },
        ...shown,
      })
      parentId = id
    },
  })
}

/** What a harness put in the user's place is a message that only the model is told. */
function addUserTurn(log: Log, turn: UserTurn): void {
  for (const { injected, blocks } of runsByInjected(turn.blocks)) {
    const content = blocks.flatMap((block): readonly JsonObject[] => plainBlock(log, turn, block) ?? [])
    log.addMessage("user", turn.timestamp, content, injected === undefined ? {} : { visibility: "llm_only" })
  }
}

const IMAGES: ReadonlySet<string> = new Set(["image/png", "image/jpeg", "image/gif", "image/webp"])

function plainBlock(
  log: Log,
  { messageId, role }: Turn,
  block: TextBlock | FileBlock,
): readonly [JsonObject] | undefined {
  if (block.type === "text") {
    const pieces = role === "user" ? piecesOfText(block.text) : 1
    for (let piece = 1; piece < pieces; piece++) log.lose("cut_text", messageId)
    return [{ type: "text", text: block.text }]
  }
  const { data, media_type: mediaType, file_name: name } = block.file
  if ("text" in data) return [{ type: "text", text: data.text }]
  if ("base64" in data && role === "user") {
    const source = { type: "base64", media_type: mediaType, data: data.base64 }
    if (IMAGES.has(mediaType)) return [{ type: "image", source }]
    if (mediaType === "application/pdf")
      return [{ type: "document", source, ...(name === undefined ? {} : { title: name }) }]
  }
  log.lose("attachment", messageId, name ?? mediaType)
  return undefined
}

// --- Turns of the model -----------------------------------------------------------------------------------------------

function addAssistantTurn(log: Log, turn: AssistantTurn): void {
  const content = turn.blocks.flatMap((block): readonly JsonObject[] => modelBlock(log, turn, block) ?? [])
  log.addMessage("assistant", turn.timestamp, content, turn.model === undefined ? {} : { modelId: turn.model })
  const answered = turn.blocks.flatMap((block) => (block.type === "call" && block.result !== undefined ? [block] : []))
  const last = answered.at(-1)?.result?.timestamp ?? turn.timestamp
  log.addMessage(
    "user",
    last,
    answered.map((call) => resultBlock(log, turn, call)),
  )
}

function modelBlock(
  log: Log,
  turn: Turn,
  block: TextBlock | FileBlock | ReasoningBlock | CallBlock,
): readonly [JsonObject] | undefined {
  if (block.type === "reasoning") return [{ type: "thinking", signature: "", thinking: block.text }]
  if (block.type !== "call") return plainBlock(log, turn, block)
  const { id, name, params } = block
  return [{ type: "tool_use", id, name, input: isJsonObject(params) ? params : { input: params } }]
}

/** Its model gets one sentence for a text that these gave back, whatever it was. What is a list it gets as it is. */
const RETOLD: ReadonlySet<string> = new Set(["Edit", "MultiEdit", "Create"])

function resultBlock(log: Log, { messageId }: Turn, { id, name, result }: CallBlock): JsonObject {
  const told = contentFor(log, messageId, result?.content ?? [])
  const content = RETOLD.has(name) && typeof told === "string" && told !== "" ? [{ type: "text", text: told }] : told
  return { type: "tool_result", tool_use_id: id, is_error: result?.isFailure ?? false, content }
}

function contentFor(log: Log, messageId: string, content: readonly ResultContent[]): JsonValue {
  if (content.every(({ type }) => type === "text"))
    return content.map((piece) => (piece.type === "text" ? piece.text : "")).join("\n")
  return content.flatMap((piece): JsonObject[] => {
    if (piece.type === "text") return [{ type: "text", text: piece.text }]
    const source = { type: "base64", media_type: piece.mediaType, data: piece.base64 }
    if (isPicture(piece) && IMAGES.has(piece.mediaType)) return [{ type: "image", source }]
    if (piece.mediaType === "application/pdf") return [{ type: "document", source }]
    log.lose("attachment", messageId, piece.mediaType)
    return []
  })
}

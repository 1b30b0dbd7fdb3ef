/**
 * A session of another client as rows of Goose: one for each step of the model, one for its results, which are a user's there.
 * A sub-agent is a separate session. Pure: ids and moments come from the source.
 */
import { isJsonObject, type JsonObject } from "../../model/json.ts"
import type { Loss } from "../../model/report.ts"
import type { Conversation, FileSink, ForeignEnd, ForeignTarget } from "../adapter.ts"
import { hexOf } from "../shared/derived-ids.ts"
import { loss } from "../shared/losses.ts"
import {
  type AssistantTurn,
  type CallBlock,
  type FileBlock,
  type ReasoningBlock,
  runsByInjected,
  type TextBlock,
  turnsOf,
  type UserTurn,
} from "../shared/turns.ts"
import { withWholeCharacters } from "../shared/whole-characters.ts"
import { BRAND, MESSAGES, SESSIONS } from "./records.ts"
import { vocabulary } from "./vocabulary.ts"

const DATABASE = "sessions/sessions.db"

export function foreign(conversation: Conversation, target: ForeignTarget, sink: FileSink): ForeignEnd {
  return writeSession(conversation, target, sink, { numbers: { last: 0 } })
}

interface Place {
  /** Rows are numbered through all sessions. */
  readonly numbers: { last: number }
  readonly parentId?: string
}

function writeSession(
  conversation: Conversation,
  target: ForeignTarget,
  sink: FileSink,
  { numbers, parentId }: Place,
): ForeignEnd {
  const { session, children } = conversation
  const sessionId = idOf(conversation)
  const { turns, losses } = withWholeCharacters(turnsOf(conversation, vocabulary, target.reasoning))
  const draft = createDraft(sessionId, numbers)
  for (const turn of turns) {
    if (turn.role === "user") draft.addUser(turn)
    else draft.addAssistant(turn)
  }
  const row = {
    ...{
      id: sessionId,
      name: session.title?.toWellFormed() ?? sessionId,
      user_set_name: session.title === undefined ? 0 : 1,
    },
    ...{ session_type: parentId === undefined ? "user" : "sub_agent", working_dir: target.cwd },
    ...{ created_at: sqliteTime(session.created_at), updated_at: sqliteTime(draft.last() ?? session.created_at) },
    parent_session_id: parentId ?? null,
  }
  sink.row(DATABASE, { table: SESSIONS, row })
  for (const each of draft.rows) sink.row(DATABASE, { table: MESSAGES, row: each })
  const inner = children.map((child) => writeSession(child, target, sink, { numbers, parentId: sessionId }))
  return { sessionId, losses: [...losses, ...draft.losses, ...inner.flatMap((each) => each.losses)] }
}

/** `YYYYMMDD_<number>`: the client counts the sessions of a day, and goes on behind the greatest. */
function idOf({ session }: Conversation): string {
  const day = new Date(Date.parse(session.created_at)).toISOString().slice(0, 10).replaceAll("-", "")
  const number = Number.parseInt(hexOf(`${BRAND.id} ${session.source_agent} ${session.id}`, 7), 16)
  return `${day}_${FIRST_NUMBER + number}`
}

/** Nobody has so many sessions on a day. */
const FIRST_NUMBER = 1_000_000

function sqliteTime(timestamp: string): string {
  return new Date(Date.parse(timestamp)).toISOString().slice(0, 19).replace("T", " ")
}

// --- Messages ---------------------------------------------------------------------------------------------------------

interface Draft {
  readonly rows: readonly JsonObject[]
  readonly losses: readonly Loss[]
  /** When the last message is. */
  last(): string | undefined
  addUser(turn: UserTurn): void
  addAssistant(turn: AssistantTurn): void
}

const SHOWN = { userVisible: true, agentVisible: true }

function createDraft(sessionId: string, numbers: Place["numbers"]): Draft {
  const rows: JsonObject[] = []
  const losses: Loss[] = []
  let lastS = 0
  let lastAt: string | undefined

  function addRow(role: string, moment: string, blocks: readonly JsonObject[], metadata: JsonObject = SHOWN): void {
    if (blocks.length === 0) return
    // Rows are read in the order of their seconds, and clocks run backwards in real logs.
    lastS = Math.max(lastS, Math.floor(Date.parse(moment) / 1000))
    lastAt = new Date(lastS * 1000).toISOString()
    const id = ++numbers.last
    rows.push({
      ...{ id, message_id: `msg_${sessionId}_${rows.length}`, session_id: sessionId, role, content_json: blocks },
      ...{ created_timestamp: lastS, timestamp: sqliteTime(lastAt), metadata_json: metadata },
    })
  }

  function plainBlock(block: TextBlock | FileBlock, messageId: string): JsonObject[] {
    if (block.type === "text") return [{ type: "text", text: block.text }]
    const { data, media_type: mimeType, file_name: name } = block.file
    if ("text" in data) return [{ type: "text", text: data.text }]
    if ("base64" in data && mimeType.startsWith("image/")) return [{ type: "image", data: data.base64, mimeType }]
    losses.push(loss("attachment", messageId, name ?? mimeType))
    return []
  }

  function modelBlock(block: TextBlock | FileBlock | ReasoningBlock | CallBlock, messageId: string): JsonObject[] {
    if (block.type === "reasoning") return [{ type: "thinking", thinking: block.text, signature: "" }]
    if (block.type !== "call") return plainBlock(block, messageId)
    const { id, name, params } = block
    const called = { name, arguments: isJsonObject(params) ? params : { input: params } }
    return [{ type: "toolRequest", id, toolCall: { status: "success", value: called } }]
  }

  return {
    rows,
    losses,
    last: () => lastAt,
    addUser(turn) {
      // What a harness said is shown to the model alone.
      for (const { injected, blocks } of runsByInjected(turn.blocks)) {
        const metadata = injected === undefined ? SHOWN : { userVisible: false, agentVisible: true }
        addRow(
          "user",
          turn.timestamp,
          blocks.flatMap((block) => plainBlock(block, turn.messageId)),
          metadata,
        )
      }
    },
    addAssistant(turn) {
      const { messageId, timestamp, model } = turn
      const metadata = model === undefined ? SHOWN : { ...SHOWN, inference: { provider: "", requestedModel: model } }
      addRow(
        "assistant",
        timestamp,
        turn.blocks.flatMap((block) => modelBlock(block, messageId)),
        metadata,
      )
      const answered = turn.blocks.flatMap((block) => (block.type === "call" && block.result ? [block] : []))
      const at = answered.at(-1)?.result?.timestamp ?? timestamp
      addRow(
        "user",
        at,
        answered.map((call) => responseBlock(call)),
      )
    },
  }
}

function responseBlock({ id, result }: CallBlock): JsonObject {
  const content = (result?.content ?? []).map((piece) =>
    piece.type === "text"
      ? { type: "text", text: piece.text }
      : { type: "image", data: piece.base64, mimeType: piece.mediaType },
  )
  const value = { content, isError: result?.isFailure ?? false }
  return { type: "toolResponse", id, toolResult: { status: "success", value } }
}

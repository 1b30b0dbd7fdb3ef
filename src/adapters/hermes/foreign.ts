/**
 * A session of another client as rows of Hermes: a row for each message, calls in the shape of OpenAI; each sub-agent is a
 * session that names the one which gave it its work. Pure: ids and moments come from the source.
 */
import type { JsonObject, JsonValue } from "../../model/json.ts"
import { stringifyJson } from "../../model/json.ts"
import type { Loss } from "../../model/report.ts"
import { MARK_KEY, MARKED_JSON_KEY } from "../../platform/files/foreign-sqlite.ts"
import type { Conversation, FileSink, ForeignEnd, ForeignTarget } from "../adapter.ts"
import { type ChatStep, chatSteps } from "../shared/chat-steps.ts"
import { hexOf } from "../shared/derived-ids.ts"
import { loss } from "../shared/losses.ts"
import { hasTextBehind } from "../shared/translate.ts"
import {
  type AssistantTurn,
  type CallBlock,
  type FileBlock,
  type TextBlock,
  type Turn,
  turnsOf,
  type UserTurn,
} from "../shared/turns.ts"
import { withWholeCharacters } from "../shared/whole-characters.ts"
import { FAILED } from "./failed.ts"
import { piecesOfText } from "./provenance.ts"
import { BRAND, LIST_MARK, MESSAGES, SESSIONS } from "./records.ts"
import { vocabulary } from "./vocabulary.ts"

const DATABASE = "state.db"

export function foreign(conversation: Conversation, target: ForeignTarget, sink: FileSink): ForeignEnd {
  const numbers = { last: 0 }
  return writeSession(conversation, target, sink, { numbers })
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
  const { session } = conversation
  const sessionId = idOf(conversation)
  const { turns, losses } = withWholeCharacters(turnsOf(conversation, vocabulary, target.reasoning))
  const draft = createDraft(sessionId, numbers)
  for (const turn of turns) draft.add(turn)
  const calls = draft.rows.filter((each) => each["tool_calls"] !== null).length
  const row = {
    ...{ id: sessionId, source: parentId === undefined ? "cli" : "subagent", model: null },
    model_config: parentId === undefined ? null : { _delegate_from: parentId },
    ...{ parent_session_id: parentId ?? null, started_at: Date.parse(session.created_at) / 1000 },
    ...{ message_count: draft.rows.length, tool_call_count: calls, cwd: target.cwd },
    title: parentId === undefined ? uniqueTitle(session.title, sessionId) : null,
  }
  sink.row(DATABASE, { table: SESSIONS, row })
  for (const each of draft.rows) sink.row(DATABASE, { table: MESSAGES, row: each })
  const inner = conversation.children.map((child) =>
    writeSession(child, target, sink, { numbers, parentId: sessionId }),
  )
  return { sessionId, losses: [...losses, ...draft.losses, ...inner.flatMap((each) => each.losses)] }
}

/** `YYYYMMDD_HHMMSS_<6 digits>` */
function idOf({ session }: Conversation): string {
  const [date = "", time = ""] = new Date(Date.parse(session.created_at)).toISOString().split("T")
  const digits = hexOf(`${BRAND.id} ${session.source_agent} ${session.id}`, 6)
  return `${date.replaceAll("-", "")}_${time.slice(0, 8).replaceAll(":", "")}_${digits}`
}

/** No two sessions may have one title. */
function uniqueTitle(title: string | undefined, sessionId: string): string | null {
  return title === undefined || title.trim() === "" ? null : `${title.toWellFormed()} (${sessionId.slice(-6)})`
}

// --- Messages ---------------------------------------------------------------------------------------------------------

interface Draft {
  readonly rows: readonly JsonObject[]
  readonly losses: readonly Loss[]
  add(turn: Turn): void
}

/** So far two moments lie apart: messages are known by them. */
const STEP_S = 0.000_01

function createDraft(sessionId: string, numbers: Place["numbers"]): Draft {
  const rows: JsonObject[] = []
  const losses: Loss[] = []
  let last = 0

  function addRow(role: string, moment: string, fields: JsonObject): void {
    last = Math.max(Date.parse(moment) / 1000, last + STEP_S)
    const nothing = { tool_call_id: null, tool_calls: null, tool_name: null, reasoning: null, reasoning_content: null }
    rows.push({ id: ++numbers.last, session_id: sessionId, role, ...nothing, timestamp: last, ...fields })
  }

  function addUser(turn: UserTurn): void {
    const pieces = turn.blocks.flatMap((block) => userPiece(block, turn.messageId))
    if (pieces.length > 0) addRow("user", turn.timestamp, { content: rowContent(pieces) })
  }

  function userPiece(block: TextBlock | FileBlock, messageId: string): JsonObject[] {
    if (block.type === "text") {
      const pieces = block.injected === undefined ? piecesOfText(block.text) : 1
      for (let piece = 1; piece < pieces; piece++) losses.push(loss("cut_text", messageId))
      return [textPiece(block.text)]
    }
    const { data, media_type: type, file_name: name } = block.file
    if ("text" in data) return [textPiece(data.text)]
    if (type.startsWith("image/")) return [picturePiece("url" in data ? data.url : dataUrl(type, data.base64))]
    losses.push(loss("attachment", messageId, name ?? type))
    return []
  }

  function addAssistant(turn: AssistantTurn): void {
    const lose = ({ file_name: name, media_type: type }: { file_name?: string; media_type: string }) =>
      losses.push(loss("attachment", turn.messageId, name ?? type))
    for (const step of chatSteps(turn, lose)) addStep(turn, step)
  }

  function addStep(turn: AssistantTurn, { thoughts, texts, calls }: ChatStep): void {
    const thought = thoughts.length === 0 ? null : thoughts.join("\n\n")
    addRow("assistant", turn.timestamp, {
      content: texts.length === 0 ? "" : rowContent(texts.map(textPiece)),
      tool_calls: calls.length === 0 ? null : calls.map(callOf),
      finish_reason: calls.length === 0 ? "stop" : "tool_calls",
      ...{ reasoning: thought, reasoning_content: thought },
    })
    for (const call of calls) addResult(turn, call)
  }

  function addResult({ messageId }: AssistantTurn, { id, name, result }: CallBlock): void {
    if (result === undefined) return
    const { content, isFailure, timestamp } = result
    const pieces = content.map((piece) =>
      piece.type === "text" ? textPiece(piece.text) : picturePiece(dataUrl(piece.mediaType, piece.base64)),
    )
    if (hasTextBehind(content)) losses.push(loss("result_order", messageId, name))
    const text = content.map((piece) => (piece.type === "text" ? piece.text : "")).join("\n")
    const isPlain = content.every(({ type }) => type === "text")
    if (isFailure && !(isPlain && FAILED.test(text))) losses.push(loss("failure_mark", messageId, name))
    addRow("tool", timestamp, { content: isPlain ? text : listContent(pieces), tool_call_id: id, tool_name: name })
  }

  return { rows, losses, add: (turn) => (turn.role === "user" ? addUser(turn) : addAssistant(turn)) }
}

function callOf({ id, name, params }: CallBlock): JsonObject {
  const called = { name, arguments: stringifyJson(params) }
  return { id, call_id: id, response_item_id: null, type: "function", function: called }
}

function textPiece(text: string): JsonObject {
  return { type: "text", text }
}

function picturePiece(url: string): JsonObject {
  return { type: "image_url", image_url: { url } }
}

function dataUrl(type: string, base64: string): string {
  return `data:${type};base64,${base64}`
}

/** A text where it is one, else a list, which the client tells from text by its mark. */
function rowContent(pieces: readonly JsonObject[]): JsonValue {
  const [piece] = pieces
  return pieces.length === 1 && typeof piece?.["text"] === "string" ? piece["text"] : listContent(pieces)
}

function listContent(pieces: readonly JsonObject[]): JsonObject {
  return { [MARK_KEY]: LIST_MARK, [MARKED_JSON_KEY]: pieces }
}

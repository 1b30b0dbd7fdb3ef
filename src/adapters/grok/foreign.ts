/**
 * A session of another client as Grok would have kept it: its updates, the history for its model, and the summary by which it is
 * listed. A sub-agent is a session beside it, of another kind. Pure: ids and moments come from the source.
 */
import { isJsonObject, type JsonObject, stringifyJson } from "../../model/json.ts"
import type { Conversation, FileSink, ForeignEnd, ForeignTarget } from "../adapter.ts"
import { type ChatStep, chatSteps } from "../shared/chat-steps.ts"
import { uuidV7Of } from "../shared/derived-ids.ts"
import { createForeignLog, type ForeignLog, timeOf } from "../shared/foreign-log.ts"
import { hasTextBehind } from "../shared/translate.ts"
import {
  type AssistantTurn,
  type CallBlock,
  type FileBlock,
  runsByInjected,
  type TextBlock,
  turnsOf,
  type UserTurn,
} from "../shared/turns.ts"
import { withWholeCharacters } from "../shared/whole-characters.ts"
import { BRAND, groupOf, HISTORY, INJECTED, SUMMARY, TOOL, UPDATES } from "./records.ts"
import { vocabulary } from "./vocabulary.ts"

export function foreign(conversation: Conversation, target: ForeignTarget, sink: FileSink): ForeignEnd {
  return writeSession(conversation, target, sink, undefined)
}

function writeSession(
  conversation: Conversation,
  target: ForeignTarget,
  sink: FileSink,
  parentId: string | undefined,
): ForeignEnd {
  const { session, children } = conversation
  const created = Date.parse(session.created_at)
  const sessionId = uuidV7Of(created, `${BRAND.id} ${session.source_agent} ${session.id}`)
  const { turns, losses } = withWholeCharacters(turnsOf(conversation, vocabulary, target.reasoning))
  const folder = `sessions/${groupOf(target.cwd)}/${sessionId}`
  const logs = createLogs(sink, folder, sessionId, losses)
  for (const turn of turns) {
    if (turn.role === "user") addUserTurn(logs, turn)
    else addModelTurn(logs, turn)
  }
  const { updates, history, lastAt = session.created_at, firstText = "" } = logs
  const title = session.title?.toWellFormed() ?? firstText.slice(0, TITLE_UNITS).toWellFormed()
  const summary = {
    ...{ info: { id: sessionId, cwd: target.cwd }, session_summary: title },
    ...{ created_at: timeOf(session.created_at), updated_at: timeOf(lastAt) },
    ...{ num_messages: updates.length, num_chat_messages: history.length },
    ...{ current_model_id: target.model ?? MODEL, generated_title: title },
    // Without it the client takes the history for one of before, and sends none of it.
    ...{ chat_format_version: 1 },
    ...(parentId === undefined ? {} : { session_kind: "subagent", parent_session_id: parentId }),
  }
  sink.file({ form: "document", relativePath: `${folder}/${SUMMARY}`, text: stringifyJson(summary) })
  const lines = history.map((line) => `${line}\n`).join("")
  sink.file({ form: "text", relativePath: `${folder}/${HISTORY}`, text: lines })
  const inner = children.map((child) => writeSession(child, target, sink, sessionId))
  return { sessionId, losses: [...updates.losses, ...inner.flatMap((each) => each.losses)] }
}

const TITLE_UNITS = 60
/** What the client begins with where nobody chose a model. */
const MODEL = "grok-build"

// --- The two logs -----------------------------------------------------------------------------------------------------

interface Logs {
  readonly updates: ForeignLog
  readonly history: string[]
  /** A line of what a person is shown. */
  show(moment: string, update: JsonObject): void
  /** A line of what the model is sent. */
  tell(line: JsonObject): void
  lastAt?: string
  firstText?: string
  prompts: number
}

function createLogs(sink: FileSink, folder: string, sessionId: string, known: ForeignEnd["losses"]): Logs {
  const updates = createForeignLog(sink, `${folder}/${UPDATES}`, known)
  const history: string[] = []
  const logs: Logs = {
    ...{ updates, history, prompts: 0 },
    tell: (line) => void history.push(stringifyJson(line)),
    show(moment, update) {
      const ms = Date.parse(moment)
      logs.lastAt = moment
      const meta = { eventId: `${sessionId}-${updates.length + 1}`, agentTimestampMs: ms }
      const params = { sessionId, update, _meta: meta }
      updates.add({ timestamp: Math.floor(ms / 1000), method: "session/update", params })
    },
  }
  return logs
}

function textsOfBlock({ updates }: Logs, block: TextBlock | FileBlock, messageId: string): string[] {
  if (block.type === "text") return [block.text]
  const { data, media_type: type, file_name: name } = block.file
  if ("text" in data) return [data.text]
  updates.lose("attachment", messageId, name ?? type)
  return []
}

function addUserTurn(logs: Logs, { blocks, messageId, timestamp }: UserTurn): void {
  for (const { injected, blocks: run } of runsByInjected(blocks)) {
    const texts = run.flatMap((block) => textsOfBlock(logs, block, messageId))
    if (texts.length === 0) continue
    if (injected === undefined) addPrompt(logs, timestamp, texts)
    else addReminder(logs, timestamp, texts, injected)
  }
}

function addPrompt(logs: Logs, timestamp: string, texts: readonly string[]): void {
  const promptIndex = logs.prompts++
  logs.firstText ??= texts[0] ?? ""
  for (const text of texts)
    logs.show(timestamp, { sessionUpdate: "user_message_chunk", content: textBlock(text), _meta: { promptIndex } })
  const content = texts.map((text) => textBlock(`<user_query>\n${text}\n</user_query>`))
  logs.tell({ type: "user", content, prompt_index: promptIndex })
}

/** What a harness said: the client shows its own so to nobody. */
function addReminder(logs: Logs, timestamp: string, texts: readonly string[], injected: string): void {
  const _meta = { hideFromScrollback: true, [INJECTED]: injected }
  for (const text of texts)
    logs.show(timestamp, { sessionUpdate: "user_message_chunk", content: textBlock(text), _meta })
  logs.tell({ type: "user", content: texts.map(textBlock), synthetic_reason: "system_reminder" })
}

function textBlock(text: string): JsonObject {
  return { type: "text", text }
}

function addModelTurn(logs: Logs, turn: AssistantTurn): void {
  const lose = ({ file_name: name, media_type: type }: FileBlock["file"]) =>
    logs.updates.lose("attachment", turn.messageId, name ?? type)
  for (const step of chatSteps(turn, lose)) addStep(logs, turn, step)
}

function addStep(
  logs: Logs,
  { messageId, timestamp, model }: AssistantTurn,
  { thoughts, texts, calls }: ChatStep,
): void {
  for (const text of thoughts) {
    logs.show(timestamp, { sessionUpdate: "agent_thought_chunk", content: textBlock(text) })
    logs.tell({ type: "reasoning", id: "", summary: [{ type: "summary_text", text }] })
  }
  for (const text of texts) logs.show(timestamp, { sessionUpdate: "agent_message_chunk", content: textBlock(text) })
  for (const call of calls) showCall(logs, timestamp, call)
  if (texts.length > 0 || calls.length > 0) {
    const called = calls.map(({ id, name, params }) => ({ id, name, arguments: stringifyJson(params) }))
    const names = called.length === 0 ? {} : { tool_calls: called }
    const spoken = model === undefined ? {} : { model_id: model }
    logs.tell({ type: "assistant", content: texts.join("\n\n"), ...names, ...spoken })
  }
  for (const call of calls) addResult(logs, messageId, call)
}

function showCall(logs: Logs, timestamp: string, { id, name, params }: CallBlock): void {
  const input = isJsonObject(params) ? params : { input: params }
  const update = { sessionUpdate: "tool_call", toolCallId: id, title: name, rawInput: input }
  logs.show(timestamp, { ...update, _meta: { [TOOL]: { version: 1, name } } })
}

function addResult(logs: Logs, messageId: string, { id, name, result }: CallBlock): void {
  if (result === undefined) return
  const { content, isFailure, timestamp } = result
  const texts = content.flatMap((piece) => (piece.type === "text" ? [piece.text] : []))
  for (const piece of content) if (piece.type !== "text") logs.updates.lose("attachment", messageId, piece.mediaType)
  if (hasTextBehind(content)) logs.updates.lose("result_order", messageId, name)
  const text = texts.join("\n")
  logs.show(timestamp, {
    ...{ sessionUpdate: "tool_call_update", toolCallId: id, status: isFailure ? "failed" : "completed" },
    ...{ content: [{ type: "content", content: textBlock(text) }], rawOutput: { type: "Text", text } },
  })
  logs.tell({ type: "tool_result", tool_call_id: id, content: text })
}

/**
 * A session of another client as a log of 2.x, which Vibe 3 takes over into its store when it is resumed: that has hashes of all
 * that it says, and changes with every version. Pure: ids and moments come from the source.
 */
import { isJsonObject, type JsonObject, type JsonValue, stringifyJson } from "../../model/json.ts"
import type { Conversation, FileSink, ForeignEnd, ForeignTarget } from "../adapter.ts"
import { type ChatStep, chatSteps } from "../shared/chat-steps.ts"
import { uuidV4Of } from "../shared/derived-ids.ts"
import { createForeignLog, type ForeignLog, timeOf } from "../shared/foreign-log.ts"
import {
  type AssistantTurn,
  type CallBlock,
  type FileBlock,
  type Turn,
  turnsOf,
  type UserTurn,
} from "../shared/turns.ts"
import { withWholeCharacters } from "../shared/whole-characters.ts"
import { FAILED, injectedKind } from "./provenance.ts"
import { BRAND } from "./records.ts"
import { vocabulary } from "./vocabulary.ts"

export function foreign(conversation: Conversation, { cwd, reasoning }: ForeignTarget, sink: FileSink): ForeignEnd {
  const { session, children } = conversation
  const { turns, losses } = withWholeCharacters(turnsOf(conversation, vocabulary, reasoning))
  const sessionId = uuidV4Of(`${BRAND.id} ${session.source_agent} ${session.id}`)
  const startedAt = timeOf(session.created_at)
  const folder = `session_${digitsOf(startedAt)}_${sessionId.slice(0, 8)}`
  const log = createForeignLog(sink, `${folder}/messages.jsonl`, losses)
  for (const child of children) log.lose("subagent", child.session.id, child.session.id)
  for (const turn of turns) {
    if (turn.role === "user") addUserTurn(log, turn, sessionId)
    else addAssistantTurn(log, turn, sessionId)
  }
  // It opens no log without a line.
  if (log.length === 0) log.add({ role: "user", content: "", injected: true, message_id: uuidV4Of(`${sessionId} 0`) })
  const facts = {
    ...{ session_id: sessionId, parent_session_id: null, start_time: startedAt, end_time: endOf(turns) ?? startedAt },
    ...{ git_commit: null, git_branch: null, environment: { working_directory: cwd }, username: "" },
    ...{ title: session.title ?? null, title_source: "auto", total_messages: log.length },
  }
  sink.file({ form: "document", relativePath: `${folder}/meta.json`, text: stringifyJson(facts) })
  return { sessionId, losses: log.losses }
}

/** `YYYYMMDD_HHMMSS` */
function digitsOf(moment: string): string {
  const [date = "", time = ""] = moment.split("T")
  return `${date.replaceAll("-", "")}_${time.slice(0, 8).replaceAll(":", "")}`
}

function endOf(turns: readonly Turn[]): string | undefined {
  const last = turns.at(-1)
  return last && timeOf(last.timestamp)
}

function addMessage(log: ForeignLog, sessionId: string, fields: JsonObject): void {
  log.add({ ...fields, message_id: uuidV4Of(`${sessionId} ${log.length}`) })
}

// --- A person -----------------------------------------------------------------------------------------------------------

/** A message has one text. A picture goes with the text before it. */
function addUserTurn(log: ForeignLog, turn: UserTurn, sessionId: string): void {
  const said: { content: string; isInjected: boolean; readonly images: JsonObject[] }[] = []
  for (const block of turn.blocks) {
    const text = typedTextOf(block)
    if (text !== undefined) {
      const isInjected = block.injected !== undefined
      if (!isInjected && injectedKind(text, false) !== undefined) log.lose("cut_text", turn.messageId)
      said.push({ content: text, isInjected, images: [] })
      continue
    }
    const image = block.type === "file" ? imageOf(block) : undefined
    if (image === undefined) log.lose("attachment", turn.messageId, fileNameOf(block as FileBlock))
    else if (said.length === 0) said.push({ content: "", isInjected: false, images: [image] })
    else said.at(-1)?.images.push(image)
  }
  for (const { content, isInjected, images } of said)
    addMessage(log, sessionId, {
      role: "user",
      content,
      injected: isInjected,
      ...(images.length === 0 ? {} : { images }),
    })
}

function typedTextOf(block: UserTurn["blocks"][number]): string | undefined {
  if (block.type === "text") return block.text
  return "text" in block.file.data ? block.file.data.text : undefined
}

function imageOf({ file }: FileBlock): JsonObject | undefined {
  const { data, media_type: type, file_name: name } = file
  if (!("base64" in data) || !type.startsWith("image/")) return undefined
  return { source: { kind: "inline", data: data.base64 }, alias: name ?? "image", mime_type: type }
}

function fileNameOf({ file }: FileBlock): string {
  return file.file_name ?? file.media_type
}

// --- The model ----------------------------------------------------------------------------------------------------------

function addAssistantTurn(log: ForeignLog, turn: AssistantTurn, sessionId: string): void {
  const { messageId } = turn
  const steps = chatSteps(turn, (file) => log.lose("attachment", messageId, file.file_name ?? file.media_type))
  for (const step of steps) {
    addMessage(log, sessionId, stepFields(step))
    for (const call of step.calls) addResult(log, messageId, call)
  }
}

function stepFields({ thoughts, texts, calls }: ChatStep): JsonObject {
  return {
    ...{ role: "assistant", content: joinedByClient(texts), injected: false },
    ...(thoughts.length === 0 ? {} : { reasoning_content: thoughts.join("\n\n") }),
    ...(calls.length === 0 ? {} : { tool_calls: calls.map(callFields) }),
  }
}

/** The client joins several. */
function joinedByClient(texts: readonly string[]): JsonValue {
  const [text = "", ...more] = texts
  return more.length === 0 ? text : texts.map((each) => ({ type: "text", text: each }))
}

function callFields({ id, name, params }: CallBlock, index: number): JsonObject {
  const args = isJsonObject(params) ? params : { input: params }
  return { id, index, function: { name, arguments: stringifyJson(args) }, type: "function" }
}

function addResult(log: ForeignLog, messageId: string, { id, name, result }: CallBlock): void {
  if (result === undefined) return
  const texts = result.content.flatMap((piece) => {
    if (piece.type !== "text") log.lose("attachment", messageId, piece.mediaType)
    return piece.type === "text" ? [piece.text] : []
  })
  const content = texts.join("\n")
  if (result.isFailure !== FAILED.test(content)) log.lose("failure_mark", messageId, name)
  log.add({ role: "tool", content, injected: false, name, tool_call_id: id })
}

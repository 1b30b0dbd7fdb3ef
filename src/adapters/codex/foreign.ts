/**
 * A session of another client as a rollout: the items that Codex sends to its model, each beside the event that its
 * screens, its list and its turns are made from (`duplicates.ts` reads them the same way). One file for the session and
 * one for each sub-agent, and a line of the index where there is a title. Pure: ids and moments come from the source.
 */
import { type JsonObject, type JsonValue, stringifyJson } from "../../model/json.ts"
import type { Conversation, FileSink, ForeignEnd, ForeignTarget } from "../adapter.ts"
import { hexOf, uuidV7Of } from "../shared/derived-ids.ts"
import { createForeignLog, type ForeignLog, timeOf } from "../shared/foreign-log.ts"
import { isPicture, type ResultContent } from "../shared/translate.ts"
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
import { saysFailure } from "./items.ts"
import { BRAND, ORIGINATOR } from "./opening.ts"
import { INDEX_PLACE } from "./parse.ts"
import { contentKind, isFragment, piecesOfText } from "./provenance.ts"
import { vocabulary } from "./vocabulary.ts"

/** The version whose files these are like. */
const LIKE_VERSION = "0.169.0"

export function foreign(conversation: Conversation, target: ForeignTarget, sink: FileSink): ForeignEnd {
  return writeThread(conversation, target, sink, undefined)
}

interface Parent {
  readonly id: string
  readonly depth: number
}

function writeThread(
  conversation: Conversation,
  target: ForeignTarget,
  sink: FileSink,
  parent: Parent | undefined,
): ForeignEnd {
  const { session, children } = conversation
  const id = uuidV7Of(Date.parse(session.created_at), `${BRAND.id} ${session.source_agent} ${session.id}`)
  const { turns, losses } = withWholeCharacters(turnsOf(conversation, vocabulary, target.reasoning))
  const relativePath = rolloutPath(session.created_at, id)
  const rollout = createRollout(createForeignLog(sink, relativePath, losses))
  rollout.add(timeOf(session.created_at), "session_meta", header(conversation, target, id, parent))
  // A thread without a word of a person is in no list: then what its harness said first stands in.
  const hasSpeech = turns.some((turn) => turn.role === "user" && turn.blocks.some(isAuthored))
  const first = turns.find((turn) => turn.role === "user")
  for (const turn of turns) {
    if (turn.role === "user") addUserTurn(rollout, turn, !hasSpeech && turn === first)
    else addAssistantTurn(rollout, turn)
  }
  const title = titleLine(conversation, id)
  if (title !== undefined) sink.line(INDEX_PLACE, title, true)
  const inner = children.map((child) => writeThread(child, target, sink, { id, depth: (parent?.depth ?? 0) + 1 }))
  return { sessionId: id, losses: [...rollout.losses, ...inner.flatMap((child) => child.losses)] }
}

/** Codex puts the local time of creation into its names. Which zone that was is not known here: UTC is one, too. */
function rolloutPath(createdAt: string, id: string): string {
  const moment = timeOf(createdAt)
  const [year, month, day] = moment.slice(0, 10).split("-")
  return `sessions/${year}/${month}/${day}/rollout-${moment.slice(0, 19).replaceAll(":", "-")}-${id}.jsonl`
}

function header({ session }: Conversation, { cwd }: ForeignTarget, id: string, parent: Parent | undefined): JsonObject {
  const common = { timestamp: timeOf(session.created_at), cwd, originator: ORIGINATOR, cli_version: LIKE_VERSION }
  if (parent === undefined) return { id, session_id: id, ...common, source: "cli", thread_source: "user" }
  const role = session.source_agent.split("/")[1] ?? null
  const spawn = {
    parent_thread_id: parent.id,
    depth: parent.depth,
    agent_path: null,
    agent_nickname: null,
    agent_role: role,
  }
  return {
    id,
    session_id: parent.id,
    parent_thread_id: parent.id,
    ...common,
    source: { subagent: { thread_spawn: spawn } },
    thread_source: "subagent",
    ...(role === null ? {} : { agent_role: role }),
  }
}

function titleLine({ session }: Conversation, id: string): string | undefined {
  if (session.title === undefined || session.title.trim() === "") return undefined
  return stringifyJson({ id, thread_name: session.title.toWellFormed(), updated_at: timeOf(session.created_at) })
}

// --- The rollout ------------------------------------------------------------------------------------------------------

interface Rollout extends Pick<ForeignLog, "losses" | "lose"> {
  add(timestamp: string, type: "session_meta" | "response_item" | "event_msg", payload: JsonObject): void
}

function createRollout(log: ForeignLog): Rollout {
  const { losses, lose } = log
  return { losses, lose, add: (timestamp, type, payload) => log.add({ timestamp, type, payload }) }
}

// --- Turns of the user ------------------------------------------------------------------------------------------------

function addUserTurn(rollout: Rollout, turn: UserTurn, isPreview: boolean): void {
  const timestamp = timeOf(turn.timestamp)
  const content: JsonObject[] = []
  const kinds: string[] = []
  for (const block of turn.blocks) {
    const item = contentItem(rollout, turn.messageId, block)
    if (item === undefined) continue
    content.push(item)
    kinds.push(contentKind(block.injected, item["type"] === "input_image" ? "user.image" : "user.text"))
  }
  if (content.length === 0) return
  // A person may quote what Codex writes itself: the kinds then say whose words it is.
  const isPlain = turn.blocks.every((block) => isAuthored(block) && !(block.type === "text" && isFragment(block.text)))
  rollout.add(timestamp, "response_item", {
    type: "message",
    role: "user",
    content,
    ...(isPlain ? {} : { internal_chat_message_metadata_passthrough: { content_item_kinds: kinds } }),
  })
  const said = content.filter((_, index) => isPreview || kinds[index]?.startsWith("user.") === true)
  if (said.length === 0) return
  const texts = said.flatMap(({ text }) => (typeof text === "string" ? [text] : []))
  const images = said.flatMap(({ image_url: url }) => (typeof url === "string" ? [url] : []))
  const event = { type: "user_message", message: texts.join("\n"), images, local_images: [], text_elements: [] }
  rollout.add(timestamp, "event_msg", event)
}

function isAuthored(block: { readonly injected?: string }): boolean {
  return block.injected === undefined
}

/** So much of a prompt tells which it is. */
const SHOWN_UNITS = 60

function contentItem(rollout: Rollout, messageId: string, block: TextBlock | FileBlock): JsonObject | undefined {
  if (block.type === "text") {
    const pieces = isAuthored(block) ? piecesOfText(block.text) : 1
    for (let piece = 1; piece < pieces; piece++) rollout.lose("cut_text", messageId, block.text.slice(0, SHOWN_UNITS))
    return { type: "input_text", text: block.text }
  }
  const { data, media_type: mediaType, file_name: name } = block.file
  if ("text" in data) return { type: "input_text", text: data.text }
  if (mediaType.startsWith("image/") && "base64" in data) return imageItem(mediaType, data.base64)
  if (mediaType.startsWith("image/") && "url" in data) return { type: "input_image", image_url: data.url }
  rollout.lose("attachment", messageId, name ?? mediaType)
  return undefined
}

function imageItem(mediaType: string, base64: string): JsonObject {
  return { type: "input_image", image_url: `data:${mediaType};base64,${base64}` }
}

// --- Turns of the model -----------------------------------------------------------------------------------------------

function addAssistantTurn(rollout: Rollout, turn: AssistantTurn): void {
  const timestamp = timeOf(turn.timestamp)
  const results: (() => void)[] = []
  for (const block of turn.blocks) {
    if (block.type === "text") addText(rollout, timestamp, block.text)
    // Shown, and sent to no model: only the one that wrote it could verify it.
    else if (block.type === "reasoning")
      rollout.add(timestamp, "event_msg", { type: "agent_reasoning", text: block.text })
    else if (block.type === "file")
      rollout.lose("attachment", turn.messageId, block.file.file_name ?? block.file.media_type)
    else {
      const { id, result } = addCall(rollout, turn, block)
      if (result !== undefined) results.push(() => addResult(rollout, turn.messageId, id, block, result))
    }
  }
  for (const add of results) add()
}

function addText(rollout: Rollout, timestamp: string, text: string): void {
  rollout.add(timestamp, "event_msg", { type: "agent_message", message: text })
  const content = [{ type: "output_text", text }]
  rollout.add(timestamp, "response_item", { type: "message", role: "assistant", content })
}

function addCall(
  rollout: Rollout,
  { messageId, timestamp: moment }: AssistantTurn,
  call: CallBlock,
): { id: string; result: CallResult | undefined } {
  const timestamp = timeOf(moment)
  const id = callId(call.id)
  const named = { name: toolName(call.name), call_id: id }
  const payload: JsonObject =
    typeof call.params === "string"
      ? { type: "custom_tool_call", status: "completed", ...named, input: call.params }
      : { type: "function_call", ...named, arguments: stringifyJson(call.params) }
  if (call.name.length > NAME_CHARS_MAX) rollout.lose("tool_name", messageId, call.name)
  rollout.add(timestamp, "response_item", payload)
  return { id, result: call.result }
}

function addResult(rollout: Rollout, messageId: string, id: string, call: CallBlock, result: CallResult): void {
  const { isFailure, timestamp } = result
  const content = result.content.filter((piece) => {
    const isShown = piece.type === "text" || isPicture(piece)
    if (!isShown) rollout.lose("attachment", messageId, piece.mediaType)
    return isShown
  })
  const [only, ...more] = content
  const isText = only?.type === "text" && more.length === 0
  const output: JsonValue = isText || only === undefined ? (only?.text ?? "") : content.map(outputItem)
  const shown = content.find((block) => block.type === "text")?.text ?? ""
  if (isFailure && !saysFailure(shown)) rollout.lose("failure_mark", messageId, call.name)
  const type = typeof call.params === "string" ? "custom_tool_call_output" : "function_call_output"
  rollout.add(timeOf(timestamp), "response_item", { type, call_id: id, output })
}

function outputItem(block: ResultContent): JsonObject {
  return block.type === "text" ? { type: "input_text", text: block.text } : imageItem(block.mediaType, block.base64)
}

// --- What a model of OpenAI accepts -----------------------------------------------------------------------------------

const NAME_CHARS_MAX = 64

function callId(id: string): string {
  return /^[\w-]+$/.test(id) && id.length <= NAME_CHARS_MAX ? id : `call_${hexOf(id, 24)}`
}

function toolName(name: string): string {
  return name.replace(/[^\w-]/g, "_").slice(0, NAME_CHARS_MAX) || "tool"
}

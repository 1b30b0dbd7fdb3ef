/**
 * A session of another client as Cline's command line would have written it: a document that describes it, one with its
 * messages, and one with those of each agent. Pure: ids and moments come from the source.
 */
import { isJsonObject, type JsonObject } from "../../model/json.ts"
import type { Loss } from "../../model/report.ts"
import type { Conversation, FileSink, ForeignEnd, ForeignTarget } from "../adapter.ts"
import { agentCallsOf } from "../shared/agent-calls.ts"
import { hexOf } from "../shared/derived-ids.ts"
import { timeOf } from "../shared/foreign-log.ts"
import { loss } from "../shared/losses.ts"
import { hasTextBehind } from "../shared/translate.ts"
import {
  type AssistantTurn,
  type CallBlock,
  type CallResult,
  type FileBlock,
  runsByInjected,
  type TextBlock,
  type Turn,
  turnsOf,
  type UserTurn,
} from "../shared/turns.ts"
import { createUserTexts } from "./provenance.ts"
import { vocabulary } from "./vocabulary.ts"

/** The version whose files these are like. */
const LIKE_VERSION = "3.0.65"
/** Between them stands what a person typed, whatever it says. */
const MARKS = ['<user_input mode="act">', "</user_input>"] as const
const ID_UNITS = 5
const AGENT_UNITS = 6

export function foreign(conversation: Conversation, target: ForeignTarget, sink: FileSink): ForeignEnd {
  const { session } = conversation
  const sessionId = `${Date.parse(session.created_at)}_${hexOf(`cline ${session.source_agent} ${session.id}`, ID_UNITS)}`
  const writing = { target, sink, folder: `sessions/${sessionId}`, rootId: sessionId }
  const losses = writeMessages(conversation, writing, { name: sessionId, sessionId, agent: "lead" })
  const [provider = "cline", ...model] = target.model?.split("/") ?? []
  const described = {
    ...{ version: 1, session_id: sessionId, source: "cli", pid: 0, started_at: timeOf(session.created_at) },
    ...{ ended_at: timeOf(session.created_at), exit_code: 0, status: "completed", interactive: true },
    ...{
      provider,
      model: model.length === 0 ? "unknown" : model.join("/"),
      cwd: target.cwd,
      workspace_root: target.cwd,
    },
    ...{ team_name: `team-${hexOf(sessionId, ID_UNITS)}`, enable_tools: true, enable_spawn: true, enable_teams: true },
    metadata: session.title === undefined ? {} : { title: session.title },
    // A restore makes it absolute: see `atRoot`.
    messages_path: `${writing.folder}/${sessionId}.messages.json`,
  }
  writeDocument(writing, sessionId, described)
  return { sessionId, losses }
}

interface Writing {
  readonly target: ForeignTarget
  readonly sink: FileSink
  readonly folder: string
  readonly rootId: string
}

interface Place {
  /** Of the file, without its ending. */
  readonly name: string
  readonly sessionId: string
  readonly agent: "lead" | "subagent"
}

function writeDocument({ sink, folder }: Writing, name: string, document: JsonObject): void {
  sink.file({
    form: "document",
    relativePath: `${folder}/${name}.json`,
    text: `${JSON.stringify(document, null, 2)}\n`,
  })
}

/** All agents of a session lie in its folder, those that agents started too. */
function writeMessages(conversation: Conversation, writing: Writing, { name, sessionId, agent }: Place): Loss[] {
  const { session } = conversation
  const { turns, losses } = turnsOf(conversation, vocabulary, writing.target.reasoning)
  const list = createList(sessionId, [...losses])
  for (const turn of turns) {
    if (turn.role === "user") addUserTurn(list, turn)
    else addAssistantTurn(list, turn, writing.target.model)
  }
  writeDocument(writing, `${name}.messages`, {
    ...{ version: 1, updated_at: timeOf(turns.at(-1)?.timestamp ?? session.created_at), agent, sessionId },
    ...(agent === "lead" ? {} : { taskType: "subagent_task" }),
    origin: { source: "cli", mode: agent === "lead" ? "user" : agent, sessionId, version: LIKE_VERSION },
    messages: list.messages,
  })
  const inner = agentCallsOf(conversation).flatMap(({ child }) => {
    const id = `agent_${Date.parse(child.session.created_at)}_${hexOf(`cline ${child.session.id}`, AGENT_UNITS)}`
    return writeMessages(child, writing, { name: id, sessionId: `${writing.rootId}__${id}`, agent: "subagent" })
  })
  return [...list.losses, ...inner]
}

// --- Messages -----------------------------------------------------------------------------------------------------------

interface List {
  readonly messages: JsonObject[]
  readonly losses: Loss[]
  add(role: "user" | "assistant", timestamp: string, content: readonly JsonObject[], beside?: JsonObject): void
}

function createList(sessionId: string, losses: Loss[]): List {
  const messages: JsonObject[] = []
  return {
    messages,
    losses,
    add(role, timestamp, content, beside = {}) {
      const id = `msg_${hexOf(`${sessionId} ${messages.length}`, 8)}`
      messages.push({ id, role, content, ts: Date.parse(timestamp), ...beside })
    },
  }
}

/** What a harness put in the user's slot is a message that the client does not show as a person's. */
function addUserTurn(list: List, turn: UserTurn): void {
  for (const { injected, blocks } of runsByInjected(turn.blocks)) {
    const content = blocks.flatMap((block): JsonObject[] => {
      const said = contentBlock(list, turn, block)
      return said === undefined ? [] : [said]
    })
    const beside = injected === undefined ? {} : { metadata: { kind: injected, displayRole: "system" } }
    if (content.length > 0) list.add("user", turn.timestamp, content, beside)
  }
}

function contentBlock(list: List, { messageId, role }: Turn, block: TextBlock | FileBlock): JsonObject | undefined {
  if (block.type === "text") {
    const isPrompt = role === "user" && block.injected === undefined
    const pieces = isPrompt ? createUserTexts(undefined)(block.text) : []
    if (pieces.every(({ kind }) => kind === undefined)) return { type: "text", text: block.text }
    // What looks like the client's own words stands between marks, which say that a person said it.
    for (const mark of MARKS) list.losses.push(loss("cut_text", messageId, mark))
    return { type: "text", text: MARKS.join(block.text) }
  }
  const { data, media_type: mediaType, file_name: path } = block.file
  if ("text" in data) return { type: "file", path: path ?? "file", content: data.text }
  if ("base64" in data && mediaType.startsWith("image/")) return { type: "image", data: data.base64, mediaType }
  list.losses.push(loss("attachment", messageId, path ?? mediaType))
  return undefined
}

/** Its results follow as separate messages, one for each. */
function addAssistantTurn(list: List, turn: AssistantTurn, model: string | undefined): void {
  const content = turn.blocks.flatMap((block): JsonObject[] => {
    if (block.type === "reasoning") return [{ type: "thinking", thinking: block.text }]
    if (block.type !== "call") {
      const said = contentBlock(list, turn, block)
      return said === undefined ? [] : [said]
    }
    const input = isJsonObject(block.params) ? block.params : { input: block.params }
    return [{ type: "tool_use", id: block.id, name: block.name, input }]
  })
  if (content.length === 0) return
  const id = turn.model ?? model
  list.add("assistant", turn.timestamp, content, id === undefined ? {} : { modelInfo: { id, provider: "cline" } })
  for (const block of turn.blocks)
    if (block.type === "call" && block.result !== undefined) addResult(list, turn, block, block.result)
}

function addResult(
  list: List,
  turn: Turn,
  { id, name }: CallBlock,
  { content, isFailure, timestamp }: CallResult,
): void {
  const pictures = content.filter(({ type }) => type !== "text")
  const texts = content.flatMap((piece) => (piece.type === "text" ? [piece.text] : []))
  if (pictures.length > 0 && hasTextBehind(content)) list.losses.push(loss("result_order", turn.messageId, name))
  const blocks = content.map(
    (piece): JsonObject =>
      piece.type === "text"
        ? { type: "text", text: piece.text }
        : { type: "image", data: piece.base64, mediaType: piece.mediaType },
  )
  const said = pictures.length === 0 ? texts.join("\n") : blocks
  const result = { type: "tool_result", tool_use_id: id, name, content: said, ...(isFailure ? { is_error: true } : {}) }
  list.add("user", timestamp, [result])
}

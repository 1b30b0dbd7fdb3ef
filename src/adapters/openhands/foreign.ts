/**
 * A session of another client as events of OpenHands: its loader refuses fields that it does not know, a prompt of the system
 * comes first, and a call whose action it does not know is one all the same. Pure: ids and moments come from the source.
 */
import { isJsonObject, type JsonObject, stringifyJson } from "../../model/json.ts"
import type { Conversation, FileSink, ForeignEnd, ForeignTarget } from "../adapter.ts"
import { chatSteps } from "../shared/chat-steps.ts"
import { hexOf, uuidV4Of } from "../shared/derived-ids.ts"
import { type LossKind, loss } from "../shared/losses.ts"
import { type AssistantTurn, type CallBlock, type FileBlock, turnsOf, type UserTurn } from "../shared/turns.ts"
import { withWholeCharacters } from "../shared/whole-characters.ts"
import { BRAND } from "./records.ts"
import { vocabulary } from "./vocabulary.ts"

/** How its own prompt begins: the rest of it depends on its version. */
const SYSTEM_PROMPT =
  "You are OpenHands agent, a helpful AI assistant that can interact with a computer to solve tasks."

interface Draft {
  /** Gives the id of the event. */
  add(kind: string, source: "user" | "agent" | "environment", timestamp: string, fields: JsonObject): string
  lose(kind: LossKind, messageId: string, found?: string): void
}

export function foreign(conversation: Conversation, { reasoning }: ForeignTarget, sink: FileSink): ForeignEnd {
  const { session, children } = conversation
  const { turns, losses } = withWholeCharacters(turnsOf(conversation, vocabulary, reasoning))
  const sessionId = hexOf(`${BRAND.id} ${session.source_agent} ${session.id}`, 32)
  const found = [...losses, ...children.map((child) => loss("subagent", child.session.id, child.session.id))]
  const draft = createDraft(sessionId, sink, (...given) => found.push(loss(...given)))
  draft.add("SystemPromptEvent", "agent", session.created_at, { system_prompt: textBlock(SYSTEM_PROMPT), tools: [] })
  for (const turn of turns) {
    if (turn.role === "user") addUserTurn(draft, turn)
    else addAssistantTurn(draft, turn)
  }
  return { sessionId, losses: found }
}

function createDraft(sessionId: string, sink: FileSink, lose: Draft["lose"]): Draft {
  let count = 0
  let parent: string | undefined
  return {
    lose,
    add(kind, source, timestamp, fields) {
      const id = uuidV4Of(`${sessionId} ${count}`)
      const event = {
        ...{ id, timestamp: localOf(timestamp), source, ...(parent === undefined ? {} : { parent_id: parent }) },
        ...{ ...fields, kind },
      }
      const relativePath = `conversations/${sessionId}/events/event-${String(count++).padStart(5, "0")}-${id}.json`
      sink.file({ form: "document", relativePath, text: stringifyJson(event) })
      parent = id
      return id
    },
  }
}

/** Its times have no zone. */
function localOf(timestamp: string): string {
  return new Date(Date.parse(timestamp)).toISOString().replace("Z", "000")
}

function textBlock(text: string): JsonObject {
  return { cache_prompt: false, type: "text", text }
}

// --- A person -----------------------------------------------------------------------------------------------------------

/** What a harness said is a separate message. */
function addUserTurn(draft: Draft, turn: UserTurn): void {
  for (const block of turn.blocks) {
    const content = userBlock(draft, turn.messageId, block)
    if (content === undefined) continue
    const message = { role: "user", content: [content], thinking_blocks: [] }
    const source = block.injected === undefined ? "user" : "environment"
    draft.add("MessageEvent", source, turn.timestamp, {
      ...{ llm_message: message, activated_skills: [], extended_content: [] },
    })
  }
}

function userBlock(draft: Draft, messageId: string, block: UserTurn["blocks"][number]): JsonObject | undefined {
  if (block.type === "text") return typedBlock(draft, messageId, block.text, block.injected)
  const { data, media_type: type, file_name: name } = (block as FileBlock).file
  if ("text" in data) return typedBlock(draft, messageId, data.text, block.injected)
  if ("base64" in data && type.startsWith("image/") && block.injected === undefined)
    return { cache_prompt: false, type: "image", image_urls: [`data:${type};base64,${data.base64}`] }
  draft.lose("attachment", messageId, name ?? type)
  return undefined
}

function typedBlock(draft: Draft, messageId: string, text: string, injected: string | undefined): JsonObject {
  if (injected === undefined && text.startsWith("<<RESUMED CONVERSATION>>")) draft.lose("cut_text", messageId)
  return textBlock(text)
}

// --- The model ----------------------------------------------------------------------------------------------------------

/** Calls that were asked at once are events of one answer, with the thought on the first. */
function addAssistantTurn(draft: Draft, turn: AssistantTurn): void {
  const { messageId, timestamp } = turn
  const lose = (file: FileBlock["file"]) => draft.lose("attachment", messageId, file.file_name ?? file.media_type)
  for (const [at, { thoughts, texts, calls }] of chatSteps(turn, lose).entries()) {
    const answer = `pond-${hexOf(`${messageId} ${at}`, 16)}`
    const thought = thoughts.length === 0 ? {} : { reasoning_content: thoughts.join("\n\n") }
    if (calls.length === 0) {
      const message = { role: "assistant", content: texts.map(textBlock), ...thought, thinking_blocks: [] }
      draft.add("MessageEvent", "agent", timestamp, {
        ...{ llm_message: message, llm_response_id: answer, activated_skills: [], extended_content: [] },
      })
    }
    const events = calls.map((call, index) =>
      draft.add("ActionEvent", "agent", timestamp, {
        ...{ thought: index === 0 ? texts.map(textBlock) : [], ...(index === 0 ? thought : {}), thinking_blocks: [] },
        ...{ action: null, tool_name: call.name, tool_call_id: call.id, tool_call: callFields(call) },
        ...{ llm_response_id: answer, security_risk: "UNKNOWN" },
      }),
    )
    for (const [index, call] of calls.entries()) addResult(draft, messageId, call, events[index] ?? "")
  }
}

function callFields({ id, name, params }: CallBlock): JsonObject {
  const args = isJsonObject(params) ? params : { input: params }
  return { id, name, arguments: stringifyJson(args), origin: "completion" }
}

function addResult(draft: Draft, messageId: string, { id, name, result }: CallBlock, actionId: string): void {
  if (result === undefined) return
  const { content, isFailure, timestamp } = result
  const texts = content.flatMap((piece) => {
    if (piece.type !== "text") draft.lose("attachment", messageId, piece.mediaType)
    return piece.type === "text" ? [piece.text] : []
  })
  const answered = { tool_name: name, tool_call_id: id }
  const text = texts.join("\n")
  if (isFailure) {
    draft.add("AgentErrorEvent", "agent", timestamp, { ...answered, error: text })
    return
  }
  // Of the observations that every agent knows, the one that adds no words.
  const observation = { content: [textBlock(text)], is_error: false, kind: "FinishObservation" }
  draft.add("ObservationEvent", "environment", timestamp, {
    ...{ ...answered, observation, action_id: actionId, extended_content: [] },
  })
}

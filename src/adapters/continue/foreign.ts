/**
 * A session of another client as Continue's command line would have written it: one document, and an entry in the list of
 * sessions. Pure: ids come from the source; messages have no times. Sub-agents have no place there.
 */
import { isJsonObject, type JsonObject, type JsonValue, stringifyJson } from "../../model/json.ts"
import type { Loss } from "../../model/report.ts"
import type { Conversation, FileSink, ForeignEnd, ForeignTarget } from "../adapter.ts"
import { uuidV4Of } from "../shared/derived-ids.ts"
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
import { BRAND, INDEX, INDEX_KEY } from "./documents.ts"
import { vocabulary } from "./vocabulary.ts"

const UNNAMED = "Untitled Session"

export function foreign(conversation: Conversation, { cwd, reasoning }: ForeignTarget, sink: FileSink): ForeignEnd {
  const { session, children } = conversation
  const { turns, losses } = turnsOf(conversation, vocabulary, reasoning)
  const all: Loss[] = [...losses, ...children.map((child) => loss("subagent", child.session.id, child.session.id))]
  const lose: Lose = (kind, messageId, example) => void all.push(loss(kind, messageId, example))
  const sessionId = uuidV4Of(`${BRAND.id} ${session.source_agent} ${session.id}`)
  const title = session.title ?? UNNAMED
  const history = turns.flatMap((turn) => (turn.role === "user" ? userItem(turn, lose) : assistantItems(turn, lose)))
  const document = { sessionId, title, workspaceDirectory: cwd, history }
  const prompts = turns.filter(({ role }) => role === "user").length
  const dateCreated = String(Date.parse(session.created_at))
  const entry = { [INDEX_KEY]: sessionId, title, dateCreated, workspaceDirectory: cwd, messageCount: prompts }
  const text = JSON.stringify(document, null, 2)
  sink.file({ form: "document", relativePath: `sessions/${sessionId}.json`, text })
  sink.file({ form: "document", relativePath: `sessions/${INDEX}`, text: stringifyJson(entry), entryOf: INDEX_KEY })
  return { sessionId, losses: all }
}

type Lose = (kind: Parameters<typeof loss>[0], messageId: string, example: string) => void

// --- Turns of the user --------------------------------------------------------------------------------------------------

function userItem(turn: UserTurn, lose: Lose): JsonObject[] {
  return runsByInjected(turn.blocks).flatMap(({ injected, blocks }): JsonObject[] => {
    const content = messageContent(blocks, turn, lose)
    if (content === undefined) return []
    // What a harness put there is a separate message, of which nothing was typed.
    const typed = typeof content === "string" ? { editorState: content } : {}
    const told = injected === undefined ? typed : { editorState: "" }
    return [{ message: { role: "user", content }, contextItems: [], ...told }]
  })
}

/** One text, or the blocks that it is where there are more. */
function messageContent(blocks: readonly (TextBlock | FileBlock)[], turn: Turn, lose: Lose): JsonValue | undefined {
  const content = blocks.flatMap((block): JsonObject[] => {
    if (block.type === "text") return [{ type: "text", text: block.text }]
    const { data, media_type: mediaType, file_name: name } = block.file
    if ("text" in data) return [{ type: "text", text: data.text }]
    if ("base64" in data && mediaType.startsWith("image/"))
      return [{ type: "imageUrl", imageUrl: { url: `data:${mediaType};base64,${data.base64}` } }]
    lose("attachment", turn.messageId, name ?? mediaType)
    return []
  })
  const [only] = content
  if (only === undefined) return undefined
  return content.length === 1 && typeof only["text"] === "string" ? only["text"] : content
}

// --- Turns of the model -------------------------------------------------------------------------------------------------

/** A step of the model: what it thought, what it said, what it called. */
interface Step {
  readonly thoughts: string[]
  readonly texts: (TextBlock | FileBlock)[]
  readonly calls: CallBlock[]
}

/** An item has one thought, before what was said, before the calls. */
function stepsOf({ blocks }: AssistantTurn): readonly Step[] {
  const steps: Step[] = []
  for (const block of blocks) {
    const last = steps.at(-1)
    const isBehind =
      block.type === "reasoning" ? last !== undefined : block.type !== "call" && (last?.calls.length ?? 0) > 0
    const step: Step = last === undefined || isBehind ? { thoughts: [], texts: [], calls: [] } : last
    if (step !== last) steps.push(step)
    if (block.type === "reasoning") step.thoughts.push(block.text)
    else if (block.type === "call") step.calls.push(block)
    else step.texts.push(block)
  }
  return steps
}

function assistantItems(turn: AssistantTurn, lose: Lose): JsonObject[] {
  return stepsOf(turn).map(({ thoughts, texts, calls }) => {
    const toolCalls = calls.map(callOf)
    const content = messageContent(texts, turn, lose) ?? ""
    const message = { role: "assistant", content, ...(toolCalls.length === 0 ? {} : { toolCalls }) }
    const states = calls.map((call) => callState(call, turn.messageId, lose))
    const [thought] = thoughts
    return {
      ...{ message, contextItems: [] },
      ...(states.length === 0 ? {} : { toolCallStates: states }),
      // Shown, and sent to no model.
      ...(thought === undefined ? {} : { reasoning: { active: false, text: thought } }),
    }
  })
}

function callOf({ id, name, params }: CallBlock): JsonObject {
  return { id, type: "function", function: { name, arguments: stringifyJson(argsOf(params)) } }
}

function argsOf(params: JsonValue): JsonObject {
  return isJsonObject(params) ? params : { input: params }
}

function callState(call: CallBlock, messageId: string, lose: Lose): JsonObject {
  const { id, name, params, result } = call
  const stated = { toolCallId: id, toolCall: callOf(call), parsedArgs: argsOf(params) }
  if (result === undefined) return { ...stated, status: "canceled" }
  const texts = result.content.flatMap((piece) => {
    if (piece.type !== "text") lose("attachment", messageId, piece.mediaType)
    return piece.type === "text" ? [piece.text] : []
  })
  const output = { content: texts.join("\n"), name: `${name} result`, description: "Tool result" }
  return { ...stated, status: result.isFailure ? "errored" : "done", output: [output] }
}

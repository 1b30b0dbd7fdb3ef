/**
 * A session of another client as Claude Code would have written it: one log, its records in one chain, one record for
 * each block of a reply, and beside it the logs of its agents. Ids are derived from those of the source.
 */
import { isJsonObject, type JsonObject, type JsonValue, stringifyJson } from "../../model/json.ts"
import type { Conversation, FileSink, ForeignEnd, ForeignSerializer, ForeignTarget } from "../adapter.ts"
import { hexOf, uuidV4Of } from "../shared/derived-ids.ts"
import { createForeignLog, type ForeignLog, timeOf } from "../shared/foreign-log.ts"
import type { ResultContent } from "../shared/translate.ts"
import {
  type AssistantTurn,
  type CallBlock,
  type CallResult,
  type FileBlock,
  runsByInjected,
  type TextBlock,
  turnsOf,
  type UserTurn,
} from "../shared/turns.ts"
import { type Brand, CLAUDE_CODE } from "./brands.ts"
import { type Agent, agentsOf } from "./foreign-agents.ts"
import { projectKey } from "./project-key.ts"
import { piecesOfText } from "./provenance.ts"
import { vocabulary } from "./vocabulary.ts"

export function foreignOf(brand: Brand): ForeignSerializer {
  return (conversation, target, sink) => foreign(brand, conversation, target, sink)
}

function foreign(brand: Brand, conversation: Conversation, target: ForeignTarget, sink: FileSink): ForeignEnd {
  const { session } = conversation
  const sessionId = uuidV4Of(`${brand.seed}${session.source_agent} ${session.id}`)
  const folder = `projects/${projectKey(target.cwd)}`
  const agents = agentsOf(conversation)
  const to = { sink, relativePath: `${folder}/${sessionId}.jsonl` }
  const main = writeLog(conversation, target, { sessionId, agent: undefined, agents }, to)
  if (session.title !== undefined) main.add({ type: "custom-title", customTitle: session.title, sessionId })
  const losses = [...main.losses]
  for (const agent of agents) {
    const path = `${folder}/${sessionId}/subagents/agent-${agent.id}`
    const own = { sink, relativePath: `${path}.jsonl` }
    const log = writeLog(agent.conversation, target, { sessionId, agent, agents }, own)
    sink.file({ form: "document", relativePath: `${path}.meta.json`, text: stringifyJson(agent.description) })
    losses.push(...log.losses)
  }
  return { sessionId, losses }
}

// --- The log ----------------------------------------------------------------------------------------------------------

interface Log extends ForeignLog {
  /** The next record of the chain, and its id. */
  chain(timestamp: string, fields: JsonObject): string
}

interface LogIdentity {
  readonly sessionId: string
  readonly agent: Agent | undefined
  /** Those of the whole session, however deep they were started. */
  readonly agents: readonly Agent[]
}

function writeLog(
  conversation: Conversation,
  { cwd, reasoning }: ForeignTarget,
  identity: LogIdentity,
  output: { readonly sink: FileSink; readonly relativePath: string },
): Log {
  const { turns, losses } = turnsOf(conversation, vocabulary, reasoning)
  const log = createLog(identity, cwd, createForeignLog(output.sink, output.relativePath, losses))
  const ids = createCallIds()
  const last = turns.at(-1)
  for (const turn of turns)
    if (turn.role === "user") addUserTurn(log, turn)
    else addAssistantTurn(log, turn, { ids, agents: identity.agents, isLast: turn === last })
  return log
}

function createLog({ sessionId, agent }: LogIdentity, cwd: string, log: ForeignLog): Log {
  let parentUuid: string | null = null
  const momentOf = createMoments()
  const seed = `${sessionId} ${agent?.id ?? ""}`
  const common = { userType: "external", entrypoint: "cli", cwd, sessionId, version: CLAUDE_CODE.judged.to }
  return Object.assign(log, {
    chain(timestamp: string, fields: JsonObject) {
      const uuid = uuidV4Of(`${seed} ${log.length}`)
      const place = {
        parentUuid,
        isSidechain: agent !== undefined,
        ...(agent === undefined ? {} : { agentId: agent.id }),
      }
      log.add({ ...place, ...fields, uuid, timestamp: momentOf(timestamp), ...common })
      parentUuid = uuid
      return uuid
    },
  })
}

/**
 * Records of one moment follow each other by a millisecond: of two with the same time, versions 2.0 take the first for the
 * end of the conversation, and send no answer that stands behind it.
 */
function createMoments(): (timestamp: string) => string {
  let [start, last] = [Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY]
  return (timestamp) => {
    const wanted = Date.parse(timestamp)
    const isSame = wanted >= start && wanted <= last && last < LAST_MOMENT
    start = isSame ? start : wanted
    last = isSame ? last + 1 : wanted
    return timeOf(new Date(last).toISOString())
  }
}

/** Of the year 9999: later ones are spelled in another form. */
const LAST_MOMENT = Date.UTC(9999, 11, 31, 23, 59, 59, 999)

// --- Turns of the user ------------------------------------------------------------------------------------------------

/** What a harness wrote stands in separate records: a person sees what they said, the model is sent all of it. */
function addUserTurn(log: Log, { messageId, timestamp, blocks }: UserTurn): void {
  for (const { injected, blocks: own } of runsByInjected(blocks)) {
    const run = own.map((block) => userBlock(log, messageId, block)).filter((block) => block !== undefined)
    const [only] = run
    if (only === undefined) continue
    const content = run.length === 1 && only["type"] === "text" ? (only["text"] ?? "") : run
    log.chain(timestamp, { type: "user", message: { role: "user", content }, ...marksOf(injected) })
  }
}

/** So much of a prompt tells which it is. */
const SHOWN_UNITS = 60

function marksOf(injected: string | undefined): JsonObject {
  if (injected === undefined) return {}
  return injected === "compact-summary" ? { isCompactSummary: true, isVisibleInTranscriptOnly: true } : { isMeta: true }
}

function userBlock(log: Log, messageId: string, block: TextBlock | FileBlock): JsonObject | undefined {
  if (block.type === "text") {
    if (block.text.trim() === "") return undefined
    const pieces = block.injected === undefined ? piecesOfText(block.text) : 1
    for (let piece = 1; piece < pieces; piece++) log.lose("cut_text", messageId, block.text.slice(0, SHOWN_UNITS))
    return { type: "text", text: block.text }
  }
  const { data, media_type: mediaType, file_name: name } = block.file
  if ("text" in data) return { type: "text", text: data.text }
  const title = name === undefined ? {} : { title: name }
  if ("base64" in data) {
    const source = { type: "base64", media_type: mediaType, data: data.base64 }
    if (IMAGES.has(mediaType)) return { type: "image", source }
    if (mediaType === "application/pdf") return { type: "document", source, ...title }
  } else if (/^https?:/.test(data.url) && mediaType.startsWith("image/")) {
    return { type: "image", source: { type: "url", url: data.url } }
  }
  log.lose("attachment", messageId, name ?? mediaType)
  return undefined
}

// --- Turns of the model -----------------------------------------------------------------------------------------------

interface Written {
  readonly ids: CallIds
  readonly agents: readonly Agent[]
  readonly isLast: boolean
}

function addAssistantTurn(log: Log, turn: AssistantTurn, { ids, agents, isLast }: Written): void {
  const { messageId, timestamp } = turn
  const blocks = turn.blocks.flatMap((block): { content: JsonObject; call?: CallBlock }[] => {
    if (block.type === "text") return block.text.trim() === "" ? [] : [{ content: { type: "text", text: block.text } }]
    if (block.type === "reasoning") {
      log.lose("reasoning_as_text", messageId)
      return [{ content: { type: "text", text: asThought(block.text) } }]
    }
    if (block.type === "call" && block.name.length > NAME_UNITS_MAX) log.lose("tool_name", messageId, block.name)
    if (block.type === "call" && isDescribed(block, agents)) log.lose("tool_params", messageId, block.name)
    if (block.type === "call") return [{ content: toolUse(block, ids, agents), call: block }]
    log.lose("attachment", messageId, block.file.file_name ?? block.file.media_type)
    return []
  })
  const calls = blocks.filter(({ call }) => call !== undefined)
  const reply = {
    id: `msg_${hexOf(`${messageId} ${log.length}`, 24)}`,
    type: "message",
    role: "assistant",
    // A model that it does not know is named to the person, who then goes on with the client's own.
    ...(turn.model === undefined ? {} : { model: turn.model }),
  }
  const end = { stop_reason: calls.length > 0 ? "tool_use" : "end_turn", stop_sequence: null, usage: NO_USAGE }
  const writtenBy = new Map<CallBlock, string>()
  for (const { content, call } of blocks) {
    const uuid = log.chain(timestamp, { type: "assistant", message: { ...reply, content: [content], ...end } })
    if (call !== undefined) writtenBy.set(call, uuid)
  }
  for (const [call, uuid] of writtenBy) {
    if (call.result !== undefined) addResult(log, call, ids, uuid, agents)
    // The client sends one without a result in the reply that a log ends with, as interrupted, and leaves any other out.
    else if (!isLast) log.lose("unanswered_call", messageId, call.name)
  }
}

/** Reasoning without a signature that the API can verify is refused. Said as text it is kept, and recognisable. */
function asThought(text: string): string {
  return `<thinking>\n${text}\n</thinking>`
}

function toolUse(call: CallBlock, ids: CallIds, agents: readonly Agent[]): JsonObject {
  const { name, params } = call
  const input = isJsonObject(params) ? params : { input: params }
  const described = name === "Agent" ? { ...agentOf(call, agents)?.words, ...input } : input
  return { type: "tool_use", id: ids.idOf(call), name: toolName(name), input: described }
}

/** Whether a call that started an agent gets words that the source did not give it. */
function isDescribed(call: CallBlock, agents: readonly Agent[]): boolean {
  const { name, params } = call
  const words = name === "Agent" ? agentOf(call, agents)?.words : undefined
  return words !== undefined && isJsonObject(params) && Object.keys(words).some((key) => params[key] === undefined)
}

function toolName(name: string): string {
  return name.replace(/[^\w-]/g, "_").slice(0, NAME_UNITS_MAX) || "tool"
}

const NAME_UNITS_MAX = 64

function addResult(log: Log, call: CallBlock, ids: CallIds, uuid: string, agents: readonly Agent[]): void {
  if (call.result === undefined) return
  const { content, isFailure, timestamp } = call.result
  const result = {
    tool_use_id: ids.idOf(call),
    type: "tool_result",
    content: sentContent(content),
    ...(isFailure ? { is_error: true } : {}),
  }
  const shown = shownResult(call, call.result, agentOf(call, agents))
  log.chain(timestamp, {
    type: "user",
    message: { role: "user", content: [result] },
    ...(shown === undefined ? {} : { toolUseResult: shown }),
    sourceToolAssistantUUID: uuid,
  })
}

function agentOf(call: CallBlock, agents: readonly Agent[]): Agent | undefined {
  return agents.find(({ call: start }) => start === call.id)
}

/** What was paid elsewhere is not known here. */
const NO_USAGE: JsonObject = {
  input_tokens: 0,
  cache_creation_input_tokens: 0,
  cache_read_input_tokens: 0,
  output_tokens: 0,
  service_tier: null,
}

// --- Spelling ---------------------------------------------------------------------------------------------------------

interface CallIds {
  idOf(call: CallBlock): string
}

/** The API takes letters, digits, `_` and `-`. Two ids that become the same are told apart. */
function createCallIds(): CallIds {
  const byCall = new Map<CallBlock, string>()
  const taken = new Set<string>()
  return {
    idOf(call) {
      const known = byCall.get(call)
      if (known !== undefined) return known
      const wanted = call.id.replace(/[^\w-]/g, "_") || "call"
      let id = wanted
      for (let count = 2; taken.has(id); count++) id = `${wanted}_${count}`
      taken.add(id)
      byCall.set(call, id)
      return id
    },
  }
}

// --- What is recorded beside a result --------------------------------------------------------------------------------

// What a tool gave back, twice, as Claude Code writes it: the blocks that its model is sent, and beside them what it shows
// to a person. Where a tool's own form of the second is not known from the first, it is left out and nothing is shown.

/** The kinds of images that the API takes. Any other makes it refuse the whole conversation. */
const IMAGES: ReadonlySet<string> = new Set(["image/png", "image/jpeg", "image/gif", "image/webp"])

function sentContent(content: readonly ResultContent[]): JsonValue {
  const [only] = content
  if (only === undefined) return ""
  if (content.length === 1 && only.type === "text") return only.text
  return content.flatMap((block): JsonObject[] => {
    if (block.type === "text") return block.text === "" ? [] : [{ type: "text", text: block.text }]
    if (block.mediaType === "application/pdf")
      return [{ type: "document", source: { type: "base64", media_type: block.mediaType, data: block.base64 } }]
    if (!IMAGES.has(block.mediaType)) return [{ type: "text", text: `[${block.mediaType}]` }]
    return [{ type: "image", source: { type: "base64", media_type: block.mediaType, data: block.base64 } }]
  })
}

/** `call` is as it is written: its name and parameters are the client's own where they have an equal. */
function shownResult(call: CallBlock, result: CallResult, agent: Agent | undefined): JsonValue | undefined {
  const texts = result.content.flatMap((block) => (block.type === "text" ? [block.text] : []))
  const text = texts.join("\n")
  if (agent !== undefined) {
    const content = texts.map((value) => ({ type: "text", text: value }))
    // The client finds an agent's log by the id that stands here.
    return { status: "completed", prompt: agent.prompt, agentId: agent.id, agentType: agent.type, content }
  }
  if (result.isFailure) return `Error: ${text}`
  const { name, params } = call
  if (!isJsonObject(params)) return undefined
  if (name === "Bash" && texts.length === result.content.length)
    return { stdout: text, stderr: "", interrupted: false, isImage: false }
  const { file_path: filePath, content } = params
  if (name === "Write" && filePath !== undefined && content !== undefined)
    return { type: "create", filePath, content, structuredPatch: [], originalFile: null }
  return undefined
}

/**
 * A session of another client as Kimi Code would have written it: a folder with what is said of the session and a log for
 * it and for each agent. Pure: ids and moments come from the source. The model must be one that the person has there.
 */
import { isJsonObject, type JsonObject, stringifyJson } from "../../model/json.ts"
import type { Conversation, FileSink, ForeignEnd, ForeignTarget } from "../adapter.ts"
import { agentCallsOf, type Started } from "../shared/agent-calls.ts"
import { uuidV4Of } from "../shared/derived-ids.ts"
import { createForeignLog, type ForeignLog } from "../shared/foreign-log.ts"
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
import { keyOfDirectory } from "./directory-key.ts"
import { BRAND, LOOP_EVENT } from "./records.ts"
import { vocabulary } from "./vocabulary.ts"

const PROTOCOL = "1.5"
const MAIN = "main"
/** The kinds of agents that every installation has. */
const PROFILES: readonly string[] = ["coder", "explore", "plan"]

export function foreign(conversation: Conversation, target: ForeignTarget, sink: FileSink): ForeignEnd {
  const { session } = conversation
  const sessionId = `session_${uuidV4Of(`${BRAND.id} ${session.source_agent} ${session.id}`)}`
  const place = `sessions/${keyOfDirectory(target.cwd)}/${sessionId}`
  const agents: AgentLog[] = []
  const losses = writeAgent(
    conversation,
    { target, sink, place, agents, nextAgent: 0 },
    { agentId: MAIN, profile: "agent" },
  )
  sink.file({
    form: "document",
    relativePath: `${place}/state.json`,
    text: stringifyJson(describeSession(conversation, { sessionId, place, cwd: target.cwd, agents })),
  })
  return { sessionId, losses }
}

interface AgentLog {
  readonly agentId: string
  readonly profile: string
  readonly parentAgentId?: string
  readonly lastMs: number
}

interface Writing {
  readonly target: ForeignTarget
  readonly sink: FileSink
  readonly place: string
  /** Those that are written, in the order of their ids. */
  readonly agents: AgentLog[]
  nextAgent: number
}

function describeSession(
  { session }: Conversation,
  facts: {
    readonly sessionId: string
    readonly place: string
    readonly cwd: string
    readonly agents: readonly AgentLog[]
  },
): JsonObject {
  const { sessionId, place, cwd, agents } = facts
  const createdAt = Date.parse(session.created_at)
  const described = agents.map(({ agentId, profile, parentAgentId }): [string, JsonObject] => {
    const homedir = `${place}/agents/${agentId}`
    if (parentAgentId === undefined) return [agentId, { homedir, type: "main" }]
    return [agentId, { homedir, type: "sub", parentAgentId, labels: { parentAgentId, profileName: profile } }]
  })
  const updatedAt = Math.max(createdAt, ...agents.map(({ lastMs }) => lastMs))
  return {
    ...{ id: sessionId, version: 2, cwd, createdAt, updatedAt, archived: false, agents: Object.fromEntries(described) },
    ...{
      custom: {},
      ...(session.title === undefined ? {} : { title: session.title }),
      isCustomTitle: session.title !== undefined,
    },
  }
}

// --- The log of an agent ------------------------------------------------------------------------------------------------

interface Log extends ForeignLog {
  readonly relativePath: string
  readonly agentId: string
  addRecord(type: string, timestamp: string, fields: JsonObject): void
  /** The number of the turn, and of the step in it. */
  turn: number
  step: number
}

function writeAgent(
  conversation: Conversation,
  writing: Writing,
  agent: { readonly agentId: string; readonly profile: string; readonly parentAgentId?: string },
): ForeignEnd["losses"] {
  const { target, sink, place, agents } = writing
  const { agentId, profile } = agent
  const { turns, losses } = turnsOf(conversation, vocabulary, target.reasoning)
  const relativePath = `${place}/agents/${agentId}/wire.jsonl`
  const log = createLog(createForeignLog(sink, relativePath, losses), relativePath, agentId)
  const { created_at: begun } = conversation.session
  log.add({ type: "metadata", protocol_version: PROTOCOL, created_at: Date.parse(begun) })
  const model = target.model === undefined ? {} : { modelAlias: target.model }
  log.addRecord("config.update", begun, { profileName: profile, ...model })
  const lastMs = turns.reduce((last, { timestamp }) => Math.max(last, Date.parse(timestamp)), Date.parse(begun))
  agents.push({ ...agent, lastMs })
  const inner = agentCallsOf(conversation).map((each) => ({ each, id: `agent-${writing.nextAgent++}` }))
  const spawned = new Map(inner.map((started) => [started.each.start?.call, started]))
  for (const turn of turns) {
    if (turn.role === "user") addUserTurn(log, turn)
    else addAssistantTurn(log, turn, spawned)
  }
  const innerLosses = inner.flatMap(({ each, id }) =>
    writeAgent(each.child, writing, { agentId: id, profile: profileOf(each), parentAgentId: agentId }),
  )
  return [...log.losses, ...innerLosses]
}

function profileOf({ child, start }: Started): string {
  const said = child.session.source_agent.split("/")[1] ?? start?.agent ?? ""
  return PROFILES.find((profile) => profile === said) ?? "coder"
}

function createLog(log: ForeignLog, relativePath: string, agentId: string): Log {
  return Object.assign(log, {
    ...{ relativePath, agentId, turn: -1, step: 0 },
    addRecord(type: string, timestamp: string, fields: JsonObject) {
      log.add({ type, agentId, ...fields, time: Date.parse(timestamp) })
    },
  })
}

function idFor(log: Log, kind: string): string {
  return uuidV4Of(`${log.relativePath} ${kind} ${log.length}`)
}

// --- Turns of the user --------------------------------------------------------------------------------------------------

/** What a harness put in the user's slot is a separate message, of another origin. */
function addUserTurn(log: Log, { blocks, messageId, timestamp }: UserTurn): void {
  log.turn++
  log.step = 0
  for (const { injected, blocks: run } of runsByInjected(blocks)) {
    const content = run.flatMap((block) => contentPart(log, block, messageId) ?? [])
    if (content.length === 0) continue
    const id = `msg_${idFor(log, "message")}`
    const message = { role: "user", content, id, toolCalls: [], origin: originOf(injected) }
    log.addRecord("context.append_message", timestamp, { message })
  }
}

function originOf(injected: string | undefined): JsonObject {
  if (injected === undefined) return { kind: "user" }
  return injected === "compact-summary" ? { kind: "compaction_summary" } : { kind: "injection", variant: injected }
}

function contentPart(log: Log, block: TextBlock | FileBlock, messageId: string): JsonObject | undefined {
  if (block.type === "text") return { type: "text", text: block.text }
  const { data, media_type: mime, file_name: name } = block.file
  if ("text" in data) return { type: "text", text: data.text }
  if ("base64" in data && mime.startsWith("image/"))
    return { type: "image_url", imageUrl: { url: `data:${mime};base64,${data.base64}` } }
  log.lose("attachment", messageId, name ?? mime)
  return undefined
}

// --- Turns of the model -------------------------------------------------------------------------------------------------

type Spawned = ReadonlyMap<string | undefined, { readonly each: Started; readonly id: string }>

/** A step, whose results all come before its end: the client takes a later one for lost. */
function addAssistantTurn(log: Log, turn: AssistantTurn, spawned: Spawned): void {
  const { timestamp, messageId } = turn
  const uuid = idFor(log, "step")
  const step = { turnId: String(Math.max(0, log.turn)), step: ++log.step }
  const add = (event: JsonObject, at = timestamp) => log.addRecord(LOOP_EVENT, at, { event })
  add({ type: "step.begin", uuid, ...step })
  const calls: { readonly call: CallBlock; readonly callUuid: string }[] = []
  for (const block of turn.blocks) {
    const beside = { ...step, stepUuid: uuid }
    if (block.type !== "call") {
      const part =
        block.type === "reasoning" ? { type: "think", think: block.text } : contentPart(log, block, messageId)
      if (part !== undefined) add({ type: "content.part", uuid: idFor(log, "part"), ...beside, part })
      continue
    }
    const callUuid = idFor(log, "call")
    const { id: toolCallId, name, params } = block
    // The client sends arguments of any other shape as they are, and providers refuse them.
    const args = isJsonObject(params) ? params : { input: params }
    add({ type: "tool.call", uuid: callUuid, ...beside, toolCallId, name, args })
    calls.push({ call: block, callUuid })
    const agent = spawned.get(toolCallId)
    if (agent !== undefined) addSpawned(log, toolCallId, timestamp, agent)
  }
  for (const { call, callUuid } of calls)
    if (call.result !== undefined) add(resultEvent(call.id, callUuid, call.result), call.result.timestamp)
  add({ type: "step.end", uuid, ...step, finishReason: calls.length === 0 ? "end_turn" : "tool_use" })
}

function addSpawned(
  log: Log,
  parentToolCallId: string,
  timestamp: string,
  { each, id }: { each: Started; id: string },
): void {
  log.addRecord("subagent.spawned", timestamp, {
    ...{ subagentId: id, subagentName: profileOf(each), parentToolCallId, parentAgentId: log.agentId },
    ...{ callerAgentId: log.agentId, description: each.start?.purpose ?? "", runInBackground: false },
  })
}

function resultEvent(toolCallId: string, parentUuid: string, { content, isFailure }: CallResult): JsonObject {
  const hasPicture = content.some(({ type }) => type !== "text")
  const output = hasPicture
    ? content.map(
        (piece): JsonObject =>
          piece.type === "text"
            ? { type: "text", text: piece.text }
            : { type: "image_url", imageUrl: { url: `data:${piece.mediaType};base64,${piece.base64}` } },
      )
    : content.flatMap((piece) => (piece.type === "text" ? [piece.text] : [])).join("\n")
  return { type: "tool.result", parentUuid, toolCallId, result: { output, ...(isFailure ? { isError: true } : {}) } }
}

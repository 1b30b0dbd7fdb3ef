/**
 * A session of another client as opencode would have written it: rows of its database. A turn of the model is one message
 * with one step in it, each call a part that carries its result; a sub-agent is a separate session, named by its call.
 * opencode finds a session by its project: `global` is that of directories without version control, and from there
 * opencode itself takes a session into the project of the repository that it lies at the top of.
 */
import { isJsonObject, type JsonObject, type JsonValue } from "../../model/json.ts"
import type { Loss } from "../../model/report.ts"
import type { Conversation, ForeignSerializer, ForeignTarget, OutputRow } from "../adapter.ts"
import { agentCallsOf, type Start } from "../shared/agent-calls.ts"
import { hexOf } from "../shared/derived-ids.ts"
import { loss } from "../shared/losses.ts"
import { hasTextBehind, isPicture } from "../shared/translate.ts"
import {
  type AssistantTurn,
  type CallBlock,
  type FileBlock,
  type TextBlock,
  type Turn,
  turnsOf,
  type UserTurn,
} from "../shared/turns.ts"
import type { Brand } from "./brands.ts"
import { GLOBAL, globalProject, pathBelowRoot } from "./project.ts"
import { vocabulary } from "./vocabulary.ts"

export function foreignWriterOf(brand: Brand): ForeignSerializer {
  return (conversation, target, sink) => {
    const write = (row: OutputRow) => sink.row(`${brand.id}.db`, row)
    write(globalProject(Date.parse(conversation.session.created_at)))
    return { sessionId: idOf(conversation, brand), losses: writeSession(conversation, { ...target, brand }, write) }
  }
}

interface Target extends ForeignTarget {
  readonly brand: Brand
}

/** The session that an agent was started from, and the call that did it. */
interface Parent {
  readonly sessionId: string
  readonly start: Start | undefined
}

type Write = (row: OutputRow) => void

/** The losses. */
function writeSession(conversation: Conversation, target: Target, write: Write, parent?: Parent): Loss[] {
  const { turns, losses } = turnsOf(conversation, vocabulary, target.reasoning)
  const sessionId = idOf(conversation, target.brand)
  const agent = parent === undefined ? target.brand.agent : SUB_AGENT
  const children = agentCallsOf(conversation)
  const started = new Map(children.map(({ child, start }) => [start?.call, idOf(child, target.brand)]))
  const row = sessionRow(conversation, { sessionId, agent, target, parent, updatedMs: lastMsOf(turns) })
  write({ table: "session", row })
  const draft = createDraft({ sessionId, agent, target, provider: providerOf(conversation), started, write })
  for (const turn of turns) draft.add(turn)
  const inner = children.map(({ child, start }) => writeSession(child, target, write, { sessionId, start }))
  return [...losses, ...draft.losses, ...inner.flat()]
}

/** When the last message is. Those without a part are not written. */
function lastMsOf(turns: readonly Turn[]): number {
  const isWritten = (turn: Turn) =>
    turn.role === "assistant" || turn.blocks.some((block) => userPart(block) !== undefined)
  return turns.reduce((last, turn) => (isWritten(turn) ? Math.max(last, Date.parse(turn.timestamp)) : last), 0)
}

/** An agent that every installation of every brand has. */
const SUB_AGENT = "general"

function idOf({ session }: Conversation, { seed }: Brand): string {
  return sessionIdOf(Date.parse(session.created_at), `${seed}${session.source_agent} ${session.id}`)
}

// --- Rows of the session ------------------------------------------------------------------------------------------------

interface SessionFacts {
  readonly sessionId: string
  readonly agent: string
  readonly target: Target
  readonly parent: Parent | undefined
  readonly updatedMs: number
}

function sessionRow({ session, entries }: Conversation, facts: SessionFacts): JsonObject {
  const { sessionId, agent, target, parent, updatedMs } = facts
  const created = Date.parse(session.created_at)
  const title = parent === undefined ? session.title : subagentTitle(parent.start, session.title)
  return {
    ...{ id: sessionId, project_id: GLOBAL, workspace_id: null, parent_id: parent?.sessionId ?? null },
    ...{ slug: `restored-${hexOf(sessionId, 6)}`, directory: target.cwd, path: pathBelowRoot(target.cwd) },
    ...{
      title: title ?? firstWords(entries) ?? `New session - ${new Date(created).toISOString()}`,
      version: target.brand.judged.to,
    },
    ...{ share_url: null, summary_additions: 0, summary_deletions: 0, summary_files: 0, summary_diffs: null },
    ...{ metadata: null, cost: 0, tokens_input: 0, tokens_output: 0, tokens_reasoning: 0 },
    ...{ tokens_cache_read: 0, tokens_cache_write: 0, revert: null, permission: null, agent },
    ...{ model: modelColumn(target.model), time_created: created, time_updated: Math.max(created, updatedMs) },
    ...{ time_compacting: null, time_archived: null },
  }
}

function subagentTitle(start: Start | undefined, title: string | undefined): string {
  return `${start?.purpose ?? title ?? "Sub-agent"} (@${SUB_AGENT} subagent)`
}

const TITLE_UNITS = 100

function firstWords(entries: Conversation["entries"]): string | undefined {
  for (const { message, parts } of entries) {
    if (message.role !== "user") continue
    for (const part of parts) {
      const line = part.type === "text" && part.provenance === "conversational" ? part.text.trim().split("\n")[0] : ""
      if (line !== undefined && line !== "") return line.slice(0, TITLE_UNITS)
    }
  }
  return undefined
}

// --- Messages and parts -------------------------------------------------------------------------------------------------

interface DraftFacts {
  readonly sessionId: string
  readonly agent: string
  readonly target: Target
  readonly provider: string
  readonly write: Write
  /** The sessions of agents, by the call that started each. */
  readonly started: ReadonlyMap<string | undefined, string>
}

interface Draft {
  readonly losses: readonly Loss[]
  add(turn: Turn): void
}

function createDraft(facts: DraftFacts): Draft {
  const { sessionId, agent, target, provider, write } = facts
  const ids = createIds(sessionId)
  const losses: Loss[] = []
  let lastMs = 0
  let question = ids.next("msg", 0)

  /** Messages are read in the order of their times, and clocks run backwards in real logs. */
  function message(turn: Turn, data: (created: number) => JsonObject, parts: readonly JsonObject[]): string {
    const created = Math.max(lastMs, Date.parse(turn.timestamp))
    lastMs = created
    const id = ids.next("msg", created)
    const times = { time_created: created, time_updated: created }
    const part = parts.map((each) => {
      const partId = ids.next("prt", created)
      return {
        id: partId,
        message_id: id,
        session_id: sessionId,
        ...times,
        data: placed(each, { sessionId, id, ids, created }),
      }
    })
    write({ table: "message", row: { id, session_id: sessionId, ...times, data: data(created), part } })
    return id
  }

  function lost(block: TextBlock | FileBlock, messageId: string): undefined {
    if (block.type === "file") losses.push(loss("attachment", messageId, block.file.file_name ?? block.file.media_type))
    return undefined
  }

  function addUser(turn: UserTurn): void {
    const parts = turn.blocks
      .map((block) => userPart(block) ?? lost(block, turn.messageId))
      .filter((part) => part !== undefined)
    if (parts.length === 0) return
    const model = modelField(target.model)
    question = message(turn, (created) => ({ role: "user", time: { created }, agent, ...model }), parts)
  }

  function addAssistant(turn: AssistantTurn): void {
    const parts = turn.blocks.map((block) => modelPart(block, turn, facts, losses)).filter((part) => part !== undefined)
    const finish = turn.blocks.some(({ type }) => type === "call") ? "tool-calls" : "stop"
    const step = [{ type: "step-start" }, ...parts, { type: "step-finish", reason: finish, cost: 0, tokens: NO_TOKENS }]
    const said = { role: "assistant", parentID: question, mode: agent, agent, path: { cwd: target.cwd, root: "/" } }
    const model = { modelID: turn.model ?? "unknown", providerID: provider }
    const counted = { cost: 0, tokens: NO_TOKENS }
    message(turn, (created) => ({ ...said, ...counted, ...model, time: { created, completed: created }, finish }), step)
  }

  return {
    losses,
    add: (turn) => (turn.role === "user" ? addUser(turn) : addAssistant(turn)),
  }
}

const NO_TOKENS: JsonObject = { input: 0, output: 0, reasoning: 0, cache: { read: 0, write: 0 } }

/** Where the models of the session's client are to be had. */
function providerOf({ session, origin }: Conversation): string {
  return origin?.models?.provider ?? session.source_agent.split("/")[0] ?? session.source_agent
}

/**
 * opencode goes on with the model of the last question, and fails where it has none of that name. Where it is not known
 * with which the person works here, the question names none, and opencode takes its default.
 */
function modelField(model: string | undefined): { readonly model?: JsonObject } {
  const [providerID, ...rest] = model?.split("/") ?? []
  return providerID === undefined ? {} : { model: { providerID, modelID: rest.join("/") } }
}

function modelColumn(model: string | undefined): JsonValue {
  const [providerID, ...rest] = model?.split("/") ?? []
  return providerID === undefined ? null : { id: rest.join("/"), providerID, variant: "default" }
}

// --- Parts of a user ----------------------------------------------------------------------------------------------------

/** Nothing of a file that opencode cannot hold. */
function userPart(block: TextBlock | FileBlock): JsonObject | undefined {
  if (block.type === "text") {
    // What a harness put in the user's slot is sent to the model, and shown as what it is.
    return { type: "text", text: block.text, ...(block.injected === undefined ? {} : { synthetic: true }) }
  }
  const { data, media_type: mime, file_name: filename } = block.file
  if ("text" in data) return { type: "text", text: data.text, synthetic: true }
  if ("base64" in data && isShowable(mime)) {
    const url = `data:${mime};base64,${data.base64}`
    return { type: "file", mime, ...(filename === undefined ? {} : { filename }), url }
  }
  return undefined
}

/** What opencode sends to a model as a file. Others it would send too, and the provider would refuse them. */
function isShowable(mime: string): boolean {
  return mime.startsWith("image/") || mime === "application/pdf"
}

// --- Parts of the model -------------------------------------------------------------------------------------------------

function modelPart(
  block: AssistantTurn["blocks"][number],
  turn: AssistantTurn,
  facts: DraftFacts,
  losses: Loss[],
): JsonObject | undefined {
  const start = Date.parse(turn.timestamp)
  const time = { start, end: start }
  if (block.type === "text") return { type: "text", text: block.text, time }
  if (block.type === "reasoning") return { type: "reasoning", text: block.text, time }
  if (block.type === "call") return toolPart(block, turn, facts, losses)
  losses.push(loss("attachment", turn.messageId, block.file.file_name ?? block.file.media_type))
  return undefined
}

function toolPart(block: CallBlock, turn: AssistantTurn, { started }: DraftFacts, losses: Loss[]): JsonObject {
  const start = Date.parse(turn.timestamp)
  const { id: callID, name: tool, params, result } = block
  const input = isJsonObject(params) ? params : { input: params }
  if (result === undefined) return { type: "tool", callID, tool, state: { status: "pending", input, raw: "" } }
  const text = result.content.flatMap((piece) => (piece.type === "text" ? [piece.text] : [])).join("\n")
  const time = { start, end: Math.max(start, Date.parse(result.timestamp)) }
  const attachments = result.content.flatMap((piece): JsonObject[] => {
    if (piece.type === "text") return []
    if (isPicture(piece))
      return [{ type: "file", mime: piece.mediaType, url: `data:${piece.mediaType};base64,${piece.base64}` }]
    losses.push(loss("attachment", turn.messageId, piece.mediaType))
    return []
  })
  if (hasTextBehind(result.content)) losses.push(loss("result_order", turn.messageId, tool))
  if (result.isFailure && attachments.length === 0)
    return { type: "tool", callID, tool, state: { status: "error", input, error: text, time } }
  // A failure has no place for a picture.
  if (result.isFailure) losses.push(loss("failure_mark", turn.messageId, tool))
  const child = started.get(callID)
  const metadata = child === undefined ? {} : { sessionId: child }
  const shown = attachments.length === 0 ? {} : { attachments }
  return {
    type: "tool",
    callID,
    tool,
    state: { status: "completed", input, output: text, title: titleOf(input), metadata, time, ...shown },
  }
}

/** What opencode shows of a call in one line. */
function titleOf(input: JsonObject): string {
  const said = input["description"] ?? input["command"] ?? input["filePath"] ?? input["pattern"]
  return typeof said === "string" ? said : ""
}

/** A file that a tool shows is a part inside a part, and has its own id. */
function placed(data: JsonObject, at: { sessionId: string; id: string; ids: Ids; created: number }): JsonObject {
  const state = data["state"]
  const attachments = isJsonObject(state) ? state["attachments"] : undefined
  if (!isJsonObject(state) || !Array.isArray(attachments)) return data
  const withIds = attachments.map((file: JsonValue) => ({
    id: at.ids.next("prt", at.created),
    sessionID: at.sessionId,
    messageID: at.id,
    ...(isJsonObject(file) ? file : {}),
  }))
  return { ...data, state: { ...state, attachments: withIds } }
}

// --- Ids as opencode makes them --------------------------------------------------------------------------------------

// Ids of opencode's own shape, derived from those of the source: the same session gives the same ids everywhere. Twelve
// hexadecimal digits of time and a count, which grow (of a session: shrink, so that the newest comes first), then letters.

const COUNTS_PER_MS = 4096n
const TIME_BITS = (1n << 48n) - 1n
const LETTERS = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
const LETTERS_MAX = 14

function sessionIdOf(createdMs: number, seed: string): string {
  return `ses_${digits(~timeOf(createdMs, 0))}${lettersOf(seed)}`
}

interface Ids {
  /** Each id is greater than all before it: opencode reads a message's parts in the order of their ids. */
  next(prefix: "msg" | "prt", ms: number): string
}

function createIds(seed: string): Ids {
  let last = -1n
  return {
    next(prefix, ms) {
      const wanted = timeOf(ms, 0)
      last = wanted > last ? wanted : last + 1n
      return `${prefix}_${digits(last)}${lettersOf(`${seed} ${last}`)}`
    },
  }
}

function timeOf(ms: number, count: number): bigint {
  return BigInt(Math.max(0, Math.trunc(ms))) * COUNTS_PER_MS + BigInt(count)
}

function digits(value: bigint): string {
  return (value & TIME_BITS).toString(16).padStart(12, "0")
}

/**
 * Each from the number that the hash is, shifted by six bits more: in pieces of 24 bits, which are whole numbers to a
 * processor at every step.
 */
function lettersOf(seed: string): string {
  const hash = hexOf(seed, 32)
  const pieces = [0, 2, 8, 14, 20, 26].map((from, index) => Number.parseInt(hash.slice(from, 2 + 6 * index), 16))
  let letters = ""
  while (letters.length < LETTERS_MAX) {
    let [rest, carry] = [0, 0]
    for (let index = 0; index < pieces.length; index++) {
      const piece = pieces[index] as number
      rest = ((rest << 24) | piece) % LETTERS.length
      pieces[index] = (carry << 18) | (piece >> 6)
      carry = piece & 63
    }
    letters += LETTERS[rest]
  }
  return letters
}

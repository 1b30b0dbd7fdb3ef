/**
 * A session as its steps, for the formats in which traces of agents are exchanged: what a person said, what a harness put
 * there, and each response of the model with its calls, their results and what it took. Sub-agents are separate traces.
 */
import type { Conversation } from "../../../adapters/adapter.ts"
import { originOf } from "../../../adapters/registry.ts"
import { agentCallsOf } from "../../../adapters/shared/agent-calls.ts"
import {
  type AssistantTurn,
  type FileBlock,
  runsByInjected,
  type TextBlock,
  turnsOf,
} from "../../../adapters/shared/turns.ts"
import type { UsageReading } from "../../../adapters/usage-reading.ts"
import { isJsonObject, type JsonValue } from "../../../model/json.ts"
import type { Loss } from "../../../model/report.ts"
import type { Entry, Session } from "../../../model/session.ts"
import { withoutSuperseded } from "../../../model/superseded.ts"
import { sessionNotFound } from "../../../sessions/read/read-sessions.ts"
import type { Sessions } from "../../../sessions/store.ts"

export type Tokens = ReturnType<UsageReading["read"]>[number]

export interface SaidStep {
  readonly kind: "said"
  readonly messageId: string
  readonly timestamp: string
  /** What kind of text a harness put here. Absent where a person said it. */
  readonly injected: string | undefined
  readonly blocks: readonly (TextBlock | FileBlock)[]
  /** Copied from another session, which this one continues. */
  readonly isCopy: boolean
}

export interface AgentStep {
  readonly kind: "agent"
  readonly messageId: string
  readonly timestamp: string
  readonly model: string | undefined
  readonly blocks: AssistantTurn["blocks"]
  readonly tokens: readonly Tokens[]
  readonly isCopy: boolean
}

export type TraceStep = SaidStep | AgentStep

export interface Trace {
  readonly session: Session
  readonly steps: readonly TraceStep[]
  readonly losses: readonly Loss[]
  readonly children: readonly { readonly trace: Trace; readonly call: string | undefined }[]
  readonly messages: number
}

const DEPTH_MAX = 16

export async function readTrace(sessions: Sessions, id: string, signal: AbortSignal): Promise<Trace> {
  const session = await sessions.session(id)
  if (session === undefined) throw sessionNotFound(id)
  return traceOf(await readConversation(sessions, session, signal, new Set([id])))
}

async function readConversation(
  sessions: Sessions,
  session: Session,
  signal: AbortSignal,
  met: Set<string>,
): Promise<Conversation> {
  signal.throwIfAborted()
  const { entries } = withoutSuperseded(await sessions.log(session.id))
  const agents = met.size > DEPTH_MAX ** 2 ? [] : (await sessions.children(session.id)).filter(isAgent)
  const children: Conversation[] = []
  for (const agent of agents.toSorted((left, right) => (left.created_at < right.created_at ? -1 : 1))) {
    if (met.has(agent.id)) continue
    met.add(agent.id)
    children.push(await readConversation(sessions, agent, signal, met))
  }
  return { session, entries: entries.map(asSpoken), children, origin: originOf(session.source_agent) }
}

/** A fork is a separate session. */
function isAgent({ source_agent: agent, options }: Session): boolean {
  const pond = options["pond"]
  return agent.includes("/") || (isJsonObject(pond as JsonValue) && "spawned_by" in (pond as object))
}

/** Instructions stand in no turn: they are told as what a harness put there. */
function asSpoken(entry: Entry): Entry {
  const { message } = entry
  if (message.role !== "system" || message.content === "") return entry
  const { content, ...rest } = message
  const part = {
    ...{ id: `${message.id}:0`, session_id: message.session_id, message_id: message.id, type: "text", text: content },
    ...{ provenance: "injected", options: { pond: { injected: "instructions" } } },
  } as const
  return { message: { ...rest, role: "user" }, parts: [part] } as Entry
}

function traceOf(conversation: Conversation): Trace {
  const { session, entries } = conversation
  const { turns, losses } = turnsOf(conversation, undefined, "keep", { keepsSurroundings: true })
  const ordinals = new Map(entries.map(({ message }) => [message.id, message.ordinal]))
  const copies = new Set(entries.filter(isCopy).map(({ message }) => message.id))
  const tokens = tokensByOrdinal(conversation)
  const steps = turns.flatMap((turn, index): TraceStep[] => {
    const { messageId, timestamp } = turn
    const common = { messageId, timestamp, isCopy: copies.has(messageId) }
    if (turn.role === "user") return runsByInjected(turn.blocks).map((run) => ({ kind: "said", ...common, ...run }))
    const from = ordinals.get(messageId) ?? 0
    const next = turns[index + 1]
    const to = next === undefined ? Number.POSITIVE_INFINITY : (ordinals.get(next.messageId) ?? 0)
    const taken = [...tokens].filter(([ordinal]) => ordinal >= from && ordinal < to).map(([, each]) => each)
    return [{ kind: "agent", ...common, model: turn.model, blocks: turn.blocks, tokens: taken.flat() }]
  })
  const children = agentCallsOf(conversation).map(({ child, start }) => ({ trace: traceOf(child), call: start?.call }))
  return { session, steps, losses, children, messages: entries.length }
}

function isCopy({ message }: Entry): boolean {
  const pond = message.options["pond"]
  return isJsonObject(pond as JsonValue) && (pond as { replay_of?: unknown }).replay_of !== undefined
}

/** Each response once, as it was recorded last, at the message that recorded it first. */
function tokensByOrdinal({ session, entries }: Conversation): ReadonlyMap<number, readonly Tokens[]> {
  const reading = originOf(session.source_agent)?.usage
  const found = new Map<string, { readonly ordinal: number; tokens: Tokens }>()
  if (reading === undefined) return new Map()
  const memory: Record<string, JsonValue> = {}
  for (const { message } of entries) {
    const source = message.options["source"] as JsonValue | undefined
    const record = isJsonObject(source) ? source["record"] : undefined
    if (record === undefined || record === null) continue
    for (const tokens of reading.read({ record, sessionId: session.id }, memory)) {
      const before = found.get(tokens.key)
      if (tokens.isEcho === true) continue
      if (before === undefined) found.set(tokens.key, { ordinal: message.ordinal, tokens })
      else before.tokens = tokens
    }
  }
  const all = [...found.values()]
  return new Map(
    [...new Set(all.map(({ ordinal }) => ordinal))].map((ordinal) => [
      ordinal,
      all.filter((each) => each.ordinal === ordinal).map(({ tokens }) => tokens),
    ]),
  )
}

// --- What every format asks ---------------------------------------------------------------------------------------------

export function joinedText(blocks: readonly { readonly type: string }[], type: "text" | "reasoning"): string {
  return blocks.flatMap((block) => (block.type === type ? [(block as TextBlock).text] : [])).join("\n\n")
}

export function inputOf({ input, cacheRead, cacheWrite, cacheWrite5m, cacheWrite1h }: Tokens): number {
  return input + cacheRead + cacheWrite + cacheWrite5m + cacheWrite1h
}

export function writtenOf({ cacheWrite, cacheWrite5m, cacheWrite1h }: Tokens): number {
  return cacheWrite + cacheWrite5m + cacheWrite1h
}

export function sum(tokens: readonly Tokens[], of: (each: Tokens) => number): number {
  return tokens.reduce((all, each) => all + of(each), 0)
}

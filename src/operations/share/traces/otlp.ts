/**
 * A trace as spans of OpenTelemetry in OTLP's JSON, by the semantic conventions of generative AI: `invoke_agent` for a session
 * and each of its agents, `chat` for a response of the model, `execute_tool` for a call. Sessions record moments and no
 * durations: a response begins where what it answers ended.
 */

import { originOf } from "../../../adapters/registry.ts"
import type { CallBlock, FileBlock, TextBlock } from "../../../adapters/shared/turns.ts"
import { type JsonObject, type JsonValue, stringifyJson } from "../../../model/json.ts"
import { sha256Of } from "../../../platform/sha256.ts"
import { type AgentStep, inputOf, type SaidStep, sum, type Trace, writtenOf } from "./read-trace.ts"

const SCHEMA_URL = "https://opentelemetry.io/schemas/1.38.0"
const [INTERNAL, CLIENT] = [1, 3]
const ERROR = 2

export function spansOf(trace: Trace, version: string): JsonObject {
  const traceId = sha256Of(`pond trace ${trace.session.id}`).slice(0, 32)
  const spans: JsonObject[] = []
  addAgent(trace, { traceId, parent: undefined, spans })
  return {
    resourceSpans: [
      {
        resource: { attributes: attributes({ "service.name": trace.session.source_agent }) },
        scopeSpans: [{ scope: { name: "pond", version }, spans, schemaUrl: SCHEMA_URL }],
        schemaUrl: SCHEMA_URL,
      },
    ],
  }
}

interface Place {
  readonly traceId: string
  readonly parent: string | undefined
  readonly spans: JsonObject[]
}

function addAgent(trace: Trace, { traceId, parent, spans }: Place): void {
  const { session, steps, children } = trace
  const id = spanId(session.id)
  const moments = [session.created_at, ...steps.flatMap(momentsOf)].map((each) => Date.parse(each))
  const agent = session.source_agent
  spans.push(
    span({
      ...{ traceId, id, parent, name: `invoke_agent ${agent}`, kind: INTERNAL },
      ...{ fromMs: Math.min(...moments), toMs: Math.max(...moments) },
      attributes: {
        "gen_ai.operation.name": "invoke_agent",
        "gen_ai.provider.name": providerOf(session.source_agent),
        "gen_ai.agent.name": agent,
        "gen_ai.agent.id": session.id,
        "gen_ai.conversation.id": session.id,
        "pond.project": session.project,
        ...(session.title === undefined ? {} : { "pond.title": session.title }),
      },
    }),
  )
  const byCall = new Map(children.map((child) => [child.call, child.trace]))
  let heard: (SaidStep | AgentStep)[] = []
  let beforeMs = Date.parse(session.created_at)
  for (const step of steps) {
    if (step.kind === "said") heard.push(step)
    else {
      addResponse(step, { trace, traceId, parent: id, spans, heard, beforeMs, byCall })
      heard = [step]
    }
    beforeMs = Math.max(...momentsOf(step).map((each) => Date.parse(each)))
  }
  // Agents of which no call is known.
  for (const child of children) if (child.call === undefined) addAgent(child.trace, { traceId, parent: id, spans })
}

interface Response extends Place {
  readonly trace: Trace
  readonly heard: readonly (SaidStep | AgentStep)[]
  readonly beforeMs: number
  readonly byCall: ReadonlyMap<string | undefined, Trace>
}

function addResponse(step: AgentStep, { trace, traceId, parent, spans, heard, beforeMs, byCall }: Response): void {
  const { session } = trace
  const atMs = Date.parse(step.timestamp)
  const { model, tokens } = step
  const counted: Record<string, JsonValue> =
    tokens.length === 0
      ? {}
      : {
          "gen_ai.usage.input_tokens": sum(tokens, inputOf),
          "gen_ai.usage.output_tokens": sum(tokens, ({ output }) => output),
          "gen_ai.usage.cache_read.input_tokens": sum(tokens, ({ cacheRead }) => cacheRead),
          "gen_ai.usage.cache_write.input_tokens": sum(tokens, writtenOf),
          "gen_ai.usage.reasoning.output_tokens": sum(tokens, ({ reasoning }) => reasoning),
        }
  spans.push(
    span({
      ...{ traceId, id: spanId(session.id, step.messageId), parent, kind: CLIENT },
      name: model === undefined ? "chat" : `chat ${model}`,
      ...{ fromMs: Math.min(beforeMs, atMs), toMs: atMs },
      attributes: {
        "gen_ai.operation.name": "chat",
        "gen_ai.provider.name": providerOf(session.source_agent),
        "gen_ai.conversation.id": session.id,
        ...(model === undefined ? {} : { "gen_ai.request.model": model, "gen_ai.response.model": model }),
        ...counted,
        // What is new since the last response: the whole history in each span would square the size of a session.
        "gen_ai.input.messages": stringifyJson(heard.flatMap(heardMessages)),
        "gen_ai.output.messages": stringifyJson([answerMessage(step)]),
      },
    }),
  )
  for (const block of step.blocks)
    if (block.type === "call") addCall(block, { trace, traceId, parent, spans, atMs, byCall })
}

type Calling = Pick<Response, "trace" | "traceId" | "parent" | "spans" | "byCall"> & { readonly atMs: number }

function addCall(
  { id, name, params, result }: CallBlock,
  { trace, traceId, parent, spans, atMs, byCall }: Calling,
): void {
  const own = spanId(trace.session.id, "call", id)
  const endMs = result === undefined ? atMs : Math.max(atMs, Date.parse(result.timestamp))
  const texts = result?.content.map((piece) => (piece.type === "text" ? piece.text : `[${piece.mediaType}]`)) ?? []
  spans.push(
    span({
      ...{ traceId, id: own, parent, name: `execute_tool ${name}`, kind: INTERNAL, fromMs: atMs, toMs: endMs },
      isError: result?.isFailure === true,
      attributes: {
        "gen_ai.operation.name": "execute_tool",
        "gen_ai.tool.name": name,
        "gen_ai.tool.type": "function",
        "gen_ai.tool.call.id": id,
        "gen_ai.conversation.id": trace.session.id,
        "gen_ai.tool.call.arguments": stringifyJson(params),
        ...(result === undefined ? {} : { "gen_ai.tool.call.result": texts.join("\n") }),
        ...(result?.isFailure === true ? { "error.type": "tool_error" } : {}),
      },
    }),
  )
  const child = byCall.get(id)
  if (child !== undefined) addAgent(child, { traceId, parent: own, spans })
}

// --- Messages -----------------------------------------------------------------------------------------------------------

function heardMessages(step: SaidStep | AgentStep): JsonObject[] {
  if (step.kind === "said")
    return [{ role: step.injected === undefined ? "user" : "system", parts: step.blocks.map(partOf) }]
  const results = step.blocks.flatMap((block) => {
    if (block.type !== "call" || block.result === undefined) return []
    const texts = block.result.content.map((piece) => (piece.type === "text" ? piece.text : `[${piece.mediaType}]`))
    return [{ type: "tool_call_response", id: block.id, response: texts.join("\n") }]
  })
  return results.length === 0 ? [] : [{ role: "tool", parts: results }]
}

function answerMessage({ blocks }: AgentStep): JsonObject {
  const parts = blocks.map((block): JsonObject => {
    if (block.type === "reasoning") return { type: "reasoning", content: block.text }
    if (block.type !== "call") return partOf(block)
    return { type: "tool_call", id: block.id, name: block.name, arguments: block.params }
  })
  const isCalling = blocks.some(({ type }) => type === "call")
  return { role: "assistant", parts, finish_reason: isCalling ? "tool_call" : "stop" }
}

function partOf(block: TextBlock | FileBlock): JsonObject {
  if (block.type === "text") return { type: "text", content: block.text }
  const { media_type: mime, data } = block.file
  const [kind = ""] = mime.split("/")
  const modality = ["image", "video", "audio"].includes(kind) ? kind : "document"
  if ("base64" in data) return { type: "blob", mime_type: mime, modality, content: data.base64 }
  if ("url" in data) return { type: "uri", mime_type: mime, modality, uri: data.url }
  return { type: "text", content: data.text }
}

// --- Spans --------------------------------------------------------------------------------------------------------------

interface SpanFields {
  readonly traceId: string
  readonly id: string
  readonly parent: string | undefined
  readonly name: string
  readonly kind: number
  readonly fromMs: number
  readonly toMs: number
  readonly isError?: boolean
  readonly attributes: Readonly<Record<string, JsonValue>>
}

/** OTLP's JSON spells ids in hexadecimal, and 64-bit numbers as texts. */
function span({ traceId, id, parent, name, kind, fromMs, toMs, isError, attributes: given }: SpanFields): JsonObject {
  return {
    ...{ traceId, spanId: id, ...(parent === undefined ? {} : { parentSpanId: parent }), name, kind },
    startTimeUnixNano: `${BigInt(Math.trunc(fromMs)) * 1_000_000n}`,
    endTimeUnixNano: `${BigInt(Math.trunc(toMs)) * 1_000_000n}`,
    attributes: attributes(given),
    status: isError === true ? { code: ERROR } : {},
  }
}

function attributes(given: Readonly<Record<string, JsonValue>>): JsonObject[] {
  return Object.entries(given).map(([key, value]) => ({
    key,
    value: typeof value === "number" ? { intValue: String(Math.trunc(value)) } : { stringValue: String(value) },
  }))
}

function spanId(...parts: readonly string[]): string {
  return sha256Of(parts.join("\u0000")).slice(0, 16)
}

function momentsOf(step: SaidStep | AgentStep): string[] {
  const results =
    step.kind === "agent"
      ? step.blocks.flatMap((block) => (block.type === "call" && block.result ? [block.result.timestamp] : []))
      : []
  return [step.timestamp, ...results]
}

function providerOf(agent: string): string {
  return originOf(agent)?.models?.provider ?? agent
}

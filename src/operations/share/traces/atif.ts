/**
 * A trace as a trajectory of ATIF 1.8. Its reader refuses keys that it does not know: what has no place in the format stands
 * below `extra.pond`. One response of the model is one step, with its calls and what came of them.
 */
import type { CallBlock, FileBlock, TextBlock } from "../../../adapters/shared/turns.ts"
import { isJsonObject, type JsonObject, type JsonValue } from "../../../model/json.ts"
import type { FilePart } from "../../../model/session.ts"
import {
  type AgentStep,
  inputOf,
  joinedText,
  type SaidStep,
  sum,
  type Tokens,
  type Trace,
  writtenOf,
} from "./read-trace.ts"

const ATIF_VERSION = "ATIF-v1.8"

export function trajectoryOf(trace: Trace): JsonObject {
  const { session, steps, children } = trace
  const started = new Map(children.flatMap(({ trace: child, call }) => (call ? [[call, child.session.id]] : [])))
  const all = steps.flatMap((step) => (step.kind === "agent" ? step.tokens : []))
  const [agent = session.source_agent] = session.source_agent.split("/")
  const models = new Set(steps.flatMap((step) => (step.kind === "agent" && step.model ? [step.model] : [])))
  return {
    schema_version: ATIF_VERSION,
    session_id: session.id,
    trajectory_id: session.id,
    agent: {
      name: session.source_agent,
      // No session names the version of its client in the same place.
      version: "unknown",
      ...(models.size === 1 ? { model_name: [...models][0] as string } : {}),
    },
    steps: steps.map((step, index) => ({
      step_id: index + 1,
      timestamp: step.timestamp,
      ...(step.kind === "said" ? saidStep(step) : agentStep(step, started)),
      ...(step.isCopy ? { is_copied_context: true } : {}),
    })),
    ...(session.title === undefined ? {} : { notes: session.title }),
    final_metrics: {
      ...(all.length === 0 ? {} : totals(all)),
      total_steps: steps.length,
    },
    ...(children.length === 0 ? {} : { subagent_trajectories: children.map((child) => trajectoryOf(child.trace)) }),
    extra: { pond: { client: agent, project: session.project, created_at: session.created_at } },
  }
}

function saidStep({ blocks, injected, messageId }: SaidStep): JsonObject {
  const { message, files } = stepContent(blocks)
  const pond = { message_id: messageId, ...(injected === undefined ? {} : { injected }), ...files }
  // What a harness put into the place of a person was said by the system.
  return { source: injected === undefined ? "user" : "system", message, extra: { pond } }
}

function agentStep({ blocks, model, tokens, messageId }: AgentStep, started: ReadonlyMap<string, string>): JsonObject {
  const reasoning = joinedText(blocks, "reasoning")
  const calls = blocks.filter((block): block is CallBlock => block.type === "call")
  const results = calls.flatMap((call) => observationOf(call, started.get(call.id)))
  const said = blocks.filter((block): block is TextBlock | FileBlock => block.type === "text" || block.type === "file")
  const { message, files } = stepContent(said)
  const order = blocks.map((block) => (block.type === "call" ? `call ${block.id}` : block.type))
  return {
    source: "agent",
    message,
    ...(model === undefined ? {} : { model_name: model }),
    ...(reasoning === "" ? {} : { reasoning_content: reasoning }),
    ...(calls.length === 0 ? {} : { tool_calls: calls.map(toolCallRecord) }),
    ...(results.length === 0 ? {} : { observation: { results } }),
    ...(tokens.length === 0 ? {} : { metrics: metricsOf(tokens) }),
    extra: { pond: { message_id: messageId, order, ...files } },
  }
}

function toolCallRecord({ id, name, params }: CallBlock): JsonObject {
  const call = { tool_call_id: id, function_name: name }
  if (isJsonObject(params)) return { ...call, arguments: params }
  return { ...call, arguments: { input: params }, extra: { pond: { is_bare_input: true } } }
}

function observationOf({ id, result }: CallBlock, agent: string | undefined): JsonObject[] {
  if (result === undefined) return []
  const pieces = result.content.map(
    (piece): JsonObject =>
      piece.type === "text" ? { type: "text", text: piece.text } : filePiece(piece.mediaType, piece),
  )
  const texts = result.content.flatMap((piece) => (piece.type === "text" ? [piece.text] : []))
  return [
    {
      source_call_id: id,
      content: texts.length === pieces.length ? texts.join("\n") : pieces,
      ...(agent === undefined ? {} : { subagent_trajectory_ref: [{ trajectory_id: agent }] }),
      extra: { is_error: result.isFailure, pond: { timestamp: result.timestamp } },
    },
  ]
}

function metricsOf(tokens: readonly Tokens[]): JsonObject {
  const costs = tokens.flatMap(({ costUsd }) => (costUsd === undefined ? [] : [costUsd]))
  return {
    prompt_tokens: sum(tokens, inputOf),
    completion_tokens: sum(tokens, ({ output }) => output),
    cached_tokens: sum(tokens, ({ cacheRead }) => cacheRead),
    ...(costs.length === 0 ? {} : { cost_usd: costs.reduce((all, each) => all + each, 0) }),
    extra: { cache_write_tokens: sum(tokens, writtenOf), reasoning_tokens: sum(tokens, ({ reasoning }) => reasoning) },
  }
}

function totals(tokens: readonly Tokens[]): JsonObject {
  const { prompt_tokens, completion_tokens, cached_tokens, cost_usd } = metricsOf(tokens)
  return {
    ...{ total_prompt_tokens: prompt_tokens as number, total_completion_tokens: completion_tokens as number },
    total_cached_tokens: cached_tokens as number,
    ...(cost_usd === undefined ? {} : { total_cost_usd: cost_usd }),
  }
}

// --- Content ------------------------------------------------------------------------------------------------------------

const IMAGES = new Set(["image/jpeg", "image/png", "image/gif", "image/webp"])
const SOUNDS = new Set([
  ...["audio/wav", "audio/mpeg", "audio/mp4", "audio/aac", "audio/ogg", "audio/flac", "audio/webm", "audio/aiff"],
])

interface Content {
  readonly message: JsonValue
  /** What the format has no piece for. */
  readonly files: JsonObject
}

function stepContent(blocks: readonly (TextBlock | FileBlock)[]): Content {
  const files = blocks.flatMap((block) => (block.type === "file" && !isPiece(block.file) ? [block.file] : []))
  const beside: JsonObject = files.length === 0 ? {} : { files: files.map(fileRecord) }
  if (blocks.every((block) => block.type === "text" || !isPiece(block.file))) {
    const texts = blocks.map((block) => (block.type === "text" ? block.text : placeholder(block.file)))
    return { message: texts.join("\n\n"), files: beside }
  }
  const pieces = blocks.map((block): JsonObject => {
    if (block.type === "text") return { type: "text", text: block.text }
    const { file } = block
    return isPiece(file) ? filePiece(file.media_type, file.data) : { type: "text", text: placeholder(file) }
  })
  return { message: pieces, files: beside }
}

function isPiece({ media_type: type, data }: FilePart): boolean {
  return !("text" in data) && (IMAGES.has(type) || SOUNDS.has(type))
}

/** A picture or a sound is named by a path or a URL: its bytes are the URL. */
function filePiece(mediaType: string, data: object): JsonObject {
  const path =
    "base64" in data ? `data:${mediaType};base64,${String(data.base64)}` : String((data as { url?: string }).url)
  if (IMAGES.has(mediaType)) return { type: "image", source: { media_type: mediaType, path } }
  if (SOUNDS.has(mediaType)) return { type: "audio", source: { media_type: mediaType, path } }
  return { type: "text", text: `[File: ${mediaType}]` }
}

function placeholder({ file_name: name, media_type: type }: FilePart): string {
  return `[File: ${name === undefined ? type : `${name} (${type})`}]`
}

function fileRecord({ file_name: name, media_type, data }: FilePart): JsonObject {
  return { media_type, data: { ...data }, ...(name === undefined ? {} : { file_name: name }) }
}

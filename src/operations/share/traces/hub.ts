/**
 * A trace as the viewer of the Hugging Face Hub shows it. Logs of Claude Code, Codex and pi it shows as their clients wrote
 * them; every other session is written in its Session Trace Simple Format: a line for the session, and one for each message.
 */
import type { CallBlock, FileBlock } from "../../../adapters/shared/turns.ts"
import { type JsonObject, stringifyJson } from "../../../model/json.ts"
import { type AgentStep, joinedText, type Trace, type TraceStep } from "./read-trace.ts"

/** Whose logs the viewer reads, and the folder in which sets of traces keep them. */
export const NATIVE_TO_HUB: Readonly<Record<string, string>> = {
  "claude-code": "claude_code",
  codex: "codex",
  pi: "pi",
}

export function hubLines(trace: Trace): JsonObject[] {
  const { session, steps, children } = trace
  return [
    {
      ...{ type: "session", harness: session.source_agent, id: session.id },
      ...(session.title === undefined ? {} : { name: session.title }),
      ...{ project: session.project, created_at: session.created_at },
      ...(children.length === 0 ? {} : { agents: children.map(({ trace: child }) => child.session.id) }),
      ...(session.parent_session_id === undefined ? {} : { parent: session.parent_session_id }),
    },
    ...steps.flatMap(hubMessages).map((message) => ({ type: "message", message })),
  ]
}

function hubMessages(step: TraceStep): JsonObject[] {
  const timestamp = Date.parse(step.timestamp)
  if (step.kind === "agent") return agentMessages(step, timestamp)
  const content = step.blocks.map((block) => (block.type === "text" ? block.text : placeholder(block))).join("\n\n")
  return [{ role: step.injected === undefined ? "user" : "system", content, timestamp }]
}

function agentMessages({ blocks, model }: AgentStep, timestamp: number): JsonObject[] {
  const calls = blocks.filter((block): block is CallBlock => block.type === "call")
  const said = blocks.flatMap((block) => {
    if (block.type === "text") return [block.text]
    return block.type === "file" ? [placeholder(block)] : []
  })
  const reasoning = joinedText(blocks, "reasoning")
  const answer = {
    ...{ role: "assistant", content: said.join("\n\n"), timestamp },
    ...(model === undefined ? {} : { model }),
    ...(reasoning === "" ? {} : { reasoningContent: reasoning }),
    ...(calls.length === 0
      ? {}
      : {
          toolCalls: calls.map(({ id, name, params }) => ({
            id,
            function: { name, arguments: stringifyJson(params) },
          })),
        }),
  }
  return [answer, ...calls.flatMap(resultMessage)]
}

function resultMessage({ id, result }: CallBlock): JsonObject[] {
  if (result === undefined) return []
  const content = result.content.map((piece) => (piece.type === "text" ? piece.text : `[File: ${piece.mediaType}]`))
  return [{ role: "tool", toolCallId: id, content: content.join("\n"), timestamp: Date.parse(result.timestamp) }]
}

/** The format has texts alone. */
function placeholder({ file }: FileBlock): string {
  return `[File: ${file.file_name === undefined ? file.media_type : `${file.file_name} (${file.media_type})`}]`
}

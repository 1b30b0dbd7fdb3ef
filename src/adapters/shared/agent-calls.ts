/** Which call of a session started which of its agents: what a source says of it, and what it leaves to be found. */
import { isJsonObject, type JsonObject, type JsonValue } from "../../model/json.ts"
import type { Part, ToolCallPart } from "../../model/session.ts"
import type { Conversation } from "../adapter.ts"
import { readTool } from "./vocabulary.ts"

/** A call that starts an agent, by the id that the source gave the call. */
export interface Start {
  readonly call: string
  readonly prompt: string
  readonly agent: string | undefined
  readonly purpose: string | undefined
}

export interface Started {
  readonly child: Conversation
  /** Absent where the session has no call left that could have started it. */
  readonly start: Start | undefined
}

/** Every agent of a session in order, each with its own call. */
export function agentCallsOf(conversation: Conversation): Started[] {
  const starts = startsIn(conversation)
  const taken = new Set<string>()
  return conversation.children.map((child) => {
    const start = startOf(child, starts, taken)
    if (start !== undefined) taken.add(start.call)
    return { child, start }
  })
}

/** The source may say which call it was; else the agent's first words are the call's prompt; else they come in order. */
function startOf(child: Conversation, starts: readonly Start[], taken: ReadonlySet<string>): Start | undefined {
  const free = starts.filter(({ call }) => !taken.has(call))
  const pond = child.session.options["pond"]
  const said = isJsonObject(pond) ? pond["spawned_by"] : undefined
  const first = firstWords(child)
  return (
    free.find(({ call }) => call === said) ??
    free.find(({ prompt }) => first !== undefined && prompt !== "" && first.includes(prompt)) ??
    free[0]
  )
}

function startsIn({ entries, origin }: Conversation): Start[] {
  const vocabulary = origin?.vocabulary ?? []
  const parts: readonly Part[] = entries.flatMap((entry): readonly Part[] => entry.parts)
  return parts.flatMap((part) => {
    if (part.type !== "tool_call") return []
    const fields = taskFields(part, vocabulary)
    if (fields === undefined) return []
    const { prompt, agent, purpose } = fields
    return [{ call: part.call_id, prompt: textOf(prompt) ?? "", agent: textOf(agent), purpose: textOf(purpose) }]
  })
}

function taskFields(part: ToolCallPart, vocabulary: Parameters<typeof readTool>[0]): JsonObject | undefined {
  const tool = readTool(vocabulary, part.name, part.params as JsonValue)?.tool
  return tool?.kind === "task" ? tool.fields : undefined
}

export function firstWords({ entries }: Conversation): string | undefined {
  for (const { message, parts } of entries) {
    if (message.role !== "user") continue
    const text = parts.find((part) => part.type === "text")
    if (text?.type === "text") return text.text
  }
  return undefined
}

function textOf(value: JsonValue | undefined): string | undefined {
  return typeof value === "string" ? value : undefined
}

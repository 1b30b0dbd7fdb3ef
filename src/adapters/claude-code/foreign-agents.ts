/**
 * The sub-agents of a session of another client, as Claude Code keeps them: all in one folder, however deep they were
 * started, each named by the call that started it.
 */
import { isJsonObject, type JsonObject, type JsonValue } from "../../model/json.ts"
import type { Part, ToolCallPart } from "../../model/session.ts"
import type { Conversation } from "../adapter.ts"
import { hexOf } from "../shared/derived-ids.ts"
import { vocabularyOf } from "../shared/translate.ts"
import { readTool } from "../shared/vocabulary.ts"

export interface Agent {
  readonly id: string
  readonly type: string
  readonly prompt: string
  /** The call that started it, by the id that the source gave the call. */
  readonly call: string | undefined
  readonly conversation: Conversation
  /** What a call of the tool has to say, where the source's did not. */
  readonly words: JsonObject
  /** What its `.meta.json` says. */
  readonly description: JsonObject
}

export function agentsOf(conversation: Conversation, depth = 1): Agent[] {
  const starts = startsIn(conversation)
  const taken = new Set<string>()
  return conversation.children.flatMap((child) => {
    const start = startOf(child, starts, taken)
    if (start !== undefined) taken.add(start.call)
    return [agentOf(child, start, depth), ...agentsOf(child, depth + 1)]
  })
}

function agentOf(child: Conversation, start: Start | undefined, depth: number): Agent {
  const { session } = child
  // A source may have a name for how an agent came to be where it has none for what it is.
  const own = start === undefined ? session.source_agent.split("/").slice(1).join("/") : ""
  const type = start?.agent ?? (own || "general-purpose")
  const prompt = start?.prompt ?? firstWords(child) ?? ""
  const description = start?.purpose ?? session.title ?? prompt.split(/\s+/).slice(0, DESCRIPTION_WORDS).join(" ")
  return {
    id: `a${hexOf(`${session.source_agent} ${session.id}`, 16)}`,
    type,
    prompt,
    call: start?.call,
    conversation: child,
    words: { description, subagent_type: type },
    description: {
      agentType: type,
      description,
      ...(start === undefined ? {} : { toolUseId: start.call.replace(/[^\w-]/g, "_") }),
      spawnDepth: depth,
    },
  }
}

/** The client asks its model for three to five words. */
const DESCRIPTION_WORDS = 5

// --- Which call started which agent -----------------------------------------------------------------------------------

interface Start {
  readonly call: string
  readonly prompt: string
  readonly agent: string | undefined
  readonly purpose: string | undefined
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

function startsIn({ session, entries }: Conversation): Start[] {
  const vocabulary = vocabularyOf(session.source_agent) ?? []
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

function firstWords({ entries }: Conversation): string | undefined {
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

/**
 * The sub-agents of a session of another client, as Claude Code keeps them: all in one folder, however deep they were
 * started, each named by the call that started it.
 */
import type { JsonObject } from "../../model/json.ts"
import type { Conversation } from "../adapter.ts"
import { agentCallsOf, firstWords, type Start } from "../shared/agent-calls.ts"
import { hexOf } from "../shared/derived-ids.ts"

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
  return agentCallsOf(conversation).flatMap(({ child, start }) => [
    agentOf(child, start, depth),
    ...agentsOf(child, depth + 1),
  ])
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

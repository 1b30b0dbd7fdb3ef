/**
 * What a client tells a hook, read from the JSON on stdin. Claude Code, Codex, Gemini CLI, Qwen Code and Grok name the
 * fields in snake_case, Copilot CLI in camelCase; pond's plugin for opencode writes what Claude Code would.
 */
import { isJsonObject, type JsonObject, parseJson } from "../../model/json.ts"

export interface HookPayload {
  /** As the client names it; its answer must repeat it. */
  readonly eventName: string | undefined
  readonly sessionId: string | undefined
  readonly cwd: string
  readonly transcriptPath: string | undefined
  readonly prompt: string | undefined
  /** Why a session starts: startup, resume, clear, compact. */
  readonly source: string | undefined
  /** It is about a sub-agent, whose prompt was written by a model. */
  readonly isSubagent: boolean
}

/** Undefined where it is no JSON object: a hook says nothing then, because clients show or obey whatever it says. */
export function readPayload(text: string, cwd: string): HookPayload | undefined {
  const parsed = parseJson(text)
  if (!parsed.ok || !isJsonObject(parsed.value)) return undefined
  const fields = parsed.value
  return {
    eventName: textAt(fields, "hook_event_name", "hookEventName"),
    sessionId: textAt(fields, "session_id", "sessionId"),
    cwd: textAt(fields, "cwd") ?? cwd,
    transcriptPath: textAt(fields, "transcript_path", "transcriptPath"),
    prompt: promptOf(fields),
    source: textAt(fields, "source"),
    isSubagent: textAt(fields, "agent_id", "agentId") !== undefined,
  }
}

/**
 * Qwen Code calls the hook of prompts also before it sends results of tools back; `submitted_prompt` is there only for
 * what a person typed. (Its page on hooks, 0.24.)
 */
function promptOf(fields: JsonObject): string | undefined {
  const isQwen = "submitted_prompt" in fields || textAt(fields, "transcript_path")?.includes("/.qwen/") === true
  return isQwen ? textAt(fields, "submitted_prompt") : textAt(fields, "prompt", "userPrompt")
}

function textAt(fields: JsonObject, ...names: readonly string[]): string | undefined {
  for (const name of names) {
    const value = fields[name]
    if (typeof value === "string" && value !== "") return value
  }
  return undefined
}

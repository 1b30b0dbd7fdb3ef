/**
 * The hooks that call `pond hook`, as each client's settings say them. Four moments, under each client's own names; a
 * client that has no such moment has no row. Times are in seconds, in milliseconds for Gemini CLI and Qwen Code.
 */
import type { HookEvent } from "../../src/cli/hooks/payload.ts"

interface Moment {
  readonly event: HookEvent
  /** The client's name of it. */
  readonly name: string
  /** Only when it starts so. */
  readonly matcher?: string
}

export type HookClient = "claude-code" | "codex" | "gemini-cli" | "qwen-code" | "copilot-cli"

/** What the client waits for at most. pond itself gives up after a second (`recall.timeout_ms`). */
const TIMEOUT_S = 5

const MOMENTS: Readonly<Record<HookClient, readonly Moment[]>> = {
  "claude-code": [
    { event: "session-start", name: "SessionStart", matcher: "compact" },
    { event: "prompt", name: "UserPromptSubmit" },
    { event: "pre-compact", name: "PreCompact" },
    { event: "session-end", name: "SessionEnd" },
  ],
  codex: [
    { event: "prompt", name: "UserPromptSubmit" },
    { event: "pre-compact", name: "PreCompact" },
    { event: "session-end", name: "SessionEnd" },
  ],
  // Its PreCompress is not waited for, and nothing of it reaches the model: the next prompt hands back.
  "gemini-cli": [
    { event: "prompt", name: "BeforeAgent" },
    { event: "pre-compact", name: "PreCompress" },
    { event: "session-end", name: "SessionEnd" },
  ],
  "qwen-code": [
    { event: "session-start", name: "SessionStart", matcher: "compact" },
    { event: "prompt", name: "UserPromptSubmit" },
    { event: "pre-compact", name: "PreCompact" },
    { event: "session-end", name: "SessionEnd" },
  ],
  "copilot-cli": [
    { event: "prompt", name: "userPromptSubmitted" },
    { event: "session-end", name: "sessionEnd" },
  ],
}

/** `command` is pond as a shell runs it. */
export function hooksOf(client: HookClient, command = "pond", timeoutS = TIMEOUT_S): Readonly<Record<string, unknown>> {
  const lineOf = ({ event }: Moment) => `${command} hook ${event} --client ${client}`
  if (client === "copilot-cli") {
    const entries = MOMENTS[client].map((each) => [
      each.name,
      [{ type: "command", bash: lineOf(each), timeoutSec: timeoutS }],
    ])
    return { version: 1, hooks: Object.fromEntries(entries) }
  }
  const isMilliseconds = client === "gemini-cli" || client === "qwen-code"
  const entries = MOMENTS[client].map((each) => {
    const hook = { type: "command", command: lineOf(each), timeout: isMilliseconds ? timeoutS * 1_000 : timeoutS }
    const named = client === "gemini-cli" ? { name: `pond ${each.event}`, ...hook } : hook
    return [each.name, [{ ...(each.matcher === undefined ? {} : { matcher: each.matcher }), hooks: [named] }]]
  })
  return { hooks: Object.fromEntries(entries) }
}

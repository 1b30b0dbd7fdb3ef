/**
 * `pond hook EVENT`: what clients call before a prompt and at the ends of a session. It never keeps one waiting for long
 * and never fails one: whatever goes wrong, it says nothing and ends with 0, because clients block a prompt on an exit
 * code of 2, and show whatever else is said.
 */
import { spawn } from "node:child_process"
import { homedir } from "node:os"
import { HOOK_EVENTS, type HookEvent } from "../../model/hook-events.ts"
import { sync as syncOperation } from "../../operations/machine/sync-operations.ts"
import { perform } from "../../operations/operation.ts"
import type { Pond } from "../../operations/pond.ts"
import { isRecallOn, recall } from "../../operations/wire/recall.ts"
import { sessionNotes } from "../../operations/wire/session-notes.ts"
import { ownCommand } from "../../platform/process/programs.ts"
import { readStandardInput } from "../../platform/process/standard-input.ts"
import { flag } from "../flags.ts"
import { hookAnswer, notesText, recallText } from "../hooks/hook-text.ts"
import { type HookPayload, readPayload } from "../hooks/payload.ts"
import { readMemory, writeMemory } from "../hooks/session-memory.ts"
import { defineVerb } from "../verb.ts"

const PAYLOAD_BYTES_MAX = 8 * 1024 * 1024

export const hook = defineVerb({
  flags: {
    client: flag.text("The client that calls (default: detected from its input).", "CLIENT"),
  },
  positionals: [{ name: "event", summary: "The event, as the client names it.", count: "one", choices: HOOK_EVENTS }],
  examples: ["hook prompt --client claude-code", "hook session-end --client codex"],
  run: async ({ pond, words, flags, signal, writeOut }) => {
    const event = words[0] as HookEvent
    try {
      const late = AbortSignal.timeout(pond.host.settings().values.recall.timeout_ms)
      const stop = AbortSignal.any([signal, late])
      const answer = await Promise.race([answerOf({ pond, event, client: flags.client, signal: stop }), ended(stop)])
      if (answer !== undefined) writeOut(`${JSON.stringify(answer)}\n`)
    } catch (error) {
      pond.host.log.debug(`hook ${event}: ${error instanceof Error ? error.message : String(error)}`)
    }
    return { exitCode: 0 }
  },
})

interface Call {
  readonly pond: Pond
  readonly event: HookEvent
  readonly client: string | undefined
  readonly signal: AbortSignal
}

function ended(signal: AbortSignal): Promise<undefined> {
  return new Promise((resolve) => signal.addEventListener("abort", () => resolve(undefined), { once: true }))
}

async function answerOf(call: Call): Promise<object | undefined> {
  const { pond, event, signal } = call
  const text = await readStandardInput(PAYLOAD_BYTES_MAX, signal)
  const payload = text === undefined ? undefined : readPayload(text, process.cwd())
  if (payload === undefined || payload.isSubagent) return undefined
  const client = call.client ?? clientOf(payload)
  if (event === "session-end") {
    if (client !== undefined) syncBehind(pond, client)
    return undefined
  }
  if (!isRecallOn(pond.host, payload.cwd)) return undefined
  const added = await addedText({ ...call, client }, payload)
  return added === "" ? undefined : hookAnswer(event, client, payload.eventName, added)
}

async function addedText(call: Call, payload: HookPayload): Promise<string> {
  const { pond, event } = call
  const { sessionId } = payload
  const state = pond.host.path("state")
  const nowMs = pond.host.clock.nowMs()
  const memory = sessionId === undefined ? undefined : readMemory(state, sessionId)
  const remember = (next: Partial<NonNullable<typeof memory>>) => {
    if (memory !== undefined && sessionId !== undefined) writeMemory(state, sessionId, { ...memory, ...next }, nowMs)
  }
  if (event === "pre-compact") {
    remember({ isCompacted: true, told: [] })
    // The summary is about to replace what was said: it must be stored when it is asked for.
    if (call.client !== undefined) syncBehind(pond, call.client)
    return ""
  }
  const isAfterCompaction = event === "session-start" ? payload.source === "compact" : memory?.isCompacted === true
  const notes = isAfterCompaction && sessionId !== undefined ? await notesOf(call, sessionId) : ""
  if (event === "session-start" || payload.prompt === undefined) {
    if (isAfterCompaction) remember({ isCompacted: false, told: [] })
    return notes
  }
  const told = isAfterCompaction ? [] : (memory?.told ?? [])
  const { tokens } = pond.host.settings().values.recall
  const { passages } = await perform(recall, call, {
    prompt: payload.prompt,
    near: payload.cwd,
    ...(sessionId === undefined ? {} : { session_id: sessionId }),
    without: told,
    tokens,
  })
  const added = recallText(passages, payload.cwd, tokens)
  if (isAfterCompaction || added.told.length > 0) remember({ isCompacted: false, told: [...told, ...added.told] })
  return [notes, added.text].filter(Boolean).join("\n\n")
}

/** What was said since the last sync is stored first, as far as the time allows. */
async function notesOf({ pond, client, signal }: Call, sessionId: string): Promise<string> {
  if (client !== undefined) {
    const request = { adapters: [client], only: ["import"], no_wait: true }
    await perform(syncOperation, { pond, signal }, request).catch(() => undefined)
  }
  const notes = await perform(sessionNotes, { pond, signal }, { session_id: sessionId }).catch(() => undefined)
  return notes === undefined ? "" : notesText(notes, sessionId)
}

/** In a separate process: clients wait for the end of a session for a second or not at all. */
function syncBehind({ host }: Pond, client: string): void {
  const [program = "", ...words] = ownCommand(host.environment)
  const { file, values } = host.settings()
  const given = [
    ...(file.exists ? ["--config", file.path] : []),
    ...(values.store === undefined ? [] : ["--store", values.store]),
  ]
  const child = spawn(program, [...words, "sync", client, "--quiet", ...given], {
    cwd: host.environment["HOME"] ?? homedir(),
    env: host.environment as Record<string, string>,
    detached: true,
    stdio: "ignore",
  })
  child.on("error", () => undefined)
  child.unref()
}

/** By where its sessions lie. */
function clientOf({ transcriptPath }: HookPayload): string | undefined {
  const known = { "/.claude/": "claude-code", "/.codex/": "codex", "/.gemini/": "gemini-cli", "/.qwen/": "qwen-code" }
  return Object.entries(known).find(([part]) => transcriptPath?.includes(part) === true)?.[1]
}

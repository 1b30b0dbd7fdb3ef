/**
 * Sessions as three clients leave them on a disk, from a seed: the same seed gives the same bytes. Sizes, the share of tool
 * output, the residue beside each message and the sub-agents follow what real sessions show: most lines are short, one in
 * five carries kilobytes of tool output, and one session in ten starts an agent with its own log.
 */
import { mkdirSync, writeFileSync } from "node:fs"
import { dirname, join } from "node:path"
import { createWriter, type Writer } from "./words.ts"

export interface CorpusRequest {
  readonly home: string
  readonly sessions: number
  /** Lines of a session in the middle. A few have thirty times as many. */
  readonly linesTypical: number
  readonly seed: number
}

export interface Corpus {
  readonly files: readonly string[]
  readonly bytes: number
  readonly lines: number
}

/** Seven of ten are Claude Code's, two Codex's, one pi's. */
const CLIENTS = [claudeSession, claudeSession, claudeSession, codexSession, claudeSession, claudeSession, piSession]

interface LogFile {
  readonly place: string
  readonly lines: readonly string[]
}

export function writeCorpus({ home, sessions, linesTypical, seed }: CorpusRequest): Corpus {
  const writer = createWriter(seed)
  const files: string[] = []
  let bytes = 0
  let lines = 0
  for (let number = 0; number < sessions; number++) {
    const client = CLIENTS[number % CLIENTS.length] ?? claudeSession
    const count = Math.max(4, Math.round(linesTypical * writer.spread()))
    for (const file of client(writer, number, count)) {
      const path = join(home, file.place)
      mkdirSync(dirname(path), { recursive: true })
      const text = `${file.lines.join("\n")}\n`
      writeFileSync(path, text)
      files.push(path)
      bytes += Buffer.byteLength(text)
      lines += file.lines.length
    }
  }
  return { files, bytes, lines }
}

export interface LongSessionRequest {
  readonly home: string
  readonly client: "claude-code" | "codex"
  /** How many lines it has. */
  readonly lines: number
  readonly seed: number
  /** What a tool gave: of so many units or more. Absent: as tools mostly do. */
  readonly outputUnits?: number
}

/** One session that is longer than any of a corpus. Gives its id, and how many bytes it has. */
export function writeLongSession({ home, client, lines, seed, outputUnits }: LongSessionRequest): {
  readonly id: string
  readonly bytes: number
} {
  const plain = createWriter(seed)
  const writer = outputUnits === undefined ? plain : { ...plain, output: () => longOutput(plain, outputUnits) }
  const [log] = (client === "codex" ? codexSession : claudeSession)(writer, 1, lines)
  if (log === undefined) throw new Error("a session has a log")
  const path = join(home, log.place)
  mkdirSync(dirname(path), { recursive: true })
  const text = `${log.lines.join("\n")}\n`
  writeFileSync(path, text)
  return { id: /([0-9a-f-]{36})\.jsonl$/.exec(log.place)?.[1] ?? "", bytes: Buffer.byteLength(text) }
}

function longOutput(writer: Writer, units: number): string {
  const pieces: string[] = []
  for (let length = 0; length < units; length += pieces.at(-1)?.length ?? 0) pieces.push(writer.output())
  return pieces.join("\n")
}

// --- Claude Code -----------------------------------------------------------------------------------------------------

function claudeSession(writer: Writer, number: number, count: number): LogFile[] {
  const session = writer.uuid()
  const folder = `.claude/projects/-home-someone-work-${number % 40}`
  const own = { place: `${folder}/${session}.jsonl`, lines: claudeLines(writer, session, number, count) }
  if (number % 10 !== 0) return [own]
  const agentId = writer.hex(8)
  const lines = claudeLines(writer, session, number, Math.ceil(count / 3), agentId)
  return [own, { place: `${folder}/${session}/subagents/agent-${agentId}.jsonl`, lines }]
}

function claudeLines(writer: Writer, session: string, number: number, count: number, agentId?: string): string[] {
  const lines: string[] = []
  let parentUuid: string | null = null
  let callId: string | undefined
  while (lines.length < count) {
    const uuid = writer.uuid()
    const frame = {
      parentUuid,
      isSidechain: agentId !== undefined,
      ...(agentId === undefined ? {} : { agentId }),
      userType: "external",
      cwd: `/home/someone/work/${number % 40}`,
      sessionId: session,
      version: "2.1.0",
      gitBranch: "main",
    }
    const tail = { uuid, timestamp: writer.moment() }
    let own: object
    if (callId !== undefined) {
      own = claudeResult(writer, callId)
      callId = undefined
    } else if (lines.length % 9 === 0) {
      own = { type: "user", message: { role: "user", content: writer.text(40) } }
    } else {
      const answer = claudeAnswer(writer)
      callId = answer.callId
      own = answer.own
    }
    lines.push(JSON.stringify({ ...frame, ...own, ...tail }))
    parentUuid = uuid
  }
  return lines
}

function claudeAnswer(writer: Writer): { readonly own: object; readonly callId?: string } {
  const calls = writer.chance(0.6)
  const callId = `toolu_01${writer.hex(22)}`
  const block = calls
    ? { type: "tool_use", id: callId, name: "Bash", input: { command: writer.text(12), description: writer.text(6) } }
    : { type: "text", text: writer.text(90) }
  const message = {
    model: "claude-opus-4-5-20251101",
    id: `msg_01${writer.hex(22)}`,
    type: "message",
    role: "assistant",
    content: [block],
    stop_reason: null,
    stop_sequence: null,
    usage: {
      input_tokens: writer.below(9_000),
      cache_creation_input_tokens: writer.below(20_000),
      cache_read_input_tokens: writer.below(90_000),
      output_tokens: writer.below(900),
      service_tier: "standard",
    },
  }
  const own = { message, requestId: `req_011C${writer.hex(20)}`, type: "assistant" }
  return calls ? { own, callId } : { own }
}

/** The client writes the output twice: once for the model, once for its own screen. */
function claudeResult(writer: Writer, callId: string): object {
  const output = writer.output()
  return {
    type: "user",
    message: {
      role: "user",
      content: [{ tool_use_id: callId, type: "tool_result", content: output, is_error: false }],
    },
    toolUseResult: { stdout: output, stderr: "", interrupted: false, isImage: false },
  }
}

// --- Codex -----------------------------------------------------------------------------------------------------------

function codexSession(writer: Writer, number: number, count: number): LogFile[] {
  const id = writer.uuid()
  const day = String((number % 27) + 1).padStart(2, "0")
  const meta = {
    id,
    timestamp: writer.moment(),
    cwd: "/home/someone/work",
    originator: "codex_cli_rs",
    cli_version: "0.98.0",
    source: "cli",
    model_provider: "openai",
  }
  const lines = [codexLine(writer, "session_meta", meta)]
  while (lines.length < count) {
    const said = writer.text(30)
    lines.push(codexLine(writer, "response_item", codexMessage("user", "input_text", said)))
    lines.push(codexLine(writer, "event_msg", { type: "user_message", message: said, images: [] }))
    const callId = `call_${writer.hex(24)}`
    const call = {
      type: "function_call",
      name: "exec_command",
      arguments: JSON.stringify({ cmd: writer.text(10) }),
      call_id: callId,
    }
    lines.push(codexLine(writer, "response_item", call))
    lines.push(
      codexLine(writer, "response_item", { type: "function_call_output", call_id: callId, output: writer.output() }),
    )
    const answer = writer.text(80)
    lines.push(codexLine(writer, "event_msg", { type: "agent_message", message: answer }))
    lines.push(codexLine(writer, "response_item", codexMessage("assistant", "output_text", answer)))
  }
  return [{ place: `.codex/sessions/2026/02/${day}/rollout-2026-02-${day}T10-00-00-${id}.jsonl`, lines }]
}

function codexLine(writer: Writer, type: string, payload: object): string {
  return JSON.stringify({ timestamp: writer.moment(), type, payload })
}

function codexMessage(role: string, type: string, text: string): object {
  return { type: "message", role, content: [{ type, text }] }
}

// --- pi --------------------------------------------------------------------------------------------------------------

function piSession(writer: Writer, _number: number, count: number): LogFile[] {
  const id = writer.uuid()
  const lines = [
    JSON.stringify({ type: "session", version: 3, id, timestamp: writer.moment(), cwd: "/home/someone/work" }),
  ]
  let parentId: string | null = null
  while (lines.length < count) {
    const callId = `call_${writer.hex(24)}`
    const usage = {
      input: writer.below(9000),
      output: writer.below(900),
      cacheRead: 0,
      cacheWrite: 0,
      totalTokens: writer.below(9900),
    }
    const call = { type: "toolCall", id: callId, name: "bash", arguments: { command: writer.text(10) } }
    const messages = [
      { role: "user", content: [{ type: "text", text: writer.text(30) }], timestamp: writer.millis() },
      {
        role: "assistant",
        content: [{ type: "text", text: writer.text(60) }, call],
        provider: "anthropic",
        model: "claude-opus-4-5",
        usage,
        stopReason: "toolUse",
        timestamp: writer.millis(),
      },
      {
        role: "toolResult",
        toolCallId: callId,
        toolName: "bash",
        content: [{ type: "text", text: writer.output() }],
        isError: false,
        timestamp: writer.millis(),
      },
    ]
    for (const message of messages) {
      const own = writer.hex(8)
      lines.push(JSON.stringify({ type: "message", id: own, parentId, timestamp: writer.moment(), message }))
      parentId = own
    }
  }
  return [{ place: `.pi/agent/sessions/--home-someone-work--/2026-02-03T10-00-00-000Z_${id}.jsonl`, lines }]
}

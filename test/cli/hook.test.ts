/** `pond hook`, called as clients call it: JSON on stdin, JSON or nothing on stdout, and 0 whatever happens. */
import { afterAll, beforeAll, expect, test } from "bun:test"
import { mkdirSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { POND } from "../support/bundled-pond.ts"
import { runPond, type TemporaryHome, temporaryHome } from "../support/pond-process.ts"

const PROJECT = "/home/dev/work/shop"
const DECISION =
  "We decided to run pgbouncer in transaction mode, so prepared statements must be off in the connection pool."
const PROMPT = "Configure the database connection pool for the new reporting worker."
const SESSION = "5f0c7e86-9d0e-4c07-9f8f-4f4f7e1f2a10"

let home: TemporaryHome
beforeAll(async () => {
  home = temporaryHome()
  writeSession(SESSION, [
    line("user", DECISION, 1),
    line("assistant", [{ type: "tool_use", id: "t1", name: "Bash", input: { command: "make ship ENV=staging" } }], 2),
    line("user", [{ type: "tool_result", tool_use_id: "t1", content: "done" }], 3),
  ])
  await runPond(["sync", "claude-code", "-q"], { env: home.env })
}, 60_000)
afterAll(() => home[Symbol.dispose]())

function writeSession(id: string, lines: readonly object[]): void {
  const folder = join(home.path, ".claude/projects/-home-dev-work-shop")
  mkdirSync(folder, { recursive: true })
  const text = lines.map((each) => JSON.stringify({ ...each, sessionId: id })).join("\n")
  writeFileSync(join(folder, `${id}.jsonl`), `${text}\n`)
}

function line(role: string, content: unknown, at: number): object {
  const uuid = (number: number) => `a0000000-0000-4000-8000-00000000000${number}`
  return {
    ...{ cwd: PROJECT, version: "2.1.0", isSidechain: false, userType: "external", type: role, uuid: uuid(at) },
    ...{
      parentUuid: at === 1 ? null : uuid(at - 1),
      timestamp: "2026-01-02T03:04:05.000Z",
      message: { role, content },
    },
  }
}

interface Answered {
  readonly exitCode: number
  readonly stdout: string
  readonly stderr: string
}

async function call(event: string, payload: unknown, env: Readonly<Record<string, string>> = {}): Promise<Answered> {
  const child = Bun.spawn([process.execPath, POND, "hook", event, ...(env["ARGS"]?.split(" ") ?? [])], {
    env: { PATH: process.env["PATH"] ?? "", POND_RECALL_TIMEOUT_MS: "30000", ...home.env, ...env },
    stdin: new Blob([typeof payload === "string" ? payload : JSON.stringify(payload)]),
    stdout: "pipe",
    stderr: "pipe",
  })
  const [stdout, stderr, exitCode] = await Promise.all([
    new Response(child.stdout).text(),
    new Response(child.stderr).text(),
    child.exited,
  ])
  return { stdout, stderr, exitCode }
}

const asked = { session_id: "running", cwd: PROJECT, hook_event_name: "UserPromptSubmit", prompt: PROMPT }
const SILENT = { exitCode: 0, stdout: "", stderr: "" }

test("a prompt is told what was decided, quoted and named, and once", async () => {
  const { stdout, ...rest } = await call("prompt", asked)
  expect(rest).toEqual({ exitCode: 0, stderr: "" })
  const { hookSpecificOutput } = JSON.parse(stdout)
  expect(hookSpecificOutput.hookEventName).toBe("UserPromptSubmit")
  expect(hookSpecificOutput.additionalContext).toContain(`| ${DECISION}`)
  expect(hookSpecificOutput.additionalContext).toContain("(message a0000000")
  expect(await call("prompt", asked)).toEqual(SILENT)
}, 60_000)

test("each client is answered in its own form", async () => {
  const gemini = await call("prompt", { ...asked, session_id: "g", hook_event_name: "BeforeAgent" })
  expect(JSON.parse(gemini.stdout).hookSpecificOutput.hookEventName).toBe("BeforeAgent")
  const { hook_event_name: _, session_id: __, ...plain } = asked
  const copilot = await call("prompt", { ...plain, sessionId: "c" }, { ARGS: "--client copilot-cli" })
  expect(Object.keys(JSON.parse(copilot.stdout))).toEqual(["additionalContext"])
}, 60_000)

test("silent where nothing is relevant, for an agent of the session, for a result of a tool, and where it is off", async () => {
  const config = join(home.path, ".config/pond/config.toml")
  const silent: (readonly [payload: unknown, env?: Readonly<Record<string, string>>, settings?: string])[] = [
    // What the running session said itself is in its context already.
    [{ ...asked, session_id: SESSION }],
    [{ ...asked, session_id: "s1", prompt: "What is the capital of Australia?" }],
    [{ ...asked, session_id: "s2", agent_id: "a1" }],
    [{ ...asked, session_id: "s3", transcript_path: `${home.path}/.qwen/projects/x/chats/y.jsonl` }],
    [{ ...asked, session_id: "s4" }, { POND_RECALL: "off" }],
    [{ ...asked, session_id: "s5" }, {}, `[recall]\nexcluded = ["${PROJECT}"]\n`],
    [{ ...asked, session_id: "s6" }, {}, `[projects]\nexcluded = ["/home/dev"]\n`],
    [{ ...asked, session_id: "s7" }, { POND_STORE: "/dev/null/no" }],
    [{ ...asked, session_id: "s8" }, {}, "not toml ["],
    ["no json"],
    [[1, 2]],
    [""],
  ]
  for (const [payload, env, settings] of silent) {
    writeFileSync(config, settings ?? "")
    expect([payload, await call("prompt", payload, env)]).toEqual([payload, SILENT])
  }
  writeFileSync(config, "")
}, 120_000)

test("after a compaction a session is handed back its commands and decisions, by the start or the next prompt, once", async () => {
  const compacted = { session_id: SESSION, cwd: PROJECT, hook_event_name: "PreCompact", trigger: "auto" }
  const started = { ...compacted, hook_event_name: "SessionStart", source: "compact" }
  expect(await call("session-start", { ...started, source: "startup" })).toEqual(SILENT)
  expect(await call("pre-compact", compacted)).toEqual(SILENT)
  const told = JSON.parse((await call("session-start", started)).stdout).hookSpecificOutput
  expect(told.hookEventName).toBe("SessionStart")
  for (const part of [`| ${DECISION}`, "| make ship ENV=staging", "message a0000000"])
    expect(told.additionalContext).toContain(part)
  const prompt = { ...asked, session_id: SESSION, prompt: "go on" }
  expect(await call("prompt", prompt)).toEqual(SILENT)
  await call("pre-compact", compacted)
  expect((await call("prompt", prompt)).stdout).toContain("make ship ENV=staging")
  expect(await call("prompt", prompt)).toEqual(SILENT)
}, 120_000)

test("the end of a session stores it, in a process of its own", async () => {
  const other = "5f0c7e86-9d0e-4c07-9f8f-4f4f7e1f2a11"
  writeSession(other, [line("user", "The owl nests in the bell tower.", 1)])
  const ended = { session_id: other, cwd: PROJECT, hook_event_name: "SessionEnd", reason: "other" }
  expect(await call("session-end", ended, { ARGS: "--client claude-code", POND_RECALL: "off" })).toEqual(SILENT)
  const isStored = async () => (await runPond(["get", other], { env: home.env })).exitCode === 0
  let stored = await isStored()
  for (let attempt = 0; !stored && attempt < 60; attempt++) stored = await isStored()
  expect(stored).toBe(true)
}, 120_000)

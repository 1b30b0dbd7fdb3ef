import { expect, test } from "bun:test"
import type { Conversation, ForeignTarget } from "../../../src/adapters/adapter.ts"
import { codex } from "../../../src/adapters/codex/adapter.ts"
import { originOf } from "../../../src/adapters/registry.ts"
import type { Entry, Part, Provenance } from "../../../src/model/session.ts"
import { fileBytes } from "../../../src/restore/draft.ts"
import { type ForeignFiles, foreignFiles } from "../../../src/restore/output-files.ts"
import { CWD, said, threadsBelow, withTree } from "./support.ts"

const SESSION = "0b5f1e9c-7c55-4a0e-9d2e-1f6a3c9b7d10"
const CREATED = "2026-02-03T04:05:06.789Z"
const KEEP: ForeignTarget = { cwd: CWD, reasoning: "keep" }

type Body = Partial<Part> & Pick<Part, "type">
type Said = readonly [role: "user" | "assistant" | "tool", ...parts: Body[]]

/** A conversation of Claude Code. What is given as injected carries its kind. */
function conversation(messages: readonly Said[], more: Partial<Conversation["session"]> = {}): Conversation {
  const entries = messages.map(([role, ...bodies], index) => {
    const id = `message-${index}`
    const parts = bodies.map((body, place) => ({
      id: `${id}:${place}`,
      session_id: SESSION,
      message_id: id,
      provenance: "conversational" as Provenance,
      options: {},
      ...body,
    }))
    const timestamp = `2026-02-03T04:05:${String(10 + index).padStart(2, "0")}.000Z`
    return {
      message: { id, session_id: SESSION, ordinal: index, timestamp, options: {}, role },
      parts,
    } as unknown as Entry
  })
  const session = {
    id: SESSION,
    source_agent: "claude-code",
    created_at: CREATED,
    project: "/elsewhere",
    options: {},
    ...more,
  }
  return { session, entries, children: [], origin: originOf(session.source_agent) }
}

const text = (value: string): Body => ({ type: "text", text: value })
const injected = (kind: string, value: string): Body => {
  return { type: "text", text: value, provenance: "injected", options: { pond: { injected: kind } } }
}
const call = (id: string, name: string, params: unknown): Body => {
  return { type: "tool_call", call_id: id, name, params, provider_executed: false }
}
const result = (id: string, value: unknown, isFailure = false): Body => {
  return { type: "tool_result", call_id: id, result: value, is_failure: isFailure, provenance: "injected" }
}

function rolloutLines({
  files,
}: ForeignFiles): { type: string; payload: Record<string, unknown>; timestamp: string }[] {
  const [file] = files
  if (file?.form !== "log") throw new Error("no rollout")
  return Array.from(file.lines, (line) => JSON.parse(String(line)))
}

/** Items and events in short, without the header. */
function short(serialized: ForeignFiles): string[] {
  return rolloutLines(serialized)
    .slice(1)
    .map(({ type, payload }) => {
      const { type: kind, role, name, message, text: thought, arguments: params, input, output, content } = payload
      const shown = content ?? message ?? thought ?? params ?? input ?? output
      return `${type === "event_msg" ? "! " : ""}${kind} ${role ?? name ?? ""} ${typeof shown === "string" ? shown : JSON.stringify(shown)}`
    })
}

/** What pond itself reads of it. */
async function readBack(serialized: ForeignFiles): Promise<string[]> {
  const tree = Object.fromEntries(
    serialized.files.map((file) => [
      file.relativePath,
      file.form === "database" ? "" : Buffer.from(fileBytes(file)).toString(),
    ]),
  )
  return withTree(tree, async (root) => {
    const thread = (await threadsBelow(root)).get(serialized.sessionId)
    return thread === undefined ? [] : said(codex.context(thread, []))
  })
}

/** Codex skips a record with half of a surrogate pair: a thread that began with one was in no list. */
test("half of a character is written as the sign for what cannot be read, and is a loss", async () => {
  const given = conversation(
    [
      ["user", text("cut in \ud83d")],
      ["assistant", text("whole 🚀"), call("toolu_1", "Bash", { command: "echo \ud83d" })],
      ["tool", result("toolu_1", "shown \ude80 and")],
    ],
    { title: "half \ud83d" },
  )
  const written = foreignFiles(codex, given, KEEP)
  const lines = written.files.flatMap((file) => (file.form === "log" ? [...file.lines] : []))
  expect(lines.filter((line) => /[^\\]\\ud83d|[^\\]\\ude80/.test(String(line)))).toEqual([])
  expect(short(written)).toEqual([
    'message user [{"type":"input_text","text":"cut in \ufffd"}]',
    "! user_message  cut in \ufffd",
    "! agent_message  whole 🚀",
    'message assistant [{"type":"output_text","text":"whole 🚀"}]',
    String.raw`function_call exec_command {"cmd":"echo \ud83d"}`,
    "function_call_output  shown \ufffd and",
  ])
  expect(written.losses).toEqual([
    { kind: "half_character", messageId: "message-0", found: "text" },
    { kind: "half_character", messageId: "message-1", found: "the result of exec_command" },
  ])
})

test("a conversation is written as Codex writes its own", async () => {
  const given = conversation([
    ["user", text("list the files")],
    [
      "assistant",
      { type: "reasoning", text: "They want a list." },
      text("I look."),
      call("toolu_1", "Bash", { command: "ls" }),
    ],
    ["assistant", call("toolu_2", "Read", { file_path: "/a" })],
    ["tool", result("toolu_1", "main.ts\n")],
    ["tool", result("toolu_2", [{ type: "text", text: "one" }])],
    ["assistant", text("There is main.ts.")],
  ])
  const written = foreignFiles(codex, given, KEEP)
  expect(written.sessionId).toBe("019c21ac-ec65-7477-b8ce-3e1ed818a71b")
  expect(written.files.map(({ relativePath }) => relativePath)).toEqual([
    `sessions/2026/02/03/rollout-2026-02-03T04-05-06-${written.sessionId}.jsonl`,
  ])
  expect(rolloutLines(written)[0]).toEqual({
    timestamp: CREATED,
    type: "session_meta",
    payload: {
      id: written.sessionId,
      session_id: written.sessionId,
      timestamp: CREATED,
      cwd: CWD,
      originator: "pond",
      cli_version: "0.169.0",
      source: "cli",
      thread_source: "user",
    },
  })
  expect(short(written)).toEqual([
    'message user [{"type":"input_text","text":"list the files"}]',
    "! user_message  list the files",
    "! agent_reasoning  They want a list.",
    "! agent_message  I look.",
    'message assistant [{"type":"output_text","text":"I look."}]',
    'function_call exec_command {"cmd":"ls"}',
    'function_call Read {"file_path":"/a"}',
    "function_call_output  main.ts\n",
    "function_call_output  one",
    "! agent_message  There is main.ts.",
    'message assistant [{"type":"output_text","text":"There is main.ts."}]',
  ])
  expect(written.losses).toEqual([])
  expect(await readBack(written)).toEqual([
    "user: list the files",
    "assistant: (They want a list.)",
    "assistant: I look.",
    'assistant: exec_command({"cmd":"ls"})',
    'assistant: Read({"file_path":"/a"})',
    String.raw`tool: => "main.ts\n"`,
    'tool: => "one"',
    "assistant: There is main.ts.",
  ])
})

test.each([
  ["keep", ["! agent_reasoning  a thought"], []],
  ["text", ["! agent_message  a thought", 'message assistant [{"type":"output_text","text":"a thought"}]'], []],
  ["drop", [], ["reasoning"]],
] as const)("reasoning is shown, said or left out: %s", (reasoning, lines, losses) => {
  const given = conversation([
    ["user", text("hm")],
    ["assistant", { type: "reasoning", text: "a thought" }],
  ])
  const written = foreignFiles(codex, given, { cwd: CWD, reasoning })
  expect(short(written).slice(2)).toEqual([...lines])
  expect(written.losses.map(({ kind }) => kind)).toEqual([...losses])
})

test("what the other harness put in is told apart from what a person said", async () => {
  const given = conversation([
    ["user", injected("compact-summary", "This is what happened.")],
    ["user", injected("task-notification", "The task is done."), text("and now?")],
  ])
  const written = foreignFiles(codex, given, KEEP)
  expect(short(written)).toEqual([
    'message user [{"type":"input_text","text":"This is what happened."}]',
    'message user [{"type":"input_text","text":"The task is done."},{"type":"input_text","text":"and now?"}]',
    "! user_message  and now?",
  ])
  expect(await readBack(written)).toEqual([
    "user: [compact-summary] This is what happened.",
    "user: [task-notification] The task is done.",
    "user: and now?",
  ])
})

test("a thread in which no person said anything is in the list all the same", () => {
  const given = conversation([
    ["user", injected("task-notification", "Start.")],
    ["assistant", text("Started.")],
  ])
  expect(short(foreignFiles(codex, given, KEEP))[1]).toBe("! user_message  Start.")
})

test("images stay images, in prompts and in results; other files are named as lost", async () => {
  const pixel = "iVBORw0KGgo="
  const block = { type: "image", source: { type: "base64", media_type: "image/png", data: pixel } }
  const given = conversation([
    ["user", { type: "file", media_type: "image/png", data: { base64: pixel } }, text("what is it?")],
    ["assistant", call("toolu_1", "Shot", {})],
    ["tool", result("toolu_1", [{ type: "text", text: "here" }, block])],
    ["user", { type: "file", media_type: "application/pdf", file_name: "a.pdf", data: { base64: "JVBERi0=" } }],
  ])
  const written = foreignFiles(codex, given, KEEP)
  const url = `data:image/png;base64,${pixel}`
  const [, prompt, event, , output] = rolloutLines(written)
  expect(prompt?.payload["content"]).toEqual([
    { type: "input_image", image_url: url },
    { type: "input_text", text: "what is it?" },
  ])
  expect(event?.payload).toMatchObject({ message: "what is it?", images: [url] })
  expect(output?.payload["output"]).toEqual([
    { type: "input_text", text: "here" },
    { type: "input_image", image_url: url },
  ])
  expect(written.losses).toMatchObject([{ kind: "attachment", messageId: "message-3", found: "a.pdf" }])
  expect(await readBack(written)).toContain("user: <image/png >")
})

test("calls keep ids and names that a model of OpenAI accepts", () => {
  const long = `call_${"x".repeat(40)}|fc_${"y".repeat(40)}`
  const given = conversation([
    ["user", text("go")],
    ["assistant", call(long, "mcp.server/tool name", { a: 1 }), call("toolu_1", "Ask", "a text")],
    ["tool", result(long, "one")],
    ["tool", result("toolu_1", "two")],
  ])
  const written = foreignFiles(codex, given, KEEP)
  const items = rolloutLines(written).slice(3)
  expect(items.map(({ payload }) => [payload["type"], payload["name"]])).toEqual([
    ["function_call", "mcp_server_tool_name"],
    ["custom_tool_call", "Ask"],
    ["function_call_output", undefined],
    ["custom_tool_call_output", undefined],
  ])
  const ids = items.map(({ payload }) => String(payload["call_id"]))
  expect(ids.slice(0, 2)).toEqual(ids.slice(2))
  expect(new Set(ids).size).toBe(2)
  for (const id of ids) expect(id).toMatch(/^[\w-]{1,64}$/)
})

test("that a call failed is lost where its text does not say so", () => {
  const given = conversation([
    ["user", text("go")],
    ["assistant", call("a", "Bash", { command: "false" }), call("b", "Bash", { command: "false" })],
    ["tool", result("a", "Exit code: 1\nOutput:\n", true)],
    ["tool", result("b", "no", true)],
  ])
  expect(foreignFiles(codex, given, KEEP).losses.map(({ kind }) => kind)).toEqual(["failure_mark"])
})

test("an agent is a rollout of its own that names its parent, and a title a line of the index", () => {
  const child = conversation(
    [
      ["user", text("count")],
      ["assistant", text("3")],
    ],
    {
      id: `${SESSION}:agent-1`,
      source_agent: "claude-code/explorer",
    },
  )
  const given = { ...conversation([["user", text("delegate")]], { title: "Counting" }), children: [child] }
  const written = foreignFiles(codex, given, KEEP)
  expect(
    written.files.map(({ relativePath }) => relativePath.replace(/[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}/, "ID")),
  ).toEqual([
    "sessions/2026/02/03/rollout-2026-02-03T04-05-06-ID.jsonl",
    "session_index.jsonl",
    "sessions/2026/02/03/rollout-2026-02-03T04-05-06-ID.jsonl",
  ])
  const [, index, agent] = written.files
  expect(index).toMatchObject({ isShared: true, lines: [expect.stringContaining('"thread_name":"Counting"')] })
  const [meta] = rolloutLines({ ...written, files: agent === undefined ? [] : [agent] })
  expect(meta?.payload).toMatchObject({
    session_id: written.sessionId,
    parent_thread_id: written.sessionId,
    source: { subagent: { thread_spawn: { parent_thread_id: written.sessionId, depth: 1, agent_role: "explorer" } } },
    thread_source: "subagent",
  })
})

test("the same session is written the same way every time", () => {
  const given = conversation([
    ["user", text("one")],
    ["assistant", text("two")],
  ])
  expect(foreignFiles(codex, given, KEEP)).toEqual(foreignFiles(codex, given, KEEP))
})

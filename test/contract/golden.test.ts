/**
 * What each client's log looks like when a session of another client is written for it, frozen: a change of it is seen.
 * `UPDATE_GOLDEN=1 bun test test/contract/golden` writes the files anew.
 */
import { expect, test } from "bun:test"
import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs"
import { dirname, join } from "node:path"
import type { Conversation, OutputFile } from "../../src/adapters/adapter.ts"
import { claudeCode } from "../../src/adapters/claude-code/adapter.ts"
import { ADAPTERS } from "../../src/adapters/registry.ts"
import { LOSSES } from "../../src/adapters/shared/losses.ts"
import type { Entry, Part, Role } from "../../src/model/session.ts"
import { type ForeignFiles, foreignFiles } from "../../src/restore/output-files.ts"
import { conversationOf, fixturesOf, foreignTargets, logsOf, targetsOf } from "./fixtures.ts"

const GOLDEN = join(import.meta.dir, "../../fixtures/golden")
const isUpdate = process.env["UPDATE_GOLDEN"] === "1"

const ID = "7c9e6679-7425-40de-944b-e07fc1f90ae7"

type Body = Record<string, unknown> & { readonly type: Part["type"]; readonly injected?: string }

function entry(ordinal: number, role: Role, ...bodies: readonly Body[]): Entry {
  const id = `m${ordinal}`
  const timestamp = `2026-02-03T04:05:${String(ordinal).padStart(2, "0")}.000Z`
  const parts = bodies.map(({ injected, ...body }, index) => ({
    ...{ id: `${id}:${index}`, session_id: ID, message_id: id },
    provenance: injected === undefined && role !== "tool" ? "conversational" : "injected",
    options: injected === undefined ? {} : { pond: { injected } },
    ...body,
  }))
  const pond = role === "assistant" ? { pond: { model: "claude-opus-4-5" } } : {}
  return { message: { id, session_id: ID, ordinal, timestamp, role, options: pond }, parts } as unknown as Entry
}

const call = (id: string, name: string, params: unknown): Body => ({
  ...{ type: "tool_call", call_id: id, name, params, provider_executed: false },
})
const result = (id: string, value: unknown, isFailure = false): Body => ({
  ...{ type: "tool_result", call_id: id, result: value, is_failure: isFailure },
})

/** Everything that a conversation can have, once. */
const CONVERSATION: Conversation = {
  session: {
    ...{ id: ID, source_agent: "claude-code", created_at: "2026-02-03T04:05:00.000Z", project: "/projects/alpha" },
    ...{ title: "Golden 日本", options: {} },
  },
  entries: [
    entry(1, "user", { type: "text", text: "An earlier part of this was summed up.", injected: "compact-summary" }),
    entry(
      2,
      "user",
      { type: "text", text: 'What is in this picture? "quoted" <tag>' },
      { type: "file", media_type: "image/png", data: { base64: "iVBORw0KGgo=" } },
      { type: "file", media_type: "application/zip", file_name: "a.zip", data: { base64: "UEsDBA==" } },
      { type: "text", text: "Remember the rules.", injected: "system-reminder" },
      { type: "text", text: "A hook ran.", injected: "hook" },
    ),
    entry(3, "assistant", { type: "reasoning", text: "I think." }, { type: "text", text: "I look at it 🔍." }),
    entry(4, "assistant", call("toolu_1", "Bash", { command: "ls -1", description: "List" })),
    entry(5, "assistant", call("toolu_2", "Read", { file_path: "/projects/alpha/a.md" })),
    entry(6, "tool", result("toolu_2", [{ type: "text", text: "# A" }])),
    entry(7, "tool", result("toolu_1", "a.md\nExit code 1", true)),
    entry(
      8,
      "assistant",
      call("toolu_3", "Task", { description: "Dig", prompt: "Dig deeper.", subagent_type: "digger" }),
    ),
    entry(9, "tool", result("toolu_3", "Dug.")),
    entry(10, "assistant", { type: "text", text: "A letter A." }),
    entry(11, "user", { type: "text", text: "Thanks." }),
    entry(12, "assistant", call("toolu_4", "mcp__server__own_tool", { deep: { list: [1, null, "x"] } })),
  ],
  children: [
    {
      session: {
        ...{ id: "agent-1", parent_session_id: ID, source_agent: "claude-code/digger", title: "Dig" },
        ...{ created_at: "2026-02-03T04:05:08.000Z", project: "/projects/alpha" },
        options: { pond: { spawned_by: "toolu_3" } },
      },
      entries: [
        entry(1, "user", { type: "text", text: "Dig deeper." }),
        entry(2, "assistant", { type: "text", text: "Dug." }),
      ],
      children: [],
      origin: claudeCode,
    },
  ],
  origin: claudeCode,
}

function contentOf(file: OutputFile): string {
  if (file.form === "log") return Array.from(file.lines, (line) => `${line}\n`).join("")
  if (file.form === "database") return Array.from(file.rows, (row) => `${JSON.stringify(row)}\n`).join("")
  return file.form === "bytes" ? Buffer.from(file.bytes).toString("base64") : file.text
}

/** Told by Claude Code, or where that is the target by a client whose tools nobody knows. */
function toldTo(target: string): Conversation {
  if (target !== "claude-code") return CONVERSATION
  return { ...CONVERSATION, session: { ...CONVERSATION.session, source_agent: "unheard-of" }, origin: undefined }
}

function expectGolden(name: string, { sessionId, files, losses }: ForeignFiles): void {
  const shown = [
    `session ${sessionId}\n`,
    ...losses.map(({ kind, messageId, found }) => `loss ${kind} ${messageId}: ${found}\n`),
    ...files.flatMap((file) => [`\n== ${file.relativePath} (${file.form})\n`, contentOf(file)]),
  ].join("")
  const path = join(GOLDEN, `${name}.txt`)
  if (isUpdate) {
    mkdirSync(dirname(path), { recursive: true })
    writeFileSync(path, shown)
  }
  expect(existsSync(path) ? readFileSync(path, "utf8") : "no golden file: UPDATE_GOLDEN=1 writes it").toBe(shown)
}

for (const target of foreignTargets()) {
  test(`what ${target.id} would have written has not changed`, () => {
    const way = { cwd: "/projects/beta", reasoning: "keep" } as const
    expectGolden(target.id, foreignFiles(target, toldTo(target.id), way))
  })
}

/** Of each client a session with as much in it as there is: sub-agents where it has them, parallel calls where not. Of others the first. */
const TOLD: Readonly<Record<string, string>> = {
  "claude-code": "agent",
  codex: "agents",
  opencode: "subagent",
  pi: "responses",
  "gemini-cli": "subagent",
  "copilot-cli": "tools",
  "qwen-code": "subagent",
  kilo: "subagent",
  kimi: "subagent",
  cline: "subagent",
  hermes: "subagent",
  droid: "agent",
  goose: "subagent",
  openclaw: "spawned",
  grok: "subagent",
  "xcode-claude": "agent",
  "claude-desktop": "agent",
  warp: "tools",
  antigravity: "tools",
  windsurf: "tabs",
  devin: "transcript",
  letta: "tools",
  junie: "tools",
  "kiro-ide": "run",
  qoder: "agent",
  trae: "chats",
  "trae-cli": "tools",
  cursor: "editor",
  nanoclaw: "chat",
  "claude-prompts": "pasted",
  "oh-my-opencode": "tools",
}

/** Extensions that were made of Cline's are read by its codec: what is told of one is told of all. */
const KIN = new Set(["zoo-code", "kilo-legacy"])

for (const source of ADAPTERS.filter((each) => fixturesOf(each).length > 0 && !KIN.has(each.id))) {
  for (const target of targetsOf(source).filter((each) => each !== source)) {
    test(`a session of ${source.id} becomes in ${target.id} what it was before`, async () => {
      const told = fixturesOf(source).filter(({ name }) => name !== "damaged")
      const fixture = told.find(({ name }) => name === TOLD[source.id]) ?? told[0]
      const logs = await logsOf(source, fixture?.root ?? "")
      const own = [...logs.values()].find(({ session }) => !logs.has(session.parent_session_id ?? ""))
      const conversation = conversationOf(source, logs, own?.session.id ?? "")
      const way = { cwd: "/projects/beta", reasoning: "text" } as const
      expectGolden(`${source.id}-to-${target.id}`, foreignFiles(target, conversation, way))
    })
  }
}

/** A kind that goes away or changes its meaning would make what people were shown wrong. */
test("the table of losses is what it was", () => {
  expect(Object.keys(LOSSES).sort((left, right) => left.localeCompare(right))).toEqual([
    "approval",
    "attachment",
    "cut_text",
    "failure_mark",
    "half_character",
    "injected_context",
    "line_breaks",
    "markup",
    "missing_history",
    "model_settings",
    "opaque",
    "reasoning",
    "reasoning_as_text",
    "result_order",
    "sealed_reasoning",
    "stray_result",
    "subagent",
    "system_message",
    "tool_call",
    "tool_name",
    "tool_params",
    "unanswered_call",
    "unsent_prompt",
  ])
})

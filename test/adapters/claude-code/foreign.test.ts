import { expect, test } from "bun:test"
import type { Conversation, OutputFile } from "../../../src/adapters/adapter.ts"
import { claudeCode } from "../../../src/adapters/claude-code/adapter.ts"
import { originOf } from "../../../src/adapters/registry.ts"
import type { Entry, Part, Role } from "../../../src/model/session.ts"
import { foreignFiles } from "../../../src/restore/output-files.ts"

const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/

type PartFields = { readonly type: string } & Readonly<Record<string, unknown>>

let made = 0
function entry(role: Role, ...parts: readonly PartFields[]): Entry {
  const id = `m${made++}`
  const shared = { session_id: "s", message_id: id, provenance: "conversational", options: {} }
  return {
    message: { id, session_id: "s", ordinal: made, timestamp: "2026-03-01T10:00:00.123456Z", role, options: {} },
    parts: parts.map((part, index) => ({ ...shared, id: `${id}:${index}`, ...part }) as unknown as Part),
  } as unknown as Entry
}

const text = (value: string, fields = {}) => ({ type: "text", text: value, ...fields })
const image = (media_type: string) => ({ type: "file", media_type, data: { base64: "AAAA" } })
const call = (call_id: string, name: string, params: unknown) => ({
  type: "tool_call",
  call_id,
  name,
  params,
  provider_executed: false,
})
const result = (call_id: string, value: unknown, is_failure = false) => ({
  type: "tool_result",
  call_id,
  result: value,
  is_failure,
})

function conversation(entries: readonly Entry[], fields: Partial<Conversation["session"]> = {}): Conversation {
  const session = {
    id: "s",
    source_agent: "codex",
    created_at: "2026-03-01T10:00:00.000Z",
    project: "/old",
    options: {},
  }
  const own = { ...session, ...fields }
  return { session: own, entries, children: [], origin: originOf(own.source_agent) }
}

type LogRecord = Readonly<Record<string, unknown>> & {
  readonly message: { readonly content: unknown[]; readonly id: string }
}

function recordsOf(file: OutputFile | undefined): LogRecord[] {
  return file?.form === "log" ? Array.from(file.lines, (line) => JSON.parse(String(line)) as LogRecord) : []
}

function written(given: Conversation, reasoning: "keep" | "text" | "drop" = "keep") {
  const { files, losses, sessionId } = foreignFiles(claudeCode, given, { cwd: "/new dir", reasoning })
  return { files, losses: losses.map(({ kind }) => kind), sessionId, records: recordsOf(files[0]) }
}

test("a session lies in the folder of its new directory, in one chain, under ids that are the same every time", () => {
  const given = conversation([entry("user", text("Hi.")), entry("assistant", text("Hello."))], { title: "Greetings" })
  const { files, records, sessionId } = written(given)
  expect(sessionId).toMatch(UUID)
  expect(files.map(({ relativePath }) => relativePath)).toEqual([`projects/-new-dir/${sessionId}.jsonl`])
  const [user, assistant, title] = records
  expect(user).toMatchObject({ parentUuid: null, cwd: "/new dir", sessionId, timestamp: "2026-03-01T10:00:00.123Z" })
  expect(assistant).toMatchObject({ parentUuid: user?.["uuid"], isSidechain: false })
  expect(title).toEqual({ type: "custom-title", customTitle: "Greetings", sessionId } as never)
  expect(String(user?.["uuid"])).toMatch(UUID)
  expect(written(given).records).toEqual(records)
})

test("the blocks of a reply share its id, and the results of its calls follow it in their order", () => {
  const { records } = written(
    conversation([
      entry("user", text("Go.")),
      entry("assistant", text("Two at once.")),
      entry(
        "assistant",
        call("call_a|fc_1", "exec_command", { cmd: "ls" }),
        call("call_a_fc_1", "exec_command", { cmd: "pwd" }),
      ),
      entry("tool", result("call_a_fc_1", "/work")),
      entry("tool", result("call_a|fc_1", "no such file", true)),
      entry("assistant", text("Done.")),
    ]),
  )
  expect(new Set(records.slice(1, 4).map(({ message }) => message.id)).size).toBe(1)
  expect(records[4]?.message.id).toBeUndefined()
  expect(records.slice(2, 6).map(({ message }) => message.content[0])).toEqual([
    { type: "tool_use", id: "call_a_fc_1", name: "Bash", input: { command: "ls" } },
    { type: "tool_use", id: "call_a_fc_1_2", name: "Bash", input: { command: "pwd" } },
    { tool_use_id: "call_a_fc_1", type: "tool_result", content: "no such file", is_error: true },
    { tool_use_id: "call_a_fc_1_2", type: "tool_result", content: "/work" },
  ])
  expect(records.slice(4, 6).map((record) => [record["sourceToolAssistantUUID"], record["toolUseResult"]])).toEqual([
    [records[2]?.["uuid"], "Error: no such file"],
    [records[3]?.["uuid"], { stdout: "/work", stderr: "", interrupted: false, isImage: false }],
  ])
  expect(records[6]?.message.id).not.toBe(records[1]?.message.id ?? "")
})

test("a call without a result is lost but in the reply that the log ends with", () => {
  const cutOff = [
    entry("user", text("Go.")),
    entry("assistant", text("Two at once."), call("c1", "exec_command", { cmd: "ls" }), call("c2", "exec_command", {})),
    entry("tool", result("c1", "/work")),
  ]
  expect(written(conversation(cutOff)).losses).not.toContain("unanswered_call")
  expect(written(conversation([...cutOff, entry("user", text("Again."))])).losses).toContain("unanswered_call")
})

test("a tool that is not the client's own keeps its name, in letters that the API takes", () => {
  const { records } = written(
    conversation([
      entry("user", text("Go.")),
      entry("assistant", call("c1", "mcp.server/tool 名", "raw text")),
      entry("tool", result("c1", { any: "value" })),
    ]),
  )
  expect(records[1]?.message.content[0]).toMatchObject({ name: "mcp_server_tool__", input: { input: "raw text" } })
  expect(records[2]?.message.content[0]).toMatchObject({ content: '{"any":"value"}' })
})

test("what a harness wrote stands apart from what a person wrote, and a summary is a summary", () => {
  const injected = (kind: string) => ({ provenance: "injected", options: { pond: { injected: kind } } })
  const { records } = written(
    conversation([
      entry("user", text("Summary so far.", injected("compact-summary"))),
      entry("user", text("A hook ran.", injected("hook")), text("Go on.")),
    ]),
  )
  expect(records.map(({ message, isMeta, isCompactSummary }) => [message.content, isMeta, isCompactSummary])).toEqual([
    ["Summary so far.", undefined, true],
    ["A hook ran.", true, undefined],
    ["Go on.", undefined, undefined],
  ] as never)
})

test("images that the API takes stay images, what it does not take is a loss", () => {
  const { records, losses } = written(
    conversation([
      entry("user", text("Look."), image("image/png"), image("application/pdf"), image("image/tiff")),
      entry("assistant", image("image/png"), call("c1", "view_image", { path: "a.png" })),
      entry("tool", result("c1", [{ type: "input_image", image_url: "data:image/png;base64,AAAA" }])),
    ]),
  )
  const source = { type: "base64", media_type: "image/png", data: "AAAA" }
  expect(records[0]?.message.content).toEqual([
    { type: "text", text: "Look." },
    { type: "image", source },
    { type: "document", source: { ...source, media_type: "application/pdf" } },
  ])
  expect(records[2]?.message.content[0]).toMatchObject({ content: [{ type: "image", source }] })
  expect(losses).toEqual(["attachment", "attachment"])
})

test("reasoning that the API could not verify is said as text, or left out", () => {
  const given = conversation([
    entry("user", text("Go.")),
    entry("assistant", { type: "reasoning", text: "Hm." }, text("Yes.")),
  ])
  const said = (reasoning: "keep" | "text" | "drop") => {
    const { records, losses } = written(given, reasoning)
    return [records.slice(1).map(({ message }) => message.content[0]), losses]
  }
  const yes = { type: "text", text: "Yes." }
  expect(said("keep")).toEqual([[{ type: "text", text: "<thinking>\nHm.\n</thinking>" }, yes], ["reasoning_as_text"]])
  expect(said("text")).toEqual([[{ type: "text", text: "Hm." }, yes], []])
  expect(said("drop")).toEqual([[yes], ["reasoning"]])
})

test("agents lie in one folder, however deep they were started, each linked to the call that started it", () => {
  const task = (id: string, prompt: string) =>
    call(id, "task", { description: "Dig", prompt, subagent_type: "explore" })
  const child = (id: string, prompt: string, children: readonly Conversation[] = []): Conversation => ({
    ...conversation([entry("user", text(prompt)), entry("assistant", text(`${prompt} Done.`))], {
      id,
      source_agent: "opencode/explore",
      parent_session_id: "s",
    }),
    children,
  })
  const parent = conversation(
    [
      entry("user", text("Go.")),
      entry("assistant", task("t1", "First."), task("t2", "Second.")),
      entry("tool", result("t1", "One.")),
      entry("tool", result("t2", "Two.")),
    ],
    { source_agent: "opencode" },
  )
  const { files, records, sessionId } = written({
    ...parent,
    children: [child("c2", "Second.", [child("c3", "Deeper.")]), child("c1", "First.")],
  })
  const places = files.map(({ relativePath }) => relativePath.replace(`projects/-new-dir/${sessionId}`, ""))
  expect(places.map((place) => place.replace(/agent-a[0-9a-f]{16}/, "agent-aID"))).toEqual([
    ".jsonl",
    ...Array(3).fill(["/subagents/agent-aID.jsonl", "/subagents/agent-aID.meta.json"]).flat(),
  ])
  const described = files.flatMap((file) => (file.form === "document" ? [JSON.parse(file.text)] : []))
  expect(described).toMatchObject([
    { agentType: "explore", description: "Dig", toolUseId: "t2", spawnDepth: 1 },
    { agentType: "explore", spawnDepth: 2 },
    { agentType: "explore", description: "Dig", toolUseId: "t1", spawnDepth: 1 },
  ])
  const second = /agent-(a[0-9a-f]{16})\.jsonl/.exec(places[1] ?? "")?.[1]
  expect(records[4]?.["toolUseResult"]).toMatchObject({ agentId: second, agentType: "explore", prompt: "Second." })
  const [first] = recordsOf(files[1])
  expect(first).toMatchObject({ isSidechain: true, agentId: second, sessionId, parentUuid: null })
})

test("a session of ten thousand messages is written whole", () => {
  const entries = Array.from({ length: 2_500 }, (_, at) => [
    entry("user", text(`Question ${at}.`)),
    entry("assistant", text("Let me look."), call(`c${at}`, "exec_command", { cmd: `ls ${at}` })),
    entry("tool", result(`c${at}`, "x".repeat(500))),
    entry("assistant", text(`Answer ${at}.`)),
  ]).flat()
  const given = conversation(entries)
  const { files } = foreignFiles(claudeCode, given, { cwd: "/new dir", reasoning: "keep" })
  expect(recordsOf(files[0]).length).toBe(12_500)
})

test("no two records of the chain have one time, and long names and cut prompts are losses", () => {
  const quoted = "<system-reminder>\nx\n</system-reminder>\nand my own words"
  const given = conversation([
    entry("user", text(quoted)),
    entry("assistant", { type: "reasoning", text: "hm" }, text("one"), call("c", `mcp__${"n".repeat(100)}`, {})),
    entry("tool", result("c", "out")),
    entry("assistant", text("two")),
  ])
  const { records, losses } = written(given, "text")
  const times = records.flatMap(({ timestamp }) => (typeof timestamp === "string" ? [timestamp] : []))
  expect(times.length).toBeGreaterThan(4)
  expect(times).toEqual([...new Set(times)].sort((left, right) => (left < right ? -1 : 1)))
  expect(losses).toContain("tool_name")
  expect(losses).toContain("cut_text")
})

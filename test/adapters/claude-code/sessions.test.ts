import { expect, test } from "bun:test"
import { claudeCode } from "../../../src/adapters/claude-code/adapter.ts"
import { projectKey } from "../../../src/adapters/claude-code/project-key.ts"
import { resolve } from "../../../src/adapters/shared/resolve.ts"
import type { Part } from "../../../src/model/session.ts"
import { assistant, call, idsOf, result, text, user } from "./records.ts"
import { nativeDifferences, parsed, parsedRecords, parsedUnit, planned, SESSION, withTree } from "./support.ts"

// --- Finding ----------------------------------------------------------------------------------------------------------

test("roots are where the client's own variables and defaults say", () => {
  expect(claudeCode.source.roots({}, "/home/dev")).toEqual(["/home/dev/.claude", "/home/dev/.config/claude"])
  expect(claudeCode.source.roots({ CLAUDE_CONFIG_DIR: "/data/claude", XDG_CONFIG_HOME: "/xdg" }, "/home/dev")).toEqual([
    "/data/claude",
    "/home/dev/.claude",
    "/xdg/claude",
  ])
})

const WORKFLOW = {
  [`projects/-work/${SESSION}.jsonl`]: [user("u1", null, "Go.")],
  [`projects/-work/${SESSION}/tool-results/b1.txt`]: "long\noutput\n",
  [`projects/-work/${SESSION}/tool-results/mcp-1.json`]: '{ "spaces": "are kept" }',
  [`projects/-work/${SESSION}/workflows/wf_1.json`]: '{"runId":"wf_1","status":"completed"}',
  [`projects/-work/${SESSION}/workflows/scripts/wf_1.js`]: "export const phases = []\n",
  [`projects/-work/${SESSION}/subagents/workflows/wf_1/journal.jsonl`]: [
    { type: "started", agentId: "b1" },
    { type: "result", agentId: "b1" },
  ],
  [`projects/-work/${SESSION}/subagents/workflows/wf_1/agent-b1.jsonl`]: [
    user("w1", null, "Measure it.", { isSidechain: true, agentId: "b1" }),
  ],
  [`projects/-work/${SESSION}/subagents/workflows/wf_1/agent-b1.meta.json`]: '{"agentType":"general-purpose"}',
  [`projects/-work/${SESSION}/subagents/agent-acompact-0123abcd.jsonl`]: [
    user("c1", null, "Summarize.", { isSidechain: true, agentId: "acompact-0123abcd" }),
  ],
  "projects/-work/memory/notes.jsonl": "not a session\n",
  "projects/-gone/4b1a6b1e-0000-4000-8000-000000000001/tool-results/x.txt": "left behind",
  "history.jsonl": '{"display":"prompt"}\n',
  ".credentials.json": '{"token":"secret"}',
}

test("what belongs to a session is read with it, and its agents are sessions of their own", async () => {
  await withTree(WORKFLOW, async (root) => {
    const { units, issues } = await planned(root)
    const under = (place: string) => place.replace(`projects/-work/${SESSION}`, "")
    expect(units.map(({ files }) => files.map(({ relativePath: place, form }) => `${under(place)} ${form}`))).toEqual([
      ["projects/-gone/4b1a6b1e-0000-4000-8000-000000000001/tool-results/x.txt text"],
      [
        ".jsonl log",
        "/subagents/workflows/wf_1/journal.jsonl log",
        "/tool-results/b1.txt text",
        "/tool-results/mcp-1.json text",
        "/workflows/scripts/wf_1.js text",
        "/workflows/wf_1.json document",
      ],
      ["/subagents/agent-acompact-0123abcd.jsonl log"],
      ["/subagents/workflows/wf_1/agent-b1.jsonl log", "/subagents/workflows/wf_1/agent-b1.meta.json document"],
    ])
    expect(issues).toEqual([])
    expect(await nativeDifferences(root)).toEqual([])
  })
  const sessions = [...(await parsed(WORKFLOW)).values()].map(({ session }) => session)
  expect(sessions.map(({ id, source_agent, parent_session_id }) => [id, source_agent, parent_session_id])).toEqual([
    ["4b1a6b1e-0000-4000-8000-000000000001", "claude-code", undefined],
    [SESSION, "claude-code", undefined],
    [`${SESSION}:agent-acompact-0123abcd`, "claude-code/compact", SESSION],
    [`${SESSION}:agent-b1`, "claude-code/general-purpose", SESSION],
  ])
})

test("saved outputs of a session that is gone are kept with the first of its agents", async () => {
  const { [`projects/-work/${SESSION}.jsonl`]: _gone, ...left } = WORKFLOW
  await withTree(left, async (root) => {
    const { units, issues } = await planned(root)
    const names = units.map(({ files }) => files.map(({ relativePath }) => relativePath.split("/").at(-1)))
    expect(names).toEqual([
      ["x.txt"],
      ["agent-acompact-0123abcd.jsonl", "journal.jsonl", "b1.txt", "mcp-1.json", "wf_1.js", "wf_1.json"],
      ["agent-b1.jsonl", "agent-b1.meta.json"],
    ])
    expect(issues).toEqual([])
    expect(await nativeDifferences(root)).toEqual([])
  })
})

test("what is left of a session without its log and its agents is kept under its id, letter by letter", async () => {
  const LEFT = "4b1a6b1e-0000-4000-8000-00000000000a"
  const tree = {
    [`projects/-work/${LEFT}/tool-results/b.txt`]: "it failed\n",
    [`projects/-work/${LEFT}/tool-results/a.json`]: '{"b":1,  "a":1}',
    [`projects/-work/${LEFT}/workflows/wf_1.json`]: '{"workflow":1}',
    "projects/-work/my-own-notes/workflows/x.txt": "no session",
  }
  await withTree(tree, async (root) => {
    const { units, issues } = await planned(root)
    expect(units.map(({ key, files }) => [key, files.length])).toEqual([[`projects/-work/${LEFT}`, 3]])
    expect(issues.map(({ kind, file }) => [kind, file])).toEqual([
      ["orphan_file", "projects/-work/my-own-notes/workflows/x.txt"],
    ])
    expect(await nativeDifferences(root)).toEqual([])
  })
  const [left] = [...(await parsed(tree)).values()]
  expect(left?.session).toMatchObject({ id: LEFT, source_agent: "claude-code", project: "-work" })
  expect(left?.entries.map(({ message }) => message.role)).toEqual(["system", "system", "system"])
})

test("the list of things to do is stored and restored with its session, and an empty one is nothing", async () => {
  const [list, other] = [`todos/${SESSION}-agent-${SESSION}.json`, `todos/${SESSION}-agent-b1.json`]
  const todo = '[{"content":"mend it","status":"pending"}]'
  await withTree({ ...WORKFLOW, [list]: todo, [other]: "[]", "todos/notes.json": "no" }, async (root) => {
    const { units } = await planned(root)
    const todos = units.map(({ files }) => files.filter(({ relativePath }) => relativePath.startsWith("todos/")))
    expect(todos.map((files) => files.map(({ relativePath }) => relativePath))).toEqual([[], [list], [], []])
    expect(await nativeDifferences(root)).toEqual([])
  })
})

test("nothing outside of projects is looked at", async () => {
  await withTree(WORKFLOW, async (root) => {
    const { units } = await planned(root)
    const places = units.flatMap(({ files }) => files.map(({ relativePath }) => relativePath))
    expect(places.filter((place) => !place.startsWith("projects/"))).toEqual([])
  })
})

test("a folder of logs without projects is walked whole", async () => {
  const tree = { "a/b/one.jsonl": [user("u1", null, "One.")], "two.jsonl": [user("u2", null, "Two.")] }
  expect([...(await parsed(tree)).keys()]).toEqual(["two", "one"])
})

// --- Sessions ---------------------------------------------------------------------------------------------------------

test("a session is named by its file, not by what its records say", async () => {
  const { session } = await parsedRecords([{ ...user("u1", null, "Hi."), sessionId: "something-else" }])
  expect(session).toMatchObject({ id: SESSION, source_agent: "claude-code", project: "/work" })
})

test("a Windows directory stays what it is", async () => {
  const place = `projects/C--dev-pond-fixture-demo-v2/${SESSION}.jsonl`
  const sessions = await parsed({ [place]: [{ ...user("u1", null, "Hi."), cwd: "C:\\dev\\pond fixture_demo.v2" }] })
  expect(sessions.get(SESSION)?.session.project).toBe("C:\\dev\\pond fixture_demo.v2")
})

test("a session without a directory is filed under its folder, one without a time under its file's", async () => {
  const { session, unit } = await parsedRecords([{ type: "summary", summary: "Another session.", leafUuid: "x" }])
  expect(session.project).toBe("-work")
  expect(session.title).toBeUndefined()
  expect(Date.parse(session.created_at)).toBeCloseTo(unit.files[0]?.modifiedMs ?? 0, -1)
})

test("a session that has not said where it is held is not begun while its log is being written", async () => {
  const first = { type: "mode", mode: "normal", sessionId: SESSION }
  await withTree({ [`projects/-work/${SESSION}.jsonl`]: [first] }, async (root) => {
    const [unit] = (await planned(root)).units
    if (unit === undefined) throw new Error("nothing planned")
    const order: string[] = []
    const sink = {
      session: () => order.push("session"),
      entry: () => order.push("entry"),
      issue: () => order.push("issue"),
    }
    for (const isSettled of [false, true]) {
      const parser = claudeCode.parse(unit, sink)
      for await (const batch of resolve(claudeCode, unit)) for (const raw of batch.records) parser.push(raw)
      parser.end(isSettled)
      order.push(isSettled ? "settled" : "unsettled")
    }
    expect(order).toEqual(["unsettled", "session", "entry", "settled"])
  })
})

test("a title counts that stands before the session is known, and each later one is marked", async () => {
  const { session, entries } = await parsedRecords([
    { type: "ai-title", aiTitle: "First", sessionId: SESSION },
    user("u1", null, "Hi."),
    { type: "custom-title", customTitle: "Second", sessionId: SESSION },
  ])
  expect(session.title).toBe("First")
  expect(entries.map(({ message }) => message.options["pond"])).toEqual([
    { title: "First" },
    undefined,
    { title: "Second" },
  ])
})

test("a file without a record is no session", async () => {
  await withTree({ [`projects/-work/${SESSION}.jsonl`]: "" }, async (root) => {
    const [unit] = (await planned(root)).units
    if (unit === undefined) throw new Error("nothing planned")
    expect(parsedUnit(unit)).rejects.toThrow("no session")
  })
})

test("records that another session wrote are copies, whichever way they say it", async () => {
  const other = "11111111-2222-4333-8444-555555555555"
  const { entries } = await parsedRecords([
    { ...user("u1", null, "Copied."), sessionId: other },
    { ...user("u2", "u1", "Forked."), forkedFrom: { sessionId: other, messageUuid: "x" } },
    user("u3", "u2", "Own."),
  ])
  expect(entries.map(({ message }) => message.options["pond"])).toEqual([
    { replay_of: other },
    { replay_of: other },
    undefined,
  ])
})

// --- Records ----------------------------------------------------------------------------------------------------------

test("a record that is read keeps its id, and one that is there twice is two", async () => {
  const side = { type: "mode", mode: "normal", sessionId: SESSION }
  const { entries } = await parsedRecords([
    user("u1", null, [result("t1"), text("And?")]),
    user("u1", null, "x"),
    side,
    side,
  ])
  const ids = idsOf(entries)
  expect(ids.slice(0, 3)).toEqual(["u1", "u1#2", "u1#3"])
  expect(ids[3]).toMatch(/^pond-[0-9a-f]{16}$/)
  expect(ids[4]).toBe(`${ids[3]}#2`)
})

test("every block becomes a part of its kind, and what is not known is kept and named", async () => {
  const { entries, issues } = await parsedRecords([
    assistant("a1", null, [
      { type: "thinking", thinking: "Hm.", signature: "sig" },
      { type: "redacted_thinking", data: "xyz" },
      text("Look:"),
      call("t1"),
      { type: "server_tool_use", id: "s1", name: "web_search", input: { query: "pond" } },
      { type: "web_search_tool_result", tool_use_id: "s1", content: [] },
      { type: "hologram", data: 1 },
    ]),
    user("u1", "a1", [
      { type: "image", source: { type: "base64", media_type: "image/png", data: "AAAA" } },
      { type: "document", title: "a.pdf", source: { type: "base64", media_type: "application/pdf", data: "BBBB" } },
    ]),
  ])
  const parts = entries.flatMap((entry): readonly Part[] => entry.parts)
  expect(parts.map(({ type, provenance }) => `${type} ${provenance}`)).toEqual([
    "reasoning conversational",
    "opaque conversational",
    "text conversational",
    "tool_call conversational",
    "tool_call conversational",
    "tool_result injected",
    "opaque conversational",
    "file conversational",
    "file conversational",
  ])
  expect(parts[4]).toMatchObject({ call_id: "s1", provider_executed: true })
  expect(parts[3]).toMatchObject({ call_id: "t1", provider_executed: false, params: { command: "run t1" } })
  expect(parts[8]).toMatchObject({ media_type: "application/pdf", file_name: "a.pdf", data: { base64: "BBBB" } })
  expect(issues.map(({ kind, found }) => [kind, found])).toEqual([["unknown_block", "hologram"]])
})

test("broken lines are kept where they lie, and said", async () => {
  const lines = `${JSON.stringify(user("u1", null, "Hi."))}\n\n{"type":"user","message":{"ro\n[1]\n"text"\n`
  await withTree({ [`projects/-work/${SESSION}.jsonl`]: lines }, async (root) => {
    expect(await nativeDifferences(root)).toEqual([])
  })
  const { issues, entries } = await parsedRecords(lines)
  expect(entries.length).toBe(5)
  expect(issues.map(({ kind, severity, record: line }) => [kind, severity, line])).toEqual([
    ["blank_line", "fault", 2],
    ["unparsable_line", "fault", 3],
    ["unknown_record", "note", 4],
    ["unknown_record", "note", 5],
  ])
})

test("a saved result that is not there any more is said", async () => {
  const persisted = { persistedOutputPath: "C:\\Users\\dev\\.claude\\projects\\x\\tool-results\\gone.txt" }
  const { issues } = await parsedRecords([user("u1", null, [result("t1")], { toolUseResult: persisted })])
  expect(issues).toMatchObject([{ kind: "missing_file", severity: "fault", record: 1 }])
})

// --- Restore --------------------------------------------------------------------------------------------------------------

test("the folder of a directory is the client's own", () => {
  expect(projectKey("/work/プロジェクト β space")).toBe("-work----------space")
  expect(projectKey("C:\\dev\\pond fixture_demo.v2")).toBe("C--dev-pond-fixture-demo-v2")
  // As version 2.1.326 named it.
  const long = `/srv/projects/${[0, 1, 2, 3, 4, 5, 6, 7].map((at) => `d0${at}-${"xé".repeat(12)}`).join("/")}`
  expect(projectKey(long).slice(195)).toBe("-x-x--aj2rwd")
  expect(projectKey(long).length).toBe(207)
})

test("a session that goes on elsewhere lies in the folder of that directory, with all that belongs to it", () => {
  const moved = ["s.jsonl", "s/subagents/agent-a1.jsonl", "agent-0c8cd0cc.jsonl"].map((name) =>
    claudeCode.relocation?.relativePath?.(`projects/-old-$1/${name}`, "/old $1", "/new $&/β"),
  )
  expect(moved).toEqual([
    "projects/-new-----/s.jsonl",
    "projects/-new-----/s/subagents/agent-a1.jsonl",
    "projects/-new-----/agent-0c8cd0cc.jsonl",
  ])
  expect(claudeCode.relocation?.relativePath?.("s.jsonl", "/old", "/new")).toBe("s.jsonl")
})

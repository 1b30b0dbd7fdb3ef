import { expect, test } from "bun:test"
import type { RawRecord, SourceFile } from "../../../src/adapters/adapter.ts"
import { kimi } from "../../../src/adapters/kimi/adapter.ts"
import { keyOfDirectory, movedTo } from "../../../src/adapters/kimi/directory-key.ts"
import type { JsonValue } from "../../../src/model/json.ts"
import type { Entry, Part, Session } from "../../../src/model/session.ts"
import { sourceFile } from "../../source-file.ts"

const SESSION = "session_5d1f0a30-0000-4000-8000-000000000001"
const FOLDER = `sessions/wd_alpha_000000000000/${SESSION}`
const AT = 1_770_000_000_000

interface Read {
  readonly session: Session
  readonly entries: readonly Entry[]
  readonly issues: readonly string[]
}

function fileAt(relativePath: string): SourceFile {
  const form = relativePath.endsWith(".json") ? "document" : "log"
  return sourceFile(relativePath, { form, modifiedMs: AT })
}

/** Each file with its records, in the order in which they are read. */
function read(files: Readonly<Record<string, readonly unknown[]>>): Read {
  const sources = Object.keys(files).map(fileAt)
  const found: { session?: Session; entries: Entry[]; issues: string[] } = { entries: [], issues: [] }
  const parser = kimi.parse(
    { key: FOLDER, root: "/x", files: sources },
    {
      session: (session) => {
        found.session = session
      },
      entry: (entry) => found.entries.push(entry),
      issue: (issue) => found.issues.push(`${issue.kind} ${issue.found}`),
    },
  )
  for (const file of sources)
    for (const [index, each] of (files[file.relativePath] ?? []).entries()) {
      const raw = { file, line: index + 1, text: JSON.stringify(each) }
      parser.push((file.form === "log" ? { ...raw, form: "log" } : { ...raw, form: "document" }) satisfies RawRecord)
    }
  parser.end(true)
  if (found.session === undefined) throw new Error("no session")
  return { ...found, session: found.session }
}

const STATE = { id: SESSION, version: 2, cwd: "/projects/alpha", createdAt: AT, title: "A title" }

function wire(...records: readonly object[]): Read {
  return read({ [`${FOLDER}/state.json`]: [STATE], [`${FOLDER}/agents/main/wire.jsonl`]: records })
}

function said(text: string, origin?: object, id?: string): object {
  const message = {
    role: "user",
    content: [{ type: "text", text }],
    toolCalls: [],
    ...(id && { id }),
    ...(origin && { origin }),
  }
  return { type: "context.append_message", agentId: "main", message, time: AT }
}

function event(fields: object): object {
  return { type: "context.append_loop_event", agentId: "main", event: fields, time: AT }
}

function answered(step: string, text: string): object[] {
  return [
    event({ type: "step.begin", uuid: step }),
    event({ type: "content.part", uuid: `${step}-p`, stepUuid: step, part: { type: "text", text } }),
    event({ type: "step.end", uuid: step }),
  ]
}

function live({ session, entries }: Read): string[] {
  const parts = kimi.context({ session, entries }, []).flatMap((entry): readonly Part[] => entry.parts)
  return parts.map((part) => ("text" in part ? part.text : part.type))
}

const USER = { kind: "user" }

// --- Provenance ---------------------------------------------------------------------------------------------------------

test.each([
  ["what is typed", "Hello", USER, [["conversational", undefined, "Hello"]]],
  [
    "what looks like the client's own words and is typed",
    "<system>x</system>",
    USER,
    [["conversational", undefined, "<system>x</system>"]],
  ],
  [
    "a reminder",
    "<system-reminder>x",
    { kind: "injection", variant: "date_change" },
    [["injected", "system-reminder", "<system-reminder>x"]],
  ],
  [
    "an injection of another kind",
    "x",
    { kind: "injection", variant: "swarm_mode" },
    [["injected", "swarm_mode", "x"]],
  ],
  ["a skill", "x", { kind: "skill_activation", trigger: "user-slash" }, [["injected", "command", "x"]]],
  ["a command of a person", "ls", { kind: "shell_command", phase: "input" }, [["conversational", undefined, "ls"]]],
  ["what a command printed", "a", { kind: "shell_command", phase: "output" }, [["injected", "shell_command", "a"]]],
  [
    "a task for an agent",
    "Count.",
    { kind: "system_trigger", name: "subagent" },
    [["conversational", undefined, "Count."]],
  ],
  [
    "a task behind its surroundings",
    "<git-context>\nx\n</git-context>\n\nCount.",
    { kind: "system_trigger", name: "subagent" },
    [
      ["injected", "environment-context", "<git-context>\nx\n</git-context>\n\n"],
      ["conversational", undefined, "Count."],
    ],
  ],
  ["a summary", "x", { kind: "compaction_summary" }, [["injected", "compact-summary", "x"]]],
  ["a hook", "x", { kind: "hook_result" }, [["injected", "hook_result", "x"]]],
  [
    "a summary of before",
    "<system>Previous context has been compacted. x</system>",
    undefined,
    [["injected", "compact-summary", "<system>Previous context has been compacted. x</system>"]],
  ],
  [
    "a reminder of before",
    "<system-reminder>x</system-reminder>",
    undefined,
    [["injected", "system-reminder", "<system-reminder>x</system-reminder>"]],
  ],
  ["what was typed before", "Hello", undefined, [["conversational", undefined, "Hello"]]],
] as const)("%s", (_, text, origin, wanted) => {
  const [message] = wire(said(text, origin)).entries.filter(({ parts }) => parts.length > 0)
  const got = message?.parts.map(({ provenance, options, ...part }) => [
    provenance,
    (options["pond"] as { injected?: string } | undefined)?.injected,
    "text" in part ? part.text : part.type,
  ])
  expect(got).toEqual(wanted.map((each) => [...each]))
})

// --- Records ------------------------------------------------------------------------------------------------------------

test("a session says where it was held, what it is called and where it was forked from", () => {
  const forked = { ...STATE, forkedFrom: "session_0", title: "Fork" }
  const { session, entries } = read({
    [`${FOLDER}/state.json`]: [forked],
    [`${FOLDER}/agents/main/wire.jsonl`]: [said("x", USER)],
  })
  expect(session).toMatchObject({
    id: SESSION,
    project: "/projects/alpha",
    parent_session_id: "session_0",
    title: "Fork",
  })
  // The document is written anew: its title of the moment stands with it, under either name.
  expect(entries.map(({ message }) => message.options["pond"])).toContainEqual({ title: "Fork" })
  const { title: _, ...unnamed } = STATE
  const older = read({
    [`${FOLDER}/state.json`]: [{ ...unnamed, custom_title: "Older" }],
    [`${FOLDER}/agents/main/wire.jsonl`]: [said("x", USER)],
  })
  expect(older.entries.map(({ message }) => message.options["pond"])).toContainEqual({ title: "Older" })
})

test("an agent is a session of its own, of the kind that its log says", () => {
  const prompt = "x\nThe current working directory is `/projects/alpha`.\n"
  const bound = { type: "profile.bind", profileName: "explore", systemPrompt: prompt, time: AT }
  const { session } = read({
    [`${FOLDER}/agents/agent-0/wire.jsonl`]: [bound, said("x", { kind: "system_trigger", name: "subagent" })],
  })
  expect(session).toMatchObject({
    ...{
      id: `${SESSION}:agent-0`,
      parent_session_id: SESSION,
      source_agent: "kimi/explore",
      project: "/projects/alpha",
    },
  })
})

test("the model of an answer is the one that was last asked", () => {
  const { entries } = wire(said("x", USER), { type: "llm.request", model: "k3", time: AT }, ...answered("s", "y"))
  const answer = entries.find(({ message }) => message.role === "assistant")
  expect(answer?.message.options["pond"]).toEqual({ model: "k3" })
})

test("what is said once more is kept, and no message", () => {
  const again = {
    type: "agent.message.appended",
    kind: "event",
    message: { message: { role: "user", content: [] } },
    time: AT,
  }
  const { entries, issues } = wire({ type: "turn.prompt", input: [], time: AT }, said("x", USER), again)
  expect(entries.filter(({ parts }) => parts.length > 0).length).toBe(1)
  expect(issues).toEqual([])
})

test("a picture whose file is gone is named", () => {
  const content = [{ type: "image_url", imageUrl: { url: `blobref:image/png;${"0".repeat(64)}` } }]
  const { issues } = wire({
    type: "context.append_message",
    message: { role: "user", content, origin: USER },
    time: AT,
  })
  expect(issues).toEqual(["missing_blob a picture whose file is gone: 000000000000"])
})

// --- The live conversation ----------------------------------------------------------------------------------------------

test("an undo takes back turns of a person, with what was said to them", () => {
  const first = [said("one", USER), ...answered("s1", "1"), said("two", USER, "m2"), ...answered("s2", "2")]
  const owned = said("reminder", { kind: "injection", variant: "x", ownerPromptId: "m2" })
  expect(live(wire(...first, { type: "context.undo", count: 1, time: AT }))).toEqual(["one", "1"])
  expect(
    live(wire(first[0] ?? {}, ...first.slice(1, 4), owned, ...first.slice(4), { type: "context.undo", count: 1 })),
  ).toEqual(["one", "1"])
  expect(live(wire(...first, { type: "context.undo", count: 3, time: AT }))).toEqual(["one", "1", "two", "2"])
})

test("a compaction leaves what the person said and its summary; one of before the summary and the tail", () => {
  const first = [said("one", USER), said("note", { kind: "injection", variant: "x" }), ...answered("s1", "1")]
  const now = {
    type: "context.apply_compaction",
    summary: "s",
    contextSummary: "S",
    keptUserMessageCount: 1,
    compactedCount: 3,
  }
  expect(live(wire(...first, now, said("two", USER)))).toEqual(["one", "S", "two"])
  const before = { type: "context.apply_compaction", summary: "s", compactedCount: 2 }
  expect(live(wire(...first, before, said("two", USER)))).toEqual(["s", "1", "two"])
  expect(live(wire(...first, { type: "context.clear" }, said("two", USER)))).toEqual(["two"])
})

test("an undo does not go over a compaction", () => {
  const compaction = { type: "context.apply_compaction", summary: "s", keptUserMessageCount: 1, compactedCount: 1 }
  expect(live(wire(said("one", USER), compaction, { type: "context.undo", count: 1 }))).toEqual(["one", "s"])
})

test("what is said while a tool runs comes behind its result", () => {
  const call = event({ type: "tool.call", stepUuid: "s", toolCallId: "c", name: "Bash", args: {} })
  const result = event({ type: "tool.result", toolCallId: "c", result: { output: "o" } })
  const records = [event({ type: "step.begin", uuid: "s" }), call, said("hurry", { ...USER, inTurn: true }), result]
  expect(live(wire(...records))).toEqual(["tool_call", "tool_result", "hurry"])
})

// --- kimi-cli -----------------------------------------------------------------------------------------------------------

const OLD = "sessions/480ae69fa9f1c5ee5fd43225a7587afb/5d1f0a30-0000-4000-8000-000000000001"

test("of kimi-cli the live file is sent, with the times of what was shown", () => {
  const one = { role: "user", content: "one" }
  const found = read({
    [`${OLD}/wire.jsonl`]: [
      { timestamp: 1_770_000_000.5, message: { type: "TurnBegin", payload: { user_input: "one" } } },
      { timestamp: 1_770_000_009, message: { type: "TurnBegin", payload: { user_input: "two" } } },
    ],
    [`${OLD}/context.jsonl`]: [
      { role: "_system_prompt", content: "x working directory is `/projects/alpha`. y" },
      one,
      { role: "user", content: "two" },
    ],
    [`${OLD}/context_1.jsonl`]: [one, { role: "user", content: "undone" }],
  })
  expect(found.session).toMatchObject({ project: "/projects/alpha", created_at: "2026-02-02T02:40:00.500Z" })
  expect(live(found)).toEqual(["one", "two"])
  const spoken = found.entries.filter(({ parts }) => parts.length > 0)
  expect(spoken.map(({ message }) => message.timestamp.slice(17, 23))).toEqual(["00.500", "09.000", "09.000"])
})

test.each([
  ["<system>ERROR: no such file</system>", true],
  ["<system>Command executed successfully.</system>", false],
  ["ERROR", false],
])("of kimi-cli a result that begins with %s failed: %p", (text, wanted) => {
  const content: JsonValue = [{ type: "text", text }]
  const { entries } = read({ [`${OLD}/context.jsonl`]: [{ role: "tool", content, tool_call_id: "c" }] })
  expect(entries.flatMap((entry): readonly Part[] => entry.parts)).toMatchObject([{ is_failure: wanted }])
})

// --- Places -------------------------------------------------------------------------------------------------------------

test.each([
  ["/projects/alpha", "wd_alpha_"],
  ["/projects/プロジェクト β space/", "wd_space_"],
  ["/projects/日本", "wd_workspace_"],
  ["/Users/dev/My App.v2", "wd_my-app.v2_"],
])("the sessions of %s lie below %s", (directory, wanted) => {
  expect(keyOfDirectory(directory)).toStartWith(wanted)
  expect(keyOfDirectory(directory)).toMatch(/_[0-9a-f]{12}$/)
})

test("a session that moves lies below its new directory", () => {
  const place = `sessions/${keyOfDirectory("/a/b")}/s/state.json`
  expect(movedTo(place, "/a/b", "/c/d")).toBe(`sessions/${keyOfDirectory("/c/d")}/s/state.json`)
})

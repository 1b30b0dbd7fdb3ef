import { expect, test } from "bun:test"
import type { RawRecord } from "../../../src/adapters/adapter.ts"
import { copilotCli } from "../../../src/adapters/copilot-cli/adapter.ts"
import type { Issue } from "../../../src/model/report.ts"
import type { Entry, Part, Session } from "../../../src/model/session.ts"
import { sourceFile } from "../../source-file.ts"

const ID = "5d1f0a30-0000-4000-8000-000000000001"
const PLACE = `session-state/${ID}/events.jsonl`
const AT = "2026-02-03T04:05:06.789Z"
const START = event("session.start", { sessionId: ID, startTime: AT, context: { cwd: "/projects/alpha" } })

function event(type: string, data: unknown, more: Record<string, unknown> = {}): Record<string, unknown> {
  return { type, data, timestamp: AT, parentId: null, ...more }
}

function read(records: readonly unknown[], notes: Readonly<Record<string, string>> = {}, isSettled = true) {
  const file = sourceFile(PLACE, { form: "log" })
  const found = { session: undefined as Session | undefined, entries: [] as Entry[], issues: [] as Issue[] }
  const parser = copilotCli.parse(
    { key: PLACE, root: "/x", files: [file] },
    {
      session: (session) => {
        found.session = session
      },
      entry: (entry) => found.entries.push(entry),
      issue: (issue) => found.issues.push(issue),
    },
  )
  for (const [index, record] of records.entries())
    parser.push({ form: "log", file, line: index + 1, text: JSON.stringify(record) } satisfies RawRecord)
  for (const [name, text] of Object.entries(notes))
    parser.push({ form: "text", file: sourceFile(`session-state/${ID}/${name}`, { form: "text" }), line: 1, text })
  return { ...found, end: parser.end(isSettled), session: found.session }
}

function partsOf(record: unknown): readonly Part[] {
  return read([START, record]).entries.flatMap(({ parts }): readonly Part[] => parts)
}

// --- Provenance -------------------------------------------------------------------------------------------------------

const CLOCK = "<current_datetime>2026-02-03T04:05:06.789+00:00</current_datetime>\n\n"

/** What a person or the model wrote, and what the client put there. */
const PROVENANCE: readonly (readonly [what: string, record: object, authored: string[], injected: string[]])[] = [
  ["a prompt", event("user.message", { content: "Fix it." }), ["Fix it."], []],
  [
    "a prompt as it was sent",
    event("user.message", { content: "6", transformedContent: `${CLOCK}6\n<reminder>r</reminder>` }),
    ["6"],
    [CLOCK, "\n<reminder>r</reminder>"],
  ],
  [
    "a prompt that was sent as something else",
    event("user.message", { content: "/x", transformedContent: "y" }),
    ["/x"],
    [],
  ],
  ["a skill", event("user.message", { content: "Do.", source: "skill-x" }), [], ["Do."]],
  ["an agent's task", event("user.message", { content: "Do." }, { agentId: "a" }), [], ["Do."]],
  ["an autopilot's prompt", event("user.message", { content: "Go on", isAutopilotContinuation: true }), [], ["Go on"]],
  ["a notification", event("system.notification", { content: "Done" }), [], ["Done"]],
  ["a summary", event("session.compaction_complete", { success: true, summaryContent: "All" }), [], ["All"]],
  ["a compaction that failed", event("session.compaction_complete", { success: false, summaryContent: "x" }), [], []],
  [
    "an answer",
    event("assistant.message", { content: "Yes.", reasoningText: "Hm.", toolRequests: [] }),
    ["Hm.", "Yes."],
    [],
  ],
  ["a command", event("tool.user_requested", { toolName: "bash", arguments: { command: "ls" } }), ["ls"], []],
  [
    "the output of a command",
    event("tool.execution_complete", {
      toolCallId: "u",
      isUserRequested: true,
      success: true,
      result: { content: "a" },
    }),
    [],
    ["a"],
  ],
]

test.each(PROVENANCE)("%s", (_, record, authored, injected) => {
  const texts = (provenance: string) =>
    partsOf(record).flatMap((part) => ("text" in part && part.provenance === provenance ? [part.text] : []))
  expect(texts("conversational")).toEqual(authored)
  expect(texts("injected")).toEqual(injected)
})

// --- Records ----------------------------------------------------------------------------------------------------------

test.each([
  [{ success: false, error: { message: "no", code: "failure" } }, "no", true],
  [{ success: true, result: { content: "yes", detailedContent: "a diff" } }, "yes", false],
  [{ success: true, result: { contents: [] } }, { contents: [] }, false],
] as const)("a result is what the model is told: %p", (body, result, isFailure) => {
  const [part] = partsOf(event("tool.execution_complete", { toolCallId: "c", ...body }))
  expect(part).toMatchObject({ type: "tool_result", call_id: "c", result, is_failure: isFailure })
})

test("an event of a kind that nobody knows is kept, and said aloud", () => {
  const { entries, issues } = read([START, event("future.kind", { x: 1 }), event("session.mcp_server_removed", {})])
  expect(entries).toHaveLength(3)
  expect(issues.map(({ kind, found }) => [kind, found])).toEqual([["unknown_record", "future.kind"]])
})

test("what an agent did is marked, and is no part of the live conversation", () => {
  const inner = { content: "inner", toolRequests: [] }
  const { session, entries } = read([
    START,
    event("user.message", { content: "Go" }),
    event("assistant.message", inner, { agentId: "a" }),
    event("assistant.message", { ...inner, parentToolCallId: "c" }),
    event("assistant.message", { content: "outer", toolRequests: [] }),
  ])
  if (session === undefined) throw new Error("no session")
  expect(entries.map(({ message }) => (message.options["pond"] as object | undefined) ?? {})).toEqual([
    ...[{}, {}, { sidechain: true }, { sidechain: true }, {}],
  ])
  const live = copilotCli.context({ session, entries }, [])
  expect(live.flatMap(({ parts }) => parts.map((part) => "text" in part && part.text))).toEqual(["Go", "outer"])
})

test("what is said while a compaction runs stays", () => {
  const said = (content: string) => event("assistant.message", { content, toolRequests: [] })
  const { session, entries } = read([
    ...[START, event("user.message", { content: "first" }), said("answer")],
    ...[event("session.compaction_start", {}), event("user.message", { content: "second" })],
    event("session.compaction_complete", { success: true, summaryContent: "sum" }),
    said("last"),
  ])
  if (session === undefined) throw new Error("no session")
  const live = copilotCli.context({ session, entries }, [])
  expect(live.flatMap(({ parts }) => parts.map((part) => "text" in part && part.text))).toEqual([
    ...["first", "sum", "second", "last"],
  ])
})

// --- The session ------------------------------------------------------------------------------------------------------

test.each([
  ["name: My session", "My session"],
  ["name: 'It''s mine'", "It's mine"],
  ['name: "a \\"b\\""', 'a "b"'],
  ["name: |-", undefined],
  ["summary_count: 0", undefined],
])("the title of %p is %p", (yaml, title) => {
  const { entries } = read([START], { "workspace.yaml": `id: ${ID}\n${yaml}\ncwd: /projects/alpha\n` })
  expect(entries.at(-1)?.message.options["pond"]).toEqual(title === undefined ? undefined : { title })
})

test("a log that does not say its directory gets it from the workspace, or from the folder that it lies in", () => {
  const first = event("session.start", { sessionId: ID, startTime: AT })
  expect(read([first], { "workspace.yaml": "cwd: /projects/beta\n" }).session?.project).toBe("/projects/beta")
  expect(read([first]).session).toMatchObject({ id: ID, project: ID, created_at: AT })
  expect(read([first], {}, false).session).toBeUndefined()
})

test("without its first event a session is that of its folder", () => {
  const resumed = event("session.resume", { context: { cwd: "/projects/alpha" } })
  expect(read([resumed]).session).toMatchObject({ id: ID, project: "/projects/alpha", created_at: AT })
})

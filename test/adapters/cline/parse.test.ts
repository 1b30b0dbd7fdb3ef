import { expect, test } from "bun:test"
import type { RawRecord, SourceFile } from "../../../src/adapters/adapter.ts"
import { cline, rooCode } from "../../../src/adapters/cline/adapter.ts"
import { atRoot } from "../../../src/adapters/cline/serialize.ts"
import { fromSource, type SourceValue } from "../../../src/adapters/source-value.ts"
import type { Entry, Part, Session } from "../../../src/model/session.ts"
import { nativeFiles } from "../../../src/restore/output-files.ts"
import { fixturesOf, parseUnit, unitsOf } from "../../contract/fixtures.ts"
import { sourceFile } from "../../source-file.ts"

const ID = "1784094124598_rruoq"
const FOLDER = `sessions/${ID}`
const TASK = "tasks/1719491234567"
const AT = 1_784_094_124_598

interface Read {
  readonly session: Session
  readonly entries: readonly Entry[]
  readonly state: SourceValue
}

function fileAt(relativePath: string): SourceFile {
  return sourceFile(relativePath, { form: "document", modifiedMs: AT })
}

function read(
  files: Readonly<Record<string, unknown>>,
  { adapter = cline, before = undefined as Read | undefined } = {},
): Read {
  const sources = Object.keys(files).map(fileAt)
  const found = { session: before?.session, entries: [...(before?.entries ?? [])] }
  const resume = before && {
    ...{ session: before.session, nextOrdinal: before.entries.length, state: before.state },
    seen: new Set(before.entries.map(({ message }) => message.id)),
  }
  const sink = {
    session: (session: Session) => {
      found.session = session
    },
    entry: (entry: Entry) => found.entries.push(entry),
    issue: () => undefined,
  }
  const parser = adapter.parse({ key: sources[0]?.relativePath ?? "", root: "/x", files: sources }, sink, resume)
  for (const file of sources)
    parser.push({ form: "document", file, line: 1, text: JSON.stringify(files[file.relativePath]) } satisfies RawRecord)
  const { state } = parser.end(true)
  if (found.session === undefined) throw new Error("no session")
  return { session: found.session, entries: found.entries, state: fromSource(state) }
}

function transcript(...messages: readonly object[]): Record<string, unknown> {
  return { [`${FOLDER}/${ID}.messages.json`]: { version: 1, agent: "lead", sessionId: ID, messages } }
}

function task(...messages: readonly object[]): Record<string, unknown> {
  return { [`${TASK}/api_conversation_history.json`]: messages }
}

function user(text: string, more: object = {}): object {
  return { role: "user", content: [{ type: "text", text }], ts: AT, ...more }
}

function model(text: string, more: object = {}): object {
  return { role: "assistant", content: [{ type: "text", text }], ts: AT, ...more }
}

function live({ session, entries }: Read): string[] {
  const parts = cline.context({ session, entries }, []).flatMap((entry): readonly Part[] => entry.parts)
  return parts.map((part) => ("text" in part ? part.text : part.type))
}

// --- Provenance ---------------------------------------------------------------------------------------------------------

const ENVIRONMENT = "<environment_details>\nx\n</environment_details>"

test.each([
  [
    "a prompt of today",
    '<user_input mode="act">Hi <task>x</task></user_input>',
    [['<user_input mode="act">', "internal-context"], ["Hi <task>x</task>"], ["</user_input>", "internal-context"]],
  ],
  ["a plain prompt", "Hi", [["Hi"]]],
  ["a task", "<task>\nHi\n</task>", [["<task>\n", "internal-context"], ["Hi"], ["\n</task>", "internal-context"]]],
  [
    "feedback among other words",
    "It said:\n<feedback>\nNo.\n</feedback>",
    [["It said:\n<feedback>\n", "internal-context"], ["No."], ["\n</feedback>", "internal-context"]],
  ],
  ["what the editor says of itself", ENVIRONMENT, [[ENVIRONMENT, "environment-context"]]],
  ["a compaction", "<SYSTEM_NOTICE>\nx", [["<SYSTEM_NOTICE>\nx", "compact-summary"]]],
  ["a mode", "<mode_notice>x</mode_notice>", [["<mode_notice>x</mode_notice>", "internal-context"]]],
  ["a resumption", "[TASK RESUMPTION] x", [["[TASK RESUMPTION] x", "resumption"]]],
  ["a result in words", "[read_file for 'a'] Result:", [["[read_file for 'a'] Result:", "tool-result"]]],
  ["a mention", '<file_content path="a">x</file_content>', [['<file_content path="a">x</file_content>', "mention"]]],
] as const)("%s", (_, text, wanted) => {
  const [message] = read(transcript(user(text))).entries.filter(({ parts }) => parts.length > 0)
  const got = message?.parts.map((part) => [
    "text" in part ? part.text : part.type,
    ...(part.provenance === "injected" ? [(part.options["pond"] as { injected: string }).injected] : []),
  ])
  expect(got).toEqual(wanted.map((each) => [...each]))
})

test("what came of a call stands in a text behind its name, until something else is said", () => {
  const content = ["[ls for 'x'] Result:", "a.ts", "<feedback>\nb?\n</feedback>", ENVIRONMENT].map((text) => ({
    type: "text",
    text,
  }))
  const [message] = read(task({ role: "user", content })).entries.filter(({ parts }) => parts.length > 0)
  const said = message?.parts.filter(({ provenance }) => provenance === "conversational")
  expect(said?.map((part) => ("text" in part ? part.text : ""))).toEqual(["b?"])
})

test("messages that the client does not show as a person's are its own", () => {
  const { entries } = read(transcript(user("x", { metadata: { kind: "hook", displayRole: "system" } })))
  expect(entries.flatMap((entry): readonly Part[] => entry.parts)).toMatchObject([
    { provenance: "injected", options: { pond: { injected: "hook" } } },
  ])
})

test.each([
  ["a list", [{ query: "a", result: "", success: false }], true],
  ["one of several", [{ success: true }, { success: false }], true],
  ["the text of an object", '{"query":"a","success":false}', true],
  ["all well", [{ success: true }], false],
  ["words", "no", false],
])("whether a call failed stands in its result: %s", (_, content, wanted) => {
  const block = { type: "tool_result", tool_use_id: "t", name: "x", content }
  const { entries } = read(transcript({ role: "user", content: [block], ts: AT }))
  expect(entries.flatMap((entry): readonly Part[] => entry.parts)).toMatchObject([{ is_failure: wanted }])
})

// --- Identity -----------------------------------------------------------------------------------------------------------

test("a message that gets another id when a session goes on is the same message", () => {
  const first = read(transcript(user("one", { id: "m1" }), model("two", { id: "m2_tool_t" })))
  const later = transcript(
    user("one", { id: "m1" }),
    model("two", { id: "m2_tool_t_tool_t" }),
    user("three", { id: "m3" }),
  )
  const again = read(later, { before: first })
  expect(again.entries.slice(first.entries.length).map(({ parts }) => parts.length)).toEqual([0, 1])
  expect(live(again)).toEqual(["one", "two", "three"])
})

test("documents come back with the ids that they have now", () => {
  const document = transcript(user("one", { id: "m1" }), model("one", { id: "m2" }), user("one", { id: "m3" }))
  const [file] = nativeFiles(cline, read(document))
  expect(file?.form === "document" ? JSON.parse(file.text) : undefined).toEqual(Object.values(document)[0])
})

test("an agent is a session of its own, below the one that it was started from", () => {
  const place = `${FOLDER}/agent_1784094124599_abcdef.messages.json`
  const sessionId = `${ID}__agent_1784094124599_abcdef`
  const { session } = read({
    [`${FOLDER}/${ID}.json`]: { session_id: ID, cwd: "/projects/alpha", metadata: { title: "Of the session" } },
    [place]: { agent: "subagent", sessionId, messages: [user("x")] },
  })
  expect(session).toMatchObject({
    id: sessionId,
    parent_session_id: ID,
    source_agent: "cline/subagent",
    project: "/projects/alpha",
  })
  expect(session.title).toBeUndefined()
})

// --- The live conversation ----------------------------------------------------------------------------------------------

test("a compaction is sent instead of the messages that it counts", () => {
  const messages = [user("one", { id: "1" }), model("two", { id: "2" }), user("three", { id: "3" })]
  const compaction = (more: object) => ({
    ...transcript(...messages),
    [`${FOLDER}/${ID}.compaction.json`]: { messages: [user("S", { id: "9" }), messages[1]], ...more },
  })
  expect(live(read(compaction({ source_message_count: 2 })))).toEqual(["S", "two", "three"])
  expect(live(read(compaction({})))).toEqual(["S", "two", "three"])
})

test("a stretch that was cut out of a task is not sent", () => {
  const messages = ["1", "2", "3", "4", "5"].map((text) => user(text))
  const shown = [
    { ts: AT, type: "say", say: "text", text: "1" },
    { ts: AT, say: "text", conversationHistoryDeletedRange: [2, 3] },
  ]
  expect(live(read({ ...task(...messages), [`${TASK}/ui_messages.json`]: shown }))).toEqual(["1", "2", "5"])
})

test("of a task that was summed up the summary is sent, and marks make no new message of an old one", () => {
  const first = read(task(user("one"), model("two")), { adapter: rooCode })
  const marked = task(
    user("one", { condenseParent: "c" }),
    model("two", { condenseParent: "c" }),
    user("S", { isSummary: true, condenseId: "c" }),
    model("three"),
  )
  const again = read(marked, { adapter: rooCode, before: first })
  expect(live(again)).toEqual(["S", "three"])
  expect(again.entries.slice(first.entries.length).filter(({ parts }) => parts.length > 0).length).toBe(2)
})

test("where only what was shown is left, it is the conversation", () => {
  const shown = ["task", "reasoning", "text", "api_req_started"].map((say) => ({ ts: AT, type: "say", say, text: say }))
  expect(live(read({ [`${TASK}/ui_messages.json`]: shown }))).toEqual(["task", "reasoning", "text"])
  expect(live(read({ [`${TASK}/api_conversation_history.json`]: [], [`${TASK}/ui_messages.json`]: shown }))).toEqual([
    "task",
    "reasoning",
    "text",
  ])
})

// --- Restore ------------------------------------------------------------------------------------------------------------

test("a session names its files where they are going to lie", () => {
  const text = JSON.stringify({ session_id: ID, messages_path: `C:\\old\\${ID}.messages.json`, cwd: "/projects" })
  const placed = atRoot("/new")({ form: "document", relativePath: `${FOLDER}/${ID}.json`, text })
  expect(placed.form === "document" ? JSON.parse(placed.text) : undefined).toEqual({
    ...{ session_id: ID, messages_path: `/new/${FOLDER}/${ID}.messages.json`, cwd: "/projects" },
  })
  const messages = { form: "document", relativePath: `${FOLDER}/${ID}.messages.json`, text } as const
  expect(atRoot("/new")(messages)).toBe(messages)
})

test("the versions that wrote a session are told from its records", async () => {
  const root = fixturesOf(cline).find(({ name }) => name === "resumed")?.root ?? ""
  const [first] = await unitsOf(cline, root)
  expect(first && parseUnit(cline, first.unit, first.records, { isSettled: true }).end.clientVersions).toEqual([
    "3.0.65",
  ])
})

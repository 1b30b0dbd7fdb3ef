import { expect, test } from "bun:test"
import type { ResumePoint } from "../../../src/adapters/adapter.ts"
import { codex } from "../../../src/adapters/codex/adapter.ts"
import { resolve } from "../../../src/adapters/shared/resolve.ts"
import { fromSource } from "../../../src/adapters/source-value.ts"
import type { Entry } from "../../../src/model/session.ts"
import {
  CWD,
  fixture,
  header,
  item,
  line,
  PLACE,
  said,
  THREAD,
  threadsBelow,
  threadWith,
  userItem,
  withTree,
} from "./support.ts"

function pondOf({ message }: Entry): Record<string, unknown> {
  return (message.options["pond"] ?? {}) as Record<string, unknown>
}

// --- What a thread is -------------------------------------------------------------------------------------------------

test("a thread is named, placed and dated by its header, and titled by the index of all threads", async () => {
  const threads = await threadsBelow(fixture("enveloped"))
  const sessions = [...threads.values()].map(({ session }) => session)
  expect(sessions).toMatchObject([
    {
      id: "019ed498-2000-7000-8000-000000000002",
      source_agent: "codex",
      project: CWD,
      created_at: "2026-06-17T08:00:00.000Z",
    },
    {
      id: "01998f8c-e680-7000-8000-000000000001",
      project: CWD,
      created_at: "2025-09-28T09:00:00.000Z",
      title: "The missing file",
    },
  ])
  const titles = [...threads.values()].map(({ entries }) => entries.flatMap((entry) => pondOf(entry)["title"] ?? []))
  expect(titles).toEqual([["A picture of a pixel"], ["first name", "The missing file"]])
})

test("an agent is a session of its own, named by what it is for", async () => {
  const threads = [...(await threadsBelow(fixture("agents"))).values()].map(({ session }) => session)
  expect(threads.map(({ source_agent }) => source_agent)).toEqual(["codex", "codex/thread_spawn"])
  expect(threads[1]?.parent_session_id).toBe(threads[0]?.id ?? "")
  const copied = [...(await threadsBelow(fixture("copied"))).values()].map(({ session }) => session)
  expect(copied.map(({ source_agent }) => source_agent)).toEqual(["codex", "codex", "codex/explorer", "codex/review"])
  expect(copied.slice(1).map(({ parent_session_id }) => parent_session_id)).toEqual(Array(3).fill(copied[0]?.id))
})

test("the first clients named a directory in a message, in a command, or nowhere", async () => {
  const threads = [...(await threadsBelow(fixture("first-clients"))).values()]
  expect(threads.map(({ session }) => [session.project, session.created_at])).toEqual([
    ["sessions/2025/07/01", "2025-07-01T09:00:00.000Z"],
    [CWD, "2025-08-27T11:25:42.361Z"],
    [CWD, "2025-05-02T10:00:00.000Z"],
    ["/projects/beta", "2025-06-02T10:00:00.000Z"],
  ])
  expect(threads.map(({ entries }) => said(entries))).toEqual([
    ["user: what is 2+2?", "assistant: 4"],
    [
      "user: [agents-md] <user_instructions>\n\nBe brief.\n\n</user_instructions>",
      expect.stringContaining("user: [environment-context] <environment_context>"),
      "user: count to three",
      "assistant: (**Counting**)",
      "assistant: (one, two, three)",
      'assistant: shell({"command":["seq","3"]})',
      String.raw`tool: => "{\"output\":\"1\\n2\\n3\\n\",\"metadata\":{\"exit_code\":0,\"duration_seconds\":0.0}}"`,
      "assistant: One, two, three.",
    ],
    [
      "user: list the files",
      "assistant: (The user wants a list.)",
      'assistant: shell({"cmd":["ls"],"workdir":"/projects/alpha"})',
      String.raw`tool: => "{\"output\":\"main.ts\\n\",\"metadata\":{\"exit_code\":0,\"duration_seconds\":0.1}}"`,
      "assistant: There is main.ts.",
    ],
    [
      "user: hello",
      "assistant: {reasoning}",
      'assistant: local_shell({"type":"exec","command":["pwd"],"working_directory":"/projects/beta"})',
      String.raw`tool: => "/projects/beta\n"`,
      "assistant: Hello.",
    ],
  ])
})

// --- Twice said, once counted -----------------------------------------------------------------------------------------

test("what an item and an event say is said once", async () => {
  const thread = await threadWith(
    userItem("hello"),
    line("event_msg", { type: "user_message", message: "hello" }),
    line("event_msg", { type: "agent_reasoning", text: "thinking" }),
    item({ type: "reasoning", summary: [{ type: "summary_text", text: "thinking" }] }),
    line("event_msg", { type: "agent_message", message: "hi" }),
    item({ type: "message", role: "assistant", content: [{ type: "output_text", text: "hi" }] }),
    userItem("hello"),
    line("event_msg", { type: "user_message", message: "hello" }),
  )
  expect(said(thread.entries)).toEqual(["user: hello", "assistant: (thinking)", "assistant: hi", "user: hello"])
  expect(thread.entries).toHaveLength(9)
})

test("what an event alone says is a message", async () => {
  const thread = await threadWith(
    line("event_msg", { type: "user_message", message: "hello", images: ["data:image/png;base64,iVBORw0KGgo="] }),
    line("event_msg", { type: "agent_message", message: "hi" }),
    line("event_msg", { type: "user_message", message: "more" }),
  )
  expect(said(thread.entries)).toEqual(["user: hello", "user: <image/png >", "assistant: hi", "user: more"])
})

test("an item that comes after its event is the copy", async () => {
  const thread = await threadWith(
    line("event_msg", { type: "user_message", message: "hello" }),
    line("event_msg", { type: "agent_message", message: "hi" }),
    userItem("hello"),
    item({ type: "message", role: "assistant", content: [{ type: "output_text", text: "hi" }] }),
  )
  expect(said(thread.entries)).toEqual(["user: hello", "assistant: hi"])
})

// --- Tools ------------------------------------------------------------------------------------------------------------

test.each([
  ["Exit code: 1\nWall time: 0 seconds\nOutput:\nno", true],
  ["Exit code: 0\nWall time: 0 seconds\nOutput:\nExit code: 1", false],
  ["Chunk ID: 5c9b12\nWall time: 0.0 seconds\nProcess exited with code 3\nOutput:\n", true],
  ["Chunk ID: 5c9b12\nWall time: 0.0 seconds\nProcess exited with code 0\nOutput:\n", false],
  ['{"output":"no","metadata":{"exit_code":127,"duration_seconds":0.2}}', true],
  ['{"output":"yes","metadata":{"exit_code":0,"duration_seconds":0.2}}', false],
  ["Script failed\nWall time 0.1 seconds\nOutput:\n", true],
  ["aborted", false],
])("the text of a result says whether the call failed: %s", async (output, isFailure) => {
  const thread = await threadWith(item({ type: "function_call_output", call_id: "call_1", output }))
  expect(thread.entries.at(-1)?.parts).toMatchObject([{ type: "tool_result", result: output, is_failure: isFailure }])
})

test("a thought and an answer in the same words are two, also where the thought stands in an event alone", async () => {
  const thread = await threadWith(
    line("session_meta", { id: THREAD, cwd: CWD, originator: "pond" }),
    userItem("and the answer?"),
    line("event_msg", { type: "agent_reasoning", text: "forty-two" }),
    line("event_msg", { type: "agent_message", message: "forty-two" }),
    item({ type: "message", role: "assistant", content: [{ type: "output_text", text: "forty-two" }] }),
  )
  expect(said(thread.entries)).toEqual(["user: and the answer?", "assistant: (forty-two)", "assistant: forty-two"])
})

test("a search of the provider is a call without a result, and without an id it is kept whole", async () => {
  const action = { type: "search", query: "one pixel" }
  const thread = await threadWith(
    item({ type: "web_search_call", id: "ws_1", status: "completed", action }),
    item({ type: "web_search_call", status: "completed", action }),
  )
  expect(thread.entries.slice(1).map(({ parts }) => parts[0])).toMatchObject([
    { type: "tool_call", name: "web_search", call_id: "ws_1", params: action, provider_executed: true },
    { type: "opaque", kind: "web_search_call" },
  ])
})

test("an image that the model made is a file", async () => {
  const thread = await threadWith(
    item({ type: "image_generation_call", id: "ig_1", status: "completed", result: "iVBORw0KGgo=" }),
  )
  expect(thread.entries.at(-1)?.parts).toMatchObject([
    { type: "file", media_type: "image/png", data: { base64: "iVBORw0KGgo=" } },
  ])
})

// --- Copies -----------------------------------------------------------------------------------------------------------

test("records that were copied from a parent name it, and the thread's own do not", async () => {
  const [parent, fork, agent] = [...(await threadsBelow(fixture("copied"))).values()]
  const own = (thread: typeof parent) =>
    said(thread?.entries.filter((entry) => pondOf(entry)["replay_of"] === undefined) ?? [])
  expect(own(fork)).toEqual(["user: say it in one word", "assistant: Branch."])
  expect(own(agent)).toEqual([
    expect.stringContaining("user: [agent-message] Message Type: MESSAGE"),
    "user: Count the files, please.",
    "assistant: There are three.",
  ])
  expect(own(parent)).toHaveLength(5)
  const copies = [fork, agent].map((thread) =>
    thread?.entries.map((entry) => pondOf(entry)["replay_of"]).filter(Boolean),
  )
  expect(copies.map((ids) => ids?.length)).toEqual([9, 5])
  expect(new Set(copies.flat())).toEqual(new Set([parent?.session.id]))
})

test("a header that is written again on resume copies nothing", async () => {
  const thread = await threadWith(userItem("one"), header(), userItem("two"))
  expect(thread.entries.flatMap((entry) => pondOf(entry)["replay_of"] ?? [])).toEqual([])
  expect(said(thread.entries)).toEqual(["user: one", "user: two"])
})

// --- What is not understood -------------------------------------------------------------------------------------------

test("records of the future are kept, counted and named", async () => {
  const thread = await threadWith(
    line("of_the_future", { a: 1 }),
    line("event_msg", { type: "dance" }),
    item({ type: "hologram" }),
    line("event_msg", { type: "token_count", info: null }),
  )
  expect(thread.issues.map(({ kind, severity, found }) => [kind, severity, found])).toEqual([
    ["unknown_record", "note", "of_the_future"],
    ["unknown_record", "note", "event_msg: dance"],
    ["unknown_record", "note", "response_item: hologram"],
  ])
  expect(thread.entries).toHaveLength(5)
  expect(thread.clientVersions).toEqual(["0.128.0"])
})

test("a thousand records that are the same are a thousand messages", async () => {
  const thread = await threadWith(...Array.from({ length: 1_000 }, () => line("event_msg", { type: "token_count" })))
  expect(new Set(thread.entries.map(({ message }) => message.id)).size).toBe(1_001)
})

// --- Reading on -------------------------------------------------------------------------------------------------------

test("a title that comes later is read on, and those before it are not read again", async () => {
  const index = (name: string) => ({ id: THREAD, thread_name: name, updated_at: "2026-02-02T00:00:00Z" })
  const records = [header(), userItem("hello")]
  const before = await withTree({ [PLACE]: records, "session_index.jsonl": [index("one")] }, readAll)
  const after = await withTree({ [PLACE]: records, "session_index.jsonl": [index("one"), index("two")] }, (root) =>
    readAll(root, before.point),
  )
  expect(before.session?.title).toBe("one")
  expect(after.entries.map(pondOf)).toEqual([{ title: "two" }])
})

async function readAll(root: string, resume?: ResumePoint) {
  for await (const unit of codex.source.plan(root)) {
    if ("kind" in unit) continue
    let session = resume?.session
    const entries: Entry[] = []
    const sink = {
      session: (begun: typeof session) => {
        session = begun
      },
      entry: (entry: Entry) => entries.push(entry),
      issue: () => undefined,
    }
    const parser = codex.parse(unit, sink, resume)
    const read = resume === undefined ? unit : { ...unit, files: [] }
    for await (const batch of resolve(codex, read)) for (const raw of batch.records) parser.push(raw)
    const { state } = parser.end(true)
    if (session === undefined) throw new Error("no session")
    const seen = new Set(entries.map(({ message }) => message.id))
    return { session, entries, point: { session, nextOrdinal: entries.length, seen, state: fromSource(state) } }
  }
  throw new Error("no thread")
}

import { expect, test } from "bun:test"
import { get } from "../../src/operations/wire/get.ts"
import { type IngestOutput, ingest } from "../../src/operations/wire/ingest.ts"
import { MOMENT, said, session } from "../sessions/support.ts"
import { memoryPond } from "./support.ts"

const sessionEvent = (id: string, fields: object = {}) => ({ kind: "session", ...session(id), ...fields })
const messageEvent = (sessionId: string, ordinal: number, fields: object = {}) => ({
  kind: "message",
  ...said(sessionId, ordinal, "").message,
  ...fields,
})
const partEvent = (sessionId: string, ordinal: number, text: string, fields: object = {}) => ({
  kind: "part",
  ...said(sessionId, ordinal, text).parts[0],
  ...fields,
})

function whole(id: string, texts: readonly string[]): object[] {
  return [
    sessionEvent(id),
    ...texts.flatMap((text, ordinal) => [messageEvent(id, ordinal), partEvent(id, ordinal, text)]),
  ]
}

test("a batch is stored per session, and repeated it is unchanged", async () => {
  using box = memoryPond()
  const events = [...whole("a", ["one", "two"]), ...whole("b", ["three"])]
  expect(await box.run(ingest, { events })).toEqual({
    results: [
      { session_id: "a", status: "stored", inserted: { messages: 2, parts: 2 } },
      { session_id: "b", status: "stored", inserted: { messages: 1, parts: 1 } },
    ],
  })
  expect(await box.run(ingest, { events })).toMatchObject({
    results: [{ status: "unchanged" }, { status: "unchanged" }],
  })
  expect(await box.place.sessions.counts()).toMatchObject({ sessions: 2, messages: 3 })
})

const RESULT_OF_A_PERSON = {
  kind: "part",
  id: "p",
  session_id: "x",
  message_id: "m0",
  provenance: "injected",
  options: {},
  type: "tool_result",
  call_id: "c",
  is_failure: false,
  result: "r",
}

test.each<[string, object[], string, string]>([
  ["a message before its session", [messageEvent("x", 0)], "before its session", "/events/1"],
  [
    "a part that does not follow its message",
    [sessionEvent("x"), messageEvent("x", 0), partEvent("x", 7, "t")],
    "does not follow",
    "/events/3",
  ],
  [
    "a tool result of a person",
    [sessionEvent("x"), messageEvent("x", 0), RESULT_OF_A_PERSON],
    "cannot contain tool_result",
    "/events/3",
  ],
  [
    "a part without provenance",
    [sessionEvent("x"), messageEvent("x", 0), partEvent("x", 0, "t", { provenance: null })],
    "unexpected structure",
    "/events/3",
  ],
  [
    "a cut-point without a parent",
    [sessionEvent("x", { parent_message_id: "m" })],
    "model-parent-pointer-coherence",
    "/events/1",
  ],
  [
    "a part with the id of another one of its message",
    [sessionEvent("x"), messageEvent("x", 0), partEvent("x", 0, "one"), partEvent("x", 0, "two")],
    "repeats the id of another part",
    "/events/4",
  ],
  ["a project of spaces", [sessionEvent("x", { project: "  " })], "model-project-non-empty", "/events/1"],
  ["a moment that does not exist", [sessionEvent("x", { created_at: "2026-02-30T00:00:00Z" })], "", "/events/1"],
  ["a field that nobody knows", [sessionEvent("x", { extra: 1 })], "unexpected structure", "/events/1"],
])("%s is rejected with its place, and the other session is stored", async (_, hostile, message, path) => {
  using box = memoryPond()
  const [first, ...rest] = whole("good", ["one"])
  const { results } = (await box.run(ingest, { events: [first, ...hostile, ...rest] })) as IngestOutput
  const [good, bad] = results
  expect(good).toMatchObject({ session_id: "good", status: "stored", inserted: { messages: 1 } })
  expect(bad).toMatchObject({ session_id: "x", status: "rejected", error: { code: "validation_failed" } })
  expect(bad?.error?.message).toContain(message)
  expect(String(bad?.error?.details["path"])).toStartWith(path)
  expect(await box.place.sessions.counts()).toMatchObject({ sessions: 1 })
})

test("two messages of one place are refused, and an immutable fact stays", async () => {
  using box = memoryPond()
  const twice = [sessionEvent("x"), messageEvent("x", 0), messageEvent("x", 0, { id: "other" })]
  expect(await box.run(ingest, { events: twice })).toMatchObject({
    results: [{ status: "rejected", error: { details: { ordinal: 0 } } }],
  })
  await box.run(ingest, { events: whole("a", ["one"]) })
  expect(await box.run(ingest, { events: [sessionEvent("a", { project: "/elsewhere" })] })).toMatchObject({
    results: [{ session_id: "a", status: "rejected", error: { details: { field: "project" } } }],
  })
})

test("a batch over the cap, an empty one and another shape are refused whole", async () => {
  using box = memoryPond()
  const many = Array.from({ length: 10_001 }, () => 1)
  for (const input of [{ events: [] }, { events: many }, {}, { events: [1], extra: 1 }]) {
    expect(box.run(ingest, input)).rejects.toMatchObject({
      code: "validation_failed",
      details: { faults: expect.any(Array) },
    })
  }
})

interface Page {
  readonly result: { readonly messages: { readonly id: string }[]; readonly messages_remaining: number }
}

test("a session is read in pages from either end, and every page says what is left", async () => {
  using box = memoryPond()
  const entries = Array.from({ length: 50 }, (_, ordinal) => said("s", ordinal, `text ${ordinal}`))
  await box.place.sessions.write([{ session: session("s"), entries }])
  const ids: string[] = []
  for (let remaining = 50; remaining > 0; ) {
    const after = ids.at(-1)
    const page = (await box.run(get, {
      session_id: "s",
      limit: 7,
      ...(after === undefined ? {} : { after_id: after }),
    })) as Page
    ids.push(...page.result.messages.map(({ id }) => id))
    remaining = page.result.messages_remaining
    expect(remaining).toBe(50 - ids.length)
  }
  expect(ids).toEqual(Array.from({ length: 50 }, (_, ordinal) => `m${ordinal}`))
  const end = await box.run(get, { session_id: "s", limit: 2, session_from: "end" })
  expect(end).toMatchObject({ result: { messages: [{ id: "m48" }, { id: "m49" }], messages_remaining: 48 } })
})

test("a page ends between messages: a long one comes whole, and the next one waits", async () => {
  using box = memoryPond()
  const long = "x".repeat(150_000)
  await box.place.sessions.write([{ session: session("s"), entries: [said("s", 0, long), said("s", 1, "short")] }])
  expect(await box.run(get, { session_id: "s" })).toMatchObject({
    result: { messages: [{ id: "m0", text: long }], messages_remaining: 1 },
  })
})

test("how much of a session is shown is asked for", async () => {
  using box = memoryPond()
  const entry = said("s", 1, "the answer", { role: "assistant" })
  const own = { session_id: "s", message_id: "m1", options: { source: { secret: "of the client" } } }
  const call = { type: "tool_call", call_id: "call", name: "Bash", params: { command: "ls" }, provider_executed: false }
  const parts = [
    ...entry.parts,
    { ...own, id: "r", provenance: "injected", type: "text", text: "a reminder" },
    { ...own, id: "c", provenance: "conversational", ...call },
  ]
  const carrier = {
    message: { id: "k", session_id: "s", ordinal: 0, timestamp: MOMENT, options: {}, role: "system", content: "" },
    parts: [],
  }
  await box.place.sessions.write([{ session: session("s"), entries: [carrier, { ...entry, parts }] as never }])
  const summary = [{ kind: "tool_call", label: "Bash", call_id: "call" }]
  expect(await box.run(get, { session_id: "s" })).toMatchObject({
    result: { messages: [{ id: "m1", text: "the answer", parts_summary: summary }] },
  })
  expect(await box.run(get, { session_id: "s", response_mode: "complete" })).toMatchObject({
    result: { messages: [{ id: "k" }, { id: "m1", text: "the answer\na reminder", parts_summary: summary }] },
  })
  const verbatim = await box.run(get, { session_id: "s", response_mode: "verbatim" })
  expect(verbatim).toMatchObject({
    result: {
      messages: [
        { parts: [] },
        { parts: [{ text: "the answer" }, { provenance: "injected" }, { params: { command: "ls" } }] },
      ],
    },
  })
  expect(JSON.stringify(verbatim)).not.toContain("of the client")
})

test("a message comes with its parts page by page, and with its neighbours", async () => {
  using box = memoryPond()
  const parts = Array.from({ length: 5 }, (_, index) => ({
    ...said("s", 2, `part ${index}`).parts[0],
    id: `p${index}`,
  }))
  const entries = [said("s", 0, "zero"), said("s", 1, "one"), { ...said("s", 2, ""), parts }, said("s", 3, "three")]
  await box.place.sessions.write([{ session: session("s"), entries: entries as never }])
  expect(await box.run(get, { message_id: "m2", limit: 3, context_depth: 1 })).toMatchObject({
    session: { id: "s" },
    result: {
      target: { id: "m2" },
      target_parts: [{ id: "p0" }, { id: "p1" }, { id: "p2" }],
      target_parts_remaining: 2,
      siblings: [{ id: "m1" }, { id: "m3" }],
    },
  })
  expect(await box.run(get, { message_id: "m2", limit: 3, after_id: "p2" })).toMatchObject({
    result: { target_parts: [{ id: "p3" }, { id: "p4" }], target_parts_remaining: 0, siblings: [] },
  })
})

test("a message that a fork copied is read where it was first said, and in the fork where that is named", async () => {
  using box = memoryPond()
  await box.place.sessions.write([{ session: session("origin"), entries: [said("origin", 0, "x", { id: "same" })] }])
  await box.place.sessions.write([{ session: session("fork"), entries: [said("fork", 0, "x", { id: "same" })] }])
  expect(await box.run(get, { message_id: "same" })).toMatchObject({ session: { id: "origin" } })
  expect(await box.run(get, { message_id: "same", session_id_of_message: "fork" })).toMatchObject({
    session: { id: "fork" },
  })
})

test("children are listed, an ambiguous message names its sessions, and what is absent is said", async () => {
  using box = memoryPond()
  const agent = session("agent", { parent_session_id: "parent", source_agent: "test-client/explorer" })
  await box.place.sessions.write([
    { session: session("parent"), entries: [said("parent", 0, "x", { id: "same" })] },
    { session: agent, entries: [said("agent", 0, "y", { id: "same", timestamp: "2026-02-03T04:05:06.789Z" })] },
  ])
  const child = { id: "agent", source_agent: "test-client/explorer" }
  expect(await box.run(get, { session_id: "parent" })).toMatchObject({ children: [child] })
  const both = { sessions: expect.arrayContaining(["agent", "parent"]) }
  expect(box.run(get, { message_id: "same" })).rejects.toMatchObject({ code: "validation_failed", details: both })
  expect(await box.run(get, { message_id: "same", session_id_of_message: "agent" })).toMatchObject({
    session: { id: "agent" },
  })
  expect(box.run(get, { message_id: "nowhere" })).rejects.toMatchObject({ code: "not_found" })
  expect(box.run(get, { session_id: "nowhere" })).rejects.toMatchObject({ code: "not_found" })
  expect(box.run(get, { session_id: "parent", after_id: "nowhere" })).rejects.toMatchObject({ code: "not_found" })
  expect(box.run(get, {})).rejects.toMatchObject({ code: "validation_failed" })
  expect(box.run(get, { session_id: "a", message_id: "b" })).rejects.toMatchObject({ code: "validation_failed" })
})

import { expect, test } from "bun:test"
import type { JsonObject } from "../../src/model/json.ts"
import type { IngestFacts } from "../../src/sessions/rows/row-codecs.ts"
import { COPIES } from "../../src/sessions/tables.ts"
import { prepare, type SessionBatch } from "../../src/sessions/write/prepare.ts"
import { type RecentSessions, type SessionTables, writePrepared } from "../../src/sessions/write/write-sessions.ts"
import { eq } from "../../src/substrate/filter.ts"
import { openMemoryStore } from "../support/memory-store.ts"
import { MOMENT, said, session, testSessions } from "./support.ts"

function writeRows(
  tables: SessionTables,
  batches: readonly SessionBatch[],
  facts: IngestFacts,
  recent: RecentSessions,
) {
  const prepared = batches.map((batch) => prepare(batch, facts))
  const refuse = () => Promise.resolve(new Map<string, never>())
  return writePrepared(tables, prepared, facts, { recent, copies: openMemoryStore().table(COPIES), refuse })
}

async function versions(place: ReturnType<typeof testSessions>): Promise<number> {
  const names = ["sessions", "messages", "parts"]
  const found = await Promise.all(
    names.map(async (name) => [...new Bun.Glob("*.manifest").scanSync(`${place.path}/${name}.lance/_versions`)].length),
  )
  return found.reduce((sum, count) => sum + count, 0)
}

test("what is written again is unchanged, and commits nothing", async () => {
  using place = testSessions()
  const batch = { session: session("s"), entries: [said("s", 0, "one"), said("s", 1, "two")] }
  const [first] = await place.sessions.write([batch])
  const { id: sessionId, source_agent: sourceAgent } = batch.session
  expect(first).toEqual({
    ...{ sessionId, sourceAgent, status: "stored", isNewSession: true },
    inserted: { messages: 2, parts: 2 },
  })
  const before = await versions(place)
  const [second] = await place.sessions.write([batch])
  expect(second).toEqual({
    ...{ sessionId, sourceAgent, status: "unchanged", isNewSession: false },
    inserted: { messages: 0, parts: 0 },
  })
  expect(await versions(place)).toBe(before)
})

test("a session that goes on says how much of it is new", async () => {
  using place = testSessions()
  await place.sessions.write([{ session: session("s"), entries: [said("s", 0, "one")] }])
  const [grown] = await place.sessions.write([
    { session: session("s"), entries: [said("s", 0, "one"), said("s", 1, "two")] },
  ])
  expect(grown).toMatchObject({ status: "stored", isNewSession: false, inserted: { messages: 1, parts: 1 } })
  expect((await place.open().entries("s")).map(({ message }) => message.ordinal)).toEqual([0, 1])
})

test("two clients that come with one id at once are not made into one session: the first has it, the other is refused", async () => {
  using place = testSessions()
  const [ours, theirs] = [session("s"), { ...session("s"), source_agent: "another" }]
  const results = await place.sessions.write([
    { session: ours, entries: [said("s", 0, "one")] },
    { session: theirs, entries: [said("s", 0, "two"), said("s", 1, "three")] },
  ])
  expect(results).toMatchObject([
    { sourceAgent: ours.source_agent, status: "stored", inserted: { messages: 1, parts: 1 } },
    { sourceAgent: "another", status: "rejected", error: { code: "validation_failed" }, inserted: { messages: 0 } },
  ])
  expect(await place.sessions.entries("s")).toHaveLength(1)
})

test("many sessions of one flush cost one commit per table", async () => {
  using place = testSessions()
  await place.sessions.write([{ session: session("first"), entries: [said("first", 0, "x")] }])
  const before = await versions(place)
  const batches = Array.from({ length: 50 }, (_, index) => ({
    session: session(`s${index}`),
    entries: [said(`s${index}`, 0, `text ${index}`, { id: `m${index}` })],
  }))
  await place.sessions.write(batches)
  expect((await versions(place)) - before).toBe(3)
  expect(await place.sessions.counts()).toEqual({ sessions: 51, messages: 51, parts: 51, blobs: 0 })
})

test.each(["project", "source_agent"] as const)(
  "the %s of a stored session cannot change, and the other sessions are stored",
  async (field) => {
    using place = testSessions()
    await place.sessions.write([{ session: session("a"), entries: [said("a", 0, "one")] }])
    const [changed, other] = await place.sessions.write([
      { session: session("a", { [field]: "another" }), entries: [said("a", 1, "two")] },
      { session: session("b"), entries: [said("b", 0, "x")] },
    ])
    expect(changed).toMatchObject({ status: "rejected", inserted: { messages: 0, parts: 0 } })
    expect(changed?.error).toMatchObject({ code: "validation_failed", details: { session_id: "a", field } })
    expect(other).toMatchObject({ status: "stored", inserted: { messages: 1, parts: 1 } })
    expect(await place.open().entries("a")).toHaveLength(1)
  },
)

test("a row that is there is never overwritten", async () => {
  using place = testSessions()
  await place.sessions.write([{ session: session("s", { title: "first" }), entries: [said("s", 0, "first")] }])
  await place.sessions.write([{ session: session("s", { title: "second" }), entries: [said("s", 0, "second")] }])
  const log = await place.open().log("s")
  expect(log.session.title).toBe("first")
  expect(log.entries.map(({ parts }) => parts.map((part) => "text" in part && part.text))).toEqual([["first"]])
})

test("a message with the id and the time of another session's is no copy if it says something else", async () => {
  using place = testSessions()
  await place.sessions.write([{ session: session("one"), entries: [said("one", 0, "the build is green")] }])
  await place.sessions.write([{ session: session("two"), entries: [said("two", 0, "the build is red")] }])
  await place.sessions.write([
    { session: session("three"), entries: [said("three", 0, "in one write")] },
    { session: session("four"), entries: [said("four", 0, "with this one")] },
  ])
  const lanes = await place.sessions.tables.messages.read({ columns: ["lane"] })
  expect(lanes.map(({ lane }) => lane)).toEqual(["main", "main", "main", "main"])
})

test("copies of another session's messages are stored, and marked as copies", async () => {
  using place = testSessions()
  const history = (id: string) => [said(id, 0, "the question"), said(id, 1, "the answer", { role: "assistant" })]
  await place.sessions.write([{ session: session("parent"), entries: history("parent") }])
  await place.sessions.write([
    { session: session("fork"), entries: [...history("fork"), said("fork", 2, "another question")] },
  ])
  const fork = await place.open().entries("fork")
  expect(fork.map(({ message }) => message.options["pond"])).toEqual([
    { replay_of: "parent" },
    { replay_of: "parent" },
    undefined,
  ])
  const lanes = await place.sessions.tables.messages.read({
    columns: ["lane", "ordinal"],
    where: eq("session_id", "fork"),
    orderBy: [{ column: "ordinal" }],
  })
  expect(lanes.map(({ lane }) => lane)).toEqual(["replay", "replay", "main"])
})

test("every copy is marked as one of the first, however many copies there are by then", async () => {
  using place = testSessions()
  const of = (id: string) => [{ session: session(id), entries: [said(id, 0, "the question")] }]
  for (const id of ["parent", "a", "b", "c", "d", "e"]) await place.open().write(of(id))
  for (const id of ["a", "b", "c", "d", "e"]) {
    const [entry] = await place.open().entries(id)
    expect({ id, pond: entry?.message.options["pond"] }).toEqual({ id, pond: { replay_of: "parent" } })
  }
})

test("a first import finds the copies in what it has stored, and reads nothing of it for a session that copies none", async () => {
  using place = testSessions()
  const { tables, facts } = place.sessions
  const reads: string[] = []
  const met: RecentSessions = new Map()
  const listening = <Listened extends { read: (request: never) => unknown }>(
    name: string,
    table: Listened,
  ): Listened => ({
    ...table,
    read: (request: never) => {
      reads.push(name)
      return table.read(request)
    },
  })
  const heard = {
    ...tables,
    sessions: listening("sessions", tables.sessions),
    messages: listening("messages", tables.messages),
  }
  const write = (id: string, ...ids: readonly string[]) =>
    writeRows(
      heard,
      [{ session: session(id), entries: ids.map((own, at) => said(id, at, `text ${own}`, { id: own })) }],
      facts(),
      met,
    )
  await write("first", "a", "b")
  reads.length = 0
  for (let at = 0; at < 6; at++) await write(`other ${at}`, `c${at}`, `d${at}`)
  expect(reads).toEqual([])
  await write("fork", "c4", "d4", "e")
  expect(new Set(reads)).toEqual(new Set(["messages"]))
  // One that was stored by this process goes on.
  reads.length = 0
  expect((await write("other 5", "c5", "d5", "g"))[0]).toMatchObject({ isNewSession: false, inserted: { messages: 1 } })
  expect(reads).toEqual([])
  met.clear()
  await write("first", "a", "b", "f")
  expect(reads).toContain("sessions")
  const marks = async (id: string) =>
    (await place.open().entries(id)).map(
      ({ message }) => (message.options["pond"] as JsonObject | undefined)?.["replay_of"],
    )
  expect(await marks("fork")).toEqual(["other 4", "other 4", undefined])
  expect(await marks("first")).toEqual([undefined, undefined, undefined])
})

test("a session that another process was first with is not believed to be what was to be stored", async () => {
  using place = testSessions()
  const { tables, facts } = place.sessions
  const met: RecentSessions = new Map()
  const batch = (project: string, at: number) => [
    { session: session("s", { project }), entries: [said("s", at, `text ${at}`)] },
  ]
  const quicker = {
    ...tables,
    parts: {
      ...tables.parts,
      insertColumns: async (batches: Parameters<typeof tables.parts.insertColumns>[0]) => {
        await place.open().write(batch("/theirs", 0))
        return await tables.parts.insertColumns(batches)
      },
    },
  }
  await writeRows(quicker, batch("/ours", 1), facts(), met)
  const [later] = await writeRows(tables, batch("/ours", 2), facts(), met)
  expect(later).toMatchObject({ status: "rejected" })
  expect((await place.open().log("s")).session.project).toBe("/theirs")
})

test("of two processes that store copies of each other at once, one is marked", async () => {
  using place = testSessions()
  const handles = [place.sessions, place.open()]
  for (let round = 0; round < 5; round++) {
    await Promise.all(
      handles.map((handle, at) => {
        const id = `of ${at} in ${round}`
        const entries = [said(id, 0, "the question", { id: `m${round}` })]
        return handle.write([{ session: session(id), entries }])
      }),
    )
  }
  const rows = await place.sessions.tables.messages.read({ columns: ["id", "lane"] })
  const lanes = Map.groupBy(rows, ({ id }) => id)
  expect([...lanes.values()].map((own) => own.filter(({ lane }) => lane === "replay").length)).toEqual([1, 1, 1, 1, 1])
  const parts = await place.sessions.tables.parts.read({ columns: ["lane"], where: eq("lane", "replay") })
  expect(parts).toHaveLength(5)
})

test("of two clients that come with one id at once, one has it and the other is told", async () => {
  using place = testSessions()
  const write = (handle: typeof place.sessions, agent: string) =>
    handle.write([{ session: session("s", { source_agent: agent }), entries: [said("s", 0, agent, { id: agent })] }])
  const results = await Promise.all([write(place.sessions, "one"), write(place.open(), "other")])
  expect(results.flat().filter(({ status }) => status === "rejected")).toHaveLength(1)
  expect(await place.sessions.counts()).toMatchObject({ sessions: 1, messages: 1, parts: 1 })
})

test("copies inside one flush are marked too, and the same id at another time is no copy", async () => {
  using place = testSessions()
  const later = said("later", 0, "the question")
  await place.sessions.write([
    { session: session("one"), entries: [said("one", 0, "the question")] },
    { session: session("two"), entries: [said("two", 0, "the question")] },
    {
      session: session("later"),
      entries: [{ ...later, message: { ...later.message, timestamp: "2026-02-01T00:00:00.000Z" } } as typeof later],
    },
  ])
  const lanes = await place.sessions.tables.messages.read({ columns: ["session_id", "lane"] })
  expect(Object.fromEntries(lanes.map((row) => [row.session_id, row.lane]))).toEqual({
    one: "main",
    two: "replay",
    later: "main",
  })
})

test("what an agent's agents said has a lane of its own", async () => {
  using place = testSessions()
  const agent = session("agent", { source_agent: "test-client/explorer", parent_session_id: "main" })
  await place.sessions.write([{ session: agent, entries: [said("agent", 0, "looking around")] }])
  const rows = await place.sessions.tables.messages.read({ columns: ["lane", "source_agent"] })
  expect(rows).toEqual([{ lane: "subagent", source_agent: "test-client/explorer" }])
})

test("only conversation is searched: no injected text, no reasoning, no tools", async () => {
  using place = testSessions()
  const entry = said("s", 0, "what I said", { role: "assistant" })
  const own = { session_id: "s", message_id: "m0", options: {} }
  const parts = [
    ...entry.parts,
    { ...own, id: "i", provenance: "injected", type: "text", text: "a reminder" },
    { ...own, id: "r", provenance: "conversational", type: "reasoning", text: "thinking" },
    {
      ...own,
      id: "f",
      provenance: "conversational",
      type: "file",
      media_type: "image/png",
      file_name: "shot.png",
      data: { url: "x" },
    },
    {
      ...own,
      id: "t",
      provenance: "conversational",
      type: "tool_call",
      call_id: "c",
      name: "Bash",
      params: { command: "ls" },
      provider_executed: false,
    },
  ]
  await place.sessions.write([{ session: session("s"), entries: [{ ...entry, parts } as typeof entry] }])
  const rows = await place.sessions.tables.messages.read({ columns: ["search_text"] })
  expect(rows).toEqual([{ search_text: "what I said\nshot.png image/png" }])
})

test("a moment that does not exist is refused in words", async () => {
  using place = testSessions()
  const write = place.sessions.write([{ session: session("s", { created_at: "2026-02-30T00:00:00Z" }), entries: [] }])
  expect(write).rejects.toMatchObject({
    code: "validation_failed",
    message: expect.stringContaining("2026-02-30T00:00:00Z"),
  })
  expect(MOMENT).toMatch(/Z$/)
})

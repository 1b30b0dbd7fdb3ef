import { expect, test } from "bun:test"
import { openPointReads } from "../../src/sessions/read/point-reads.ts"
import {
  readChildren,
  readEntries,
  readLog,
  readMessages,
  readPositions,
  readSession,
} from "../../src/sessions/read/read-sessions.ts"
import { openTitles } from "../../src/sessions/read/titles.ts"
import type { ResumeFacts } from "../../src/sessions/write/presence.ts"
import type { SessionTables } from "../../src/sessions/write/write-sessions.ts"
import { memorySessions, said, session } from "./support.ts"

test("a message is found by its id alone, in every session that has one", async () => {
  using place = memorySessions()
  const at = (sessionId: string, text: string) => said(sessionId, 0, text, { id: "same" })
  await place.sessions.write([
    { session: session("a"), entries: [at("a", "in a")] },
    { session: session("b", { created_at: "2026-03-01T00:00:00.000Z" }), entries: [at("b", "in b")] },
  ])
  const found = await place.open().messages("same")
  expect(new Set(found.map(({ message }) => message.session_id))).toEqual(new Set(["a", "b"]))
  expect(found.every(({ parts }) => parts.length === 1)).toBe(true)
  const [only] = await place.open().messages("same", "b")
  expect(only?.parts[0]).toMatchObject({ text: "in b" })
  expect(await place.open().messages("absent")).toEqual([])
})

test("a range of a session comes in the order of its log, whatever its clocks say", async () => {
  using place = memorySessions()
  const entries = Array.from({ length: 20 }, (_, ordinal) => said("s", ordinal, `text ${ordinal}`))
  await place.sessions.write([{ session: session("s"), entries: entries.toReversed() }])
  const page = await place.open().entries("s", { from: 5, to: 7 })
  expect(page.map(({ message }) => message.id)).toEqual(["m5", "m6", "m7"])
})

test("a long session comes whole, wherever its messages stand, and a stretch of it at a time", async () => {
  using place = memorySessions()
  const far = [20_000, 2_147_483_646]
  const ordinals = [...Array.from({ length: 9_000 }, (_, ordinal) => ordinal), ...far]
  const entries = ordinals.map((ordinal) => said("s", ordinal, `text ${ordinal}`))
  await place.sessions.write([{ session: session("s"), entries }])
  const { tables } = place.open()
  let [asked, most] = [0, 0]
  const watched = <Name extends "messages" | "parts">(name: Name) => ({
    ...tables[name],
    read: async (request: Parameters<SessionTables[Name]["read"]>[0]) => {
      const rows = await (tables[name] as SessionTables["messages"]).read(request as never)
      asked++
      if (request.columns.length > 1) most = Math.max(most, rows.length)
      return rows
    },
  })
  const counted = { ...tables, messages: watched("messages"), parts: watched("parts") } as unknown as SessionTables
  const log = await readLog({ tables: counted, points: openPointReads(counted), titles: openTitles(tables) }, "s")
  expect(log.entries.map(({ message }) => message.ordinal)).toEqual(ordinals)
  expect(log.entries.at(-1)?.parts[0]).toMatchObject({ text: `text ${far[1]}` })
  expect(most).toBeLessThan(5_000)
  expect(asked).toBeLessThan(12)
})

test("a session comes with its children, as deep as they go", async () => {
  using place = memorySessions()
  const child = (id: string, parent: string) => ({
    session: session(id, { parent_session_id: parent }),
    entries: [said(id, 0, id, { id })],
  })
  await place.sessions.write([
    { session: session("root"), entries: [] },
    child("b", "root"),
    child("a", "root"),
    child("deep", "a"),
  ])
  const tree = await place.open().tree("root")
  expect(
    tree.children.map((each) => [each.session.id, each.children.map((grandchild) => grandchild.session.id)]),
  ).toEqual([
    ["a", ["deep"]],
    ["b", []],
  ])
  expect((await place.open().ancestors("deep")).map((log) => log.session.id)).toEqual(["a", "root"])
  expect(new Set((await place.open().children("root")).map(({ id }) => id))).toEqual(new Set(["a", "b"]))
})

test("a lineage that bites its own tail is an error, not an endless walk", async () => {
  using place = memorySessions()
  await place.sessions.write([
    { session: session("a", { parent_session_id: "b" }), entries: [] },
    { session: session("b", { parent_session_id: "a" }), entries: [] },
  ])
  expect(place.open().tree("a")).rejects.toMatchObject({
    code: "validation_failed",
    details: { cycle: ["a", "b", "a"] },
  })
  expect((await place.open().ancestors("a")).map((log) => log.session.id)).toEqual(["b"])
})

test("a session that is not there is said, with what to do", async () => {
  using place = memorySessions()
  expect(place.sessions.log("nowhere")).rejects.toMatchObject({
    code: "not_found",
    message: expect.stringContaining("pond search"),
  })
  expect(await place.sessions.session("nowhere")).toBeUndefined()
  expect(await place.sessions.counts()).toEqual({ sessions: 0, messages: 0, parts: 0, blobs: 0 })
})

test("a parser goes on after the last ordinal, and knows the ids that are there", async () => {
  using place = memorySessions()
  const nothing: ResumeFacts = { nextOrdinal: 0, seen: new Set<string>() }
  expect(await place.sessions.presence().resumeFacts(["s"])).toEqual(new Map([["s", nothing]]))
  const entries = ["a", "b", "c", "d"].map((text, ordinal) => said("s", ordinal, text))
  await place.sessions.write([
    { session: session("s"), entries },
    { session: session("t"), entries: [said("t", 0, "other", { role: "assistant", id: "t0" })] },
  ])
  expect(await place.open().presence().resumeFacts(["t", "nowhere", "s"])).toEqual(
    new Map([
      ["t", { nextOrdinal: 1, seen: new Set(["t0"]) }],
      ["nowhere", nothing],
      ["s", { nextOrdinal: 4, seen: new Set(["m0", "m1", "m2", "m3"]) }],
    ]),
  )
})

test("readers of many sessions at once share their reads, and each gets what is its own", async () => {
  using store = memorySessions()
  const { sessions } = store
  const ids = Array.from({ length: 30 }, (_, number) => `s${number}`)
  const parent = (number: number) => (number === 0 ? {} : { parent_session_id: "s0" })
  await sessions.write(
    ids.map((id, number) => ({
      session: session(id, parent(number)),
      entries: [0, 1, 2].map((ordinal) => said(id, ordinal, `${ordinal} of ${id}`)),
    })),
  )
  const reads: string[] = []
  const watched = Object.fromEntries(
    Object.entries(sessions.tables).map(([name, table]) => [
      name,
      {
        ...table,
        read: (request: never) => {
          reads.push(name)
          return (table as { read: (of: never) => unknown }).read(request)
        },
      },
    ]),
  ) as unknown as SessionTables
  const reading = { tables: watched, points: openPointReads(watched), titles: openTitles(sessions.tables) }
  const pages = await Promise.all(
    ids.map(async (id, number) => ({
      session: await readSession(reading, id),
      children: (await readChildren(reading, id)).length,
      places: (await readPositions(reading, id, "spoken")).map(({ ordinal }) => ordinal),
      texts: (await readEntries(reading, id, { only: [number % 3] })).map(({ parts }) => parts[0]),
      named: (await readMessages(reading, "m1", id)).map(({ parts }) => parts[0]),
    })),
  )
  expect(pages).toEqual(
    ids.map((id, number) => ({
      session: { ...session(id), ...parent(number) },
      children: number === 0 ? 29 : 0,
      places: [0, 1, 2],
      texts: [expect.objectContaining({ text: `${number % 3} of ${id}` })],
      named: [expect.objectContaining({ text: `1 of ${id}` })],
    })),
  )
  // Alone, each of thirty would read seven times.
  expect(reads.length).toBeGreaterThan(0)
  expect(reads.length).toBeLessThan(60)
})

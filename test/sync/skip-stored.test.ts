/** What is read anew is compared with what is stored: what is the same costs no session, and what differs is not taken for the same. */
import { expect, test } from "bun:test"
import { mkdirSync, rmSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { claudeCode } from "../../src/adapters/claude-code/adapter.ts"
import { nativeFiles } from "../../src/restore/output-files.ts"
import type { Sessions } from "../../src/sessions/store.ts"
import { parseLocation } from "../../src/substrate/location.ts"
import { SESSION, type SyncPlace, sessionId, syncPlace, userLine } from "./support.ts"

type Line = Record<string, unknown> & { message: { content: unknown } }

/** The sessions that a full sync reads whole, and what it stores. */
async function syncFully(place: SyncPlace) {
  const read: string[] = []
  let asked = 0
  const { sessions } = place
  const counted: Sessions = {
    ...sessions,
    entries: (id, ordinals) => {
      read.push(id)
      return sessions.entries(id, ordinals)
    },
    presence: () => {
      const presence = sessions.presence()
      const content: typeof presence.content = (ids) => {
        asked++
        return presence.content(ids)
      }
      return { ...presence, content }
    },
  }
  const report = await place.sync({ isFull: true }, { sessions: () => Promise.resolve(counted) })
  return { read: [...new Set(read)], asked, messages: report.messages.new, sessions: report.sessions }
}

async function restored({ sessions }: SyncPlace, session = SESSION): Promise<Line[]> {
  const [file] = nativeFiles(claudeCode, await sessions.log(session))
  return file?.form === "log" ? Array.from(file.lines, (line) => JSON.parse(String(line))) : []
}

function lineOf(session: string, number: number, content: unknown): Line {
  const line = JSON.parse(userLine(session, number, "")) as Line
  return { ...line, message: { ...line.message, content } }
}

function write(place: SyncPlace, session: string, lines: readonly Line[]): void {
  place.write(
    session,
    lines.map((line) => JSON.stringify(line)),
  )
}

test("of sessions that are all read again, those are read from the store in which something changed", async () => {
  using place = syncPlace({ store: "lance" })
  const lines = (number: number, last: string) => [
    lineOf(sessionId(number), 1, `first of ${number}`),
    lineOf(sessionId(number), 2, [
      { type: "text", text: last },
      { type: "image", source: { type: "base64", media_type: "image/png", data: "iVBORw0KGgo=" } },
    ]),
  ]
  for (let number = 1; number <= 200; number++) write(place, sessionId(number), lines(number, "as it is"))
  await place.sync()
  const { blobs } = await place.sessions.counts()
  expect(blobs).toBe(1)
  const nothing = { read: [], asked: 2, messages: 0, sessions: { seen: 200, unchanged: 200 } }
  expect(await syncFully(place)).toMatchObject(nothing)
  // Of which session a log is, its name tells, where nothing is remembered of it.
  rmSync(place.state, { recursive: true })
  expect(await syncFully(place)).toMatchObject(nothing)
  write(place, sessionId(150), lines(150, "otherwise"))
  expect(await syncFully(place)).toMatchObject({ read: [sessionId(150)], messages: 1, sessions: { rewritten: 1 } })
  expect(await restored(place, sessionId(150))).toEqual(lines(150, "otherwise"))
  expect(await syncFully(place)).toMatchObject({ messages: 0 })
})

test("a session that lies in two places is no change of itself, however often both are read again", async () => {
  using place = syncPlace({ store: "lance" })
  const [here, second] = [lineOf(SESSION, 1, "as it is here"), lineOf(SESSION, 2, "in both")]
  const there = lineOf(SESSION, 1, "as it is there")
  const copied = join(place.root, "projects", "-home-someone-work-copy")
  mkdirSync(copied)
  const copy = (lines: readonly Line[]) =>
    writeFileSync(join(copied, `${SESSION}.jsonl`), lines.map((line) => `${JSON.stringify(line)}\n`).join(""))
  write(place, SESSION, [here, second])
  copy([there, second, lineOf(SESSION, 3, "there alone")])
  expect((await place.sync()).messages.new).toBe(3)
  for (let again = 0; again < 2; again++) expect(await syncFully(place)).toMatchObject({ messages: 0 })
  rmSync(place.state, { recursive: true })
  expect((await place.sync()).messages.new).toBe(0)
  // What is written into one of them is a change.
  copy([there, lineOf(SESSION, 2, "changed there")])
  expect((await place.sync()).messages.new).toBe(2)
  expect(await restored(place)).toContainEqual(lineOf(SESSION, 2, "changed there"))
  await syncFully(place)
  expect(await syncFully(place)).toMatchObject({ messages: 0 })
})

test("a log whose import was interrupted, and one that grew while nothing was remembered of it, is not read from the store", async () => {
  using place = syncPlace({ store: "lance" })
  const lines = Array.from({ length: 3_000 }, (_, number) => lineOf(SESSION, number, `said ${number}`))
  write(place, SESSION, lines.slice(0, 1_000))
  await place.sync()
  rmSync(place.state, { recursive: true })
  write(place, SESSION, lines)
  expect(await syncFully(place)).toMatchObject({ read: [], messages: 2_000, sessions: { grown: 1 } })
  expect(await restored(place)).toEqual(lines)
  const places = await place.sessions.tables.messages.read({ columns: ["ordinal"] })
  expect(new Set(places.map(({ ordinal }) => ordinal)).size).toBe(3_000)
  // It goes on from what is remembered now.
  place.append(SESSION, `${JSON.stringify(lineOf(SESSION, 3_000, "said last"))}\n`)
  expect((await place.sync()).messages.new).toBe(1)
  expect((await restored(place)).length).toBe(3_001)
  // A record that changed meanwhile is found, and so is one that came before what is stored.
  rmSync(place.state, { recursive: true })
  const changed = [lineOf(SESSION, 5_000, "said before"), ...lines.with(7, lineOf(SESSION, 7, "otherwise"))]
  write(place, SESSION, [...changed, lineOf(SESSION, 3_000, "said last"), lineOf(SESSION, 5_001, "said behind")])
  expect(await syncFully(place)).toMatchObject({ read: [SESSION], messages: 3 })
  expect(await syncFully(place)).toMatchObject({ messages: 0 })
})

const TEXT = "a text that is long enough to be taken out of its record, and to leave a null in its place"
const text = (value: unknown) => ({ type: "text", text: value })

test.each([
  ["a text became null", [text("first"), text(TEXT)], [text("first"), text(null)]],
  ["null became a text", [text("first"), text(null)], [text("first"), text(TEXT)]],
  ["a part went", [text("first"), text(TEXT)], [text("first")]],
  ["a part came", [text("first")], [text("first"), text(TEXT)]],
  ["two parts changed places", [text("first"), text(TEXT)], [text(TEXT), text("first")]],
  ["a text became empty", TEXT, ""],
  ["a text became a list", TEXT, [text(TEXT)]],
  ["what no part holds changed", [{ ...text(TEXT), flag: 1 }], [{ ...text(TEXT), flag: 2 }]],
])("%s: it is stored, and restored as it is now", async (_, before, after) => {
  using place = syncPlace({ store: "lance" })
  const last = lineOf(SESSION, 9, "behind it")
  write(place, SESSION, [lineOf(SESSION, 1, before), last])
  await place.sync()
  write(place, SESSION, [lineOf(SESSION, 1, after), last])
  expect((await syncFully(place)).messages).toBe(1)
  expect(await restored(place)).toEqual([lineOf(SESSION, 1, after), last])
  expect((await syncFully(place)).messages).toBe(0)
  // What is stored first is what the log says again, and not what it said last.
  write(place, SESSION, [lineOf(SESSION, 1, before), last])
  expect((await syncFully(place)).messages).toBe(1)
  expect(await restored(place)).toEqual([lineOf(SESSION, 1, before), last])
})

test("copies of another session's messages, which the store alone knows for copies, are known again", async () => {
  using place = syncPlace({ store: "lance" })
  const lines = [1, 2, 3].map((number) => lineOf(sessionId(1), number, `said ${number}`))
  write(place, sessionId(1), lines)
  await place.sync()
  const copies = lines.map((line) => ({ ...line, sessionId: sessionId(2) }))
  write(place, sessionId(2), [...copies, lineOf(sessionId(2), 4, "said there")])
  await place.sync()
  const lanes = await place.sessions.tables.messages.read({ columns: ["lane", "session_id"] })
  expect(lanes.filter(({ lane }) => lane === "replay").map((row) => row.session_id)).toEqual(
    Array.from({ length: 3 }, () => sessionId(2)),
  )
  expect(await syncFully(place)).toMatchObject({ read: [], messages: 0 })
})

test("of a session that is longer than what is read of it at once, one record is found that changed", async () => {
  using place = syncPlace({ store: "lance" })
  const lines = Array.from({ length: 4_200 }, (_, number) => lineOf(SESSION, number, `said ${number}`))
  write(place, SESSION, lines)
  await place.sync()
  const changed = lines.map((line, number) => (number === 4_095 ? lineOf(SESSION, number, "otherwise") : line))
  write(place, SESSION, changed)
  expect(await syncFully(place)).toMatchObject({ messages: 1, sessions: { rewritten: 1 } })
  expect(await restored(place)).toEqual(changed)
  expect(await syncFully(place)).toMatchObject({ messages: 0 })
})

test("bytes that are gone from the store are stored again, though the rows that point at them are there", async () => {
  using place = syncPlace({ store: "lance" })
  const image = { type: "image", source: { type: "base64", media_type: "image/png", data: "iVBORw0KGgo=" } }
  write(place, SESSION, [lineOf(SESSION, 1, [image])])
  await place.sync()
  const store = join(place.root, "../store")
  rmSync(join(store, "blobs.lance"), { recursive: true })
  using again = syncPlace({ location: parseLocation(store, { environment: {} }) })
  expect(await again.sessions.store.repair()).toMatchObject([{ table: "blobs", lostRows: 1 }])
  const { messages } = await again.sync({ ...place.request, isFull: true }, { stateDirectory: place.state })
  expect(messages.new).toBe(0)
  expect(await restored(again)).toEqual([lineOf(SESSION, 1, [image])])
})

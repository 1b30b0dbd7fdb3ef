/** Sessions that are longer than what verify holds of one at once. */
import { expect, test } from "bun:test"
import { pi } from "../../src/adapters/pi/adapter.ts"
import { heldPassage, storePassage } from "../../src/restore/verify-passage.ts"
import type { Sessions } from "../../src/sessions/store.ts"
import { memorySessions } from "../sessions/support.ts"
import { HEADER, rootOf, USER, verified, withLines } from "./verify-support.ts"

const SAYING = "0123456789 abcdefghij ".repeat(1_000)

/** Longer than what verify holds of a session at once. */
function longSession(messages: number): unknown[] {
  const said = Array.from({ length: messages }, (_, index) => ({
    ...{ ...USER, id: `m${index}` },
    message: { role: "user", content: [{ type: "text", text: `${index} ${SAYING}` }], timestamp: index },
  }))
  return [HEADER, ...said]
}

test("a long session is proved a stretch at a time, and a mismatch has its place in the whole of it", async () => {
  const root = rootOf({ "a.jsonl": longSession(300) })
  const lengths: number[] = []
  const adapter = withLines((lines) => {
    lengths.push(lines.length)
    return lines.map((line) => line.replace('"250 0123', '"250 9123'))
  })
  const report = await verified(root, adapter)
  expect(lengths.length).toBeGreaterThan(2)
  expect(Math.max(...lengths)).toBeLessThan(200)
  expect(report.records).toBe(301)
  expect(report.mismatches.map(({ file, record, pointer }) => [file, record, pointer])).toEqual([
    ["a.jsonl", 252, "/message/content/0/text"],
  ])
})

test("a line that a long session loses or gets is a mismatch, in whatever stretch it stood", async () => {
  const root = rootOf({ "a.jsonl": longSession(300) })
  const losing = await verified(
    root,
    withLines((lines) => lines.filter((line) => !line.includes('"10 0123'))),
  )
  expect(losing.mismatches.length).toBeGreaterThan(0)
  expect(losing.mismatches[0]).toMatchObject({ file: "a.jsonl", record: 12 })
  const doubling = await verified(
    root,
    withLines((lines) => lines.flatMap((line) => (line.includes('"290 0123') ? [line, line] : [line]))),
  )
  expect(doubling.mismatches[0]).toMatchObject({ file: "a.jsonl", record: 293 })
})

/** How many messages a store was asked for at once, at most. */
function watched(sessions: Sessions) {
  let most = 0
  const met = <Log extends { readonly entries: readonly unknown[] }>(log: Log): Log => {
    most = Math.max(most, log.entries.length)
    return log
  }
  const counted: Sessions = {
    ...sessions,
    log: async (id) => met(await sessions.log(id)),
    entries: async (id, ordinals) => met({ entries: await sessions.entries(id, ordinals) }).entries,
  }
  return { counted, most: () => most }
}

test("a long session goes through a store a stretch at a time, and so does each copy of it", async () => {
  const session = longSession(300)
  const root = rootOf({ "a.jsonl": session, "b.jsonl": session })
  const lengths: (() => number)[] = []
  const openPassage = () => {
    const place = memorySessions()
    const { counted, most } = watched(place.sessions)
    lengths.push(most)
    return Promise.resolve(storePassage(counted, () => Promise.resolve(place[Symbol.dispose]())))
  }
  expect(await verified(root, pi, { openPassage })).toMatchObject({ sessions: 2, records: 602, mismatches: [] })
  expect(lengths.length).toBe(2)
  for (const most of lengths) expect(most()).toBeLessThan(200)
})

test("a long session is compared with what is held of it a stretch at a time: what changed there, and what it lacks", async () => {
  using place = memorySessions()
  const { counted, most } = watched(place.sessions)
  const session = longSession(300)
  const openPassage = () => Promise.resolve(heldPassage(counted))
  const absent = await verified(rootOf({ "a.jsonl": session }), pi, { openPassage })
  expect(absent).toMatchObject({ missing: ["s1"], mismatches: [] })
  const stored = rootOf({ "a.jsonl": session.slice(0, 280) })
  const store = () =>
    Promise.resolve(storePassage({ ...place.sessions, close: () => undefined }, () => Promise.resolve()))
  await verified(stored, pi, { openPassage: store })
  expect(await verified(stored, pi, { openPassage })).toMatchObject({ records: 280, mismatches: [], missing: [] })
  expect(most()).toBeLessThan(200)
  const lacking = await verified(rootOf({ "a.jsonl": session }), pi, { openPassage })
  expect(lacking.mismatches[0]).toMatchObject({ record: 281, pointer: "", got: null })
  expect(lacking.mismatches).toHaveLength(21)
  const changed = session.map((line, index) => (index === 20 ? { ...(line as object), parentId: "m2" } : line))
  expect((await verified(rootOf({ "a.jsonl": changed.slice(0, 280) }), pi, { openPassage })).mismatches).toMatchObject([
    { record: 21, pointer: "/parentId" },
  ])
})

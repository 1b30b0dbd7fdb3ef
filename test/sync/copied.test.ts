/** A session that lies in two places: a copied folder, a log that was put away. It is stored once, and that is said. */
import { expect, test } from "bun:test"
import { cpSync, mkdirSync, renameSync, rmSync, writeFileSync } from "node:fs"
import { dirname, join } from "node:path"
import type { IssueGroup } from "../../src/model/report.ts"
import { SESSION, type SyncPlace, sessionId, syncPlace, userLine } from "./support.ts"

const COPIED = "-home-someone-work-copy"
const HERE = `projects/-home-someone-work/${SESSION}.jsonl`
const THERE = `projects/${COPIED}/${SESSION}.jsonl`

function writeAt(place: SyncPlace, at: string, lines: readonly string[]): void {
  const path = join(place.root, at)
  mkdirSync(dirname(path), { recursive: true })
  writeFileSync(path, lines.map((each) => `${each}\n`).join(""))
}

const line = (number: number, text: string) => userLine(SESSION, number, text)
const told = (issues: readonly IssueGroup[]) =>
  issues.map(({ kind, severity, count, example }) => ({ kind, severity, count, of: [example.file, example.found] }))

const TWICE: ReturnType<typeof told>[number] = {
  kind: "duplicate_session",
  severity: "note",
  count: 1,
  of: [THERE, `the session of ${HERE}`],
}

async function isStoredOnce(place: SyncPlace, texts: readonly string[]): Promise<void> {
  expect(await place.texts(SESSION)).toEqual([...texts])
  const { entries } = await place.sessions.log(SESSION)
  expect(entries.map(({ message }) => message.ordinal)).toEqual(texts.map((_, at) => at))
  expect(await place.sync()).toMatchObject({ messages: { new: 0 }, bytes_read: 0, issues: [] })
}

test("two logs of one session are stored once and told of, with the names of both", async () => {
  using place = syncPlace()
  for (const at of [HERE, THERE]) writeAt(place, at, [line(1, "one"), line(2, "two")])
  const report = await place.sync()
  expect(report).toMatchObject({ sessions: { seen: 2, new: 1 }, messages: { new: 2 } })
  expect(told(report.issues)).toEqual([TWICE])
  await isStoredOnce(place, ["one", "two"])
  expect(told((await place.sync({ isFull: true })).issues)).toEqual([TWICE])
})

test("what a copy has beyond the other comes behind it", async () => {
  using place = syncPlace()
  writeAt(place, HERE, [line(1, "one"), line(2, "two"), line(3, "here")])
  writeAt(place, THERE, [line(1, "one"), line(2, "two"), line(4, "there")])
  expect(told((await place.sync()).issues)).toEqual([TWICE])
  await isStoredOnce(place, ["one", "two", "here", "there"])
})

test("a record that a copy has otherwise is a fault: it is not stored, and that is said", async () => {
  using place = syncPlace()
  writeAt(place, HERE, [line(1, "one"), line(2, "two")])
  writeAt(place, THERE, [line(1, "other"), line(2, "two")])
  const differs = { kind: "copy_differs", severity: "fault", count: 1 } as const
  const found = [TWICE, { ...differs, of: [THERE, `a record that ${HERE} has otherwise`] }]
  expect(told((await place.sync()).issues)).toEqual(found)
  await isStoredOnce(place, ["one", "two"])
  expect(told((await place.sync({ isFull: true })).issues)).toEqual(found)
})

test("a copy that comes later is told of, and a log that was moved is none", async () => {
  using place = syncPlace()
  writeAt(place, HERE, [line(1, "one"), line(2, "two")])
  await place.sync()
  writeAt(place, THERE, [line(1, "one"), line(2, "two")])
  expect(told((await place.sync()).issues)).toEqual([TWICE])
  await isStoredOnce(place, ["one", "two"])
  rmSync(join(place.root, HERE))
  await place.sync()
  const moved = dirname(join(place.root, THERE))
  renameSync(moved, `${moved}-2`)
  expect(await place.sync()).toMatchObject({ messages: { new: 0 }, issues: [] })
})

test("what lies in a backup, under a root of its own, is not told of as a copy of what was synced before", async () => {
  using place = syncPlace()
  writeAt(place, HERE, [line(1, "one"), line(2, "two")])
  await place.sync()
  const backup = `${place.root}-backup`
  cpSync(place.root, backup, { recursive: true })
  const [source] = place.request.sources
  const sources = source === undefined ? [] : [{ ...source, root: backup }]
  expect(await place.sync({ sources })).toMatchObject({ messages: { new: 0 }, issues: [] })
})

test("of a copied folder all are asked for at once, and those that are no copies are stored as ever", async () => {
  using place = syncPlace()
  for (let number = 1; number <= 50; number++) {
    const id = sessionId(number)
    for (const folder of ["-a", "-b"]) writeAt(place, `projects/${folder}/${id}.jsonl`, [userLine(id, 1, `${number}`)])
    writeAt(place, `projects/-b/${sessionId(number + 50)}.jsonl`, [userLine(sessionId(number + 50), 1, "own")])
  }
  let asked = 0
  const { sessions } = place
  const presence: typeof sessions.presence = () => {
    const own = sessions.presence()
    const content: typeof own.content = (ids) => {
      asked++
      return own.content(ids)
    }
    return { ...own, content }
  }
  const report = await place.sync({}, { sessions: () => Promise.resolve({ ...sessions, presence }) })
  expect(report).toMatchObject({ sessions: { seen: 150, new: 100 }, messages: { new: 100 } })
  expect(report.issues).toMatchObject([{ kind: "duplicate_session", count: 50 }])
  expect(asked).toBe(1)
})

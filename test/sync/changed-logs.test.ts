/** How it is noticed that a log changed: it grew, was rewritten, cut, replaced, or only touched. */
import { Database } from "bun:sqlite"
import { expect, test } from "bun:test"
import {
  chmodSync,
  closeSync,
  cpSync,
  linkSync,
  openSync,
  readdirSync,
  readFileSync,
  renameSync,
  statSync,
  truncateSync,
  utimesSync,
  writeFileSync,
  writeSync,
} from "node:fs"
import { join } from "node:path"
import { claudeCode } from "../../src/adapters/claude-code/adapter.ts"
import { nativeFiles } from "../../src/restore/output-files.ts"
import { SESSION, syncPlace, userLine } from "./support.ts"

const line = (number: number, text: string) => userLine(SESSION, number, text)

test("a log that grew is read from its old end", async () => {
  using place = syncPlace()
  const lines = Array.from({ length: 500 }, (_, index) => line(index, `text ${index}`))
  place.write(SESSION, lines)
  await place.sync()
  const more = `${line(900, "the newest")}\n`
  place.append(SESSION, more)
  expect(await place.plan()).toEqual([{ change: "grown", bytes: more.length }])
  expect(await place.sync()).toMatchObject({
    sessions: { grown: 1, new: 0 },
    messages: { new: 1 },
    bytes_read: more.length,
  })
  const entries = await place.sessions.entries(SESSION)
  expect(entries.map(({ message }) => message.ordinal)).toEqual(entries.map((_, index) => index))
  expect((await place.texts(SESSION)).at(-1)).toBe("the newest")
})

test("a log that is synced as it grows is stored as it is when synced at once", async () => {
  using whole = syncPlace()
  using grown = syncPlace()
  const mode = JSON.stringify({ type: "mode", mode: "plan", sessionId: SESSION })
  const lines = [line(1, "one"), mode, line(2, "two"), mode, "not json", line(3, "three"), mode, "", line(3, "three")]
  whole.write(SESSION, lines)
  await whole.sync()
  grown.write(SESSION, lines.slice(0, 1))
  await grown.sync()
  for (const added of lines.slice(1)) {
    grown.append(SESSION, `${added}\n`)
    await grown.sync()
  }
  const want = await whole.sessions.log(SESSION)
  expect(want.entries).toHaveLength(lines.length)
  expect(await grown.sessions.log(SESSION)).toEqual(want)
})

test("a log that was rewritten is noticed, and nothing in it is doubled", async () => {
  using place = syncPlace()
  place.write(SESSION, [line(1, "one"), line(2, "two"), line(3, "three")])
  await place.sync()
  place.write(SESSION, [line(1, "one"), line(2, "TWO, edited"), line(3, "three"), line(4, "four")], { isFresh: true })
  expect(await place.plan()).toMatchObject([{ change: "rewritten" }])
  expect(await place.sync()).toMatchObject({ sessions: { rewritten: 1, new: 0 } })
  const log = await place.sessions.log(SESSION)
  expect(log.entries.map(({ message }) => message.role)).toEqual(["user", "user", "user", "system", "user"])
  const [file] = nativeFiles(claudeCode, log)
  const texts = file?.form === "log" ? Array.from(file.lines, (text) => JSON.parse(String(text)).message.content) : []
  expect(texts).toEqual(["one", "TWO, edited", "three", "four"])
})

test("other bytes in a log of the same size and time are noticed", async () => {
  using place = syncPlace()
  const path = place.write(SESSION, [line(1, "one"), line(2, "two")])
  await place.sync()
  const before = statSync(path)
  const edited = readFileSync(path, "utf8").replace("two", "TWO")
  const log = openSync(path, "r+")
  writeSync(log, edited)
  closeSync(log)
  utimesSync(path, before.atimeMs / 1000, before.mtimeMs / 1000)
  const { size, mtimeMs, ino } = statSync(path)
  expect({ size, mtimeMs, ino }).toEqual({ size: before.size, mtimeMs: before.mtimeMs, ino: before.ino })
  expect(await place.plan()).toMatchObject([{ change: "rewritten" }])
  expect(await place.sync()).toMatchObject({ sessions: { rewritten: 1 }, messages: { new: 1 } })
  const [file] = nativeFiles(claudeCode, await place.sessions.log(SESSION))
  expect(file?.form === "log" && String([...file.lines][1])).toContain("TWO")
})

test("other bytes in the middle of a long log, which is as long as before, are noticed", async () => {
  using place = syncPlace()
  const long = "and so on ".repeat(1_000)
  place.write(SESSION, [line(1, long), line(2, "in the middle"), line(3, long)])
  await place.sync()
  place.write(SESSION, [line(1, long), line(2, "IN THE MIDDLE"), line(3, long)], { isFresh: true })
  expect(await place.sync()).toMatchObject({ sessions: { rewritten: 1 }, messages: { new: 1 } })
})

test("other bytes in the middle of a long log, of the same size and time, are noticed", async () => {
  using place = syncPlace()
  const long = "and so on ".repeat(10_000)
  const path = place.write(SESSION, [line(1, long), line(2, "in the middle"), line(3, long)])
  await place.sync()
  place.append(SESSION, `${line(4, "the end")}\n`)
  utimesSync(path, 1_700_000_001, 1_700_000_001)
  await place.sync()
  const edited = readFileSync(path, "utf8").replace("in the middle", "IN THE MIDDLE")
  const log = openSync(path, "r+")
  writeSync(log, edited)
  closeSync(log)
  utimesSync(path, 1_700_000_001, 1_700_000_001)
  expect(await place.plan()).toMatchObject([{ change: "rewritten" }])
  expect(await place.sync()).toMatchObject({ sessions: { rewritten: 1 }, messages: { new: 1 } })
  expect(await place.sync()).toMatchObject({ sessions: { unchanged: 1 }, bytes_read: 0 })
})

const UNTOUCHED: readonly (readonly [what: string, change: (path: string) => void])[] = [
  ["got another name", (path) => linkSync(path, `${path}.backup`)],
  ["got another mode", (path) => chmodSync(path, 0o600)],
  ["was written anew as it was", (path) => writeFileSync(path, readFileSync(path))],
  [
    "came back from a backup",
    (path) => {
      cpSync(path, `${path}.tmp`)
      renameSync(`${path}.tmp`, path)
    },
  ],
]

test.each(UNTOUCHED)("a log that only %s is looked at once, and not parsed", async (_, change) => {
  using place = syncPlace()
  const path = place.write(SESSION, [line(1, "one"), line(2, "and so on ".repeat(10_000)), line(3, "two")])
  await place.sync()
  change(path)
  expect(await place.plan()).toEqual([{ change: "grown", bytes: 0 }])
  expect(await place.sync()).toMatchObject({ sessions: { unchanged: 1 }, messages: { new: 0 }, bytes_read: 0 })
  expect(await place.plan()).toEqual([])
})

test("of a log that an earlier build read its bytes are not known: it is read once more when it is touched", async () => {
  using place = syncPlace()
  const path = place.write(SESSION, [line(1, "one"), line(2, "two")])
  await place.sync()
  const [own = ""] = readdirSync(place.state).filter((name) => name.endsWith(".sqlite"))
  const state = new Database(join(place.state, own))
  const without = "json_remove(memory, '$.sum', '$.positions.' || json_quote(key) || '.sum')"
  state.run(`UPDATE units SET memory = ${without}`)
  state.close()
  expect(await place.plan()).toEqual([])
  chmodSync(path, 0o600)
  expect(await place.sync()).toMatchObject({ sessions: { unchanged: 1 }, messages: { new: 0 } })
  expect(await place.plan()).toEqual([])
  chmodSync(path, 0o644)
  expect(await place.plan()).toEqual([{ change: "grown", bytes: 0 }])
})

test("a log that an editor replaced is read on from its old end where it begins as before", async () => {
  using place = syncPlace()
  const path = place.write(SESSION, [line(1, "one")])
  await place.sync()
  const added = `${line(2, "two")}\n`
  writeFileSync(`${path}.tmp`, readFileSync(path, "utf8") + added)
  renameSync(`${path}.tmp`, path)
  expect(await place.sync()).toMatchObject({ sessions: { grown: 1 }, messages: { new: 1 }, bytes_read: added.length })
  expect(await place.texts(SESSION)).toEqual(["one", "two"])
})

test("a log that was cut keeps what it had, and goes on", async () => {
  using place = syncPlace()
  const path = place.write(SESSION, [line(1, "one"), line(2, "two")])
  await place.sync()
  truncateSync(path, line(1, "one").length + 1)
  place.append(SESSION, `${line(7, "seven")}\n`)
  await place.sync()
  expect(await place.texts(SESSION)).toEqual(["one", "two", "seven"])
  expect(await place.sync()).toMatchObject({ messages: { new: 0 }, bytes_read: 0 })
})

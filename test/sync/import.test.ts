import { expect, test } from "bun:test"
import { cpSync, existsSync, readdirSync, readFileSync, readlinkSync, renameSync, rmSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { claudeCode } from "../../src/adapters/claude-code/adapter.ts"
import { systemClock } from "../../src/platform/host/clock.ts"
import { silentLog } from "../../src/platform/host/log.ts"
import { nativeFiles } from "../../src/restore/output-files.ts"
import { type PlannedUnit, planRoot } from "../../src/sync/plan/plan-root.ts"
import { hydrate, UNFINISHED } from "../../src/sync/read/hydrate.ts"
import { openSyncState } from "../../src/sync/state/sync-state.ts"
import { planSync, runSync } from "../../src/sync/sync.ts"
import { SESSION, sessionId, syncPlace, userLine } from "./support.ts"

const line = (number: number, text: string) => userLine(SESSION, number, text)

test("a sync stores what is there, and the next one finds nothing to do", async () => {
  using place = syncPlace({ store: "lance" })
  place.write(SESSION, [line(1, "one"), line(2, "two")])
  expect(await place.plan()).toEqual([{ change: "new", bytes: expect.any(Number) }])
  const first = await place.sync()
  expect(first).toMatchObject({
    adapter: "claude-code",
    sessions: { seen: 1, new: 1, unchanged: 0 },
    messages: { new: 2 },
  })
  expect(first.bytes_read).toBeGreaterThan(100)
  expect(await place.texts(SESSION)).toEqual(["one", "two"])
  expect(await place.plan()).toEqual([])
  expect(await place.sync()).toMatchObject({
    sessions: { seen: 1, new: 0, unchanged: 1 },
    messages: { new: 0 },
    bytes_read: 0,
  })
})

test("a state of a newer pond is left to it, and another one is made", async () => {
  using place = syncPlace({ store: "lance" })
  place.write(SESSION, [line(1, "one")])
  await place.sync()
  const [own = ""] = readdirSync(place.state).filter((name) => name.endsWith(".sqlite"))
  const newer = own.replace(/v(\d+)\.sqlite$/, (_, version) => `v${Number(version) + 1}.sqlite`)
  for (const name of readdirSync(place.state).filter((each) => each.startsWith(own))) rmSync(join(place.state, name))
  writeFileSync(join(place.state, newer), "what only a newer pond reads")
  expect(await place.sync()).toMatchObject({ sessions: { new: 0 }, messages: { new: 0 } })
  expect(await place.sync()).toMatchObject({ bytes_read: 0 })
  expect(readFileSync(join(place.state, newer), "utf8")).toBe("what only a newer pond reads")
})

test("a source that is gone is said once, and its session stays", async () => {
  using place = syncPlace({ store: "lance" })
  const path = place.write(SESSION, [line(1, "one")])
  place.write(sessionId(2), [userLine(sessionId(2), 2, "another")])
  await place.sync()
  rmSync(path)
  expect(await place.sync()).toMatchObject({ sessions: { seen: 1, gone: 1 } })
  expect(await place.sync()).toMatchObject({ sessions: { gone: 0 } })
  expect(await place.texts(SESSION)).toEqual(["one"])
  place.write(SESSION, [line(1, "one")])
  expect(await place.sync()).toMatchObject({ sessions: { seen: 2, new: 0 }, messages: { new: 0 } })
})

test.each(["lost", "damaged"] as const)(
  "a state that is %s is made again from the sources, and no row is written twice",
  async (fate) => {
    using place = syncPlace({ store: "lance" })
    place.write(SESSION, [line(1, "one"), line(2, "two")])
    await place.sync()
    const files = readdirSync(place.state).filter((name) => name.includes("sqlite") && !name.includes("lock"))
    expect(files.length).toBeGreaterThan(0)
    for (const name of files) {
      rmSync(join(place.state, name))
      if (fate === "damaged")
        writeFileSync(join(place.state, name), "this is no database at all, and far too short to be one")
    }
    expect(await place.sync()).toMatchObject({ sessions: { seen: 1, new: 0 }, messages: { new: 0 }, parts: { new: 0 } })
    expect(await place.sync()).toMatchObject({ bytes_read: 0 })
    expect(await place.texts(SESSION)).toEqual(["one", "two"])
  },
)

test("--full reads everything, and stores nothing twice", async () => {
  using place = syncPlace({ store: "lance" })
  place.write(SESSION, [line(1, "one"), line(2, "two")])
  const { bytes_read } = await place.sync()
  expect(await place.sync({ isFull: true })).toMatchObject({ messages: { new: 0 }, parts: { new: 0 }, bytes_read })
})

test("a last line that is still being written is left until it is whole", async () => {
  using place = syncPlace({ store: "lance" })
  const half = line(2, "two").slice(0, 60)
  place.write(SESSION, [line(1, "one"), half], { unended: true, isFresh: true })
  expect(await place.sync()).toMatchObject({ messages: { new: 1 }, issues: [] })
  place.append(SESSION, `${line(2, "two").slice(60)}\n`)
  expect(await place.sync()).toMatchObject({ sessions: { grown: 1 }, messages: { new: 1 }, issues: [] })
  expect(await place.texts(SESSION)).toEqual(["one", "two"])
})

test("a last line that never gets its line feed is stored once it is settled, and then there is nothing to do", async () => {
  using place = syncPlace({ store: "lance" })
  place.write(SESSION, [line(1, "one"), line(2, "two")], { unended: true, isFresh: true })
  expect(await place.sync()).toMatchObject({ messages: { new: 1 }, issues: [] })
  const left = Buffer.byteLength(line(2, "two"))
  expect(await place.plan()).toEqual([{ change: "grown", bytes: left }])
  // A minute later: nothing touched the file.
  const later = { ...systemClock, nowMs: () => systemClock.nowMs() + 61_000 }
  expect(await place.sync({}, { clock: later })).toMatchObject({ messages: { new: 1 }, bytes_read: left, issues: [] })
  expect(await place.texts(SESSION)).toEqual(["one", "two"])
  expect(await place.plan()).toEqual([])
})

test("a log that is there and could not be read is not remembered as read, however long ago it was written", async () => {
  using place = syncPlace({ store: "lance" })
  const path = place.write(SESSION, [line(1, "one")])
  const state = openSyncState({ path: join(place.state, "nothing"), log: silentLog, storeMark: () => undefined })
  const { units } = await planRoot(claudeCode, place.root, state, { isFull: false })
  rmSync(path)
  const stretches = hydrate(claudeCode, units[0] as PlannedUnit, {
    resume: undefined,
    nowMs: systemClock.nowMs(),
    facts: async () => place.sessions.facts(),
  })
  let step = await stretches.next()
  while (!step.done) step = await stretches.next()
  expect(step.value).toMatchObject({ stamp: UNFINISHED, session: null })
})

const OPEN_FILES = "/proc/self/fd"

test.skipIf(!existsSync(OPEN_FILES)).each([
  ["that grew", 1],
  ["that is new", 0],
])("a log %s is not left open where the store refuses what was read of it", async (_, stored) => {
  using place = syncPlace({ store: "lance" })
  const [first = "", ...more] = Array.from({ length: 25_001 }, (_line, index) => userLine(SESSION, index + 1, "more"))
  const path = place.write(SESSION, [first])
  if (stored > 0) await place.sync()
  place.append(SESSION, `${more.join("\n")}\n`)
  const writePrepared = () => Promise.reject(new Error("no room"))
  const sessions = () => Promise.resolve({ ...place.sessions, writePrepared })
  await expect(place.sync({}, { sessions })).rejects.toThrow("no room")
  expect(openFiles()).not.toContain(path)
  expect((await place.sync()).messages.new).toBe(25_001 - stored)
})

function openFiles(): string[] {
  return readdirSync(OPEN_FILES).flatMap((name) => {
    const path = join(OPEN_FILES, name)
    // The one that lists them is closed by now.
    return existsSync(path) ? [readlinkSync(path)] : []
  })
}

test("a model that fails keeps no words from being indexed, and is told", async () => {
  using place = syncPlace({ store: "lance" })
  place.write(SESSION, [line(1, "one")])
  const done: string[] = []
  const stages = {
    embed: () => Promise.reject(new Error("the model is no model")),
    index: async () => {
      done.push("index")
      return { tables: await place.sessions.maintain("due") }
    },
  }
  await expect(place.sync({ stages: ["import", "embed", "index"] }, stages)).rejects.toThrow("the model is no model")
  expect(done).toEqual(["index"])
  expect(await place.texts(SESSION)).toEqual(["one"])
})

test("half a line that nobody finished is kept as it lies, and said", async () => {
  using place = syncPlace({ store: "lance" })
  place.write(SESSION, [line(1, "one"), line(2, "two").slice(0, 60)], { unended: true })
  const report = await place.sync()
  expect(report.issues).toMatchObject([{ kind: "unparsable_line", severity: "fault", count: 1 }])
  const [file] = nativeFiles(claudeCode, await place.sessions.log(SESSION))
  expect(file?.form === "log" && [...file.lines].at(-1)).toBe(line(2, "two").slice(0, 60))
  expect(await place.sync()).toMatchObject({ bytes_read: 0 })
})

test("a second sync of the same store waits, or fails at once when asked to", async () => {
  using place = syncPlace({ store: "lance" })
  place.write(SESSION, [line(1, "one")])
  const both = await Promise.allSettled([place.sync(), place.sync()])
  expect(both.map(({ status }) => status)).toEqual(["fulfilled", "rejected"])
  expect(both[1]).toMatchObject({
    reason: { code: "conflict", message: expect.stringContaining("is using the store") },
  })
  await Promise.all([place.sync({ isPatient: true }), place.sync({ isPatient: true })])
  expect(await place.texts(SESSION)).toEqual(["one"])
})

test("a plan writes nothing: no store, no rows", async () => {
  using place = syncPlace({ store: "lance" })
  place.write(SESSION, [line(1, "one")])
  await place.plan()
  expect([join(place.root, "..", "store"), place.state].filter(existsSync)).toEqual([])
  expect(await place.sync()).toMatchObject({ sessions: { new: 1 } })
})

test("a plan that is stopped is no plan", async () => {
  using place = syncPlace({ store: "lance" })
  place.write(SESSION, [line(1, "one")])
  const context = { ...place.context, signal: AbortSignal.abort() }
  await expect(planSync(place.request, context)).rejects.toMatchObject({ code: "interrupted" })
})

test("a sync that is stopped has stored what it says, and the next one finishes", async () => {
  using place = syncPlace({ store: "lance" })
  for (let number = 1; number <= 30; number++)
    place.write(sessionId(number), [userLine(sessionId(number), number, `text ${number}`)])
  const stop = new AbortController()
  let units = 0
  const report = await runSync(place.request, {
    ...place.context,
    signal: stop.signal,
    onProgress: () => {
      if (++units === 25) stop.abort()
    },
  })
  expect(report.interrupted).toBe(true)
  const stored = (await place.sessions.counts()).sessions
  expect(stored).toBe(report.adapters[0]?.sessions.new ?? -1)
  expect(stored).toBeGreaterThan(5)
  expect(stored).toBeLessThan(30)
  expect((await place.sync()).sessions.new).toBe(30 - stored)
})

test("a sync that is stopped in the middle of a log has stored its beginning, and the next one the rest", async () => {
  using place = syncPlace({ store: "lance" })
  const lines = Array.from({ length: 35 }, (_, at) => line(at, `${"long ".repeat(20_000)}${at}`))
  place.write(SESSION, lines)
  const stop = new AbortController()
  const report = await runSync(place.request, { ...place.context, signal: stop.signal, onProgress: () => stop.abort() })
  const begun = (await place.sessions.counts()).messages
  expect(report.interrupted).toBe(true)
  expect(report.adapters[0]?.messages.new).toBe(begun)
  expect(begun).toBeGreaterThan(0)
  expect(begun).toBeLessThan(35)
  expect((await place.sync()).messages).toEqual({ new: 35 - begun })
  expect((await place.sync()).messages).toEqual({ new: 0 })
  expect((await place.sessions.entries(SESSION)).map(({ message }) => message.ordinal)).toEqual(
    lines.map((_, at) => at),
  )
})

test("a sync that died before it remembered what it stored doubles no record, not even one without an id", async () => {
  using place = syncPlace({ store: "lance" })
  const mode = JSON.stringify({ type: "mode", mode: "plan", sessionId: SESSION })
  place.write(SESSION, [line(1, "one"), mode])
  await place.sync()
  const before = `${place.state}.before`
  cpSync(place.state, before, { recursive: true })
  place.append(SESSION, `${mode}\n${line(2, "two")}\n`)
  expect((await place.sync()).messages).toEqual({ new: 2 })
  rmSync(place.state, { recursive: true })
  renameSync(before, place.state)
  expect((await place.sync()).messages).toEqual({ new: 0 })
  const more = `${mode}\n${line(3, "three")}\n`
  place.append(SESSION, more)
  // From then on it is read from its old end again.
  expect(await place.sync()).toMatchObject({ messages: { new: 2 }, bytes_read: more.length })
  const { entries } = await place.sessions.log(SESSION)
  expect(entries.map(({ message }) => message.ordinal)).toEqual([0, 1, 2, 3, 4, 5])
  expect(await place.texts(SESSION)).toEqual(["one", "two", "three"])
})

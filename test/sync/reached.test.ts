/** A log that is too large for one flush: what of it is stored is remembered, so that a sync which ended on the way costs no second read. */
import { expect, test } from "bun:test"
import { cpSync, renameSync, rmSync, statSync, writeFileSync } from "node:fs"
import type { Sessions } from "../../src/sessions/store.ts"
import { runSync, type SyncContext } from "../../src/sync/sync.ts"
import { SESSION, type SyncPlace, syncPlace, userLine } from "./support.ts"

const LONG = "long ".repeat(20_000)
const line = (at: number) => userLine(SESSION, at, `${LONG}${at}`)
const linesOf = (count: number, from = 0) => Array.from({ length: count }, (_, at) => line(from + at))
const NO_ID = JSON.stringify({ type: "mode", mode: "plan", sessionId: SESSION })

async function isWhole(place: SyncPlace, lines: readonly string[]): Promise<void> {
  expect(await place.sync()).toMatchObject({ messages: { new: 0 }, bytes_read: 0 })
  const { entries } = await place.sessions.log(SESSION)
  expect(entries.map(({ message }) => message.ordinal)).toEqual(lines.map((_, at) => at))
  expect(new Set(entries.map(({ message }) => message.id)).size).toBe(lines.length)
}

/** As a process does that is killed while it writes for the third time: what was written before is stored, and no more. */
async function dies(place: SyncPlace): Promise<void> {
  let flushes = 0
  const writePrepared: Sessions["writePrepared"] = (batches) =>
    flushes++ < 2 ? place.sessions.writePrepared(batches) : Promise.reject(new Error("died"))
  const sessions = () => Promise.resolve({ ...place.sessions, writePrepared })
  await expect(runSync(place.request, { ...place.context, sessions })).rejects.toThrow("died")
}

async function stops(place: SyncPlace, atBytes: number): Promise<number> {
  const stop = new AbortController()
  const onProgress: SyncContext["onProgress"] = (_, bytes) => {
    if (bytes >= atBytes) stop.abort()
  }
  const report = await runSync(place.request, { ...place.context, signal: stop.signal, onProgress })
  expect(report.interrupted).toBe(true)
  return report.adapters[0]?.bytes_read ?? 0
}

test("a sync that is stopped in a long log is gone on with where it ended, and again, however often", async () => {
  using place = syncPlace()
  const lines = [...linesOf(60), NO_ID, ...linesOf(60, 60), NO_ID]
  const { size } = statSync(place.write(SESSION, lines))
  const first = await stops(place, 4_000_000)
  expect(await place.plan()).toEqual([{ change: "grown", bytes: size - first }])
  const second = await stops(place, 2_000_000)
  expect(second).toBeGreaterThan(0)
  expect(await place.sync()).toMatchObject({ bytes_read: size - first - second, sessions: { grown: 1 } })
  await isWhole(place, lines)
})

test("one that died there has remembered what was stored by then", async () => {
  using place = syncPlace()
  const lines = [NO_ID, ...linesOf(400), NO_ID, NO_ID]
  const { size } = statSync(place.write(SESSION, lines))
  await dies(place)
  const [plan] = await place.plan()
  expect(plan?.change).toBe("grown")
  expect(plan?.bytes).toBeLessThan(size - 10_000_000)
  expect((await place.sync()).bytes_read).toBeLessThan(size)
  await isWhole(place, lines)
})

test("what is remembered of it may be behind the store: then it is compared, and nothing is doubled", async () => {
  using place = syncPlace()
  const lines = [NO_ID, ...linesOf(100), NO_ID, NO_ID]
  place.write(SESSION, lines)
  await stops(place, 3_000_000)
  const before = `${place.state}.before`
  cpSync(place.state, before, { recursive: true })
  await stops(place, 3_000_000)
  rmSync(place.state, { recursive: true })
  renameSync(before, place.state)
  await place.sync()
  await isWhole(place, lines)
})

test("a log that is another one by then is read from its beginning", async () => {
  using place = syncPlace()
  const path = place.write(SESSION, linesOf(100))
  await stops(place, 3_000_000)
  const changed = [userLine(SESSION, 0, "otherwise"), ...linesOf(99, 1)]
  writeFileSync(path, changed.map((each) => `${each}\n`).join(""))
  const { size } = statSync(path)
  expect(await place.sync()).toMatchObject({ bytes_read: size, sessions: { rewritten: 1 } })
  expect(await place.texts(SESSION)).toContain(`${LONG}99`)
})

test("what is compared on the way is not taken for a beginning to go on from", async () => {
  using place = syncPlace()
  const lines = [NO_ID, ...linesOf(100), NO_ID, NO_ID]
  place.write(SESSION, lines)
  await place.sync()
  rmSync(place.state, { recursive: true })
  await stops(place, 3_000_000)
  await place.sync()
  await isWhole(place, lines)
})

import { expect, test } from "bun:test"
import { renameSync, utimesSync, writeFileSync } from "node:fs"
import { dirname } from "node:path"
import { PondError } from "../../src/model/errors.ts"
import { compare } from "../../src/sessions/words/terms/tokenizer.ts"
import { trackFreshness } from "../../src/substrate/lance/freshness.ts"
import { type DiskFiles, diskFiles } from "../../src/substrate/local/disk-files.ts"
import { EVERY_KIND, row, type TestStore, testStore } from "./support.ts"

function createClock() {
  const clock = { ms: 1_000, monotonicMs: () => clock.ms, nowMs: () => clock.ms }
  return clock
}

/** The engine looks, and takes so long. */
function look(tracker: ReturnType<typeof trackFreshness>): void {
  tracker.beginCheck()()
}

test("what was looked at well after its last commit stands still until the next, or for a few seconds", () => {
  const clock = createClock()
  const folder = { stamp: "first" }
  const tracker = trackFreshness(() => folder.stamp, clock)
  expect(tracker.isFresh()).toBe(false)
  look(tracker)
  expect(tracker.isFresh()).toBe(false)
  clock.ms += 3_000
  expect(tracker.isFresh()).toBe(false)
  look(tracker)
  expect(tracker.isFresh()).toBe(true)
  clock.ms += 4_000
  expect(tracker.isFresh()).toBe(true)
  clock.ms += 4_000
  expect(tracker.isFresh()).toBe(false)
  look(tracker)
  folder.stamp = "second"
  expect(tracker.isFresh()).toBe(false)
})

test("of two commits that have the same time the second is not missed", () => {
  const clock = createClock()
  const folder = { stamp: "before" }
  const tracker = trackFreshness(() => folder.stamp, clock)
  look(tracker)
  clock.ms += 3_000
  folder.stamp = "this second"
  look(tracker)
  // The second commit comes now, and the folder keeps its time.
  expect(tracker.isFresh()).toBe(false)
  clock.ms += 1_000
  look(tracker)
  expect(tracker.isFresh()).toBe(false)
})

test("a look that began before a commit says nothing of it, and a folder without a time nothing at all", () => {
  const clock = createClock()
  const folder: { stamp: string | undefined } = { stamp: "first" }
  const tracker = trackFreshness(() => folder.stamp, clock)
  look(tracker)
  clock.ms += 3_000
  const checked = tracker.beginCheck()
  folder.stamp = "second"
  checked()
  expect(tracker.isFresh()).toBe(false)
  folder.stamp = undefined
  look(tracker)
  clock.ms += 3_000
  look(tracker)
  expect(tracker.isFresh()).toBe(false)
})

test("a table that stands still is not looked at, and what others commit is seen all the same", async () => {
  using place = testStore()
  const clock = createClock()
  const stamps: string[] = []
  const disk = {
    ...diskFiles,
    statSignature: (folder: string) => {
      stamps.push(folder)
      return diskFiles.statSignature(folder)
    },
  }
  const reader = place.open({ clock, disk }).table(EVERY_KIND)
  expect(await reader.version()).toBeUndefined()
  await place.store.table(EVERY_KIND).insertAbsent([row("a")])
  const idsOf = async () => (await reader.read({ columns: ["id"] })).map(({ id }) => id).toSorted(compare)
  expect(await idsOf()).toEqual(["a"])
  clock.ms += 3_000
  const version = await reader.version()
  stamps.length = 0
  expect(await reader.version()).toBe(version as number)
  // Asked for once: a look asks twice.
  expect(stamps).toHaveLength(1)
  expect(await idsOf()).toEqual(["a"])
  await place
    .open()
    .table(EVERY_KIND)
    .insertAbsent([row("b")])
  expect(await reader.version()).toBeGreaterThan(version as number)
  expect(await idsOf()).toEqual(["a", "b"])
  await reader.insertAbsent([row("c")])
  expect(await idsOf()).toEqual(["a", "b", "c"])
  expect(await reader.nextRowNumber()).toBe(3)
})

/** A table with one row that stands still for its reader. */
async function stoodStill(place: TestStore, stamp?: DiskFiles["statSignature"]) {
  const clock = createClock()
  const folders = new Set<string>()
  const stamped = (folder: string) => {
    if (!folder.endsWith(".json")) folders.add(folder)
    return (stamp ?? diskFiles.statSignature)(folder)
  }
  const table = place.open({ clock, disk: { ...diskFiles, statSignature: stamped } }).table(EVERY_KIND)
  const idsOf = async () => (await table.read({ columns: ["id"] })).map(({ id }) => id).toSorted(compare)
  const standStill = async () => {
    await idsOf()
    clock.ms += 3_000
    expect(await idsOf()).toEqual(["a"])
  }
  await table.insertAbsent([row("a")])
  await standStill()
  return { table, idsOf, standStill, folders }
}

test("where folders keep their time, what the process itself writes is seen at once", async () => {
  using place = testStore()
  const { table, idsOf } = await stoodStill(place, () => "always")
  const version = await table.version()
  expect(await table.nextRowNumber()).toBe(1)
  const writing = table.insertAbsent([row("b")])
  for (let asked = 0; asked < 20; asked++) await table.version()
  await writing
  expect(await table.nextRowNumber()).toBe(2)
  expect(await idsOf()).toEqual(["a", "b"])
  expect(await table.version()).toBeGreaterThan(version as number)
})

test("a commit is seen where a copy put the folder's time back", async () => {
  using place = testStore()
  const { idsOf, standStill, folders } = await stoodStill(place)
  const putBack = () => {
    for (const folder of folders) utimesSync(folder, 1_000, 1_000)
  }
  putBack()
  await standStill()
  await place
    .open()
    .table(EVERY_KIND)
    .insertAbsent([row("b")])
  putBack()
  expect(await idsOf()).toEqual(["a", "b"])
})

test("a folder that cannot be looked at any more is no fault of ours", async () => {
  using place = testStore()
  const { idsOf, folders } = await stoodStill(place)
  const [folder = ""] = folders
  renameSync(dirname(folder), `${dirname(folder)}.aside`)
  writeFileSync(dirname(folder), "no folder")
  await expect(idsOf()).rejects.toBeInstanceOf(PondError)
})

import { expect, test } from "bun:test"
import { existsSync, readdirSync, statSync, utimesSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { eq } from "../../src/substrate/filter.ts"
import { diskFiles } from "../../src/substrate/local/disk-files.ts"
import {
  type Effort,
  type IndexState,
  planMaintenance,
  type TableState,
} from "../../src/substrate/maintain/maintenance-plan.ts"
import { defineTable, nullable, timestampUs, utf8, vector } from "../../src/substrate/table-definition.ts"
import { type TestStore, testStore } from "./support.ts"

const NOTES = defineTable({
  name: "notes",
  columns: { group_id: utf8(), id: utf8(), kind: utf8(), text: utf8(), at: nullable(timestampUs()) },
  key: ["group_id", "id"],
  indexes: [
    { kind: "btree", column: "group_id" },
    { kind: "bitmap", column: "kind" },
  ],
  schemaVersion: 1,
})

let next = 0
const notes = (count: number) =>
  Array.from({ length: count }, () => {
    next += 1
    return {
      group_id: `g-${Math.floor(next / 50)}`,
      id: `note-${next}`,
      kind: "plain",
      text: `words of note${next} here`,
      at: null,
    }
  })

const filesOf = (place: TestStore) =>
  readdirSync(join(place.path, "notes.lance"), { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name))
    .toSorted()

// --- What is decided ---------------------------------------------------------------------------------------------------

const PLANNED = defineTable({
  ...NOTES,
  columns: { ...NOTES.columns, near: vector(8) },
  indexes: [...NOTES.indexes, { kind: "ivf_rq", column: "near", distance: "cosine", rowsMin: 50_000 }],
})

const DAY_MS = 86_400_000

const index = (name: string, indexedRows: number, unindexedRows: number): IndexState => ({
  name,
  indexedRows,
  unindexedRows,
  bytes: 1000,
  createdAtMs: 0,
})

const folded = (rows: number) => [
  index("group_id_btree", rows, 0),
  index("kind_bitmap", rows, 0),
  index("near_ivf_rq", rows, 0),
]

function check(state: Partial<TableState>, effort: Effort, want: string[], nowMs = 0) {
  const whole: TableState = { rows: 100_000, fragments: 1, indexes: folded(100_000), ...state }
  const steps = planMaintenance(PLANNED, whole, { effort, nowMs })
  expect(steps.map((step) => (step.step === "build_index" ? `build ${step.index.column}` : step.step))).toEqual(want)
}

test("nothing is due of a table that nobody wrote to", () => {
  check({}, "due", [], 400 * DAY_MS)
  check({ bytes: { live: 1_000_000, dead: 90_000 } }, "due", [])
  check({ rows: 0, indexes: [] }, "all", [])
})

test("a missing index is built once flat scans would be slower, and leaves nothing to clean", () => {
  check({ rows: 900, indexes: [] }, "due", [])
  check({ rows: 1000, indexes: [] }, "due", ["build group_id", "build kind"])
  check({ rows: 50_000, indexes: folded(50_000).slice(0, 2) }, "due", ["build near"])
})

test("an index that is not declared any more goes", () => {
  check({ indexes: [...folded(100_000), index("old_btree", 1, 0)] }, "due", ["drop_index", "clean"])
})

test("a tail of vectors is folded by its share", () => {
  const tail = (rows: number, unindexed: number) => ({
    rows,
    indexes: [...folded(rows).slice(0, 2), index("near_ivf_rq", rows, unindexed)],
  })
  check(tail(60_000, 9999), "due", [])
  check(tail(60_000, 10_000), "due", ["optimize", "clean"])
  check(tail(1_000_000, 99_999), "due", [])
  check(tail(1_000_000, 100_000), "due", ["optimize", "clean"])
  check(tail(1_000_000, 1), "due", [], 400 * DAY_MS)
})

test("while an import runs only the index that looks keys up is built, and in proportion", () => {
  const tail = (indexed: number, unindexed: number) => ({
    rows: indexed + unindexed,
    indexes: [index("group_id_btree", indexed, unindexed)],
  })
  check(tail(0, 499_999), "lookups", [])
  check(tail(0, 500_000), "lookups", ["build group_id"])
  check(tail(2_100_000, 699_999), "lookups", [])
  check(tail(2_100_000, 700_000), "lookups", ["build group_id"])
  check({ rows: 499_999, indexes: [] }, "lookups", [])
  check({ rows: 500_000, indexes: [] }, "lookups", ["build group_id"])
})

test("pieces are bounded, and a table of many bytes may have more of them", () => {
  check({ fragments: 24, bytes: { live: 1000, dead: 0 } }, "due", [])
  check({ fragments: 25, bytes: { live: 1000, dead: 0 } }, "due", ["optimize", "clean"])
  check({ fragments: 300, bytes: { live: 1_000_000_000, dead: 0 } }, "due", [])
  check({ fragments: 1001, bytes: { live: 100_000_000_000, dead: 0 } }, "due", ["optimize", "clean"])
})

test("on an object store pieces are fewer, and rows wait for their index in proportion to what it costs", () => {
  check({ fragments: 20 }, "due", [])
  check({ fragments: 21 }, "due", ["optimize", "clean"])
  check({ rows: 400_000, indexes: folded(400_000), fragments: 80 }, "due", [])
  check({ rows: 5_000_000, indexes: folded(5_000_000), fragments: 101 }, "due", ["optimize", "clean"])
  const tail = { rows: 100_000, indexes: [index("group_id_btree", 99_999, 1), ...folded(100_000).slice(1)] }
  check(tail, "due", [], 5_999_999)
  check(tail, "due", ["build group_id", "clean"], 6_000_000)
  check({ ...tail, rows: 10_000 }, "due", [], 3_599_999)
  check({ ...tail, rows: 10_000 }, "due", ["build group_id", "clean"], 3_600_000)
  check({ ...tail, bytes: { live: 1_000_000, dead: 0 } }, "due", [], 400 * DAY_MS)
})

test("dead bytes are cleaned at a tenth of the live ones", () => {
  check({ bytes: { live: 1_000_000, dead: 99_999 } }, "due", [])
  check({ bytes: { live: 1_000_000, dead: 100_000 } }, "due", ["clean"])
  check({ bytes: { live: 10, dead: 16_000 } }, "due", [])
})

// --- What is done ------------------------------------------------------------------------------------------------------

const ROUNDS = Number(process.env["POND_MAINTENANCE_ROUNDS"] ?? 60)

test("small imports with maintenance after each leave little behind, few pieces, and every row to be found", async () => {
  using place = testStore()
  const table = place.store.table(NOTES)
  next = 0
  await table.insertAbsent(notes(2000))
  for (let round = 0; round < ROUNDS; round++) {
    await table.insertAbsent(notes(20))
    expect((await table.maintain("due")).isBusy).toBe(false)
    const bytes = (await table.statistics())?.bytes
    expect(bytes?.dead ?? 0, `round ${round}`).toBeLessThanOrEqual(Math.max(16_384, (bytes?.live ?? 0) * 0.15))
  }
  const after = await table.statistics()
  expect(after?.rows).toBe(2000 + ROUNDS * 20)
  expect(after?.fragments).toBeLessThanOrEqual(24)
  expect(after?.indexes.map(({ name }) => name).toSorted()).toEqual(["group_id_btree", "kind_bitmap"])
  for (const wanted of [1, 2000, next]) {
    expect(await table.read({ columns: ["id"], where: eq("id", `note-${wanted}`) })).toEqual([{ id: `note-${wanted}` }])
  }
})

test("rounds of maintenance over a table that nobody writes to change no file", async () => {
  using place = testStore()
  const table = place.store.table(NOTES)
  for (let round = 0; round < 3; round++) await table.insertAbsent(notes(700))
  await table.maintain("due")
  const settled = filesOf(place)
  const version = (await table.statistics())?.version
  for (let round = 0; round < 50; round++) expect((await table.maintain("due")).steps).toEqual([])
  expect(filesOf(place)).toEqual(settled)
  expect((await table.statistics())?.version).toBe(version)
})

test("a clean-up leaves an open reader its version, and takes it when the reader is done", async () => {
  using place = testStore()
  const table = place.store.table(NOTES)
  for (let round = 0; round < 5; round++) await table.insertAbsent(notes(3000))
  const reader = place
    .open()
    .table(NOTES)
    .batches({ columns: ["id"] })
    [Symbol.asyncIterator]()
  const first = await reader.next()
  const before = filesOf(place).filter((path) => path.includes("/data/"))

  await table.maintain("all")
  const during = filesOf(place)
  expect(before.filter((path) => !during.includes(path))).toEqual([])
  let rows = first.value?.length ?? 0
  for (let step = await reader.next(); step.done !== true; step = await reader.next()) rows += step.value.length
  expect(rows).toBe(15_000)

  await table.maintain("all")
  const later = filesOf(place)
  expect(before.filter((path) => later.includes(path))).toEqual([])
  expect(await table.count()).toBe(15_000)
})

/** As a compaction that was killed leaves it: the engine removes that after a week. */
function leave(place: TestStore, name: string, daysAgo: number): string {
  const path = join(place.path, "notes.lance/data", name)
  writeFileSync(path, new Uint8Array(4_000_000))
  age(path, daysAgo)
  return path
}

function age(path: string, daysAgo: number): void {
  const at = new Date(Date.now() - daysAgo * DAY_MS)
  utimesSync(path, at, at)
}

test("what a killed process left has nothing rewritten again and again, and goes with a clean-up once it is a day old", async () => {
  using place = testStore()
  const table = place.store.table(NOTES)
  await table.insertAbsent(notes(3000))
  await table.maintain("all")
  const old = leave(place, ".tmpOld", 2)
  const young = leave(place, ".tmpYoung", 0.5)
  for (const path of filesOf(place)) if (path.includes("/_versions/")) age(path, 0.25)
  await table.insertAbsent(notes(100))
  const { bytes } = (await table.statistics()) ?? {}
  expect(bytes?.live).toBeGreaterThan(0)
  expect(bytes?.dead).toBeLessThan(100_000)
  expect((await table.maintain("due")).steps.filter(({ why }) => why.includes("older versions"))).toEqual([])
  await table.maintain("all")
  expect([old, young].map((path) => existsSync(path))).toEqual([false, true])
  expect(await table.count()).toBe(3100)
})

test("what a version needs stays while that is read, however long ago it was written", async () => {
  using place = testStore()
  const table = place.store.table(NOTES)
  for (let round = 0; round < 3; round++) await table.insertAbsent(notes(3000))
  const reader = place
    .open()
    .table(NOTES)
    .batches({ columns: ["id"] })
    [Symbol.asyncIterator]()
  await reader.next()
  const before = filesOf(place).filter((path) => path.includes("/data/"))
  for (const path of filesOf(place)) age(path, 3)
  await table.maintain("all")
  expect(before.length).toBeGreaterThan(1)
  expect(before.filter((path) => !existsSync(path))).toEqual([])
  await reader.return?.()
  expect(await place.open().table(NOTES).count()).toBe(9000)
})

test("two maintenances of one table: the second leaves it to the first", async () => {
  using place = testStore()
  await place.store.table(NOTES).insertAbsent(notes(3000))
  const [begun, refused] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()]
  const disk = {
    ...diskFiles,
    sync: async (path: string) => {
      begun.resolve()
      await refused.promise
      await diskFiles.sync(path)
    },
  }
  const other = place.open().table(NOTES)
  await other.count()
  const first = place.open({ disk }).table(NOTES).maintain("all")
  await begun.promise
  const second = await other.maintain("all")
  refused.resolve()
  expect([(await first).isBusy, second.isBusy]).toEqual([false, true])
  expect(await place.store.table(NOTES).count()).toBe(3000)
  for (const path of filesOf(place)) expect(statSync(path).size).toBeGreaterThan(0)
})

test("maintenance beside writers loses nothing", async () => {
  using place = testStore()
  await place.store.table(NOTES).insertAbsent(notes(2000))
  const writer = async () => {
    const table = place.open().table(NOTES)
    for (let round = 0; round < 6; round++) await table.insertAbsent(notes(100))
  }
  const maintainer = async () => {
    const table = place.open().table(NOTES)
    for (let round = 0; round < 4; round++) await table.maintain("all")
  }
  await Promise.all([writer(), maintainer(), writer()])
  const ids = (await place.store.table(NOTES).read({ columns: ["id"] })).map(({ id }) => id)
  expect(new Set(ids).size).toBe(3200)
  expect(ids.length).toBe(3200)
})

/** What a handle says of a table that it has filled, without looking: never that something is not there which is. */
import { expect, test } from "bun:test"
import { eq, isIn } from "../../src/substrate/filter.ts"
import { openCatalog } from "../../src/substrate/lance/catalog.ts"
import type { Dataset } from "../../src/substrate/lance/dataset.ts"
import { openDataset } from "../../src/substrate/lance/open-dataset.ts"
import { perhapsThere } from "../../src/substrate/lance/stored-keys.ts"
import { insertAbsent } from "../../src/substrate/lance/write.ts"
import { parseLocation } from "../../src/substrate/location.ts"
import type { Table } from "../../src/substrate/table.ts"
import { defineTable, int32, type TableDefinition, utf8 } from "../../src/substrate/table-definition.ts"
import { GOOGLE_ROOT } from "../support/object-protocol.ts"
import { startObjectServer, TEST_BUCKET } from "../support/object-server.ts"
import { testContext, testStore } from "./support.ts"

const NOTES = defineTable({
  name: "notes",
  columns: { book: utf8(), id: utf8(), text: utf8() },
  key: ["book", "id"],
  indexes: [{ kind: "btree", column: "book" }],
  schemaVersion: 1,
})

const BOOKS = defineTable({
  name: "books",
  columns: { id: utf8() },
  key: ["id"],
  indexes: [],
  schemaVersion: 1,
})

type Tales = Table<(typeof TALES)["columns"]>
type Notes = Table<(typeof NOTES)["columns"]>

const notes = (book: string, ...ids: readonly string[]) => ids.map((id) => ({ book, id, text: `${book} ${id}` }))

test("who has filled a table knows what stands in a column of it, also what came after it was asked first", async () => {
  using place = testStore()
  const table = place.store.table(NOTES)
  await table.insertAbsent(notes("one", "a", "b"))
  expect(await table.perhapsThere("id", ["a", "b", "c", "one", ""])).toEqual(["a", "b"])
  await table.insertAbsent(notes("two", "b", "c"))
  await table.insertAbsent(notes("three", "größer", "\ud83d"))
  expect(await table.perhapsThere("id", ["d", "c", "größer", "\ud83d", "\ud83e"])).toEqual(["c", "größer", "\ud83d"])
  expect(await table.perhapsThere("book", ["a", "two"])).toEqual(["two"])
  expect(await table.perhapsThere("id", [])).toEqual([])
})

test("the key of a table with one column is known from the first row on", async () => {
  using place = testStore()
  const table = place.store.table(BOOKS)
  expect(await table.perhapsThere("id", ["a"])).toEqual(["a"])
  await table.insertAbsent([{ id: "a" }])
  expect(await table.perhapsThere("id", ["a", "b"])).toEqual(["a"])
})

test.each([
  [
    "another handle has put something there",
    (place: ReturnType<typeof testStore>) => place.open().table(NOTES).insertAbsent(notes("others", "x")),
  ],
  ["the table is maintained", (place: ReturnType<typeof testStore>) => place.store.table(NOTES).maintain("due")],
] as const)("once %s, everything may be there", async (_, meanwhile) => {
  using place = testStore()
  const table = place.store.table(NOTES)
  await table.insertAbsent(notes("one", "a"))
  expect(await table.perhapsThere("id", ["x", "y"])).toEqual([])
  await meanwhile(place)
  expect(await table.perhapsThere("id", ["x", "y"])).toEqual(["x", "y"])
  await table.insertAbsent(notes("one", "b"))
  expect(await table.perhapsThere("id", ["x", "y"])).toEqual(["x", "y"])
})

test("a handle of a table that others filled knows nothing of it", async () => {
  using place = testStore()
  await place.store.table(NOTES).insertAbsent(notes("one", "a"))
  const other = place.open().table(NOTES)
  await other.insertAbsent(notes("one", "b"))
  expect(await other.perhapsThere("id", ["a", "y"])).toEqual(["a", "y"])
})

test("who brings much to a table that others filled knows it by then, and no longer once others go on", async () => {
  using place = testStore()
  const [others, table] = [place.store, place.open()].map((store) => store.table(NOTES)) as [Notes, Notes]
  const many = (book: string, count: number) => notes(book, ...Array.from({ length: count }, (_, at) => `${book}${at}`))
  const asked = ["others7", "mine3", "new0", "nobody"]
  await others.insertAbsent(many("others", 80))
  await table.insertAbsent(many("mine", 8))
  await table.insertAbsent(many("mine", 9))
  expect(await table.perhapsThere("id", asked)).toEqual(asked)
  await table.insertAbsent(many("mine", 13))
  await table.insertAbsent(notes("others", "others7", "more"))
  expect(await table.perhapsThere("id", asked)).toEqual(["others7", "mine3"])
  await others.insertAbsent(many("new", 1))
  for (const round of [1, 2]) {
    expect(await table.insertAbsent(notes("new", "new0", `round${round}`))).toMatchObject({ inserted: 1, present: 1 })
    expect(await table.perhapsThere("id", asked)).toEqual(asked)
  }
  await table.insertAbsent(many("mine", 40))
  await table.insertAbsent(notes("mine", "last"))
  expect(await table.perhapsThere("id", asked)).toEqual(["others7", "mine3", "new0"])
  expect(await others.count()).toBe(80 + 40 + 1 + 1 + 2 + 1)
})

const TALES = defineTable({
  name: "tales",
  columns: { id: utf8(), part: int32() },
  key: ["id", "part"],
  indexes: [],
  schemaVersion: 1,
  derived: true,
})

test("of a table that can be made again, rows that others took away and others that they put there are told apart", async () => {
  using place = testStore()
  const [mine, others] = [place.store, place.open()].map((store) => store.table(TALES)) as [Tales, Tales]
  const tales = (...names: readonly string[]) => names.map((id) => ({ id, part: 1 }))
  await mine.insertAbsent(tales("a", "b"))
  expect(await mine.insertAbsent(tales("b", "c"))).toMatchObject({ inserted: 1, present: 1 })
  // As many rows as before, and none of them known.
  await others.deleteWhere(eq("id", "a"))
  await others.insertAbsent(tales("z"))
  expect(await mine.insertAbsent(tales("z", "a", "d"))).toMatchObject({ inserted: 2, present: 1 })
  await mine.deleteWhere(isIn("id", ["d", "b"]))
  await mine.insertAbsent(tales("e", "f"))
  expect(await mine.insertAbsent(tales("d", "e", "b"))).toMatchObject({ inserted: 2, present: 1 })
  const ids = (await others.read({ columns: ["id"] })).map((tale) => tale.id)
  expect(ids.length).toBe(7)
  expect(new Set(ids)).toEqual(new Set(["a", "b", "c", "d", "e", "f", "z"]))
})

test("who fills a table that can be made again looks nothing up in it", async () => {
  using place = testStore()
  const catalog = openCatalog(parseLocation(place.path, { environment: {} }), testContext)
  const dataset = openDataset(catalog, TALES as unknown as TableDefinition)
  const looked: boolean[] = []
  for (let round = 0; round < 5; round++) {
    let rows = 0
    const watched = new Proxy(dataset, {
      get: (own, name) => {
        if (name !== "attempt") return Reflect.get(own, name)
        const attempt: Dataset["attempt"] = async (call) => {
          const answer = await own.attempt(call)
          if (Array.isArray(answer)) rows++
          return answer
        }
        return attempt
      },
    })
    await insertAbsent(watched, [{ id: round === 4 ? "t0" : `t${round}`, part: 1 }])
    looked.push(rows > 0)
  }
  expect(looked).toEqual([false, false, false, false, true])
  catalog.close()
})

test("what is stored while the table is looked through for the first time is not missed", async () => {
  using place = testStore()
  const catalog = openCatalog(parseLocation(place.path, { environment: {} }), testContext)
  const dataset = openDataset(catalog, NOTES as unknown as TableDefinition)
  await insertAbsent(dataset, notes("one", "a"))
  let meanwhile: Promise<unknown> | undefined
  const once: Dataset["once"] = async (call) => {
    const answer = await dataset.once(call)
    meanwhile ??= insertAbsent(dataset, notes("one", "b"))
    await meanwhile
    return answer
  }
  const interrupted = new Proxy(dataset, { get: (own, name) => (name === "once" ? once : Reflect.get(own, name)) })
  expect(await perhapsThere(interrupted, "id", ["a", "b", "c"])).toEqual(["a", "b", "c"])
  expect(meanwhile).toBeDefined()
  expect(await perhapsThere(dataset, "id", ["a", "b", "c"])).toEqual(["a", "b"])
  catalog.close()
})

test("who learns the table while another's rows are on their way does not count them twice", async () => {
  await using server = await startObjectServer()
  // Google's: in S3 the writers of a process take turns.
  const environment = { STORAGE_EMULATOR_HOST: `${server.url}${GOOGLE_ROOT}` }
  const location = parseLocation(`gs://${TEST_BUCKET}/store`, { environment })
  const catalog = openCatalog(location, testContext)
  const open = () => openDataset(catalog, NOTES as unknown as TableDefinition)
  const [dataset, others] = [open(), open()]
  await insertAbsent(dataset, notes("one", "a", "b", "c"))
  const attempt: Dataset["attempt"] = async (call) => {
    const answer = await dataset.attempt(call)
    const isStored = (answer as { readonly numInsertedRows?: number }).numInsertedRows === 1
    if (isStored) {
      // The first is refused what it knew, and the second learns it.
      await insertAbsent(dataset, notes("one", "d", "e", "f"))
      await insertAbsent(dataset, notes("one", "g"))
    }
    return answer
  }
  const interrupted = new Proxy(dataset, {
    get: (own, name) => (name === "attempt" ? attempt : Reflect.get(own, name)),
  })
  await insertAbsent(interrupted, notes("one", "z"))
  await insertAbsent(others, notes("two", "x"))
  expect(await perhapsThere(dataset, "id", ["x", "z", "nobody"])).toEqual(["x", "z", "nobody"])
  catalog.close()
})

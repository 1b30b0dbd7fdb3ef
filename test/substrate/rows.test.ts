import { expect, test } from "bun:test"
import { seededRandom } from "../../src/platform/host/random.ts"
import { batchBytes, rowsOfBatch } from "../../src/substrate/columns/row-batch.ts"
import { eq } from "../../src/substrate/filter.ts"
import { defineTable, int32, nullable, packed, utf8 } from "../../src/substrate/table-definition.ts"
import { EVERY_KIND, testStore } from "./support.ts"

test("packed texts come back whatever their size, and take less room", async () => {
  using place = testStore()
  const random = seededRandom(3)
  const noise = (units: number) => Buffer.from(Array.from({ length: units }, () => 33 + random.next() * 90)).toString()
  const told = (id: number) => JSON.stringify({ id: `toolu_${noise(8)}`, usage: { input: id * 7, output: id % 9 } })
  const texts = [...Array.from({ length: 3_000 }, (_, index) => told(index)), "", null, noise(4_000_000), null, "last"]
  const sizes: number[] = []
  for (const text of [nullable(utf8()), nullable(packed(utf8()))]) {
    const definition = defineTable({
      name: `texts_${sizes.length}`,
      schemaVersion: 1,
      columns: { id: int32(), text },
      key: ["id"],
      indexes: [],
    })
    const table = place.store.table(definition)
    const rows = texts.map((value, id) => ({ id, text: value }))
    await table.insertAbsent(rows.filter(({ text: value }) => (value ?? "").length < 1_000))
    sizes.push((await table.statistics())?.bytes?.live ?? 0)
    await table.insertAbsent(rows)
    const found = await table.read({ columns: ["id", "text"], orderBy: [{ column: "id" }] })
    expect(found.map((each) => each.text)).toEqual(texts)
    const [one] = await table.read({ columns: ["text"], where: eq("id", 1_500) })
    expect(one?.text).toBe(texts[1_500] ?? null)
  }
  const [loose = 0, tight = 0] = sizes
  expect(tight).toBeGreaterThan(10_000)
  expect(tight).toBeLessThan(loose * 0.75)
})

test("a table that was never written reads as empty, and reading makes nothing", async () => {
  using place = testStore()
  const table = place.store.table(EVERY_KIND)
  expect(await table.read({ columns: ["id"] })).toEqual([])
  expect(await table.count()).toBe(0)
  const absent = place.store.at("not there")
  expect(await absent.table(EVERY_KIND).read({ columns: ["id"], where: eq("id", "a") })).toEqual([])
  expect(await absent.table(EVERY_KIND).statistics()).toBeUndefined()
  expect([...new Bun.Glob("**").scanSync({ cwd: place.path, onlyFiles: false })]).toEqual([])
})

test("what is read to be carried elsewhere holds no bytes for rows without a text", async () => {
  using place = testStore()
  const table = place.store.table(
    defineTable({
      name: "sparse",
      columns: { id: int32(), text: nullable(packed(utf8())) },
      key: ["id"],
      indexes: [],
      schemaVersion: 1,
    }),
  )
  const long = "a text of some length ".repeat(5_000)
  const rows = Array.from({ length: 2_000 }, (_, id) => ({ id, text: id === 700 ? long : null }))
  await table.insertAbsent(rows)
  const snapshot = await table.snapshot()
  if (snapshot === undefined) throw new Error("nothing was written")
  const batches = await Array.fromAsync(snapshot.batches())
  snapshot.end()
  expect(batches.flatMap((batch) => rowsOfBatch(batch))).toEqual(rows)
  const bytes = batches.reduce((sum, batch) => sum + batchBytes(batch), 0)
  expect(bytes).toBeGreaterThan(long.length)
  expect(bytes).toBeLessThan(2 * long.length)
})

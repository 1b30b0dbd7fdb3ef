import { expect, test } from "bun:test"
import { seededRandom } from "../../src/platform/host/random.ts"
import { batchBytes, rowsOfBatch } from "../../src/substrate/columns/row-batch.ts"
import { and, contains, eq, isIn, isNull, matches, not, or, range, startsWith } from "../../src/substrate/filter.ts"
import { defineTable, int32, nullable, packed, utf8 } from "../../src/substrate/table-definition.ts"
import { EVERY_KIND, row, SCANNED, testStore } from "./support.ts"

const full = row("full", {
  text: "\u0000 'quoted' \\ back\n日本語 😀 \ud83d half \udc00 and \u{10FFFE} mark",
  small: -2147483648,
  large: -9223372036854775808n,
  ratio: 0.1 + 0.2,
  is_set: false,
  at: 1_700_000_000_123_456n,
  near: Float32Array.of(0.5, -1, 0, 2),
  payload: Uint8Array.of(0, 255, 1, 2),
})

test("a value of every kind comes back as it went in", async () => {
  using place = testStore()
  const table = place.store.table(EVERY_KIND)
  const empty = row("empty", { text: "", small: 0, large: 0n, ratio: 0, at: 0n, near: new Float32Array(4) })
  const absent = row("absent")
  expect(await table.insertAbsent([full, empty, absent])).toMatchObject({ inserted: 3, present: 0 })
  const rows = await place.open().table(EVERY_KIND).read({ columns: SCANNED })
  const want = [full, empty, absent].map(({ payload: _, ...scanned }) => scanned)
  expect(Object.fromEntries(rows.map((found) => [found.id, found]))).toEqual(
    Object.fromEntries(want.map((expected) => [expected.id, expected])),
  )
})

test("halves of an emoji in neighbouring rows stay halves", async () => {
  using place = testStore()
  const table = place.store.table(EVERY_KIND)
  const halves = [
    row("a", { text: "\ud83d" }),
    row("b", { text: "\ude00" }),
    row("c", { text: "é\ud83d" }),
    row("d", { text: "" }),
  ]
  await table.insertAbsent(halves)
  const rows = await table.read({ columns: ["id", "text"], orderBy: [{ column: "id" }] })
  expect(rows).toEqual(halves.map(({ id, text }) => ({ id, text })))
})

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

test("the bytes of a blob come back, null apart from none", async () => {
  using place = testStore()
  const table = place.store.table(EVERY_KIND)
  const big = new Uint8Array(300_000).map((_, index) => index * 7)
  await table.insertAbsent([
    full,
    row("big", { payload: big }),
    row("none"),
    row("zero", { payload: new Uint8Array(0) }),
  ])
  const rows = await table.readBlobs("payload", { columns: ["id"] })
  const bytes = Object.fromEntries(rows.map((found) => [found.id, found.payload && [...found.payload]]))
  expect(bytes).toEqual({ full: [0, 255, 1, 2], big: [...big], none: null, zero: [] })
})

test("what is there is not written again, and commits nothing", async () => {
  using place = testStore()
  const table = place.store.table(EVERY_KIND)
  await table.insertAbsent([row("a"), row("b")])
  expect(await table.insertAbsent([row("a", { text: "changed" }), row("b"), row("c"), row("c")])).toMatchObject({
    inserted: 1,
    present: 3,
  })
  expect(await table.insertAbsent([row("a"), row("c")])).toEqual({ inserted: 0, present: 2, absent: [] })
  expect(await table.count()).toBe(3)
  expect(await table.read({ columns: ["text"], where: eq("id", "a") })).toEqual([{ text: null }])
})

test("a filter answers as its JavaScript counterpart would", async () => {
  using place = testStore()
  const table = place.store.table(EVERY_KIND)
  await table.insertAbsent([
    full,
    row("b", { text: "Plain", small: 3, large: 7n, at: 5n, is_set: true, ratio: 2 }),
    row("c"),
  ])
  const ids = async (where: Parameters<typeof table.count>[0]) =>
    (await table.read({ columns: ["id"], ...(where && { where }) }))
      .map(({ id }) => id)
      .toSorted((one, other) => one.localeCompare(other))
  expect(await ids(eq("text", full.text ?? ""))).toEqual(["full"])
  expect(await ids(contains("text", "half \udc00"))).toEqual(["full"])
  expect(await ids(contains("text", "pLAIN", true))).toEqual(["b"])
  expect(await ids(startsWith("id", "fu"))).toEqual(["full"])
  expect(await ids(matches("text", "^p.*n$", true))).toEqual(["b"])
  expect(await ids(isIn("id", ["b", "c", "zz"]))).toEqual(["b", "c"])
  expect(await ids(isIn("id", []))).toEqual([])
  expect(await ids(eq("large", -9223372036854775808n))).toEqual(["full"])
  expect(await ids(range("at", { from: 1_700_000_000_123_456n }))).toEqual(["full"])
  expect(await ids(range("at", { from: 1_700_000_000_123_456n, fromExclusive: true }))).toEqual([])
  expect(await ids(range("small", { from: 3, to: 3 }))).toEqual(["b"])
  expect(await ids(eq("ratio", 0.1 + 0.2))).toEqual(["full"])
  expect(await ids(eq("is_set", true))).toEqual(["b"])
  expect(await ids(isNull("text"))).toEqual(["c"])
  expect(await ids(and(not(isNull("text")), or(eq("small", 3), eq("id", "full"))))).toEqual(["b", "full"])
  expect(await ids(and())).toEqual(["b", "c", "full"])
  expect(await ids(or())).toEqual([])
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

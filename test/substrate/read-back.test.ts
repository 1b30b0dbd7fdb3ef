/** Rows are read back and compared with what was given: what was wrong before it was written has a right checksum. */
import { expect, test } from "bun:test"
import { readFileSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { connect } from "@lancedb/lancedb"
import type { RecordBatch } from "apache-arrow"
import { arrowTable } from "../../src/substrate/columns/arrow-rows.ts"
import { columnsOf } from "../../src/substrate/columns/column-batch.ts"
import { contentHash } from "../../src/substrate/columns/content-hash.ts"
import type { TableDefinition } from "../../src/substrate/table-definition.ts"
import { EVERY_KIND, type EveryKind, row, SCANNED, type TestStore, testStore } from "./support.ts"

const ODD = ["", "\u{10FFFE}", "\ud800", "é".repeat(300), "plain"]

const unless = <Value>(isAbsent: boolean, value: Value) => (isAbsent ? null : value)

async function fill({ store }: TestStore): Promise<void> {
  for (let commit = 0; commit < 3; commit++) {
    const rows = Array.from({ length: 300 }, (_, at) =>
      row(`${commit}-${at}`, {
        text: unless(at % 3 === 0, ODD[at % ODD.length] as string),
        small: unless(at % 4 === 0, at),
        large: unless(at % 5 === 0, BigInt(at) * 1_000_000_007n),
        ratio: unless(at % 2 === 1, at / 7),
        is_set: unless(at % 3 === 1, at % 2 === 0),
        at: unless(at % 6 === 0, BigInt(at)),
        near: unless(at % 7 === 0, Float32Array.of(at, 1, 2, 3)),
        payload: unless(at % 50 !== 0, new Uint8Array(70_000).fill(at)),
      }),
    )
    await store.table(EVERY_KIND).insertAbsent(rows)
  }
}

const logOf = ({ path }: TestStore) => join(path, ".pond/every_kind.checksums")
const linesOf = (place: TestStore) => readFileSync(logOf(place), "utf8").split("\n").filter(Boolean)
const provedIn = (place: TestStore) =>
  linesOf(place).flatMap((line) => (line.slice(17).startsWith("proved ") ? [Number(line.slice(24))] : []))
const damageOf = async (place: TestStore) => (await place.open().check({ isDeep: true }))[0]?.damaged

test("rows of every kind are read back as they were given, once, and again after a compaction", async () => {
  using place = testStore()
  await fill(place)
  expect(linesOf(place).filter((line) => / rows \d+ \d+ [0-9a-f]{16} \[/.test(line)).length).toBe(3)
  expect(await damageOf(place)).toEqual([])
  expect(provedIn(place)).toEqual([900])
  expect(await damageOf(place)).toEqual([])
  expect(provedIn(place)).toEqual([900])
  await place.open().table(EVERY_KIND).maintain("all")
  expect((await place.open().table(EVERY_KIND).statistics())?.fragments).toBe(1)
  expect(provedIn(place)).toEqual([900, 0, 900])
  expect(await damageOf(place)).toEqual([])
})

/** Of one row, as a fault of the memory would before the engine has encoded it; then pond covers the file that has it. */
async function changeBehindPond(place: TestStore, columns: Readonly<Record<string, string>>): Promise<void> {
  const table = await (await connect(place.path)).openTable("every_kind")
  await table.update({ where: "id = '1-11'", valuesSql: columns })
  await place
    .open()
    .table(EVERY_KIND)
    .insertAbsent([row("later")])
}

const CHANGES: readonly Readonly<Record<string, string>>[] = [
  { text: "'other'" },
  { text: "null" },
  { small: "7" },
  { large: "null" },
  { ratio: "0.5" },
  { is_set: "true" },
  { at: "cast(5 as timestamp)" },
  { group_id: "'h'" },
]

for (const change of CHANGES) {
  test(`a row with another value of ${Object.entries(change)} is found, and named by table and group`, async () => {
    using place = testStore()
    await fill(place)
    await changeBehindPond(place, change)
    const found = (await damageOf(place)) ?? []
    expect(found.length).toBeGreaterThan(0)
    expect(found.every(({ path }) => path.startsWith("data/"))).toBe(true)
    expect(new Set(found.flatMap(({ groups }) => groups ?? []))).toEqual(new Set(["g"]))
    expect(provedIn(place)).toEqual([])
  })
}

test("a compaction that gave such a row is taken back", async () => {
  using place = testStore()
  await fill(place)
  expect(await damageOf(place)).toEqual([])
  await changeBehindPond(place, { text: "'other'" })
  await expect(place.open().table(EVERY_KIND).maintain("all")).rejects.toThrow("pond check --read-data")
  expect(provedIn(place)).toEqual([900, 0])
  expect((await place.open().table(EVERY_KIND).statistics())?.fragments).toBeGreaterThan(3)
  const [checked] = await place.open().check({ isDeep: true })
  expect(checked?.damaged.length).toBeGreaterThan(0)
  expect(checked?.lostRows).toBeLessThan(301)
})

test("a commit of an older build has no hash, and is no damage", async () => {
  using place = testStore()
  await fill(place)
  const lines = linesOf(place).map((line) => {
    const content = line.slice(17).replace(/^(rows \d+ \d+) [0-9a-f]{16} /, "$1 ")
    return `${Bun.hash.xxHash3(content).toString(16).padStart(16, "0")} ${content}\n`
  })
  writeFileSync(logOf(place), lines.join(""))
  await changeBehindPond(place, { text: "'other'" })
  expect(await damageOf(place)).toEqual([])
})

test("rows have one hash, however they are split into batches", () => {
  const rows = Array.from({ length: 21 }, (_, at) =>
    row(`r${at}`, {
      text: unless(at % 3 === 0, "x".repeat(at)),
      large: unless(at % 4 === 0, BigInt(at)),
      is_set: unless(at % 5 === 0, at % 2 === 0),
      near: unless(at % 2 === 0, Float32Array.of(at, 1, 2, 3)),
    }),
  )
  const definition = EVERY_KIND as unknown as TableDefinition
  const batchOf = (some: readonly EveryKind[]) =>
    arrowTable(definition, columnsOf(definition, some)).batches[0] as RecordBatch
  const whole = batchOf(rows)
  const [first, second] = [batchOf(rows.slice(0, 9)), batchOf(rows.slice(9))]
  for (const column of SCANNED) {
    const hash = contentHash([{ record: whole, from: 0, to: 21 }], [column])
    const apart = [
      { record: first, from: 0, to: 9 },
      { record: second, from: 0, to: 12 },
    ]
    const within = [
      { record: whole, from: 0, to: 5 },
      { record: whole, from: 5, to: 21 },
    ]
    expect([column, contentHash(apart, [column]), contentHash(within, [column])]).toEqual([column, hash, hash])
    expect(contentHash([{ record: whole, from: 0, to: 12 }], [column])).not.toBe(hash)
  }
})

test.each([
  ["no number and 0", { small: null }, { small: 0 }],
  ["no text and an empty one", { text: null }, { text: "" }],
  ["two texts of one length", { text: "one" }, { text: "two" }],
  ["two vectors", { near: Float32Array.of(1, 0, 0, 0) }, { near: Float32Array.of(0, 1, 0, 0) }],
])("%s have two hashes", (_, one, other) => {
  const definition = EVERY_KIND as unknown as TableDefinition
  const hashOf = (values: Partial<EveryKind>) => {
    const record = arrowTable(definition, columnsOf(definition, [row("a", values)])).batches[0] as RecordBatch
    return contentHash([{ record, from: 0, to: 1 }], SCANNED)
  }
  expect(hashOf(one)).not.toBe(hashOf(other))
  expect(hashOf(one)).toBe(hashOf(one))
})

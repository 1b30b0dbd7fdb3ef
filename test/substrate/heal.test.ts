import { expect, test } from "bun:test"
import { existsSync, readdirSync, readFileSync, statSync, truncateSync, unlinkSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { createLog, type Log } from "../../src/platform/host/log.ts"
import { eq } from "../../src/substrate/filter.ts"
import {
  blob,
  defineTable,
  int32,
  nullable,
  type TableDefinition,
  utf8,
  vector,
} from "../../src/substrate/table-definition.ts"
import { type TestStore, testStore } from "./support.ts"

/** Five tables of different shapes: one key column or three, with blobs, with vectors. */
const id = { id: utf8() }
const TABLES: readonly TableDefinition[] = [
  { name: "sessions", columns: { ...id, title: nullable(utf8()) }, key: ["id"] },
  { name: "messages", columns: { group_id: utf8(), ...id, text: utf8() }, key: ["group_id", "id"] },
  { name: "parts", columns: { group_id: utf8(), owner: utf8(), ...id, at: int32() }, key: ["group_id", "owner", "id"] },
  { name: "embeddings", columns: { group_id: utf8(), ...id, near: vector(8) }, key: ["group_id", "id"] },
  { name: "blobs", columns: { ...id, bytes: blob() }, key: ["id"] },
].map((table) => defineTable({ ...table, indexes: [], schemaVersion: 1 } as unknown as TableDefinition))

function rowsOf(definition: TableDefinition, from: number): Record<string, unknown>[] {
  return Array.from({ length: 20 }, (_, index) => {
    const values: Record<string, unknown> = {
      group_id: "g",
      id: `row-${from + index}`,
      owner: "o",
      title: null,
      text: "some words",
      at: index,
      near: new Float32Array(8).fill(index),
      bytes: new Uint8Array(100_000).fill(index),
    }
    return Object.fromEntries(Object.keys(definition.columns).map((name) => [name, values[name]]))
  })
}

function listing(log: string[]): Log {
  return createLog("warn", (line) => log.push(line))
}

const idsOf = async (place: TestStore, definition: TableDefinition, log: string[] = []) => {
  const rows = await place
    .open({ log: listing(log) })
    .table(definition)
    .read({ columns: ["id"] as never })
  return new Set(rows.map((row) => (row as { id: string }).id))
}

const everyId = (count: number) => new Set(Array.from({ length: count }, (_, index) => `row-${index}`))

const newestManifest = (folder: string) =>
  join(
    folder,
    "_versions",
    readdirSync(join(folder, "_versions"))
      .filter((name) => name.endsWith(".manifest"))
      .toSorted()[0] ?? "",
  )

const newestData = (folder: string) => {
  const paths = readdirSync(join(folder, "data"))
    .filter((name) => name.endsWith(".lance"))
    .map((name) => join(folder, "data", name))
  return (
    paths.toSorted((one, other) =>
      Number(statSync(other, { bigint: true }).mtimeNs - statSync(one, { bigint: true }).mtimeNs),
    )[0] ?? ""
  )
}

const half = (path: string) => truncateSync(path, Math.floor(statSync(path).size / 2))
const zeros = (path: string) => writeFileSync(path, new Uint8Array(statSync(path).size))

const DAMAGES: readonly (readonly [what: string, damage: (folder: string) => void])[] = [
  ["the newest manifest is empty", (folder) => truncateSync(newestManifest(folder), 0)],
  ["the newest manifest is cut", (folder) => half(newestManifest(folder))],
  [
    "the newest manifest lacks its last byte",
    (folder) => truncateSync(newestManifest(folder), statSync(newestManifest(folder)).size - 1),
  ],
  ["the newest manifest is zeros", (folder) => zeros(newestManifest(folder))],
  ["the newest data file is empty", (folder) => truncateSync(newestData(folder), 0)],
  ["the newest data file is cut", (folder) => half(newestData(folder))],
  ["the newest data file is missing", (folder) => unlinkSync(newestData(folder))],
  ["the newest data file is zeros", (folder) => zeros(newestData(folder))],
]

const putBack = (place: TestStore, name: string, durable: Uint8Array, manifest: Uint8Array) => {
  writeFileSync(join(place.path, ".pond", `${name}.durable`), durable)
  writeFileSync(join(place.path, ".pond", `${name}.manifest`), manifest)
}

for (const definition of TABLES) {
  for (const [what, damage] of DAMAGES) {
    test(`${definition.name}: ${what} after a crash: readers change nothing, the next write takes the cut commit back`, async () => {
      using place = testStore()
      const table = place.store.table(definition)
      await table.insertAbsent(rowsOf(definition, 0) as never)
      const note = (kind: string) => readFileSync(join(place.path, ".pond", `${definition.name}.${kind}`))
      const [durable, manifest] = [note("durable"), note("manifest")]
      await table.insertAbsent(rowsOf(definition, 20) as never)
      const folder = join(place.path, `${definition.name}.lance`)
      damage(folder)
      putBack(place, definition.name, durable, manifest)

      const before = filesBelow(place.path)
      const log: string[] = []
      expect(await idsOf(place, definition, log)).toEqual(everyId(20))
      expect(log).toEqual([])
      expect(filesBelow(place.path)).toEqual(before)

      await place
        .open({ log: listing(log) })
        .table(definition)
        .insertAbsent([...rowsOf(definition, 0), ...rowsOf(definition, 20)] as never)
      expect(log.length).toBe(1)
      expect(log[0]).toContain(join(place.path, ".pond", "quarantine", definition.name))
      const later: string[] = []
      expect(await idsOf(place, definition, later)).toEqual(everyId(40))
      expect(later).toEqual([])
    })
  }
}

function filesBelow(folder: string): string[] {
  return readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile() && !/\.(lock|durable|readers|maintenance)$/.test(entry.name))
    .map((entry) => join(entry.parentPath, entry.name))
}

test("blocks inside a file that were never written are found when the crash was before the sync", async () => {
  using place = testStore()
  const [definition] = TABLES as [TableDefinition]
  const table = place.store.table(definition)
  await table.insertAbsent(rowsOf(definition, 0) as never)
  const note = join(place.path, ".pond", `${definition.name}.durable`)
  const durable = readFileSync(note)
  await table.insertAbsent(rowsOf(definition, 20) as never)
  const data = newestData(join(place.path, `${definition.name}.lance`))
  const bytes = readFileSync(data)
  writeFileSync(data, bytes.fill(0, 0, bytes.length - 64))
  writeFileSync(note, durable)
  const log: string[] = []
  expect(await idsOf(place, definition, log)).toEqual(everyId(20))
  expect(log.length).toBe(1)
})

test("a whole table whose last sync was not noted is left alone", async () => {
  using place = testStore()
  const [definition] = TABLES as [TableDefinition]
  await place.store.table(definition).insertAbsent(rowsOf(definition, 0) as never)
  writeFileSync(join(place.path, ".pond", `${definition.name}.durable`), "1")
  const log: string[] = []
  expect(await idsOf(place, definition, log)).toEqual(everyId(20))
  expect(log).toEqual([])
})

// --- What hangs on a version beside its rows ---------------------------------------------------------------------------

const INDEXED = defineTable({
  name: "indexed",
  columns: { ...id, group_id: utf8(), text: utf8() },
  key: ["id"],
  indexes: [
    { kind: "btree", column: "id" },
    { kind: "bitmap", column: "group_id" },
    { kind: "btree", column: "text" },
  ],
  schemaVersion: 1,
})

const indexFiles = (place: TestStore) => filesBelow(join(place.path, "indexed.lance", "_indices"))

const INDEX_DAMAGES: readonly (readonly [what: string, damage: (path: string) => void])[] = [
  ["empty", (path) => truncateSync(path, 0)],
  ["cut", half],
  ["missing", (path) => unlinkSync(path)],
]

test.each(INDEX_DAMAGES)(
  "every file of the indexes is %s: reads go on without, and the next write builds them again",
  async (_, damage) => {
    using place = testStore()
    const table = place.store.table(INDEXED)
    const rows = Array.from({ length: 1500 }, (_row, index) => ({
      id: `row-${index}`,
      group_id: `g-${index % 3}`,
      text: `word${index}`,
    }))
    await table.insertAbsent(rows)
    await table.maintain("all")
    const files = indexFiles(place)
    expect(files.length).toBeGreaterThan(4)
    for (const path of files) damage(path)

    const log: string[] = []
    const healed = place.open({ log: listing(log) }).table(INDEXED)
    expect(await healed.count()).toBe(1500)
    expect(await healed.read({ columns: ["text"], where: eq("id", "row-7") })).toEqual([{ text: "word7" }])
    expect(log.map((line) => line.trim())).toEqual([
      expect.stringContaining("The table indexed is damaged: no row is lost"),
    ])
    await healed.insertAbsent([{ id: "row-1500", group_id: "g-0", text: "word" }])
    expect(log.map((line) => line.trim()).slice(1)).toEqual([
      "The table indexed was missing part of id_btree and group_id_bitmap and text_btree; it was rebuilt from its rows.",
    ])
    expect(await healed.count()).toBe(1501)
    expect(await healed.read({ columns: ["text"], where: eq("id", "row-7") })).toEqual([{ text: "word7" }])
    expect(await healed.count(eq("group_id", "g-1"))).toBe(500)
    expect(await healed.read({ columns: ["id"], where: eq("text", "word9") })).toEqual([{ id: "row-9" }])
    expect(existsSync(join(place.path, ".pond", "quarantine"))).toBe(false)
    const later: string[] = []
    expect(
      await place
        .open({ log: listing(later) })
        .table(INDEXED)
        .count(),
    ).toBe(1501)
    expect(later).toEqual([])
  },
)

test("bytes of a blob that a power cut took are found, and stored again by the next import", async () => {
  using place = testStore()
  const definition = TABLES.find(({ name }) => name === "blobs") as TableDefinition
  const table = place.store.table(definition)
  await table.insertAbsent(rowsOf(definition, 0) as never)
  const notes = ["durable", "manifest"].map((kind) => join(place.path, ".pond", `blobs.${kind}`))
  const [durable, manifest] = notes.map((note) => readFileSync(note)) as [Buffer, Buffer]
  const before = filesBelow(join(place.path, "blobs.lance"))
  await table.insertAbsent(rowsOf(definition, 20) as never)
  const fresh = filesBelow(join(place.path, "blobs.lance")).filter((path) => !before.includes(path))
  const bytes = fresh.filter((path) => path.endsWith(".blob"))
  expect(bytes.length).toBeGreaterThan(0)
  for (const path of bytes) half(path)
  putBack(place, "blobs", durable, manifest)

  const log: string[] = []
  await place
    .open({ log: listing(log) })
    .table(definition)
    .insertAbsent(rowsOf(definition, 20) as never)
  expect(log.length).toBe(1)
  const left = filesBelow(join(place.path, "blobs.lance"))
  expect(bytes.filter((path) => left.includes(path))).toEqual([])
  const stored = await place
    .open()
    .table(definition)
    .readBlobs("bytes" as never, { columns: ["id"] as never })
  const sizes = (stored as unknown as { bytes: Uint8Array }[]).map((row) => row.bytes.length)
  expect(sizes).toEqual(Array.from({ length: 40 }, () => 100_000))
})

test("the hint at the newest version is empty: the engine finds it without", async () => {
  using place = testStore()
  const [definition] = TABLES as [TableDefinition]
  await place.store.table(definition).insertAbsent(rowsOf(definition, 0) as never)
  truncateSync(join(place.path, `${definition.name}.lance`, "_versions/latest_version_hint.json"), 0)
  const log: string[] = []
  expect(await idsOf(place, definition, log)).toEqual(everyId(20))
  expect(log).toEqual([])
})

/** After a purge no file of a store has a byte of what was erased, on a disk and in a bucket, whenever it is cut off. */
import { describe, expect, test } from "bun:test"
import { cpSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { and, eq, isIn, stored } from "../../src/substrate/filter.ts"
import { type DiskFiles, diskFiles } from "../../src/substrate/local/disk-files.ts"
import { parseLocation } from "../../src/substrate/location.ts"
import { openStore } from "../../src/substrate/open-store.ts"
import type { Store } from "../../src/substrate/table.ts"
import { blob, defineTable, int32, utf8, vector } from "../../src/substrate/table-definition.ts"
import { startObjectServer, TEST_BUCKET, TEST_KEY } from "../support/object-server.ts"
import { noteTombstone, testContext, testStore } from "./support.ts"

const NOTES = defineTable({
  name: "notes",
  schemaVersion: 1,
  erasable: true,
  columns: { owner: utf8(), number: int32(), text: utf8(), kind: utf8() },
  key: ["owner", "number"],
  indexes: [
    { kind: "btree", column: "owner" },
    { kind: "btree", column: "text" },
    { kind: "bitmap", column: "kind" },
  ],
})
const POINTS = defineTable({
  name: "points",
  schemaVersion: 1,
  erasable: true,
  derived: true,
  columns: { owner: utf8(), number: int32(), kind: utf8(), place: vector(4) },
  key: ["owner", "number"],
  indexes: [{ kind: "btree", column: "owner" }],
})
const FILES = defineTable({
  name: "files",
  schemaVersion: 1,
  columns: { hash: utf8(), content: blob() },
  key: ["hash"],
  indexes: [{ kind: "btree", column: "hash" }],
})

const SECRET = "SECRET-7f1b"
const LARGE = 300_000

const fileOf = (hash: string) => ({ hash, content: Buffer.from(`${hash} `.repeat(LARGE / (hash.length + 1))) })
const smallOf = (hash: string) => ({ hash, content: Buffer.from(`${hash} small`) })

/** In several files each, indexed, with older versions, and rows of one owner beside those of another. */
async function fill(store: Store): Promise<void> {
  const [notes, points, files] = [store.table(NOTES), store.table(POINTS), store.table(FILES)]
  for (let round = 0; round < 3; round++) {
    const numbers = Array.from({ length: 700 }, (_, index) => round * 700 + index)
    const isSecret = (number: number) => round !== 2 && number % 50 === 0
    const textOf = (number: number) => `${isSecret(number) ? SECRET : "open"} ${number}`
    const ownerOf = (number: number) => (isSecret(number) ? "secret-owner" : `owner-${number % 9}`)
    await notes.insertAbsent(
      numbers.map((number) => ({
        owner: ownerOf(number),
        number,
        text: textOf(number),
        kind: isSecret(number) ? `${SECRET}-kind` : "kind",
      })),
    )
    await points.insertAbsent(
      numbers.map((number) => ({
        owner: ownerOf(number),
        number,
        kind: textOf(number),
        place: Float32Array.of(number, 0, 1, 2),
      })),
    )
    await files.insertAbsent([
      fileOf(`open-${round}`),
      fileOf(`${SECRET}-${round}`),
      smallOf(`open-small-${round}`),
      smallOf(`${SECRET}-small-${round}`),
    ])
    if (round === 1) for (const table of [notes, points, files]) await table.maintain("all")
  }
  // A model that was given up: its rows are deleted, and lie in their files still.
  await points.deleteWhere(and(eq("owner", "secret-owner"), isIn("number", [0, 50])))
}

async function purgeSecret(store: Store): Promise<void> {
  const secretFiles = [0, 1, 2].flatMap((round) => [`${SECRET}-${round}`, `${SECRET}-small-${round}`])
  await store.table(FILES).purge(isIn("hash", secretFiles))
  for (const table of [store.table(POINTS), store.table(NOTES)]) await table.purge(stored(0))
}

/** What readers see, at any moment after the tombstone. */
async function expectOthers(store: Store): Promise<void> {
  const rows = await store.table(NOTES).read({ columns: ["owner", "text"] })
  expect(rows.length).toBe(2100 - 28)
  expect(rows.filter(({ text }) => text.includes(SECRET))).toEqual([])
  expect(await store.table(NOTES).count(eq("owner", "owner-3"))).toBe(
    Array.from({ length: 2100 }, (_, number) => number).filter(
      (number) => number % 9 === 3 && (number >= 1400 || number % 50 !== 0),
    ).length,
  )
  expect(await store.table(POINTS).count()).toBe(2100 - 28)
  const open = await store
    .table(FILES)
    .readBlobs("content", { columns: ["hash"], where: isIn("hash", ["open-0", "open-1", "open-2", "open-small-1"]) })
  expect(
    open.map(({ hash, content }) =>
      Buffer.from(content ?? []).equals((hash.includes("small") ? smallOf(hash) : fileOf(hash)).content),
    ),
  ).toEqual([true, true, true, true])
}

const filesBelow = (folder: string) =>
  readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name))

const withSecret = (folder: string) => filesBelow(folder).filter((path) => readFileSync(path).includes(SECRET))

describe("on a disk", () => {
  test("no file has a byte of it: data, indexes, blobs, older versions, quarantine and leftovers of a killed process", async () => {
    using place = testStore()
    await fill(place.store)
    for (const path of [".pond/quarantine/notes/then/data/old.lance", "notes.lance/data/orphan.lance"]) {
      mkdirSync(join(place.path, path, ".."), { recursive: true })
      writeFileSync(join(place.path, path), `LANC ${SECRET} LANC`)
    }
    await noteTombstone(place.store, "secret-owner", 1)
    await expectOthers(place.store)
    const kinds = ["notes.lance/data", "notes.lance/_indices", "points.lance/data", "files.lance/data", "quarantine"]
    const before = withSecret(place.path)
    for (const kind of kinds) expect(before.filter((path) => path.includes(kind)).length, kind).toBeGreaterThan(0)
    await purgeSecret(place.store)
    expect(withSecret(place.path)).toEqual([])
    const versions = filesBelow(place.path).filter((path) => path.includes("_versions/") && path.endsWith(".manifest"))
    expect(versions.filter((path) => !path.includes("tombstones")).length).toBe(3)
    for (const store of [place.store, place.open()]) await expectOthers(store)
    const checked = await place.store.check({ isDeep: true })
    expect(checked.map(({ damaged, uncovered, lostRows }) => ({ damaged, uncovered, lostRows }))).toEqual(
      checked.map(() => ({ damaged: [], uncovered: 0, lostRows: 0 })),
    )
    expect(await place.store.repair()).toEqual([])
    expect(
      (await place.store.table(NOTES).statistics())?.indexes
        .map(({ name, unindexedRows }) => [name, unindexedRows])
        .toSorted(),
    ).toEqual([
      ["kind_bitmap", 0],
      ["owner_btree", 0],
      ["text_btree", 0],
    ])
  })

  test("whenever it is cut off, readers see the others whole, and running it again finishes it", async () => {
    using filled = testStore()
    await fill(filled.store)
    await noteTombstone(filled.store, "secret-owner", 1)
    filled.store.close()
    let [survived, rounds] = [false, 0]
    for (let diesAt = 1; !survived; diesAt = Math.ceil(diesAt * CUT_FACTOR)) {
      using place = testStore()
      cpSync(filled.path, place.path, { recursive: true, preserveTimestamps: true })
      survived = await isWholeWork(purgeSecret(place.open({ disk: mortalDisk(diesAt) })))
      rounds += 1
      const next = place.open()
      await expectOthers(next)
      if (!survived) await purgeSecret(next)
      expect(withSecret(place.path), `died at ${diesAt}`).toEqual([])
      await expectOthers(place.open())
    }
    expect(rounds).toBeGreaterThan(3)
  }, 60_000)
})

/** How much later each round dies. */
const CUT_FACTOR = 5

class Killed extends Error {}

async function isWholeWork(work: Promise<unknown>): Promise<boolean> {
  try {
    await work
    return true
  } catch (error) {
    if (error instanceof Killed || (error as { cause?: unknown }).cause instanceof Killed) return false
    throw error
  }
}

/** Nothing is done from that call on. */
function mortalDisk(diesAt: number): DiskFiles {
  let calls = 0
  const mortal =
    <Args extends readonly unknown[], Result>(work: (...args: Args) => Promise<Result>) =>
    async (...args: Args) => {
      if (++calls >= diesAt) throw new Killed()
      return await work(...args)
    }
  const { list, sync, write, append, remove, checksum } = diskFiles
  return {
    ...diskFiles,
    list: mortal(list),
    sync: mortal(sync),
    write: mortal(write),
    append: mortal(append),
    remove: mortal(remove),
    checksum: mortal(checksum),
  }
}

describe("in a bucket", () => {
  test("no object has a byte of it; whenever it is cut off, readers see the others whole, and running it again finishes it", async () => {
    await using server = await startObjectServer()
    const environment = { AWS_ACCESS_KEY_ID: TEST_KEY.accessKeyId, AWS_SECRET_ACCESS_KEY: TEST_KEY.secretAccessKey }
    const at = parseLocation(`${server.url.replace("http:", "s3+http:")}/${TEST_BUCKET}/purge`, { environment })
    // The engine's client would repeat what fails for a minute.
    const hasty = { client_max_retries: "0", client_retry_timeout: "1" }
    const location = { ...at, storageOptions: () => ({ ...at.storageOptions(), ...hasty }) }
    const open = () => openStore(location, { ...testContext, sleep: async () => undefined })
    const objects = () =>
      server.space.list(TEST_BUCKET, { prefix: "", delimiter: "", after: "", limit: 100_000 }).objects
    const secretKeys = () => objects().flatMap(([key, { bytes }]) => (Buffer.from(bytes).includes(SECRET) ? key : []))
    await fill(open())
    await noteTombstone(open(), "secret-owner", 1)
    const filled = objects()
    expect(secretKeys().length).toBeGreaterThan(5)
    let [survived, rounds] = [false, 0]
    for (let diesAt = 1; !survived; diesAt = Math.ceil(diesAt * CUT_FACTOR)) {
      for (const [key] of objects()) server.space.remove(TEST_BUCKET, key)
      for (const [key, { bytes }] of filled) server.space.put(TEST_BUCKET, key, bytes)
      let requests = 0
      server.setFaults({
        get dropRequest() {
          return ++requests >= diesAt ? 1 : 0
        },
      })
      survived = await purgeSecret(open()).then(
        () => true,
        () => false,
      )
      server.setFaults({})
      rounds += 1
      await expectOthers(open())
      if (!survived) await purgeSecret(open())
      expect(secretKeys(), `died at ${diesAt}`).toEqual([])
      await expectOthers(open())
    }
    expect(rounds).toBeGreaterThan(3)
  }, 60_000)
})

/** The first reads of a bucket by a machine: one listing for all tables, and the opening of the store (`bucket/opening.ts`). */
import { afterAll, beforeAll, expect, test } from "bun:test"
import { mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { createRecording, fitting, joinPieces, packOpening, readOpening } from "../../src/substrate/bucket/opening.ts"
import { createStoreListing, namesBelow } from "../../src/substrate/bucket/store-listing.ts"
import { eq, isIn } from "../../src/substrate/filter.ts"
import { parseLocation } from "../../src/substrate/location.ts"
import { openStore } from "../../src/substrate/open-store.ts"
import type { OpeningReads, Store } from "../../src/substrate/table.ts"
import type { TableDefinition } from "../../src/substrate/table-definition.ts"
import { ALL, inBucket, ROWS, rowsOf, TABLE } from "../support/damage.ts"
import { type ObjectServer, startObjectServer, TEST_KEY } from "../support/object-server.ts"
import { testContext } from "./support.ts"

let server: ObjectServer
let folder: string
beforeAll(async () => {
  server = await startObjectServer()
  folder = mkdtempSync(join(tmpdir(), "pond-opening-"))
})
afterAll(async () => {
  rmSync(folder, { recursive: true, force: true })
  await server.stop()
})

const environment = { AWS_ACCESS_KEY_ID: TEST_KEY.accessKeyId, AWS_SECRET_ACCESS_KEY: TEST_KEY.secretAccessKey }
const OPENING = ".pond/opening"
const READS: OpeningReads = {
  definition: TABLE as unknown as TableDefinition,
  columns: ["session_id", "id", "text"],
  lookups: ["id"],
  scans: [],
}

let machines = 0
/** One that has never read the bucket. */
function openElsewhere(url: string, monotonicMs = () => 0): Store {
  const cache = { folder: join(folder, `${machines++}`), bytesMax: 1_000_000_000 }
  const clock = { nowMs: () => 1_000, monotonicMs }
  return openStore(parseLocation(url, { environment }), { ...testContext, clock, cache })
}

async function filled() {
  const place = inBucket(server)
  const store = place.open()
  for (const commit of [0, 1, 2, 3]) await store.table(TABLE).insertAbsent(rowsOf(commit))
  return { place, store }
}

const inOrder = (ids: readonly string[]) => ids.toSorted((one, other) => (one < other ? -1 : 1))
const idsOf = async (store: Store) => inOrder((await store.table(TABLE).read({ columns: ["id"] })).map(({ id }) => id))
const IDS = inOrder(ALL.map(({ id }) => id))

test("the first read of a bucket takes a listing, its opening and the rows, and finds what is there", async () => {
  const { place, store } = await filled()
  server.resetCounts()
  expect(await idsOf(openElsewhere(place.url))).toEqual(IDS)
  const before = server.requests.length
  await store.gatherOpening([READS], true)
  expect(place.paths()).toContain(OPENING)
  server.resetCounts()
  const reader = openElsewhere(place.url)
  expect(await idsOf(reader)).toEqual(IDS)
  expect((await reader.table(TABLE).read({ columns: ["text"], where: eq("id", "row-2-7") })).length).toBe(1)
  expect(server.requests.length).toBe(2)
  expect(before).toBeGreaterThan(5)
})

test("an opening that is older than the table hides nothing, and shows nothing that is gone", async () => {
  const { place, store } = await filled()
  await store.gatherOpening([READS], true)
  await store.table(TABLE).insertAbsent(rowsOf(4))
  expect(await idsOf(openElsewhere(place.url))).toHaveLength(IDS.length + ROWS)
  place.end()
  expect(await idsOf(openElsewhere(place.url))).toEqual([])
  await inBucket(server, "s3", place.url.split("/").at(-1)).open().table(TABLE).insertAbsent(rowsOf(9))
  expect(await idsOf(openElsewhere(place.url))).toHaveLength(ROWS)
})

test("an opening that is not as it was written counts as none", async () => {
  const { place, store } = await filled()
  await store.gatherOpening([READS], true)
  const content = place.read(OPENING)
  for (const at of [0, 5, 9, 20, content.length >> 1, content.length - 1]) {
    place.write(
      OPENING,
      content.map((byte, index) => (index === at ? byte ^ 1 : byte)),
    )
    expect(await idsOf(openElsewhere(place.url))).toEqual(IDS)
    expect(readOpening(place.read(OPENING))).toBeUndefined()
  }
  place.write(OPENING, content.subarray(0, 40))
  expect(await idsOf(openElsewhere(place.url))).toEqual(IDS)
  expect(readOpening(content)).toBeDefined()
})

test("an opening is written anew after ten commits by who makes the tenth, and goes with what is purged", async () => {
  const { place, store } = await filled()
  await store.gatherOpening([READS], false)
  expect(place.paths()).not.toContain(OPENING)
  for (let commit = 4; commit < 10; commit++) await store.table(TABLE).insertAbsent(rowsOf(commit))
  await openElsewhere(place.url).gatherOpening([READS], false)
  expect(place.paths()).not.toContain(OPENING)
  await store.gatherOpening([READS], false)
  expect(place.paths()).toContain(OPENING)
  const first = place.read(OPENING)
  await store.table(TABLE).insertAbsent(rowsOf(10))
  await store.gatherOpening([READS], false)
  expect(place.read(OPENING)).toEqual(first)
  await store.table(TABLE).purge(isIn("session_id", ["session-0"]))
  expect(place.paths()).not.toContain(OPENING)
})

test("what this process has written since the listing is read, and after five seconds what others have", async () => {
  const place = inBucket(server)
  await place.open().table(TABLE).insertAbsent(rowsOf(0))
  let now = 0
  const reader = openElsewhere(place.url, () => now)
  const other = { ...TABLE, name: "parts" } as typeof TABLE
  // Lists all tables, and opens one.
  expect(await reader.table(other).count()).toBe(0)
  await reader.table(other).insertAbsent(rowsOf(1))
  expect(await reader.table(other).count()).toBe(ROWS)
  await place.open().table(TABLE).insertAbsent(rowsOf(2))
  now = 5_001
  expect(await reader.table(TABLE).count()).toBe(2 * ROWS)
})

// --- Without a bucket -------------------------------------------------------------------------------------------------

const listed = (keys: readonly string[], isCut = false) =>
  `<ListBucketResult><IsTruncated>${isCut}</IsTruncated>${keys
    .map((key) => `<Contents><Key>${key}</Key><ETag>"e"</ETag><Size>1</Size></Contents>`)
    .join("")}</ListBucketResult>`
const queryOf = (prefix: string) => `list-type=2&prefix=${encodeURIComponent(prefix)}`
const KEYS = ["s/.pond/a", "s/a.lance/_versions/1", "s/a.lance/data/x", "s/b.lance/_versions/1"]

test("a listing answers for a table once, and only where it has all of its versions", async () => {
  let now = 0
  const clock = { nowMs: () => 0, monotonicMs: () => now }
  const begin = async (text: string) => {
    const listing = createStoreListing(clock)
    await listing.begin("s/", async () => text)
    return listing
  }
  const versions = queryOf("s/a.lance/_versions/")
  const whole = await begin(listed(KEYS))
  expect(await whole.take(queryOf("s/a.lance/"))).toBeUndefined()
  expect(await whole.take(queryOf("other/a.lance/_versions/"))).toBeUndefined()
  expect(await whole.take(`${versions}&start-after=x`)).toBeUndefined()
  expect(namesBelow((await whole.take(versions)) ?? "", "s/a.lance/_versions/")).toEqual(["1"])
  expect(await whole.take(versions)).toBeUndefined()
  expect(namesBelow((await whole.take(queryOf("s/none.lance/_versions/"))) ?? "", "s/")).toEqual([])
  const cut = await begin(listed(KEYS, true))
  expect(await cut.take(queryOf("s/b.lance/_versions/"))).toBeUndefined()
  expect(await cut.take(queryOf("s/z.lance/_versions/"))).toBeUndefined()
  expect(await cut.take(versions)).toBeDefined()
  expect(await (await begin(listed(KEYS.toReversed(), true))).take(versions)).toBeUndefined()
  const written = await begin(listed(KEYS))
  written.wrote("s/a.lance/_versions/0")
  expect(await written.take(versions)).toBeUndefined()
  expect(await written.take(queryOf("s/b.lance/_versions/"))).toBeDefined()
  const old = await begin(listed(KEYS))
  now = 5_001
  expect(await old.take(versions)).toBeUndefined()
})

test("an opening takes at most a sixth of what it is about, and first of what there is least", () => {
  const object = (name: string, kept: number) => ({
    name,
    size: 3_000_000,
    pieces: [{ from: 0, bytes: new Uint8Array(kept) }],
  })
  const objects = [object("most", 1_200_000), object("least", 1_000), object("some", 900_000)]
  expect(fitting(objects).map(({ name }) => name)).toEqual(["least", "some"])
  expect(fitting([object("alone", 700_000)])).toHaveLength(1)
})

test("an opening gives back what was noted, joined where it overlaps, and keeps no long rows", () => {
  const bytes = Uint8Array.from({ length: 100 }, (_, at) => at)
  const recording = createRecording()
  recording.note("one", 100, 10, bytes.subarray(10, 30))
  recording.note("one", 100, 20, bytes.subarray(20, 50))
  recording.note("one", 100, 70, bytes.subarray(70, 80))
  recording.note("long", 1_000_000, 0, new Uint8Array(300_000))
  const objects = recording.objects()
  expect(readOpening(packOpening(objects)) ?? []).toEqual(objects.map((each) => ({ ...each })))
  expect(objects.map(({ name, size }) => [name, size])).toEqual([["one", 100]])
  const pieces = objects[0]?.pieces ?? []
  expect(pieces.map(({ from, bytes: own }) => [from, ...own.slice(0, 1), own.length])).toEqual([
    [10, 10, 40],
    [70, 70, 10],
  ])
  expect(joinPieces([{ from: 5, bytes: bytes.subarray(5, 6) }])).toHaveLength(1)
})

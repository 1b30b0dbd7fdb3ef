/**
 * Damage at rest: each kind costs the rows of the damaged file and no others, is named, stays until it is repaired, and
 * is undone by storing the missing rows again.
 */
import { afterAll, beforeAll, expect, test } from "bun:test"
import { rmSync } from "node:fs"
import type { Store } from "../../src/substrate/table.ts"
import {
  ALL,
  type DamagedPlace,
  type Filled,
  fill,
  flipAt,
  inBucket,
  KINDS,
  onDisk,
  ROWS,
  rowsOf,
  TABLE,
} from "../support/damage.ts"
import { type ObjectServer, startObjectServer } from "../support/object-server.ts"

let server: ObjectServer
beforeAll(async () => {
  server = await startObjectServer()
})
afterAll(() => server.stop())

const idsOf = async (store: Store) => new Set((await store.table(TABLE).read({ columns: ["id"] })).map(({ id }) => id))

const idsWithout = (lost: readonly number[]) =>
  new Set(
    ALL.filter(({ session_id }) => !lost.some((commit) => session_id === `session-${commit}`)).map(({ id }) => id),
  )

const snapshotOf = (place: DamagedPlace) =>
  place
    .paths()
    .filter((path) => !/\.(lock|readers|maintenance)$/.test(path))
    .map((path) => `${path} ${Bun.hash(place.read(path))}`)
    .toSorted((one, other) => one.localeCompare(other))

/** All of them in a bucket are a minute: the others are `bun run attack damage`. */
const IN_BUCKET =
  /oldest data file is (missing|cut|zeros)|newest manifest is (missing|flipped in)|all manifests are m|the table|data file is flipped in/
/** The notes are the same and asked for by another client. */
const IN_GOOGLE = /oldest data file is missing|newest manifest is flipped in|data file in the middle/
const PLACES: readonly (readonly [name: string, make: () => DamagedPlace, isTaken: (what: string) => boolean])[] = [
  ["on a disk", onDisk, () => true],
  ["in a bucket", () => inBucket(server), (what) => IN_BUCKET.test(what)],
  ["in a bucket of Google's", () => inBucket(server, "gs"), (what) => IN_GOOGLE.test(what)],
]

for (const [name, make, isTaken] of PLACES) {
  for (const { what, damage, lost } of KINDS.filter((kind) => isTaken(kind.what))) {
    for (const isCopied of [false, true]) {
      const where = `${name}, ${isCopied ? "in a copied store" : "in place"}`
      test(`${what}, ${where}: it costs its own rows, and a repair ends it`, async () => {
        const made = make()
        const filled = await fill(made)
        damage(filled)
        const place = isCopied ? made.copied() : made
        try {
          await endures(place, lost)
        } finally {
          place.end()
        }
      })
    }
  }
}

async function endures(place: DamagedPlace, lost: readonly number[]): Promise<void> {
  const checked = await place.open().check({ isDeep: true })
  const [table] = checked
  expect(checked.map((each) => each.table)).toEqual(["messages"])
  expect(table?.damaged.length).toBeGreaterThan(0)
  expect(table?.lostRows).toBe(lost.length * ROWS)
  const named = new Set(table?.damaged.flatMap(({ groups }) => groups ?? ["unknown"]))
  expect(named).toEqual(new Set(lost.map((commit) => `session-${commit}`)))

  const before = snapshotOf(place)
  const log: string[] = []
  const reader = place.open(log)
  expect(await idsOf(reader)).toEqual(idsWithout(lost))
  expect(await reader.table(TABLE).count()).toBe(idsWithout(lost).size)
  expect(log.length).toBe(1)
  expect(log[0]).toContain("pond repair")
  expect(snapshotOf(place)).toEqual(before)
  await expect(place.open().table(TABLE).insertAbsent(ALL)).rejects.toThrow("pond repair")

  const repaired = await place.open().repair()
  expect(repaired.map(({ lostRows }) => lostRows)).toEqual([lost.length * ROWS])
  expect(await idsOf(place.open())).toEqual(idsWithout(lost))
  expect((await place.open().check({ isDeep: true })).flatMap(({ damaged }) => damaged)).toEqual([])
  expect(await place.open().repair()).toEqual([])

  const later: string[] = []
  const { inserted } = await place.open(later).table(TABLE).insertAbsent(ALL)
  expect(inserted).toBe(lost.length * ROWS)
  await place.open(later).table(TABLE).maintain("all")
  expect(await idsOf(place.open(later))).toEqual(idsWithout([]))
  expect(later).toEqual([])
  expect((await place.open().check({ isDeep: true })).flatMap(({ damaged }) => damaged)).toEqual([])
}

for (const [name, make] of PLACES) {
  const onPlace = (what: string, run: (filled: Filled) => Promise<void>) =>
    test(`${name}: ${what}`, async () => {
      const place = make()
      try {
        await run(await fill(place))
      } finally {
        place.end()
      }
    })

  onPlace("a data file that comes back whole from the quarantine costs nothing", async ({ place, data }) => {
    await place.open().table(TABLE).maintain("all")
    const [path = ""] = place.paths().filter((each) => each.startsWith("messages.lance/data/") && !data.includes(each))
    const whole = place.read(path)
    flipAt(0.5)(place, path)
    const aside = `.pond/quarantine/messages/by-hand/${path.replace("messages.lance/", "")}`
    place.write(aside, whole)
    const [repaired] = await place.open().repair()
    expect(repaired?.lostRows).toBe(0)
    expect(repaired?.returned).toEqual([path.replace("messages.lance/", "")])
    expect(place.paths()).not.toContain(aside)
    expect(await idsOf(place.open())).toEqual(idsWithout([]))
  })

  onPlace("a check of shares reads every file once in all its rounds", async ({ place, data }) => {
    await place.open().table(TABLE).maintain("all")
    await place
      .open()
      .table(TABLE)
      .insertAbsent([{ session_id: "later", id: "later", text: "" }])
    await place.open().check({ isDeep: true })
    const [path = ""] = place.paths().filter((each) => each.startsWith("messages.lance/data/") && !data.includes(each))
    flipAt(0.5)(place, path)
    const found: number[] = []
    for (let round = 0; round < 4; round++) {
      const [table] = await place.open().check({ isDeep: true, share: 0.25, round })
      found.push(table?.lostRows ?? 0)
    }
    expect(found.at(-1)).toBeGreaterThan(0)
    expect(found).toEqual(found.toSorted((one, other) => one - other))
  })

  onPlace("a compaction refuses to rewrite what is not as it was written", async ({ place, data }) => {
    flipAt(0.5)(place, data[0] as string)
    await expect(place.open().table(TABLE).maintain("all")).rejects.toThrow("pond")
    for (const path of data) expect(place.paths()).toContain(path)
    const [table] = await place.open().check({ isDeep: true })
    expect(table?.lostRows).toBe(ROWS)
    expect(await idsOf(place.open())).toEqual(idsWithout([0]))
  })

  onPlace("a table that can be made again, and is gone, is made again by the next write", async ({ place }) => {
    const derived = { ...TABLE, name: "derived", derived: true }
    await place.open().table(derived).insertAbsent(rowsOf(0))
    await place.open().table(derived).maintain("all")
    for (const path of place.paths().filter((each) => each.startsWith("derived.lance/"))) place.remove(path)
    if (name === "on a disk") rmSync(`${place.url}/derived.lance`, { recursive: true })
    const log: string[] = []
    expect(await place.open(log).table(derived).count()).toBe(0)
    expect(await place.open().table(derived).insertAbsent(rowsOf(1))).toMatchObject({ inserted: ROWS })
    const table = (await place.open().check({ isDeep: true })).find((each) => each.table === "derived")
    expect([table?.damaged, table?.rows]).toEqual([[], ROWS])
  })
}

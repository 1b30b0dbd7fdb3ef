/**
 * Damage at rest: each kind costs the rows of the damaged file and no others, is named, stays until it is repaired, and
 * is undone by storing the missing rows again.
 */
import { expect, test } from "bun:test"
import {
  cpSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  truncateSync,
  unlinkSync,
  writeFileSync,
} from "node:fs"
import { join } from "node:path"
import { createLog } from "../../src/platform/host/log.ts"
import { parseLocation } from "../../src/substrate/location.ts"
import { openStore } from "../../src/substrate/open-store.ts"
import type { Store } from "../../src/substrate/table.ts"
import { defineTable, utf8 } from "../../src/substrate/table-definition.ts"
import { type TestStore, testContext, testStore } from "./support.ts"

const TABLE = defineTable({
  name: "messages",
  columns: { session_id: utf8(), id: utf8(), text: utf8() },
  key: ["session_id", "id"],
  indexes: [{ kind: "btree", column: "id" }],
  schemaVersion: 1,
})

const COMMITS = 4
const ROWS = 20

const rowsOf = (commit: number) =>
  Array.from({ length: ROWS }, (_, index) => ({
    session_id: `session-${commit}`,
    id: `row-${commit}-${index}`,
    text: `some words ${commit} ${index}`,
  }))

const ALL = Array.from({ length: COMMITS }, (_, commit) => rowsOf(commit)).flat()

interface Filled {
  readonly folder: string
  /** The data file of each commit. */
  readonly data: readonly string[]
}

async function fill(place: TestStore): Promise<Filled> {
  const folder = join(place.path, "messages.lance")
  const data: string[] = []
  for (let commit = 0; commit < COMMITS; commit++) {
    await place.store.table(TABLE).insertAbsent(rowsOf(commit))
    const fresh = readdirSync(join(folder, "data")).find((name) => !data.includes(name))
    data.push(fresh as string)
  }
  return { folder, data }
}

const manifests = (folder: string) =>
  readdirSync(join(folder, "_versions"))
    .filter((name) => name.endsWith(".manifest"))
    .toSorted()
    .map((name) => join(folder, "_versions", name))

const flip = (path: string, at = 0.5) => {
  const bytes = readFileSync(path)
  const index = Math.floor(bytes.length * at)
  bytes[index] = (bytes[index] as number) ^ 4
  writeFileSync(path, bytes)
}
const half = (path: string) => truncateSync(path, Math.floor(statSync(path).size / 2))
const zeros = (path: string) => writeFileSync(path, new Uint8Array(statSync(path).size))
const asFolder = (path: string) => {
  unlinkSync(path)
  mkdirSync(path)
}

const WAYS: readonly (readonly [how: string, damage: (path: string) => void])[] = [
  ["missing", (path) => unlinkSync(path)],
  ["empty", (path) => truncateSync(path, 0)],
  ["cut", half],
  ["short of a byte", (path) => truncateSync(path, statSync(path).size - 1)],
  ["longer", (path) => writeFileSync(path, Buffer.concat([readFileSync(path), Buffer.from("x")]))],
  ["zeros", zeros],
  ["a folder", asFolder],
  ["flipped in the middle", flip],
  ["flipped at its beginning", (path) => flip(path, 0)],
]

interface Kind {
  readonly what: string
  readonly damage: (filled: Filled) => void
  /** The commits whose rows are gone. */
  readonly lost: readonly number[]
}

const every = Array.from({ length: COMMITS }, (_, commit) => commit)

const KINDS: readonly Kind[] = [
  ...["oldest", "newest"].flatMap((which) =>
    WAYS.map(([how, damage]): Kind => {
      const commit = which === "oldest" ? 0 : COMMITS - 1
      return {
        what: `the ${which} data file is ${how}`,
        damage: ({ folder, data }) => damage(join(folder, "data", data[commit] as string)),
        lost: [commit],
      }
    }),
  ),
  ...WAYS.map(
    ([how, damage]): Kind => ({
      what: `the newest manifest is ${how}`,
      damage: ({ folder }) => damage(manifests(folder)[0] as string),
      lost: [],
    }),
  ),
  {
    what: "an older manifest is flipped",
    damage: ({ folder }) => flip(manifests(folder).at(-1) as string),
    lost: [],
  },
  {
    what: "all manifests are missing",
    damage: ({ folder }) => rmSync(join(folder, "_versions"), { recursive: true }),
    lost: [],
  },
  {
    what: "all manifests are empty",
    damage: ({ folder }) => {
      for (const path of manifests(folder)) truncateSync(path, 0)
    },
    lost: [],
  },
  {
    what: "two data files are zeros",
    damage: ({ folder, data }) => {
      for (const name of data.slice(0, 2)) zeros(join(folder, "data", name))
    },
    lost: [0, 1],
  },
  {
    what: "the folder of the data is missing",
    damage: ({ folder }) => rmSync(join(folder, "data"), { recursive: true }),
    lost: every,
  },
  { what: "the table is missing", damage: ({ folder }) => rmSync(folder, { recursive: true }), lost: every },
  {
    what: "the newest manifest and the oldest data file are missing",
    damage: ({ folder, data }) => {
      unlinkSync(manifests(folder)[0] as string)
      unlinkSync(join(folder, "data", data[0] as string))
    },
    lost: [0],
  },
]

const openAt = (path: string, log: string[] = []): Store =>
  openStore(parseLocation(path, { environment: {} }), {
    ...testContext,
    log: createLog("warn", (line) => log.push(line)),
  })

const idsOf = async (store: Store) => new Set((await store.table(TABLE).read({ columns: ["id"] })).map(({ id }) => id))

const idsWithout = (lost: readonly number[]) =>
  new Set(
    ALL.filter(({ session_id }) => !lost.some((commit) => session_id === `session-${commit}`)).map(({ id }) => id),
  )

const snapshotOf = (path: string) =>
  readdirSync(path, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile() && !/\.(lock|readers|maintenance)$/.test(entry.name))
    .map(
      (entry) => `${join(entry.parentPath, entry.name)} ${Bun.hash(readFileSync(join(entry.parentPath, entry.name)))}`,
    )
    .toSorted()

for (const { what, damage, lost } of KINDS) {
  for (const isCopied of [false, true]) {
    test(`${what}, ${isCopied ? "in a copied store" : "in place"}: it costs its own rows, and a repair ends it`, async () => {
      using place = testStore()
      const filled = await fill(place)
      damage(filled)
      const path = isCopied ? `${place.path}/copy` : place.path
      if (isCopied) {
        const to = `${place.path}.copy`
        cpSync(place.path, to, { recursive: true })
        rmSync(place.path, { recursive: true })
        mkdirSync(place.path)
        renameSync(to, path)
      }

      const checked = await openAt(path).check({ isDeep: true })
      const [table] = checked
      expect(checked.map((each) => each.table)).toEqual(["messages"])
      expect(table?.damaged.length).toBeGreaterThan(0)
      expect(table?.lostRows).toBe(lost.length * ROWS)
      const named = new Set(table?.damaged.flatMap(({ groups }) => groups ?? ["unknown"]))
      expect(named).toEqual(new Set(lost.map((commit) => `session-${commit}`)))

      const before = snapshotOf(path)
      const log: string[] = []
      const reader = openAt(path, log)
      expect(await idsOf(reader)).toEqual(idsWithout(lost))
      expect(await reader.table(TABLE).count()).toBe(idsWithout(lost).size)
      expect(log.length).toBe(1)
      expect(log[0]).toContain("pond repair")
      expect(snapshotOf(path)).toEqual(before)
      await expect(openAt(path).table(TABLE).insertAbsent(ALL)).rejects.toThrow("pond repair")

      const repaired = await openAt(path).repair()
      expect(repaired.map(({ lostRows }) => lostRows)).toEqual([lost.length * ROWS])
      expect(await idsOf(openAt(path))).toEqual(idsWithout(lost))
      expect((await openAt(path).check({ isDeep: true })).flatMap(({ damaged }) => damaged)).toEqual([])
      expect(await openAt(path).repair()).toEqual([])

      const later: string[] = []
      const { inserted } = await openAt(path, later).table(TABLE).insertAbsent(ALL)
      expect(inserted).toBe(lost.length * ROWS)
      await openAt(path, later).table(TABLE).maintain("all")
      expect(await idsOf(openAt(path, later))).toEqual(idsWithout([]))
      expect(later).toEqual([])
      expect((await openAt(path).check({ isDeep: true })).flatMap(({ damaged }) => damaged)).toEqual([])
    })
  }
}

test("a data file that comes back whole from the quarantine costs nothing", async () => {
  using place = testStore()
  const { folder, data } = await fill(place)
  const path = join(folder, "data", data[1] as string)
  const whole = readFileSync(path)
  flip(path)
  const aside = join(place.path, ".pond/quarantine/messages/by-hand/data", data[1] as string)
  mkdirSync(join(aside, ".."), { recursive: true })
  writeFileSync(aside, whole)
  const [repaired] = await openAt(place.path).repair()
  expect(repaired?.lostRows).toBe(0)
  expect(repaired?.returned).toEqual([`data/${data[1]}`])
  expect(existsSync(aside)).toBe(false)
  expect(await idsOf(openAt(place.path))).toEqual(idsWithout([]))
})

test("a check of shares reads every file once in all its rounds", async () => {
  using place = testStore()
  const { folder, data } = await fill(place)
  flip(join(folder, "data", data[0] as string))
  const found: number[] = []
  for (let round = 0; round < 4; round++) {
    const [table] = await openAt(place.path).check({ isDeep: true, share: 0.25, round })
    found.push(table?.lostRows ?? 0)
  }
  expect(found.at(-1)).toBe(ROWS)
  expect(found).toEqual(found.toSorted((one, other) => one - other))
})

test("a compaction refuses to rewrite what is not as it was written", async () => {
  using place = testStore()
  const { folder, data } = await fill(place)
  flip(join(folder, "data", data[0] as string))
  const before = snapshotOf(place.path)
  await expect(openAt(place.path).table(TABLE).maintain("all")).rejects.toThrow("pond repair")
  expect(readFileSync(join(folder, "data", data[0] as string)).length).toBeGreaterThan(0)
  expect(before.filter((each) => each.includes("/data/"))).toEqual(
    snapshotOf(place.path).filter((each) => each.includes("/data/")),
  )
})

test("a table that can be made again, and is gone, is made again by the next write", async () => {
  using place = testStore()
  const derived = { ...TABLE, derived: true }
  await place.store.table(derived).insertAbsent(rowsOf(0))
  rmSync(join(place.path, "messages.lance"), { recursive: true })
  const log: string[] = []
  expect(await openAt(place.path, log).table(derived).count()).toBe(0)
  expect(log.length).toBe(1)
  expect(await openAt(place.path).table(derived).insertAbsent(rowsOf(1))).toMatchObject({ inserted: ROWS })
  const [table] = await openAt(place.path).check({ isDeep: true })
  expect([table?.damaged, table?.rows, table?.uncovered]).toEqual([[], ROWS, 0])
})

import { expect, test } from "bun:test"
import { join } from "node:path"
import { systemClock } from "../../src/platform/clock.ts"
import { openFileLock, whileLocked } from "../../src/platform/file-lock.ts"
import { seededRandom } from "../../src/platform/random.ts"
import { defineTable, utf8 } from "../../src/substrate/table-definition.ts"
import { EVERY_KIND, row, testStore } from "./support.ts"

/** Its whole key is indexed: that is where the engine's own insert-if-absent stores a row once per writer. */
const INDEXED_KEY = defineTable({
  name: "indexed_key",
  columns: { id: utf8(), text: utf8() },
  key: ["id"],
  indexes: [{ kind: "btree", column: "id" }],
  schemaVersion: 1,
})

test("four handles that write the same rows at once store each row once", async () => {
  using place = testStore()
  const rows = Array.from({ length: 500 }, (_, index) => ({ id: `row-${index}`, text: "same" }))
  const tables = Array.from({ length: 4 }, () => place.open().table(INDEXED_KEY))
  const written = await Promise.all(tables.map((table) => table.insertAbsent(rows)))
  expect(written.reduce((sum, { inserted }) => sum + inserted, 0)).toBe(500)
  expect(await place.store.table(INDEXED_KEY).count()).toBe(500)
})

test("writers of overlapping rows of one table wait for each other, and nothing is lost", async () => {
  using place = testStore()
  const rowsOf = (writer: number) => Array.from({ length: 30 }, (_, index) => row(`row-${writer * 10 + index}`))
  await Promise.all([0, 1, 2, 3].map((writer) => place.open().table(EVERY_KIND).insertAbsent(rowsOf(writer))))
  const ids = (await place.store.table(EVERY_KIND).read({ columns: ["id"] })).map(({ id }) => id)
  expect(new Set(ids)).toEqual(new Set(Array.from({ length: 60 }, (_, index) => `row-${index}`)))
  expect(ids.length).toBe(60)
})

test("another handle sees a commit at its next read", async () => {
  using place = testStore()
  const reader = place.open().table(EVERY_KIND)
  expect(await reader.count()).toBe(0)
  await place.store.table(EVERY_KIND).insertAbsent([row("a")])
  expect(await reader.count()).toBe(1)
  await place.store.table(EVERY_KIND).insertAbsent([row("b")])
  expect(await reader.count()).toBe(2)
})

test("a lock is the next one's when its holder is killed, and a wait that is too long says so", async () => {
  using place = testStore()
  const path = join(place.path, "some.lock")
  await using holder = Bun.spawn(
    [
      process.execPath,
      "-e",
      `import { openFileLock } from ${JSON.stringify(join(import.meta.dir, "../../src/platform/file-lock.ts"))}
      const lock = openFileLock(${JSON.stringify(path)})
      console.log(lock.take())
      setInterval(() => lock, 1000)`,
    ],
    { stdout: "pipe" },
  )
  await holder.stdout.getReader().read()
  const lock = openFileLock(path)
  expect(lock.take()).toBe(false)
  const wait = { clock: systemClock, random: seededRandom(1), sleep: Bun.sleep, timeoutMs: 20 }
  const refused = await whileLocked(lock, wait, () => Promise.resolve("done")).catch((error) => error)
  expect(refused).toMatchObject({ code: "conflict", details: { attempts: expect.any(Number) } })
  holder.kill(9)
  await holder.exited
  expect(await whileLocked(lock, wait, () => Promise.resolve("done"))).toBe("done")
})

test("a handle that filled a table alone still sees what another one put there since", async () => {
  using place = testStore()
  const [mine, others] = [place.store, place.open()].map((store) => store.table(EVERY_KIND))
  const of = (group: string, id: string) => row(id, { group_id: group })
  expect(await mine?.insertAbsent([of("a", "1"), of("a", "2")])).toMatchObject({ inserted: 2 })
  expect(await mine?.insertAbsent([of("a", "2"), of("a", "3"), of("b", "1")])).toMatchObject({
    inserted: 2,
    present: 1,
  })
  expect(await others?.insertAbsent([of("c", "1")])).toMatchObject({ inserted: 1 })
  expect(await mine?.insertAbsent([of("c", "1"), of("c", "2")])).toMatchObject({ inserted: 1, present: 1 })
  expect(await mine?.insertAbsent([of("c", "2"), of("b", "1")])).toMatchObject({ inserted: 0, present: 2 })
  expect(await others?.count()).toBe(6)
})

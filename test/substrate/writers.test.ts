import { expect, test } from "bun:test"
import { join } from "node:path"
import { openFileLock, whileLocked } from "../../src/platform/files/file-lock.ts"
import { systemClock } from "../../src/platform/host/clock.ts"
import { seededRandom } from "../../src/platform/host/random.ts"
import { openCatalog } from "../../src/substrate/lance/catalog.ts"
import type { Dataset } from "../../src/substrate/lance/dataset.ts"
import { openDataset } from "../../src/substrate/lance/open-dataset.ts"
import { insertAbsent } from "../../src/substrate/lance/write.ts"
import { parseLocation } from "../../src/substrate/location.ts"
import { defineTable, type TableDefinition, utf8 } from "../../src/substrate/table-definition.ts"
import { EVERY_KIND, row, testContext, testStore } from "./support.ts"

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

test("a lock is the next one's when its holder is killed, and a wait that is too long says so", async () => {
  using place = testStore()
  const path = join(place.path, "some.lock")
  await using holder = Bun.spawn(
    [
      process.execPath,
      "-e",
      `import { openFileLock } from ${JSON.stringify(join(import.meta.dir, "../../src/platform/files/file-lock.ts"))}
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

/** How many rows an answer of the engine holds: all at once, or the next batch. */
function rowsIn(answer: unknown): number {
  if (Array.isArray(answer)) return answer.length
  const { first, value } = answer as { first?: { value?: unknown }; value?: unknown }
  const batch = (first ?? { value }).value as { numRows?: number } | undefined
  return batch?.numRows ?? 0
}

test("who goes on with what is most of a table looks it through twice, however often it commits", async () => {
  using place = testStore()
  const rowsFrom = (from: number, count: number) =>
    Array.from({ length: count }, (_, index) => row(`row-${from + index}`))
  await place.store.table(EVERY_KIND).insertAbsent(rowsFrom(0, 6_000))
  let read = 0
  const counted = async <Answer>(answering: Promise<Answer>) => {
    const answer = await answering
    read += rowsIn(answer ?? [])
    return answer
  }
  const catalog = openCatalog(parseLocation(place.path, { environment: {} }), testContext)
  const dataset = openDataset(catalog, EVERY_KIND as unknown as TableDefinition)
  const watched: Dataset = {
    ...dataset,
    attempt: (call) => counted(dataset.attempt(call)),
    once: (call) => counted(dataset.once(call)),
  }
  // Each brings one row that is there.
  for (let commit = 0; commit < 8; commit++) {
    const { inserted, present } = await insertAbsent(watched, rowsFrom(5_999 + commit * 300, 301))
    expect({ inserted, present }).toEqual({ inserted: 300, present: 1 })
  }
  expect(read).toBeGreaterThan(6_000)
  expect(read).toBeLessThan(15_000)
  await place.store.table(EVERY_KIND).insertAbsent([row("row-of-another")])
  expect(await insertAbsent(watched, [row("row-of-another"), row("row-last")])).toMatchObject({ inserted: 1 })
  expect(await place.store.table(EVERY_KIND).count()).toBe(6_000 + 8 * 300 + 2)
  catalog.close()
})

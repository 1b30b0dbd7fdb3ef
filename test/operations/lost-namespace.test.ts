/** The folder of a namespace that is gone is missed, because the store remembers that it was made. */
import { expect, test } from "bun:test"
import { readdirSync, rmSync } from "node:fs"
import { join } from "node:path"
import { storeIsWhole } from "../../src/operations/doctor/machine-checks.ts"
import { checkIntegrity, repairIntegrity } from "../../src/operations/store/integrity.ts"
import { systemClock } from "../../src/platform/host/clock.ts"
import { folderOf, openNamespaces } from "../../src/substrate/namespaces.ts"
import { rowsOf, TABLE } from "../support/damage.ts"
import { testPond } from "./support.ts"

test("a check names it, a repair gives it up, and an empty namespace is none that is lost", async () => {
  using box = testPond()
  const { pond } = box
  const namespaces = await pond.namespaces()
  for (const name of ["team", "empty"]) await namespaces.create(name)
  await (await namespaces.resolve("team")).table(TABLE).insertAbsent(rowsOf(0))
  const check = () =>
    checkIntegrity(pond, { isDeep: true }, { signal: new AbortController().signal, onTable: () => undefined })
  expect((await check()).ok).toBe(true)

  const root = (await pond.sessions()).store.location.uri
  const folder = folderOf("team")
  expect(readdirSync(root)).toContain(folder)
  rmSync(join(root, folder), { recursive: true })
  const lost = await check()
  expect(lost.ok).toBe(false)
  expect(lost.tables.filter(({ damaged }) => damaged.length > 0)).toMatchObject([
    { namespace: "team", damaged: [{ file: folder, found: "missing", sessions: null }] },
  ])
  // As another process finds it, which has not read of it before.
  const later = openNamespaces((await pond.sessions()).store, systemClock)
  await expect(later.resolve("team")).rejects.toMatchObject({ code: "storage_unavailable" })
  await later.resolve("empty")
  expect((await storeIsWhole(pond)).found).toContain("The folder of the namespace team is missing")
  expect((await repairIntegrity(pond)).tables).toMatchObject([{ namespace: "team", sessions: null }])
  expect((await check()).ok).toBe(true)
  await later.resolve("team")
})

/** Who else can read a store that lies in a directory that was there before. */
import { expect, test } from "bun:test"
import { chmodSync, readdirSync, statSync } from "node:fs"
import { join } from "node:path"
import { EVERY_KIND, row, testStore } from "./support.ts"

test("a table is private in a directory that everybody can read", async () => {
  using here = testStore()
  chmodSync(here.path, 0o755)
  const before = process.umask(0)
  try {
    await here.store.table(EVERY_KIND).insertAbsent([row("a")])
  } finally {
    process.umask(before)
  }
  const modes = readdirSync(here.path).map((name) => [name, (statSync(join(here.path, name)).mode & 0o777).toString(8)])
  expect(Object.fromEntries(modes)).toEqual({ ".pond": "700", "every_kind.lance": "700" })
})

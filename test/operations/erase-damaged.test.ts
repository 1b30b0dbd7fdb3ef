/** The record of what is erased, damaged: what pond cannot know to be erased it does not show. */
import { expect, test } from "bun:test"
import { rmSync } from "node:fs"
import { join } from "node:path"
import { erase } from "../../src/operations/store/erase-operations.ts"
import { said, session } from "../sessions/support.ts"
import { testPond } from "./support.ts"

test.each([
  ["a file of them is gone", "data"],
  ["all of them are gone", ""],
])("where the tombstones are damaged nothing is shown until they are repaired: %s", async (_, what) => {
  using box = testPond()
  await box.place.sessions.write([
    { session: session("secret"), entries: [said("secret", 0, "the password")] },
    { session: session("open"), entries: [said("open", 0, "an open question", { id: "o0" })] },
  ])
  await box.run(erase, { session: ["secret"], yes: true })
  rmSync(join(box.place.path, "tombstones.lance", what), { recursive: true })
  const sessions = box.place.open()
  const unknown = {
    code: "storage_unavailable",
    message: expect.stringMatching(/tombstones .* is damaged, so pond cannot tell what was erased.*`pond repair`/),
  }
  await expect(sessions.tables.messages.read({ columns: ["id"] })).rejects.toMatchObject(unknown)
  await expect(sessions.log("secret")).rejects.toMatchObject(unknown)
  const [repaired] = await sessions.store.repair()
  expect(repaired).toMatchObject({ table: "tombstones" })
  expect(repaired?.lostRows).toBeGreaterThan(0)
  expect((await box.place.open().tables.messages.read({ columns: ["id"] })).length).toBeGreaterThan(0)
})

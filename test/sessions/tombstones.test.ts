/** What is erased is listed with the last one first, whatever the sessions are called. */
import { expect, test } from "bun:test"
import { memoryPond } from "../operations/support.ts"
import { said, session } from "./support.ts"

/** Tombstones are noted by the clock, in milliseconds. */
function nextMillisecond(): void {
  const ms = Date.now()
  while (Date.now() === ms);
}

test("the session that was erased last comes first", async () => {
  using box = memoryPond()
  const { sessions } = box.place
  const ids = ["b", "a", "c"]
  await sessions.write(ids.map((id) => ({ session: session(id), entries: [said(id, 0, `hello from ${id}`)] })))
  for (const id of ids) {
    await sessions.erasure.erase(await sessions.erasure.closure([id]))
    nextMillisecond()
  }
  expect((await sessions.erasure.tombstones()).map(({ id }) => id)).toEqual(["c", "a", "b"])
})

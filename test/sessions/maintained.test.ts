/** Which tables are asked whether something is due. */
import { expect, test } from "bun:test"
import { said, session, testSessions } from "./support.ts"

test("a table that stands as it did when nothing was due is not asked, and one that was written since is", async () => {
  using place = testSessions()
  const { sessions } = place
  const write = (name: string, ordinal: number) =>
    sessions.write([{ session: session(name), entries: [said(name, ordinal, `word${ordinal}`)] }])
  for (let number = 0; number < 30; number++) await write(`s${number}`, 0)
  const idleSignature = await sessions.standing()
  const asked = async (options: { readonly idleSignature?: string }) => {
    const reports = await sessions.maintain("due", options)
    return reports.filter(({ table, steps }) => table !== "words" && steps.length > 0).map(({ table }) => table)
  }
  expect(await asked({ idleSignature })).toEqual([])
  await write("s0", 1)
  expect(await asked({ idleSignature })).toEqual(["messages", "parts"])
  expect(await asked({})).toEqual(["sessions"])
})

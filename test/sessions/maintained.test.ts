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

test("a compaction goes with commits of which one lacks a value that another has", async () => {
  using place = testSessions()
  const { message, parts } = said("picture", 0, "see this")
  const file = { media_type: "image/png", data: { type: "base64", base64: "aGVsbG8=" } }
  const picture = { ...parts[0], text: undefined, id: "file", type: "file", ...file }
  await place.sessions.write([
    { session: session("picture"), entries: [{ message, parts: [...parts, picture] } as never] },
  ])
  await place.sessions.write([{ session: session("words"), entries: [said("words", 0, "none here")] }])
  await place.sessions.maintain("all")
  const checked = await place.sessions.store.check({ isDeep: true })
  expect(checked.flatMap(({ damaged }) => damaged)).toEqual([])
})

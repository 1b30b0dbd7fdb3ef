/** What is shown of a text that is too long for an answer: the place that was looked for. */
import { expect, test } from "bun:test"
import { type SearchOutput, search } from "../../src/operations/wire/search.ts"
import { said, session } from "../sessions/support.ts"
import { testPond } from "./support.ts"

test.each([
  ["that is read", "v\\d+\\.\\d+\\.\\d+-rc"],
  ["whose words alone are known", "(?:v\\d+\\.?)+\\d\\.\\d+-rcandidate"],
])("what is shown of a long text holds what a pattern %s matched", async (_, query) => {
  using box = testPond()
  const text = `${"d+ and more v1 of it, ".repeat(400)}v12.0.3-rcandidate${" d+ and then some v2".repeat(400)}`
  await box.place.sessions.write([{ session: session("long"), entries: [said("long", 0, text)] }])
  const { matches } = (await box.run(search, { query, mode: "pattern", group: "none" })) as SearchOutput
  expect(matches).toMatchObject([{ truncated: true, text: expect.stringContaining("v12.0.3-rcandidate") }])
})

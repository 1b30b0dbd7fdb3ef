/** What is shown of a text that is too long for an answer: the place that was looked for. */
import { expect, test } from "bun:test"
import { search } from "../../src/operations/wire/search.ts"
import type { SearchOutput } from "../../src/operations/wire/search-output.ts"
import { said, session } from "../sessions/support.ts"
import { memoryPond } from "./support.ts"

test.each([
  ["that is read", "v\\d+\\.\\d+\\.\\d+-rc"],
  ["whose words alone are known", "(?:v\\d+\\.?)+\\d\\.\\d+-rcandidate"],
])("what is shown of a long text holds what a pattern %s matched", async (_, query) => {
  using box = memoryPond()
  const text = `${"d+ and more v1 of it, ".repeat(400)}v12.0.3-rcandidate${" d+ and then some v2".repeat(400)}`
  await box.place.sessions.write([{ session: session("long"), entries: [said("long", 0, text)] }])
  const { matches } = (await box.run(search, { query, mode: "pattern", group: "none" })) as SearchOutput
  expect(matches).toMatchObject([{ truncated: true, text: expect.stringContaining("v12.0.3-rcandidate") }])
})

test("a long hit begins with its prefix where there is room, and shows the place alone where there is little", async () => {
  using box = memoryPond()
  const text = `The first line says what it is about. ${"and more of it, ".repeat(400)}the needle ${"and the rest ".repeat(400)}`
  await box.place.sessions.write([{ session: session("long"), entries: [said("long", 0, text)] }])
  const hitOf = async (more: object) => {
    const answer = (await box.run(search, { query: "needle", group: "none", ...more })) as SearchOutput
    return answer.matches?.[0]
  }
  const roomy = await hitOf({})
  expect(roomy?.truncated).toBe(true)
  expect(roomy?.text).toContain("the needle")
  expect(roomy?.prefix).toMatch(/^The first line says what it is about\. .*…$/)
  expect((roomy?.prefix ?? "").length + (roomy?.text ?? "").length).toBeLessThanOrEqual(1_200)
  const early = await hitOf({ query: '"first line"' })
  expect(early?.text).toStartWith("The first line")
  expect(early).not.toHaveProperty("prefix")
})

test("a session shows the best three of its hits, and says how many there are", async () => {
  using box = memoryPond()
  const entries = Array.from({ length: 6 }, (_, at) => said("many", at, `needle ${"x ".repeat(at)}`, { id: `m${at}` }))
  await box.place.sessions.write([{ session: session("many"), entries }])
  const { sessions = [] } = (await box.run(search, { query: "needle" })) as SearchOutput
  expect(sessions.map(({ matches, matched_message_count: found }) => [matches.length, found])).toEqual([[3, 6]])
})

/** What the schema documents show is what works: each of their examples is run over a store. */
import { expect, test } from "bun:test"
import { RESOURCES } from "../../src/mcp/resources.ts"
import { TOOLS } from "../../src/mcp/tools.ts"
import { perform } from "../../src/operations/operation.ts"
import { sql } from "../../src/operations/sql/sql.ts"
import { memoryPond, type TestPond } from "../operations/support.ts"
import { said, session } from "../sessions/support.ts"

async function examples(box: TestPond): Promise<string[]> {
  const resource = RESOURCES.find(({ uri }) => uri === "schema://pond-sql")
  const text = (await resource?.read(contextOf(box))) ?? ""
  const own = text.slice(text.indexOf("\nExamples\n") + 1).split(/\n {2}(?=SELECT|WITH|DESCRIBE|EXPLAIN|SHOW)/)
  const inTools = TOOLS.flatMap(({ description }) => [...description.matchAll(/Patterns: (SELECT [^;]+);/g)])
  return [...own.slice(1), ...inTools.map(([, pattern = ""]) => pattern)]
}

const contextOf = ({ pond }: TestPond) => ({ pond, signal: new AbortController().signal })

test("every example is answered, and none reads a whole table for a join of few rows", async () => {
  using box = memoryPond()
  await box.place.sessions.write(
    ["s", "t", "u"].map((id) => ({
      session: session(id),
      entries: [said(id, 0, id === "s" ? "the login token" : "something else", { id: `${id}0` })],
    })),
  )
  const all = await examples(box)
  expect(all.length).toBeGreaterThan(4)
  for (const text of all) {
    const answer = await perform(sql, contextOf(box), { sql: text, output: "json" })
    expect(answer.columns.length).toBeGreaterThan(0)
    if (!text.includes("fts(")) continue
    expect(answer.rows).toMatchObject([{ id: "s0", text: "the login token" }])
    expect(answer.read).toContainEqual(expect.objectContaining({ table: "parts", rows: 1, filtered: true }))
  }
}, 60_000)

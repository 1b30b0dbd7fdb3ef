/** What a tool answers is never more than it says to its host, whatever is stored; and nothing is left out unsaid. */
import { expect, test } from "bun:test"
import { toolName } from "../../src/mcp/tool.ts"
import { TOOLS } from "../../src/mcp/tools.ts"
import type { Entry } from "../../src/model/session.ts"
import { memoryPond, type TestPond } from "../operations/support.ts"
import { said, session } from "../sessions/support.ts"

async function call(box: TestPond, name: string, given: object): Promise<{ text: string; isError?: boolean }> {
  const tool = TOOLS.find((each) => toolName(each) === name)
  if (tool === undefined) throw new Error(`there is no tool ${name}`)
  const answer = await tool.run({ pond: box.pond, signal: new AbortController().signal }, given)
  expect(answer.text.length).toBeLessThanOrEqual(tool.resultCharsMax)
  return answer
}

test("a search of the most sessions fits, and its cursor goes on behind the last that is shown", async () => {
  using box = memoryPond()
  const ids = Array.from({ length: 120 }, (_, at) => `session-${String(at).padStart(3, "0")}-${"x".repeat(40)}`)
  const text = `a needle ${"\u001b".repeat(300)}`
  await box.place.sessions.write(
    ids.map((id) => ({
      session: session(id, { project: `/home/someone/${"deep/".repeat(40)}` }),
      entries: [0, 1, 2].map((ordinal) => said(id, ordinal, text, { id: `${id}:${ordinal}` })),
    })),
  )
  const shown: string[] = []
  let cursor: string | undefined
  do {
    const asked = { query: "needle", mode: "exact", limit: 200, ...(cursor === undefined ? {} : { cursor }) }
    const answer = await call(box, "pond_search", asked)
    shown.push(...[...answer.text.matchAll(/^--- session \[\d+\] (session-\d{3})/gm)].map(([, id = ""]) => id))
    cursor = /^cursor: (\S+)/m.exec(answer.text)?.[1]
  } while (cursor !== undefined)
  // The places of one session may lie on both sides of where a walk went on.
  expect(new Set(shown)).toEqual(new Set(ids.map((id) => id.slice(0, 11))))
}, 60_000)

const HUGE = Array.from({ length: 90_000 }, (_, at) => `line ${at}`).join("\n")

/** A message that says something, did something huge, and was answered with it. */
function hugeEntry(id: string, ordinal: number): Entry {
  const { message, parts } = said("s", ordinal, "look", { id, role: "assistant" })
  const common = { session_id: "s", message_id: id, provenance: "conversational", options: {} }
  const done = { ...common, id: `${id}:c`, type: "tool_call", call_id: "c", name: "Write", params: { text: HUGE } }
  const result = { ...common, id: `${id}:r`, type: "tool_result", call_id: "c", is_failure: false, result: HUGE }
  return { message, parts: [...parts, done, result] } as unknown as Entry
}

test.each<[string, object]>([
  ["a session", { session_id: "s", response_mode: "verbatim" }],
  ["what was said", { session_id: "s" }],
  ["a message", { message_id: "m1" }],
  ["a message with its neighbours", { message_id: "m1", context_depth: 50 }],
])("%s fits, and says what is left out and how to read on", async (_, asked) => {
  using box = memoryPond()
  const entries = [said("s", 0, HUGE, { id: "m0" }), hugeEntry("m1", 1), said("s", 2, HUGE, { id: "m2" })]
  await box.place.sessions.write([{ session: session("s"), entries }])
  const { text } = await call(box, "pond_get", asked)
  expect(text).toMatch(/^\s*\[[\d,]+ of [\d,]+ characters left out; continue with: pond_(get|sql_query) /m)
  for (const [, sql = ""] of text.matchAll(/to read on: pond_sql_query (SELECT .*)\]$/gm)) {
    expect((await call(box, "pond_sql_query", { sql, output: "json" })).text).toContain("line ")
  }
})

test.each(["table", "json"])("rows as %s fit, and it is said that there are more", async (output) => {
  using box = memoryPond()
  const cells = Array.from({ length: 20 }, (_, at) => `repeat('x', 60) AS c${at}`).join(", ")
  const { text } = await call(box, "pond_sql_query", { sql: `SELECT ${cells} FROM range(1000)`, output, limit: 1000 })
  const rows = output === "json" ? JSON.parse(text).row_count : Number(/^(\d+) rows in /.exec(text)?.[1])
  expect(text).toContain(output === "json" ? '"truncated":true' : "; more rows exist: ")
  expect(text.split("x".repeat(60)).length - 1).toBe(rows * 20)
  const one = await call(box, "pond_sql_query", { sql: "SELECT 1 AS one", output: "table" })
  expect(one.text).toStartWith("1 row in ")
})

test("a row that does not fit at all is told how it would", async () => {
  using box = memoryPond()
  const answer = await call(box, "pond_sql_query", { sql: "SELECT repeat('x', 100000) AS a", output: "json" })
  expect(answer).toEqual({
    isError: true,
    text: expect.stringMatching(/^A row of this has 100008 characters, .*left\(/),
  })
})

/** Of English text, about. */
const CHARACTERS_PER_TOKEN = 4

test("a default search takes at most 1,500 tokens, however much was found, and has several sessions", async () => {
  using box = memoryPond()
  const sentence = "The migration failed because the old column was still read by the nightly report. "
  const ids = Array.from({ length: 30 }, (_, at) => `6f1c2d3e-0000-4000-8000-${String(at).padStart(12, "0")}`)
  await box.place.sessions.write(
    ids.map((id) => ({
      session: session(id, { project: "/home/dev/work/reports" }),
      entries: [0, 1, 2, 3].map((ordinal) => said(id, ordinal, sentence.repeat(20), { id: `${id}:${ordinal}` })),
    })),
  )
  const { text } = await call(box, "pond_search", { query: "why did the migration fail" })
  expect(text.length / CHARACTERS_PER_TOKEN).toBeLessThanOrEqual(1_500)
  expect([...text.matchAll(/^--- session /gm)].length).toBeGreaterThanOrEqual(5)
})

test("agents are told that the history may be in other languages, and can ask in several at once", async () => {
  const tool = TOOLS.find((each) => toolName(each) === "pond_search")
  expect(tool?.description).toContain("may be in other languages than the question")
  using box = memoryPond()
  await box.place.sessions.write([
    { session: session("es"), entries: [said("es", 0, "El informe mostraba pedidos del día anterior.")] },
  ])
  const asked = { query: "why did the report show old orders", queries: ["por qué el informe mostraba pedidos"] }
  expect((await call(box, "pond_search", asked)).text).toContain("El informe mostraba pedidos")
})

test("a search that sets no limit is short, and one that does has the texts as they are", async () => {
  using box = memoryPond()
  const text = `needle ${"語".repeat(400)}`
  const ids = ["one", "two", "three", "four"]
  await box.place.sessions.write(ids.map((id) => ({ session: session(id), entries: [said(id, 0, text, { id })] })))
  const lengthOf = async (asked: object) =>
    (await call(box, "pond_search", { query: "needle", mode: "exact", ...asked })).text.split("語").length
  const [short, limited, wide] = await Promise.all([{}, { limit: 4 }, { text_budget: 20_000 }].map(lengthOf))
  expect(short).toBeLessThan(1_000)
  for (const full of [limited, wide]) expect(full).toBeGreaterThan(1_500)
})

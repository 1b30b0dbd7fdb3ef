/** What stands beside a SELECT: the list of tables, their columns, plans; and what a join that is sorted and limited reads. */
import { afterAll, beforeAll, expect, test } from "bun:test"
import { type SqlOutput, sql } from "../../src/operations/sql/sql.ts"
import { embeddingsTable } from "../../src/sessions/tables.ts"
import { said, session } from "../sessions/support.ts"
import { memoryPond, type TestPond } from "./support.ts"

let box: TestPond

beforeAll(async () => {
  box = memoryPond()
  const ids = ["s", "t", "u"]
  await box.place.sessions.write(
    ids.map((id) => ({
      session: session(id, { project: `/work/${id}` }),
      entries: [0, 1].map((at) => said(id, at, at === 0 ? `hello ${id}` : "and more", { id: `${id}${at}` })),
    })),
  )
})
afterAll(() => box[Symbol.dispose]())

async function ask(query: string, output = "json"): Promise<SqlOutput> {
  return (await box.run(sql, { sql: query, output })) as SqlOutput
}

test("tables and their columns are listed, and read nothing", async () => {
  const { rows = [], read } = await ask("SHOW TABLES;")
  expect(rows.map(({ table }) => table)).toEqual(["sessions", "messages", "parts", "embeddings", "usage"])
  expect(read).toEqual([])
  const described = await ask("describe messages")
  expect(described.rows).toContainEqual({ column_name: "timestamp", column_type: "timestamptz" })
  expect((await ask("DESCRIBE SELECT count(*) AS n FROM messages")).rows).toMatchObject([
    { column_name: "n", column_type: "BIGINT" },
  ])
  expect(ask("describe nowhere")).rejects.toMatchObject({ code: "validation_failed" })
})

test("a plan says what is read of the store, and with ANALYZE what it took", async () => {
  const query = "SELECT id FROM messages WHERE role = 'user' ORDER BY timestamp LIMIT 5"
  const plan = await ask(`EXPLAIN ${query}`)
  const lines = (plan.rows ?? []).map((row) => String(row["plan"]))
  expect(lines[0]).toMatch(/^read messages\(.*id.*\): rows that meet the conditions; at most 5 rows$/)
  expect(lines.join("\n")).toContain("SEQ_SCAN")
  expect(plan.read).toEqual([])
  const ran = await ask(`explain analyze ${query}`, "table")
  expect(ran.table).toMatch(/^plan\n----\nread messages/)
  expect(ran.table).toContain("Total Time")
  expect(ran.read).toMatchObject([{ table: "messages", filtered: true }])
  expect(ask(`explain ${query}`, "csv")).rejects.toMatchObject({ message: expect.stringContaining("EXPLAIN is") })
})

test.each([
  [
    "two tables",
    "SELECT m.id, p.text FROM messages m JOIN parts p ON p.session_id = m.session_id AND p.message_id = m.id WHERE m.session_id = 's' ORDER BY m.timestamp DESC LIMIT 5",
    { messages: 2, parts: 2 },
  ],
  [
    "three tables",
    "SELECT p.text, m.project, s.id FROM parts p JOIN messages m ON m.session_id = p.session_id AND m.id = p.message_id JOIN sessions s ON s.id = m.session_id WHERE s.project = '/work/t' ORDER BY m.timestamp DESC, p.ordinal LIMIT 20",
    { sessions: 1, messages: 2, parts: 2 },
  ],
  [
    "what words found",
    "SELECT m.id, p.text FROM fts('messages', 'hello') f JOIN messages m ON m.id = f.id AND m.session_id = f.session_id JOIN parts p ON p.session_id = m.session_id AND p.message_id = m.id WHERE f.session_id = 'u' ORDER BY f.score DESC LIMIT 3",
    { fts_messages: 2, messages: 2, parts: 2 },
  ],
])("a sorted and limited join of %s reads no whole table", async (_, query, rows) => {
  const answer = await ask(query)
  expect(answer.rows?.length).toBeGreaterThan(0)
  expect(answer.notes).toBeUndefined()
  expect(Object.fromEntries(answer.read.map((each) => [each.table, each.rows]))).toMatchObject(rows)
})

test("vectors of any length are rows of embeddings", async () => {
  const common = { model: "m", piece: 0, role: "user", source_agent: "test-client", project: "/w", lane: "main" }
  for (const [at, dimension] of [16, 1536].entries()) {
    const times = { timestamp: 0n, ingested_at: 0n }
    const vector = new Float32Array(dimension)
    const row = { session_id: "s", message_id: `s${at}`, ...common, ...times, vector }
    await box.place.sessions.store.table(embeddingsTable(dimension)).insertAbsent([row as never])
  }
  expect((await ask("SELECT message_id FROM embeddings ORDER BY 1")).rows).toEqual([
    { message_id: "s0" },
    { message_id: "s1" },
  ])
  expect((await ask("SELECT count(*) AS n FROM embeddings")).rows).toEqual([{ n: 2 }])
})

test("an arrow without its parentheses is explained", () => {
  const wrong = "SELECT id FROM parts WHERE type = 'text' AND variant_data->>'$.text' = 'x'"
  expect(ask(wrong)).rejects.toMatchObject({ message: expect.stringContaining("Put them in parentheses") })
  expect(ask("SELECT id FROM parts WHERE variant_data->'$.n' > 3")).rejects.toMatchObject({
    message: expect.stringContaining("Put them in parentheses"),
  })
})

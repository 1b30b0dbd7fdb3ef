/** SQL reads, filters and sorts by the last title that a client recorded, not by the one that the row of the session has. */
import { afterAll, beforeAll, expect, test } from "bun:test"
import type { Entry } from "../../src/model/session.ts"
import { type SqlOutput, sql } from "../../src/operations/sql/sql.ts"
import { MOMENT, session } from "../sessions/support.ts"
import { memoryPond, type TestPond } from "./support.ts"

const renamed = (id: string, title: string): Entry => ({
  message: {
    ...{ id: "name", session_id: id, ordinal: 0, timestamp: MOMENT, role: "system", content: "" },
    options: { pond: { title } },
  },
  parts: [],
})

let box: TestPond

beforeAll(async () => {
  box = memoryPond()
  await box.place.sessions.write([
    { session: session("a", { title: "z first" }), entries: [renamed("a", "a last")] },
    { session: session("b", { title: "m only" }), entries: [] },
    { session: session("c", { title: "a first" }), entries: [renamed("c", "z last")] },
  ])
})
afterAll(() => box[Symbol.dispose]())

test.each([
  ["SELECT title FROM sessions ORDER BY title LIMIT 1", ["a last"]],
  ["SELECT title FROM sessions ORDER BY title DESC LIMIT 2", ["z last", "m only"]],
  ["SELECT max(title) FROM sessions", ["z last"]],
  ["SELECT id FROM sessions WHERE title = 'a last'", ["a"]],
  ["SELECT id FROM sessions WHERE title LIKE 'z%'", ["c"]],
  ["SELECT id FROM sessions WHERE title = 'z first'", []],
  ["SELECT title FROM sessions WHERE id = 'c'", ["z last"]],
])("%s", async (query, want) => {
  const { rows = [] } = (await box.run(sql, { sql: query })) as SqlOutput
  expect(rows.flatMap((row) => Object.values(row))).toEqual([...want])
})

/** What the store is asked for instead of the engine: it must find the same, and less must be read for it. */
import { afterAll, beforeAll, expect, test } from "bun:test"
import { type SqlOutput, sql } from "../../src/operations/sql.ts"
import { said, session } from "../sessions/support.ts"
import { type TestPond, testPond } from "./support.ts"

const TEXTS = [
  "able",
  "Able was I",
  "un-able\nto go",
  "ABLE%50_x",
  "İstanbul",
  "istanbul",
  "20 \u212a of \u212aelvin",
  "20 k of Kelvin",
  "straße",
  "STRASSE",
  "a\\b",
  "a.b|c(d)[e]{2}^$*+?~&#/-",
  "axb",
  "a🎉b",
  "a\ud83db",
  "ae\u0301b",
  "ſtrange",
  "mid\tİ k\u212aK",
]

let box: TestPond

beforeAll(async () => {
  box = testPond()
  const entries = TEXTS.map((text, ordinal) =>
    said("s", ordinal, text, {
      id: `m${String(ordinal).padStart(2, "0")}`,
      role: ordinal % 2 === 0 ? "user" : "assistant",
      timestamp: new Date(Date.UTC(2026, 0, 30, 6 * ordinal)).toISOString(),
    }),
  )
  await box.place.sessions.write([{ session: session("s"), entries }])
})
afterAll(() => box[Symbol.dispose]())

async function ask(query: string): Promise<SqlOutput> {
  return (await box.run(sql, { sql: query })) as SqlOutput
}

const idsOf = ({ rows }: SqlOutput) => (rows ?? []).map(({ id }) => String(id))
const readOf = ({ read }: SqlOutput) => read.map(({ rows }) => rows).reduce((sum, rows) => sum + rows, 0)

const PATTERNS = [
  "able",
  "%able%",
  "ABLE%",
  "a_b",
  "a__b",
  "%_able",
  "%i%",
  "%K%",
  "%k%k%",
  "İ%",
  "%ß%",
  "%ss%",
  "S%",
  "a\\b",
  "%.b|c(d)[e]{2}^$*+?~&#/-",
  "%\u{1f389}%",
  "%",
  "",
  "%un%go",
]
const literal = (text: string) => `'${text.replaceAll("'", "''")}'`

test.each(["like", "ilike", "not like", "not ilike"])(
  "%s finds by the store what the engine finds",
  async (operator) => {
    const own = PATTERNS.map((pattern, at) => `(search_text || '') ${operator} ${literal(pattern)} p${at}`)
    const engine = await ask(`select id, ${own.join(", ")} from messages order by id`)
    expect(engine.row_count).toBe(TEXTS.length)
    for (const [at, pattern] of PATTERNS.entries()) {
      const asked = await ask(`select id from messages where search_text ${operator} ${literal(pattern)} order by id`)
      const found = (engine.rows ?? []).filter((row) => row[`p${at}`] === true).map(({ id }) => String(id))
      expect({ pattern, ids: idsOf(asked) }).toEqual({ pattern, ids: found })
    }
  },
)

test.each([
  ["= 'able'"],
  ["= 'istanbul'"],
  ["= 'straße'"],
  ["= 'Able'"],
  ["like '%able%'"],
  ["like 'ABLE%'"],
  ["like '%k%k%'"],
])("the text in small letters %s is found by the store as by the engine", async (of) => {
  const asked = await ask(`select id from messages where lower(search_text) ${of} order by id`)
  expect(idsOf(asked)).toEqual(
    idsOf(await ask(`select id from messages where lower(search_text || '') ${of} order by id`)),
  )
})

test.each([
  ["= '2026-01-31'", 4],
  ["> '2026-01-31'", 10],
  [">= '2026-01-31'", 14],
  ["< '2026-01-31'", 4],
  ["<= '2026-01-31'", 8],
  ["between '2026-01-31' and '2026-02-01'", 8],
  ["in ('2026-01-30')", 4],
] as const)("of the messages whose day is %s only those are read", async (of, count) => {
  const asked = await ask(`select id from messages where timestamp::date ${of} order by id`)
  const own = `(timestamp + to_seconds(ordinal * 0))::date ${of}`
  expect(idsOf(asked)).toEqual(idsOf(await ask(`select id from messages where ${own} order by id`)))
  expect({ ids: idsOf(asked).length, read: readOf(asked) }).toEqual({ ids: count, read: count })
})

test.each([
  ["select id from messages where search_text ilike '%ABLE%' limit 2", 2, 2],
  ["select id from messages where search_text like 'a%b' and role = 'user'", 3, 3],
  ["select id from messages where lower(role) = 'user'", 9, 9],
  ["select count(*) id from messages where search_text ilike '%able%'", 1, 1],
  ["select count(*) id from messages where role = 'nobody'", 1, 0],
  ["select min(timestamp) id from messages", 1, 1],
  ["select max(ordinal) id, min(ordinal), max(timestamp) from messages where role = 'user'", 1, 3],
  ["select id from messages where session_id in (select session_id from parts where type = 'none')", 0, 0],
] as const)("%s reads what it needs", async (query, rows, read) => {
  const answer = await ask(query)
  expect({ rows: answer.row_count, read: readOf(answer) }).toEqual({ rows, read })
})

test("what is counted and the ends of columns are those of all rows", async () => {
  const one = async (query: string) => (await ask(query)).rows?.[0]
  expect(await one("select count(*) n from messages where search_text ilike '%able%'")).toEqual({ n: 4 })
  expect(await one("select count(*) n from messages where role = 'nobody'")).toEqual({ n: 0 })
  expect(
    await one("select min(ordinal) a, max(ordinal) b, max(timestamp) c from messages where role = 'user'"),
  ).toEqual({ a: 0, b: 16, c: "2026-02-03T00:00:00.000Z" })
  expect(await one("select min(ordinal) a, max(ordinal) b from messages where role = 'nobody'")).toEqual({
    a: null,
    b: null,
  })
  // More is asked of these than a number or an end.
  expect(await one("select count(*) n, min(ordinal) a from messages where role = 'user'")).toEqual({ n: 9, a: 0 })
  expect(await one("select count(distinct role) n from messages")).toEqual({ n: 2 })
  expect(await one("select count(*) filter (where ordinal > 4) n from messages where role = 'user'")).toEqual({ n: 6 })
  expect(
    await one("select (select count(*) from messages where role = 'user') a, (select max(ordinal) from messages) b"),
  ).toEqual({ a: 9, b: 17 })
  expect(await one("select max(n) n from (select count(*) n from messages group by role) where n > 0")).toEqual({
    n: 9,
  })
})

/** What the store is asked for instead of the engine: it must find the same, and less must be read for it. */
import { afterAll, beforeAll, expect, test } from "bun:test"
import { literal } from "../../src/operations/sql/literal.ts"
import { loadTables } from "../../src/operations/sql/load.ts"
import { planReads } from "../../src/operations/sql/plan.ts"
import { columnsOf } from "../../src/operations/sql/query-tables.ts"
import { openSandbox, type Sandbox } from "../../src/operations/sql/sandbox.ts"
import { type SqlOutput, sql } from "../../src/operations/sql/sql.ts"
import { systemClock } from "../../src/platform/host/clock.ts"
import { lazy } from "../../src/platform/lazy.ts"
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
  await box.place.sessions.write([
    { session: session("s"), entries },
    { session: session("titled", { title: "a" }), entries: [] },
  ])
})
afterAll(async () => {
  await (await sandbox()).close()
  box[Symbol.dispose]()
})

async function ask(query: string): Promise<SqlOutput> {
  return (await box.run(sql, { sql: query })) as SqlOutput
}

const signal = new AbortController().signal

const sandbox = lazy((): Promise<Sandbox> => {
  const spill = `${box.place.path}/spill`
  const nowMicros = BigInt(systemClock.nowMs()) * 1000n
  return openSandbox({ spill, output: undefined, nowMicros, timeoutMs: 240_000 }, signal)
})

/**
 * The first column of the answer, as a query has it that is planned, loaded and run; but in one engine for all, empty again
 * after each, where a query has a process of its own: of hundreds that is the most of what they cost.
 */
async function askAgain(query: string): Promise<unknown[]> {
  const engine = await sandbox()
  const asked = `select json_serialize_plan(${literal(query)}, skip_null := true, skip_empty := true, optimize := true)`
  const plan = JSON.parse((await engine.text(asked, 1_000_000)) ?? "")
  const reads = planReads(plan.plans, columnsOf)
  expect(reads.map(({ table }) => table)).toEqual(["messages"])
  await engine.run("begin")
  try {
    await loadTables({ sandbox: engine, sessions: box.place.sessions, pond: box.pond, signal }, reads)
    return (await engine.rows(query)).map(([first]) => first)
  } finally {
    await engine.run("rollback")
  }
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

test.each(["like", "ilike", "not like", "not ilike"])(
  "%s finds by the store what the engine finds",
  async (operator) => {
    const own = PATTERNS.map((pattern, at) => `(search_text || '') ${operator} ${literal(pattern)} p${at}`)
    const engine = await ask(`select id, ${own.join(", ")} from messages order by id`)
    expect(engine.row_count).toBe(TEXTS.length)
    for (const [at, pattern] of PATTERNS.entries()) {
      const ids = await askAgain(
        `select id from messages where search_text ${operator} ${literal(pattern)} order by id`,
      )
      const found = (engine.rows ?? []).filter((row) => row[`p${at}`] === true).map(({ id }) => String(id))
      expect({ pattern, ids }).toEqual({ pattern, ids: found })
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

const CONDITIONS = [
  "3 < ordinal",
  "3 >= ordinal",
  "'2026-02-01T06:00:00Z' < timestamp",
  "ordinal between 3 and 7",
  "ordinal not between 3 and 7",
  "(ordinal > 3 and ordinal < 7) or search_text = 'axb'",
  "(ordinal >= 3 and ordinal < 7) or search_text = 'axb'",
  "3 < ordinal or search_text = 'able'",
  "timestamp > '2026-01-31T06:00:00Z' and timestamp <= '2026-02-01T06:00:00Z'",
  "ordinal in (1, 2, null)",
  "ordinal not in (1, 2)",
  "ordinal not in (1, null)",
  "ordinal = 3.5",
  "ordinal < 3.5",
  "content is null",
  "role = 'user' or ordinal > 12",
  "role = 'user' or length(search_text) > 9",
  "not (role = 'user' or ordinal = 3)",
  "not (role = 'user' and length(search_text) > 9)",
  "not (search_text like '%a%' and length(search_text) > 9)",
  "not (search_text ilike '%K%' and role = 'user')",
  "search_text ilike '%k%' or role = 'user'",
  "search_text >= 'a' and search_text < 'b'",
  "lower(search_text) < 'b'",
  "lower(search_text) <> 'able'",
  "starts_with(search_text, 'a') or ends_with(search_text, 'b')",
  "contains(lower(search_text), 'k')",
  "starts_with(lower(search_text), 'a')",
  "starts_with(lower(search_text), 'A')",
  "search_text like 'ABLE!%%' escape '!'",
  "search_text not like 'ABLE!%%' escape '!'",
  "ordinal + 1 = 4",
  "ordinal::varchar like '1%'",
  "timestamp::date > '2026-01-31' and ordinal % 2 = 0",
]

const counts = CONDITIONS.map((of, at) => `count(*) filter (where ${of}) c${at}`)
const countedByEngine = lazy(async () => (await ask(`select count(*) n, ${counts.join(", ")} from messages`)).rows?.[0])

test.each(CONDITIONS)("where %s: as many are found by the store as by the engine", async (of) => {
  const engine = await countedByEngine()
  expect(engine?.["n"]).toBe(TEXTS.length)
  const [counted] = await askAgain(`select count(*) n from messages where ${of}`)
  expect(Number(counted)).toBe(Number(engine?.[`c${CONDITIONS.indexOf(of)}`] ?? "none"))
})

test("by how well they match only rows that were found are chosen", async () => {
  const found = (await ask("select id, score from fts('messages', 'able') order by score")).rows ?? []
  expect(found.length).toBeGreaterThan(2)
  expect((await ask("select id from fts('messages', 'able') where score is not null")).row_count).toBe(found.length)
  const [{ score: least } = {}] = found
  expect(
    idsOf(await ask(`select id from fts('messages', 'able') where score > ${String(least)} order by score`)),
  ).toEqual(found.filter(({ score }) => Number(score) > Number(least)).map(({ id }) => String(id)))
})

/** The same over tables that are read whole: nothing goes below the name of a result that is kept. */
const WHOLE =
  "with m as materialized (select * from messages where random() >= 0), p as materialized (select * from parts where random() >= 0)"

test.each([
  "select max(ordinal) a, min(timestamp) b from m where role = 'user' and length(search_text) > 9",
  "select max(role) a, min(ordinal) b from m",
  "select id from m order by ordinal desc limit 2 offset 3",
  "select id from m order by ordinal % 3, ordinal limit 4",
  "select id from m where role = 'user' and length(search_text) > 9 order by ordinal limit 2",
  "select count(*) n from (select id from m where role = 'user' order by id limit 3 offset 1)",
  "select id from m where role = 'user' and id not in (select id from m where ordinal < 5) order by 1",
  "select x.id a, y.ordinal b from m x left join m y on x.ordinal = y.ordinal + 1 and y.role = 'user' order by 1",
  "select m.id a, p.id b from m left join p on p.message_id = m.id and m.ordinal = 3 order by 1",
  "select m.id a, p.id b from m right join p on p.message_id = m.id and m.ordinal > 14 order by 2",
  "select m.id from m where not exists (select 1 from p where p.message_id = m.id and m.ordinal > 3) order by 1",
  "select m.id from m join p on p.message_id = m.id and p.ordinal <= m.ordinal where p.text like '%b%' order by 1",
])("%s: is answered as over all rows", async (query) => {
  const { rows, row_count } = await ask(`${WHOLE} ${query}`)
  expect(row_count).toBeGreaterThan(0)
  const narrowed = query.replaceAll(/(from|join) m\b/g, "$1 messages m").replaceAll(/(from|join) p\b/g, "$1 parts p")
  expect((await ask(narrowed.replaceAll(/messages m (x|y)/g, "messages $1"))).rows).toEqual(rows)
})

test("rows without a value come first or last as they are asked to, also where few of them are read", async () => {
  const first = async (order: string) => idsOf(await ask(`select id from sessions order by title ${order} limit 1`))
  for (const way of ["asc", "desc"]) {
    expect({ way, ids: await first(`${way} nulls first`) }).toEqual({ way, ids: ["s"] })
    expect({ way, ids: await first(`${way} nulls last`) }).toEqual({ way, ids: ["titled"] })
  }
})

import { afterAll, beforeAll, expect, test } from "bun:test"
import { readdirSync, statSync } from "node:fs"
import { join } from "node:path"
import type { PondError } from "../../src/model/errors.ts"
import { storedExport } from "../../src/operations/sql/exports.ts"
import { type SqlOutput, sql } from "../../src/operations/sql/sql.ts"
import { said, session } from "../sessions/support.ts"
import { type TestPond, testPond } from "./support.ts"

/** Three sessions of twenty messages: every third about docker, the others about login tokens. */
let box: TestPond

beforeAll(async () => {
  box = testPond()
  const sessions = ["s0", "s1", "s2"].map((id, at) => ({
    session: session(id, { project: `/work/${at}`, title: `it's ${id}` }),
    entries: Array.from({ length: 20 }, (_, index) =>
      said(id, index, `message ${index} about ${index % 3 === 0 ? "docker" : "login tokens"}`, {
        id: `${id}m${index}`,
        role: index % 2 === 0 ? "user" : "assistant",
      }),
    ),
  }))
  await box.place.sessions.write(sessions)
  await box.place.sessions.maintain("all")
})
afterAll(() => box[Symbol.dispose]())

async function ask(query: string, extra: object = {}): Promise<SqlOutput> {
  return (await box.run(sql, { sql: query, ...extra })) as SqlOutput
}

async function refusal(query: string, extra: object = {}): Promise<PondError> {
  return (await ask(query, extra).then(
    (answer) => Promise.reject(new Error(`it was answered: ${JSON.stringify(answer.rows)}`)),
    (error: unknown) => error,
  )) as PondError
}

/** The rows, and of each table what was read for them. */
async function seen(query: string) {
  const { rows, read } = await ask(query)
  return { rows, read: Object.fromEntries(read.map((each) => [each.table, `${each.rows}: ${each.columns.join(" ")}`])) }
}

test("a condition on columns is applied where the rows are read", async () => {
  expect(await seen("select count(*) n from messages where role = 'user' and search_text like '%docker%'")).toEqual({
    rows: [{ n: 12 }],
    read: { messages: "1: role search_text" },
  })
  expect(
    await seen("select count(*) n from messages where search_text like '%tokens' and ordinal in (1, 2, 3)"),
  ).toEqual({
    rows: [{ n: 6 }],
    read: { messages: "1: ordinal search_text" },
  })
  expect(
    await seen("select id from messages where session_id <> 's0' and ordinal between 3 and 4 order by id"),
  ).toEqual({
    rows: [{ id: "s1m3" }, { id: "s1m4" }, { id: "s2m3" }, { id: "s2m4" }],
    read: { messages: "4: session_id id ordinal" },
  })
  expect(await seen("select count(*) n from messages where not (role = 'user' or ordinal > 4)")).toMatchObject({
    rows: [{ n: 6 }],
    read: { messages: "1: ordinal role" },
  })
})

test("only the columns of a query are read, and for a bare count none", async () => {
  expect(await seen("select role, count(*) n from messages group by role order by role")).toEqual({
    rows: [
      { role: "assistant", n: 30 },
      { role: "user", n: 30 },
    ],
    read: { messages: "60: role" },
  })
  expect(await seen("select count(*) n from messages")).toEqual({ rows: [{ n: 60 }], read: { messages: "60: " } })
})

test("a limit is applied where the rows are read, in their order, unless something between needs them all", async () => {
  expect(await seen("select id from messages order by session_id desc, ordinal desc limit 2 offset 1")).toEqual({
    rows: [{ id: "s2m18" }, { id: "s2m17" }],
    read: { messages: "3: session_id id ordinal" },
  })
  expect((await seen("select id || '!' x from messages where role = 'user' limit 2")).read).toEqual({
    messages: "2: id role",
  })
  expect(await seen("select distinct role from messages order by role limit 1")).toEqual({
    rows: [{ role: "assistant" }],
    read: { messages: "60: role" },
  })
  expect((await seen("select id from messages where length(search_text) = 22 limit 1")).read).toEqual({
    messages: "60: id search_text",
  })
})

test("of a joined table only what the other side can meet is read", async () => {
  expect(
    await seen(
      "select s.title, count(*) n from messages m join sessions s on s.id = m.session_id where s.project = '/work/1' group by all",
    ),
  ).toEqual({
    rows: [{ title: "it's s1", n: 20 }],
    read: { sessions: "1: id project title", messages: "20: session_id" },
  })
  const limited =
    "select m.id, s.id sid from (select id, session_id from messages limit 3) m join sessions s on s.id = 'none' or s.id = m.session_id"
  expect((await ask(limited)).row_count).toBe(3)
})

test("a moment in a query is one that the store can compare with", async () => {
  const { read } = await seen("select count(*) n from messages where timestamp >= now() - interval 7 days")
  expect(read).toEqual({ messages: "0: timestamp" })
  expect(await seen("select count(*) n from messages where timestamp >= '2026-01-31' and timestamp < today()")).toEqual(
    {
      rows: [{ n: 60 }],
      read: { messages: "1: timestamp" },
    },
  )
})

test("what words find is a table with scores, joined, filtered and found twice in one query", async () => {
  const found = await seen(
    "select id, score > 0 good from fts('messages', 'docker') where session_id = 's1' and search_text like '%docker' order by ordinal limit 2",
  )
  expect(found.rows).toEqual([
    { id: "s1m0", good: true },
    { id: "s1m3", good: true },
  ])
  const joined = await seen(
    "select p.text from fts('messages', 'docker') f join parts p on p.session_id = f.session_id and p.message_id = f.id where f.id = 's2m3'",
  )
  expect(joined).toMatchObject({
    rows: [{ text: "message 3 about docker" }],
    read: { parts: "1: session_id message_id text" },
  })
  const twice =
    "select a.id from fts('messages', 'docker') a join fts('messages', 'docker') b on a.id = b.id where a.id = 's0m3'"
  expect((await ask(twice)).rows).toEqual([{ id: "s0m3" }])
  const two =
    "select count(*) n from (select id from fts('messages', '{\"match\":{\"terms\":\"docker\"}}') union select id from fts('messages', 'tokens'))"
  expect((await ask(two)).rows).toEqual([{ n: 60 }])
})

test("a query with the forms of SQL that people write is answered", async () => {
  const queries: [query: string, first: unknown][] = [
    [
      "with x as (select session_id, count(*) n from messages group by 1) select n from x order by n desc, session_id limit 1",
      { n: 20 },
    ],
    ["with recursive r(n) as (select 1 union all select n + 1 from r where n < 5) select sum(n) n from r", { n: 15 }],
    [
      "select id from messages qualify row_number() over (partition by session_id order by ordinal desc) = 1 order by id",
      { id: "s0m19" },
    ],
    [
      "select w from (select unnest(string_split(search_text, ' ')) w from messages) group by w order by count(*) desc, w limit 1",
      { w: "about" },
    ],
    [
      "select * from (pivot messages on role in ('user', 'assistant') using count(*) group by session_id) order by 1",
      { session_id: "s0", user: 10, assistant: 10 },
    ],
    ["from sessions select id order by id", { id: "s0" }],
    ["select 'a' x union all select 'b' order by x", { x: "a" }],
    ["select count(*) n from embeddings", { n: 0 }],
    ["select json_get_string('{\"a\":\"b\"}', '$.a') x, '{\"a\":1}'->>'$.a' y", { x: "b", y: "1" }],
    [
      "select m.id from messages m where exists (select 1 from parts p where p.message_id = m.id and p.text like '%docker') order by m.id",
      { id: "s0m0" },
    ],
    [
      "select 12345678901234567890::hugeint h, 1.50::decimal(9,2) d, [1, 2] l, null z, timestamptz '2026-01-02 03:04:05.678901Z' t",
      { h: "12345678901234567890", d: 1.5, l: [1, 2], z: null, t: "2026-01-02T03:04:05.678901Z" },
    ],
    ["select 'NaN'::double n, case when 'a:NaN' = 'a:NaN' then 1 end one", { n: "NaN", one: 1 }],
  ]
  for (const [query, first] of queries)
    expect<unknown>({ query, first: (await ask(query)).rows?.[0] }).toEqual({ query, first })
}, 120_000)

test.each([
  ["select nosuch from messages", /No column "nosuch".*line 1, column 8.*messages has session_id, id, ordinal/],
  ["select serch_text from messages", /Did you mean search_text\?/],
  ["select titel from sessions s", /Did you mean title\?/],
  ["select * from mesages", /No table "mesages". Did you mean messages\?/],
  ["select uper(role) from messages", /uper\(\) is not allowed. Did you mean upper\?/],
  ["select id from messages\nwhere", /Not valid SQL: .* At line 2, column 6/],
  ["select id from fts('parts', 'x')", /Only messages can be searched/],
  ["select id from messages where role = 1 and", /Not valid SQL/],
  ["select sum(role) from messages", /No function matches|cannot run/],
  ["select '{' :: json", /cannot run: /],
])("%j is refused with what helps", async (query, says) => {
  const error = await refusal(query)
  expect({ code: error.code, message: error.message }).toEqual({
    code: "validation_failed",
    message: expect.stringMatching(says),
  })
})

test("a query of everything with everything is stopped in its time, and said", async () => {
  const everything = Array.from({ length: 6 }, (_, at) => `messages m${at}`).join(", ")
  const error = await refusal(`select count(*) from ${everything}`, { timeout_ms: 500 })
  expect(error).toMatchObject({ code: "validation_failed", details: { timeout_ms: 500 } })
  expect(error.message).toContain("timed out after 0.5 s")
  const begun = performance.now()
  await refusal("select max(n) from range(100000000000) t(n)", { timeout_ms: 300 })
  expect(performance.now() - begun).toBeLessThan(15_000)
})

test("a query that needs more memory than there is for it is stopped, and said", async () => {
  for (const query of [
    "with recursive r(s) as (select 'xxxxxxxx' union all select s || s from r where length(s) < 4000000000) select max(length(s)) from r",
    "select length(repeat('x', 2000000000))",
    "select length(replace(repeat('x', 10000000), 'x', repeat('y', 1000)))",
    "select length(lpad('x', 2000000000, 'y'))",
  ]) {
    const error = await refusal(query, { timeout_ms: 60_000 })
    expect({ query, code: error.code, said: /memory|a string of more than/.test(error.message) }).toEqual({
      query,
      code: "validation_failed",
      said: true,
    })
  }
}, 120_000)

test("more rows than are shown are said to be there", async () => {
  expect(await ask("select id from messages", { limit: 7 })).toMatchObject({ row_count: 7, truncated: true })
  expect(await ask("select id from messages", { limit: 60 })).toMatchObject({ row_count: 60, truncated: false })
})

test("a table of text holds no line break and no control character of what is stored", async () => {
  const { table } = await ask("select 'a\nb' x, chr(27) || '[31mred' y, null z", { output: "table" })
  expect(table).toBe("x    | y        | z\n-----+----------+-----\na\\nb | ␛[31mred | NULL\n")
})

// --- Files -----------------------------------------------------------------------------------------------------------

test("every row goes into a file, whose name cannot lead anywhere else", async () => {
  const query = "select id, title, null n from sessions order by id"
  const csv = await ask(query, { output: "csv", limit: 1 })
  expect(csv).toMatchObject({ row_count: 3, truncated: false, export: { format: "csv" } })
  expect(await Bun.file(csv.export?.path ?? "").text()).toBe(
    "id,title,n\r\ns0,it's s0,\r\ns1,it's s1,\r\ns2,it's s2,\r\n",
  )
  const lines = await ask(query, { output: "ndjson" })
  expect((await Bun.file(lines.export?.path ?? "").text()).split("\n")[0]).toBe(
    '{"id":"s0","title":"it\'s s0","n":null}',
  )
  const parquet = await ask(query, { output: "parquet" })
  const bytes = await Bun.file(parquet.export?.path ?? "").bytes()
  expect({ rows: parquet.row_count, magic: new TextDecoder().decode(bytes.slice(0, 4)) }).toEqual({
    rows: 3,
    magic: "PAR1",
  })
  for (const { export: file } of [csv, lines, parquet]) {
    expect((statSync(file?.path ?? "").mode & 0o777).toString(8)).toBe("600")
    expect(storedExport(box.pond.host, file?.id ?? "").bytes).toBe(file?.bytes ?? -1)
  }
})

test.each([
  "../../../etc/passwd",
  "..%2f..%2fetc%2fpasswd",
  "/etc/passwd",
  "",
  ".",
  "..",
  "a.csv",
  "0190b2c4-0000-7000-8000-000000000000.csv/../../x",
  "0190b2c4-0000-7000-8000-000000000000.csv\0.png",
  "0190b2c4-0000-7000-8000-000000000000.exe",
  "0190b2c4-0000-7000-8000-000000000000.csv\n",
  "0190B2C4-0000-7000-8000-00000000000G.csv",
  "\\\\server\\share.csv",
  "0190b2c4-0000-7000-8000-000000000000.csv",
])("the export %j is not there", (id) => {
  expect(() => storedExport(box.pond.host, id)).toThrow(/No export/)
})

test("a file of a query that failed is not left behind, and neither is what it spilled", async () => {
  const folder = join(box.pond.host.path("cache"), "sql-exports")
  await ask("select 1 one", { output: "csv" })
  const before = readdirSync(folder).length
  await refusal("select error('no') from messages", { output: "csv" })
  await refusal("select error('no') from messages", { output: "parquet" })
  expect(readdirSync(folder).length).toBe(before)
  expect(readdirSync(join(box.pond.host.path("cache"), "scratch"))).toEqual([])
})

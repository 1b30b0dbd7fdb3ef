import { afterAll, beforeAll, expect, test } from "bun:test"
import { existsSync, mkdtempSync, readdirSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { PondError } from "../../src/model/errors.ts"
import { sql } from "../../src/operations/sql/sql.ts"
import { said, session } from "../sessions/support.ts"
import { memoryPond, type TestPond } from "./support.ts"

/** What somebody would try who wants out of a query. `DIR` is a directory with a file `secret.csv` in it. */
const ESCAPES: readonly string[] = [
  // Reading files
  "select * from read_csv('DIR/secret.csv')",
  "select * from read_csv_auto('DIR/secret.csv')",
  "select * from read_text('DIR/secret.csv')",
  "select * from read_blob('DIR/secret.csv')",
  "select * from read_json('DIR/secret.csv')",
  "select * from read_ndjson('DIR/secret.csv')",
  "select * from read_parquet('DIR/secret.csv')",
  "select * from parquet_metadata('DIR/secret.csv')",
  "select * from glob('DIR/*')",
  "select * from sniff_csv('DIR/secret.csv')",
  "select * from 'DIR/secret.csv'",
  'select * from "DIR/secret.csv"',
  "from 'DIR/secret.csv'",
  "select * from query('select * from ''DIR/secret.csv''')",
  "select * from query_table('DIR/secret.csv')",
  "select * from query_table(['messages', 'DIR/secret.csv'])",
  "select (select content from read_text('DIR/secret.csv')) from messages",
  "with x as (select * from read_text('DIR/secret.csv')) select * from x",
  "select * from messages where id in (select content from read_text('DIR/secret.csv'))",
  "SELECT * FROM Read_Text('DIR/secret.csv')",
  "select * from \"read_text\"('DIR/secret.csv')",
  "select * from system.main.read_text('DIR/secret.csv')",
  "select * from messages, lateral (select * from read_text('DIR/secret.csv'))",
  "select 1 union all select size from read_blob('DIR/secret.csv')",
  "select * from seq_scan('messages')",
  // Writing files
  "copy messages to 'DIR/out.csv'",
  "copy (select 1) to 'DIR/out.parquet' (format parquet)",
  "export database 'DIR/out'",
  "select 1) to 'DIR/out.csv'; --",
  "create table x as select 1",
  "create view x as select 1",
  "create macro x() as 1",
  "create temp table x (a int)",
  "insert into messages select * from messages",
  "insert into messages (id) values ('x') returning id",
  "update messages set role = 'user'",
  "delete from messages",
  "drop table messages",
  "truncate messages",
  "alter table messages add column x int",
  "with x as (insert into messages (id) values ('x') returning id) select * from x",
  "merge into messages using sessions on true when matched then delete",
  "vacuum",
  "checkpoint",
  // Other databases, network, extensions
  "attach 'DIR/other.db' as other",
  "attach ':memory:' as other",
  "detach memory",
  "use memory",
  "install httpfs",
  "load httpfs",
  "load 'DIR/evil.duckdb_extension'",
  "select * from 'https://localhost:1/x.csv'",
  "select * from read_csv('https://localhost:1/x.csv')",
  "create secret s (type s3)",
  // Settings and the engine itself
  "set enable_external_access = true",
  "reset enable_external_access",
  "set lock_configuration = false",
  "pragma enable_external_access = true",
  "pragma database_list",
  "call duckdb_settings()",
  "select current_setting('temp_directory')",
  "select getenv('HOME')",
  "select * from duckdb_settings()",
  "select * from duckdb_secrets()",
  "select * from duckdb_functions()",
  "select * from pg_catalog.pg_settings",
  "select * from pg_settings",
  "select * from information_schema.tables",
  "select * from sqlite_master",
  "with pg_settings as (select 1) select * from (with a as (select 1) select 1), pg_settings",
  "select * from fts_messages",
  "select * from memory.main.fts_messages",
  "select write_log('x')",
  "select sleep_ms(100000)",
  "select nextval('x')",
  "select json_serialize_sql('select 1')",
  "select * from json_execute_serialized_sql(json_serialize_sql('select 1'))",
  "select * from sql_auto_complete('sel')",
  "set variable x = 1",
  "select getvariable('x')",
  "prepare p as select 1",
  "execute p",
  "select $1",
  "select ?",
  "begin transaction",
  "explain copy messages to 'DIR/out.csv'",
  "explain analyze copy messages to 'DIR/out.csv'",
  "explain analyze select * from read_csv('DIR/secret.csv')",
  "explain select 1; copy messages to 'DIR/out.csv'",
  "explain (format json) select 1",
  "describe select * from 'DIR/secret.csv'",
  "describe 'DIR/secret.csv'",
  "describe pg_settings",
  "describe (drop table messages)",
  "summarize messages",
  "show databases",
  "show all settings",
  // More than one statement, and nothing
  "select 1; select 2",
  "select 1; drop table messages",
  "select 1;; copy messages to 'DIR/out.csv'",
  "/* select */ copy messages to 'DIR/out.csv'",
  "-- select\ncopy messages to 'DIR/out.csv'",
  "",
  "   ",
  ";",
  "-- nothing",
  "select 1\0; select 2",
  // Much of little
  "select range(1000000000)",
  "select generate_series(1, 1000000000)",
  "select list_resize([1], 1000000000)",
  "select printf('%1000000000d', 1)",
  "select format('{:>1000000000}', 1)",
  "select bitstring('1', 1000000000)",
  "select system.main.repeat('x', 1000000000)",
  "select levenshtein(repeat('x', 1000000), repeat('y', 1000000))",
  `select ${"not ".repeat(3000)}true`,
  `select ${"1 + ".repeat(5000)}1`,
]

let box: TestPond
let folder: string

beforeAll(async () => {
  box = memoryPond()
  folder = mkdtempSync(join(tmpdir(), "pond-escape-"))
  await Bun.write(join(folder, "secret.csv"), "secret\nhunter2\n")
  await box.place.sessions.write([{ session: session("s"), entries: [said("s", 0, "hello")] }])
})
afterAll(() => {
  box[Symbol.dispose]()
  rmSync(folder, { recursive: true, force: true })
})

test("the table of escapes is as long as it should be", () => {
  expect(new Set(ESCAPES).size).toBeGreaterThanOrEqual(100)
})

for (const [format, escapes] of [
  ["json", ESCAPES],
  // What is written by the engine itself goes another way in: the same must not get out there.
  ["parquet", ESCAPES.filter((_, index) => index % 6 === 0)],
] as const) {
  test.each(escapes.map((attempt) => [attempt]))(`${format}: %j does not get out`, async (attempt) => {
    const outcome = await box
      .run(sql, { sql: attempt.replaceAll("DIR", folder), output: format, timeout_ms: 20_000 })
      .then(
        (answer) => ({ answer }),
        (thrown: unknown) => ({ error: thrown }),
      )
    const error = "error" in outcome ? outcome.error : undefined
    expect({ answered: "answer" in outcome ? outcome.answer : undefined, isOurs: error instanceof PondError }).toEqual({
      answered: undefined,
      isOurs: true,
    })
    const { code, message } = error as PondError
    expect({ code, shows: /hunter2|INTERNAL|node_modules|scratch|Stack Trace/.test(message) }).toEqual({
      code: "validation_failed",
      shows: false,
    })
    expect(readdirSync(folder)).toEqual(["secret.csv"])
    expect(existsSync(join(folder, "out.csv"))).toBe(false)
  })
}

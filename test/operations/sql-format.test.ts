/** Reads the files of queries as `src/operations/sql/FORMAT.md` says that they are, with readers of its own. */
import { afterAll, beforeAll, expect, test } from "bun:test"
import { readFileSync } from "node:fs"
import { type SqlOutput, sql } from "../../src/operations/sql/sql.ts"
import { testPond } from "./support.ts"

let box: ReturnType<typeof testPond>
beforeAll(() => {
  box = testPond()
})
afterAll(() => box[Symbol.dispose]())

const QUERY = `select * from (values
  (1, null, '', 'a "quoted", text', 9007199254740993::bigint, 1.50::decimal(4,2), timestamptz '2026-01-31 12:00:00.000001Z', [1, 2]),
  (2, 'two' || chr(13) || chr(10) || 'lines', 'x', ';', 5::bigint, 0.1::decimal(30,20), timestamptz '2026-01-31 12:00:00Z', [])
) t(number, nullable, empty, quoted, large, exact, moment, list) order by number`

const NAMES = ["number", "nullable", "empty", "quoted", "large", "exact", "moment", "list"]

async function fileOf(output: string): Promise<string> {
  const answer = (await box.run(sql, { sql: QUERY, output })) as SqlOutput
  return readFileSync(answer.export?.path ?? "", "utf8")
}

/** RFC 4180. An unquoted empty cell is null. */
function readCsv(text: string): (string | null)[][] {
  const rows: (string | null)[][] = []
  let row: (string | null)[] = []
  for (const [, quoted, plain = "", end] of text.matchAll(/(?:"((?:[^"]|"")*)"|([^",\r\n]*))(,|\r\n)/g)) {
    row.push(quoted === undefined ? plain || null : quoted.replaceAll('""', '"'))
    if (end === ",") continue
    rows.push(row)
    row = []
  }
  return rows
}

test("ndjson has an object for each row, with the values of the page", async () => {
  const text = await fileOf("ndjson")
  expect(text.endsWith("}\n")).toBe(true)
  const rows = text
    .trimEnd()
    .split("\n")
    .map((line) => JSON.parse(line) as Record<string, unknown>)
  expect(rows.map((row) => Object.keys(row))).toEqual([NAMES, NAMES])
  expect(rows.map((row) => Object.values(row))).toEqual([
    [1, null, "", 'a "quoted", text', "9007199254740993", 1.5, "2026-01-31T12:00:00.000001Z", [1, 2]],
    [2, "two\r\nlines", "x", ";", 5, 0.1, "2026-01-31T12:00:00.000Z", []],
  ])
})

test("csv has a line of names and a line for each row, and tells null from the empty text", async () => {
  expect(readCsv(await fileOf("csv"))).toEqual([
    NAMES,
    ["1", null, "", 'a "quoted", text', "9007199254740993", "1.5", "2026-01-31T12:00:00.000001Z", "[1,2]"],
    ["2", "two\r\nlines", "x", ";", "5", "0.1", "2026-01-31T12:00:00.000Z", "[]"],
  ])
})

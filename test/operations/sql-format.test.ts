/** Reads the files of queries as `src/operations/sql/FORMAT.md` says that they are, with readers of its own. */
import { afterAll, beforeAll, expect, test } from "bun:test"
import { readFileSync } from "node:fs"
import { join } from "node:path"
import { parquetMetadata, parquetReadObjects, type SchemaElement } from "hyparquet"
import { type SqlOutput, sql } from "../../src/operations/sql/sql.ts"
import { memoryPond } from "./support.ts"

let box: ReturnType<typeof memoryPond>
beforeAll(() => {
  box = memoryPond()
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

// --- Parquet ----------------------------------------------------------------------------------------------------------

const PARQUET = `select * from (values
  ('text', '{"a":1}'::json, '\\xAA'::blob, 1, 9007199254740993::bigint, 0.5::double, true, 1.50::decimal(4,2),
    12345678901.5::decimal(15,1), 0.1::decimal(30,20), timestamptz '2026-01-31 12:00:00.000001Z', date '2026-01-31', [1, 2], {'a': 1, 'b': 'x'}),
  (null, null, null, null, null, null, null, null, null, null, null, null, null, null)
) t(text, json, bytes, int, bigint, double, bool, small, middle, large, moment, date, list, struct)`

/** The row of the page's table for a column: its physical type, and its logical one. */
function typesOfPage(type: string): { readonly physical: string; readonly logical: string } {
  const page = readFileSync(join(import.meta.dir, "../../src/operations/sql/FORMAT.md"), "utf8")
  const table = page.slice(page.indexOf("Types in Parquet"))
  const rows = table.split("\n").map((row) => row.split("|").map((cell) => cell.trim()))
  const [, , physical = "", logical = ""] =
    rows.find(([, first = ""]) => first.replaceAll("`", "").includes(type)) ?? []
  return { physical, logical }
}

function pageNames({ type, converted_type: logical }: SchemaElement, page: ReturnType<typeof typesOfPage>): boolean {
  const isPhysical = type === undefined ? page.physical.startsWith("group") : page.physical.includes(`\`${type}\``)
  return isPhysical && (logical === undefined ? page.logical === "none" : page.logical.includes(`\`${logical}\``))
}

test("parquet has the types of the page and the values, as another implementation reads them", async () => {
  const answer = (await box.run(sql, { sql: PARQUET, output: "parquet" })) as SqlOutput
  const bytes = readFileSync(answer.export?.path ?? "")
  const file = bytes.buffer.slice(bytes.byteOffset, bytes.byteOffset + bytes.byteLength)
  const { version, schema, row_groups: groups } = parquetMetadata(file)
  expect(version).toBe(1)
  const codecs = groups.flatMap(({ columns }) => columns.map(({ meta_data: column }) => column?.codec))
  expect(new Set(codecs)).toEqual(new Set(["ZSTD"]))
  const types = {
    json: "JSON",
    small: "decimal",
    middle: "decimal",
    large: "decimal",
    moment: "timestamp with time zone",
  }
  const wrong = schema
    .filter(({ name }) => !["duckdb_schema", "element", "a", "b"].includes(name))
    .filter(({ repetition_type: repetition }) => repetition === "OPTIONAL")
    .filter((column) => !pageNames(column, typesOfPage(types[column.name as keyof typeof types] ?? column.name)))
  expect(wrong).toEqual([])
  const ZSTD = (page: Uint8Array) => Bun.zstdDecompressSync(page)
  const [row, empty = {}] = await parquetReadObjects({ file, utf8: false, compressors: { ZSTD } })
  expect(row).toEqual({
    text: "text",
    json: { a: 1 },
    bytes: Uint8Array.of(0xaa),
    int: 1,
    bigint: 9007199254740993n,
    double: 0.5,
    bool: true,
    small: 1.5,
    middle: 12345678901.5,
    large: expect.closeTo(0.1, 10),
    moment: new Date("2026-01-31T12:00:00.000Z"),
    date: new Date("2026-01-31T00:00:00.000Z"),
    list: [1, 2],
    struct: { a: 1, b: "x" },
  })
  expect(Object.values(empty).filter((value) => value !== null && value !== undefined)).toEqual([])
})

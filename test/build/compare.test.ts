/** The comparer behind `bun run compare`: it must see every damage, or its silence proves nothing. */
import { Database } from "bun:sqlite"
import { expect, test } from "bun:test"
import { mkdirSync, writeFileSync } from "node:fs"
import { dirname, join } from "node:path"
import { compareTrees } from "../../build/compare/compare-trees.ts"
import { canonicalText } from "../../build/compare/json-text.ts"
import { DAMAGES, plantAll } from "../../build/compare/plant.ts"
import { recordsOf } from "../../build/compare/records.ts"
import { tempFolder } from "../support/temp-folder.ts"

test.each([
  ['{"a":1,"b":[true,null]}', ' { "b" : [ true , null ] , "a" : 1.0 }'],
  ["10e-1", "1"],
  ["123456789012345678901234567890", "1.2345678901234567890123456789e29"],
  ['"\\u0041\\n\\/"', '"A\\n/"'],
  ["-0.0", "-0"],
])("%s and %s are one value", (left, right) => {
  expect(canonicalText(left)).toBeDefined()
  expect(canonicalText(left)).toBe(canonicalText(right) ?? "")
})

test.each([
  ['{"a":1,"a":2}', '{"a":2}'],
  ['{"a":1,"a":2}', '{"a":2,"a":1}'],
  ["9007199254740993", "9007199254740992"],
  ["0", "-0"],
  ['"\\ud800"', '"\\ufffd"'],
  ["[1,2]", "[2,1]"],
  ['"1"', "1"],
])("%s and %s are two values", (left, right) => {
  expect(canonicalText(left)).toBeDefined()
  expect(canonicalText(right)).toBeDefined()
  expect(canonicalText(left)).not.toBe(canonicalText(right) ?? "")
})

test.each(["", "{", '{"a"}', "01", "1 2", '"\n"', "[1,]", "nul", "[".repeat(5_000)])(
  "%j is no JSON, or too deep",
  (text) => {
    expect(canonicalText(text)).toBeUndefined()
  },
)

function tree(root: string, files: Readonly<Record<string, string>>): string {
  for (const [path, text] of Object.entries(files)) {
    mkdirSync(dirname(join(root, path)), { recursive: true })
    writeFileSync(join(root, path), text)
  }
  return root
}

const line = (number: number, rest = "") =>
  `{"number":${number},"text":"long enough to tell it from another line of a log ${number}"${rest}}`
const LOG = `${line(1)}\n${line(2)}\nno JSON\n${line(3)}\n`

test("files are equal by bytes or by value, held by another file, or not read", () => {
  using place = tempFolder()
  const original = tree(join(place.path, "a"), {
    one: LOG,
    two: LOG,
    copy: `${line(2)}\n`,
    other: "not a session",
    "of-another": line(7),
  })
  const restored = tree(join(place.path, "b"), {
    one: LOG,
    two: LOG.replaceAll(":", " : "),
    "made/anew": `${line(7)}\n`,
  })
  expect(compareTrees(original, restored)).toEqual({
    same: { bytes: 1, value: 1, elsewhere: 2 },
    differing: [],
    copies: [],
    unread: ["other"],
  })
})

test("what is lost, changed, moved or invented is seen, and a log that another copy made longer is whole", () => {
  using place = tempFolder()
  const files = { cut: LOG, moved: LOG, grown: LOG, "second-copy": `${line(1)}\n${line(9)}\n${line(4)}\n` }
  const original = tree(join(place.path, "a"), files)
  const restored = tree(join(place.path, "b"), {
    cut: LOG.slice(0, LOG.indexOf("no JSON")),
    moved: `${line(2)}\n${line(1)}\nno JSON\n${line(3)}\n`,
    grown: `${LOG}${line(4)}\n`,
    invented: line(5),
  })
  const { same, differing, copies } = compareTrees(original, restored)
  expect(same).toEqual({ bytes: 0, value: 1, elsewhere: 0 })
  expect(differing.map(({ file }) => file)).toEqual(["cut", "moved", "invented"])
  expect(copies).toEqual([{ file: "second-copy", records: 1 }])
})

function database(path: string, rows: readonly (readonly [string, unknown])[]): void {
  using made = new Database(path)
  made.run("create table session (id text, data text, other text)")
  made.run("create table account (token text)")
  for (const [id, data] of rows) made.run("insert into session values (?, ?, null)", [id, data] as never)
}

test("rows of a database are compared with all digits, and tables of which nothing was restored are left out", () => {
  using place = tempFolder()
  const [original, restored] = [join(place.path, "a"), join(place.path, "b")]
  mkdirSync(original)
  mkdirSync(restored)
  const rows = [
    ["s1", '{"a":1}'],
    ["s2", 9007199254740993n],
    ["s3", Buffer.from([0, 255])],
  ] as const
  for (const name of ["same.db", "cut.db", "digits.db"]) database(join(original, name), rows)
  using accounts = new Database(join(original, "same.db"))
  accounts.run("insert into account values ('secret')")
  database(join(restored, "same.db"), [rows[2], rows[0], rows[1]])
  database(join(restored, "cut.db"), rows.slice(0, 2))
  database(join(restored, "digits.db"), [rows[0], ["s2", 9007199254740992n], rows[2]])
  const { same, differing } = compareTrees(original, restored)
  expect(same).toEqual({ bytes: 0, value: 1, elsewhere: 0 })
  expect(differing.map(({ file }) => file)).toEqual(["cut.db", "digits.db"])
})

test("every damage that is planted is noticed, in a log and in rows", () => {
  using place = tempFolder()
  const log = join(place.path, "log.jsonl")
  writeFileSync(log, LOG)
  for (let at = 0; at < 4; at++) expect(plantAll("log", recordsOf(log), at).missed).toEqual([])
  expect(plantAll("log", recordsOf(log), 0).tried).toBe(Object.keys(DAMAGES).length)
  const rows = join(place.path, "rows.db")
  database(rows, [
    ["s1", '{"a":1}'],
    ["s2", "text"],
  ])
  expect(plantAll("rows", recordsOf(rows), 1)).toMatchObject({ missed: [] })
})

import { Database } from "bun:sqlite"
import { afterEach, expect, test } from "bun:test"
import { mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { parseJson } from "../../src/model/json.ts"
import { openForeignDatabase } from "../../src/platform/files/foreign-sqlite.ts"
import { type RowsToWrite, rowsThere, writeForeignRows } from "../../src/platform/files/foreign-sqlite-writer.ts"

const folders: string[] = []
afterEach(() => {
  for (const folder of folders.splice(0)) rmSync(folder, { recursive: true, force: true })
})

function freshPath(): string {
  const folder = mkdtempSync(join(tmpdir(), "pond-writer-"))
  folders.push(folder)
  return join(folder, "client.db")
}

const SCHEMA: RowsToWrite["schema"] = {
  create: [
    "CREATE TABLE place (id TEXT PRIMARY KEY, name TEXT)",
    "CREATE TABLE book (id TEXT PRIMARY KEY, place_id TEXT REFERENCES place(id), price REAL, size INTEGER, extra TEXT)",
    "CREATE TABLE page (id TEXT PRIMARY KEY, book_id TEXT REFERENCES book(id) ON DELETE CASCADE, data TEXT NOT NULL)",
    "CREATE TABLE credential (id TEXT PRIMARY KEY, value TEXT)",
  ],
  keys: { place: ["id"], book: ["id"], page: ["id"] },
  shared: ["place"],
  owners: ["book"],
}

const parsed = parseJson("9007199254740993")
const EXACT = parsed.ok ? parsed.value : 0

/** A book before the place that it names, with its pages inside it. */
function library(title: string, pages: readonly string[] = ["p1", "p2"]): RowsToWrite {
  const page = pages.map((id) => ({ id, book_id: "b1", data: { text: `${title} ${id}` } }))
  const book = {
    id: "b1",
    place_id: "x",
    price: 0.5,
    size: EXACT,
    extra: { $bytes: "AP8=" },
    page,
  }
  return {
    rows: [
      { table: "book", row: book as never },
      { table: "place", row: { id: "x", name: title } },
    ],
    schema: SCHEMA,
  }
}

function all(path: string, table: string): unknown[] {
  const database = openForeignDatabase(path, [table])
  const rows = [...database.rows({ table, order: ["id"] })]
  database.close()
  return rows
}

test("rows make a database where there is none: inner rows in tables of their own, JSON as text, numbers and bytes exact", () => {
  const path = freshPath()
  expect(writeForeignRows(path, library("one"))).toEqual({ inserted: 4, present: 0, backups: [] })
  expect(JSON.stringify(all(path, "book"))).toBe(
    '[{"id":"b1","place_id":"x","price":0.5,"size":9007199254740993,"extra":{"$bytes":"AP8="}}]',
  )
  expect(all(path, "page")).toEqual([
    { id: "p1", book_id: "b1", data: '{"text":"one p1"}' },
    { id: "p2", book_id: "b1", data: '{"text":"one p2"}' },
  ])
  expect(readdirSync(join(path, ".."))).toEqual(["client.db"])
  expect(statSync(path).mode & 0o777).toBe(0o600)
})

test("the same rows a second time change nothing", () => {
  const path = freshPath()
  writeForeignRows(path, library("one"))
  expect(writeForeignRows(path, library("one"))).toEqual({ inserted: 0, present: 4, backups: [] })
})

test("a text that was cut within a character stands there without its half, and says the same a second time", () => {
  const path = freshPath()
  const row = { id: "b1", place_id: null, price: 1, size: 1, extra: "half \ud83d" }
  const cut = { schema: SCHEMA, rows: [{ table: "book", row }] }
  writeForeignRows(path, cut)
  expect(all(path, "book")).toEqual([{ ...row, extra: "half \ufffd" }])
  expect(rowsThere(path, cut)).toEqual({ conflicts: [], isEvery: true })
})

test("rows are added to a database that is there, and a shared row stays as it is", () => {
  const path = freshPath()
  writeForeignRows(path, library("one"))
  const added = {
    ...library("one"),
    rows: [
      { table: "place", row: { id: "x", name: "other" } },
      { table: "book", row: { id: "b2", place_id: "x" } },
    ],
  }
  expect(writeForeignRows(path, added)).toEqual({ inserted: 1, present: 1, backups: [] })
  expect(all(path, "place")).toEqual([{ id: "x", name: "one" }])
})

test("a row that says something else is refused, and nothing is written", () => {
  const path = freshPath()
  writeForeignRows(path, library("one"))
  expect(rowsThere(path, library("two", ["p1", "p3"]))).toEqual({ conflicts: ["page p1"], isEvery: false })
  expect(() => writeForeignRows(path, library("two", ["p1", "p3"]))).toThrow("--force")
  expect(all(path, "page").length).toBe(2)
  expect(JSON.stringify(all(path, "page"))).not.toContain("two")
})

test("told to replace, it replaces the owner with all it owns, and keeps a copy of the database", () => {
  const path = freshPath()
  writeForeignRows(path, library("one", ["p1", "p2", "p9"]))
  const backup = `${path}.backup`
  expect(writeForeignRows(path, library("two"), { replaceWithBackup: backup }).backups).toEqual([backup])
  expect(all(path, "page")).toEqual([
    { id: "p1", book_id: "b1", data: '{"text":"two p1"}' },
    { id: "p2", book_id: "b1", data: '{"text":"two p2"}' },
  ])
  expect(all(backup, "page").length).toBe(3)
})

test("a database that another program holds is left alone", async () => {
  const path = freshPath()
  writeForeignRows(path, library("one"))
  const hold = `const { Database } = require("bun:sqlite"); const held = new Database(${JSON.stringify(path)});
    held.run("PRAGMA journal_mode = WAL"); held.query("SELECT * FROM book").all(); console.log("held"); setInterval(() => held, 1e6)`
  const holder = Bun.spawn([process.execPath, "-e", hold], { stdout: "pipe" })
  await holder.stdout.getReader().read()
  expect(() => writeForeignRows(path, library("two", ["p7"]))).toThrow("in use by another program")
  holder.kill()
  await holder.exited
  expect(writeForeignRows(path, library("one", ["p7"])).inserted).toBe(1)
})

test.each([
  ["text", () => Buffer.from("no database at all, but long enough to look like the page of one".repeat(20))],
  [
    "half of one",
    (path: string) => {
      writeForeignRows(path, library("one"))
      const bytes = readFileSync(path)
      // The header stays, and the pages behind it do not.
      return bytes.fill(0xab, 100, 4096)
    },
  ],
])("what is no whole database is left as it is, and the message says what to do: %s", (_, broken) => {
  const path = freshPath()
  const bytes = broken(path)
  writeFileSync(path, bytes)
  expect(() => writeForeignRows(path, library("one"))).toThrow("Move it away")
  expect(readFileSync(path).equals(bytes)).toBe(true)
})

test("a database that cannot hold all of it is refused whole", () => {
  const path = freshPath()
  const old = new Database(path, { create: true })
  for (const statement of SCHEMA.create) old.run(statement.replace(", extra TEXT", ""))
  old.close()
  expect(() => writeForeignRows(path, library("one"))).toThrow("Update the client")
  expect(all(path, "book")).toEqual([])
})

test("a row whose owner the client had lost goes back as it was, and where rows are replaced it is refused", () => {
  const path = freshPath()
  const orphan = { ...library("one"), rows: [{ table: "page", row: { id: "p1", book_id: "gone", data: "" } }] }
  writeForeignRows(path, orphan)
  expect(all(path, "page")).toMatchObject([{ id: "p1", book_id: "gone" }])
  const replaced = freshPath()
  writeForeignRows(replaced, library("one"))
  const before = all(replaced, "page")
  const options = { replaceWithBackup: `${replaced}.backup` }
  const both = {
    ...library("two"),
    rows: [...library("two").rows, { table: "page", row: { id: "p9", book_id: "gone", data: "" } }],
  }
  expect(() => writeForeignRows(replaced, both as never, options)).toThrow("FOREIGN KEY")
  expect(all(replaced, "page")).toEqual(before)
})

test("a statement that fails leaves no new database behind", () => {
  const path = freshPath()
  const odd = { ...library("one"), rows: [{ table: "page", row: { id: null, book_id: null, data: null } }] }
  expect(() => writeForeignRows(path, odd as never)).toThrow()
  expect(readdirSync(join(path, ".."))).toEqual([])
})

test("a table without a key is refused: credentials lie in the same database", () => {
  const path = freshPath()
  const stray = { ...library("one"), rows: [{ table: "credential", row: { id: "x", value: "T0P" } }] }
  expect(() => writeForeignRows(path, stray)).toThrow(
    expect.objectContaining({ code: "validation_failed", details: { table: "credential" } }),
  )
})

test("told to replace, it leaves what sessions share, and the other sessions, as they are", () => {
  const path = freshPath()
  const other = { table: "book", row: { id: "b2", place_id: "x", page: [{ id: "q1", book_id: "b2", data: "" }] } }
  writeForeignRows(path, { ...library("one"), rows: [...library("one").rows, other] as never })
  writeForeignRows(path, library("two"), { replaceWithBackup: `${path}.backup` })
  expect(all(path, "place")).toEqual([{ id: "x", name: "one" }])
  expect(all(path, "page").map((row) => (row as { id: string }).id)).toEqual(["p1", "p2", "q1"])
})

test("a database of a newer client, with a column that the rows do not have, says nothing else by it", () => {
  const path = freshPath()
  writeForeignRows(path, library("one"))
  const newer = new Database(path)
  newer.run("ALTER TABLE page ADD COLUMN seen INTEGER NOT NULL DEFAULT 7")
  newer.close()
  expect(rowsThere(path, library("one"))).toEqual({ conflicts: [], isEvery: true })
  expect(writeForeignRows(path, library("one", ["p1", "p3"]))).toMatchObject({ inserted: 1, present: 3 })
})

test("a database of an older client takes a row whose column it lacks, where nothing stands in it", () => {
  const path = freshPath()
  const old = new Database(path, { create: true })
  for (const statement of SCHEMA.create) old.run(statement.replace(", extra TEXT", ""))
  old.close()
  const row = { id: "b1", place_id: null, price: 1, size: 1, extra: null }
  expect(writeForeignRows(path, { ...library("one"), rows: [{ table: "book", row }] }).inserted).toBe(1)
})

test("JSON that is spelled otherwise says the same, and so does a number that the client keeps as another kind", () => {
  const path = freshPath()
  writeForeignRows(path, library("one"))
  const client = new Database(path)
  client.run(`UPDATE page SET data = '{ "text" : "one p1" }' WHERE id = 'p1'`)
  client.run("UPDATE book SET price = 5")
  client.close()
  const [book, place] = library("one").rows
  const rows = [{ table: "book", row: { ...book?.row, price: 5 } }, place] as never
  expect(rowsThere(path, { schema: SCHEMA, rows })).toEqual({ conflicts: [], isEvery: true })
})

test("whole numbers and truths go into columns of no kind as the client writes them", () => {
  const path = freshPath()
  const schema = { ...SCHEMA, create: ["CREATE TABLE book (id TEXT PRIMARY KEY, since, isOpen, isRead)"] }
  const row = { id: "b1", since: 1_767_225_600_000, isOpen: true, isRead: false }
  writeForeignRows(path, { schema, rows: [{ table: "book", row }] })
  const client = new Database(path, { readonly: true })
  expect(client.query("SELECT typeof(since) AS kind, isOpen, isRead FROM book").get()).toEqual({
    kind: "integer",
    isOpen: 1,
    isRead: 0,
  })
  client.close()
})

test("a database that another program is reading at this moment is left alone, though it keeps no log", () => {
  const path = freshPath()
  writeForeignRows(path, library("one"))
  const reader = new Database(path, { readonly: true })
  reader.run("BEGIN")
  reader.query("SELECT * FROM book").all()
  expect(() => writeForeignRows(path, library("one", ["p7"]))).toThrow("in use by another program")
  reader.close()
  expect(writeForeignRows(path, library("one", ["p7"])).inserted).toBe(1)
})

test("rows of one table have columns of their own each, however those are called", () => {
  const path = freshPath()
  const create = ['CREATE TABLE book (id TEXT PRIMARY KEY, a INTEGER, b INTEGER, "a,b" INTEGER)']
  const schema = { create, keys: { book: ["id"] }, shared: [], owners: [] }
  const rows = [
    { id: "1", a: 1, b: 2 },
    { id: "2", "a,b": 3 },
    { id: "3", b: 4 },
    { b: 6, id: "4", a: 5 },
  ]
  writeForeignRows(path, { rows: rows.map((row) => ({ table: "book", row })), schema })
  expect(all(path, "book")).toEqual([
    { id: "1", a: 1, b: 2, "a,b": null },
    { id: "2", a: null, b: null, "a,b": 3 },
    { id: "3", a: null, b: 4, "a,b": null },
    { id: "4", a: 5, b: 6, "a,b": null },
  ])
})

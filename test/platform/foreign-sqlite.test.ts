import { Database } from "bun:sqlite"
import { afterEach, expect, test } from "bun:test"
import {
  copyFileSync,
  existsSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  utimesSync,
  writeFileSync,
} from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { BYTES_KEY, isLogInUse, openForeignDatabase } from "../../src/platform/files/foreign-sqlite.ts"

const folders: string[] = []
afterEach(() => {
  for (const folder of folders.splice(0)) rmSync(folder, { recursive: true, force: true })
})

function freshFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), "pond-foreign-"))
  folders.push(folder)
  return folder
}

/** A client's database: a log of changes that no checkpoint has reached, and a table of credentials. */
function clientDatabase(path: string, journal = "WAL"): Database {
  const database = new Database(path, { create: true })
  database.run(`PRAGMA journal_mode = ${journal}`)
  database.run("CREATE TABLE note (id INTEGER PRIMARY KEY, owner TEXT, body TEXT, updated INTEGER, api_token TEXT)")
  database.run("CREATE TABLE credential (id TEXT, value TEXT)")
  database.run(
    "INSERT INTO note VALUES (1, 'a', 'one', 10, 'T0P'), (2, 'a', 'two', 20, 'T0P'), (3, 'b', 'three', 5, 'T0P')",
  )
  database.run("INSERT INTO credential VALUES ('x', 'T0P')")
  return database
}

/** What of a folder must not change: everything but the shared memory in which SQLite's readers and writers meet. */
function contents(folder: string): Record<string, string> {
  return Object.fromEntries(
    readdirSync(folder)
      .filter((name) => !name.endsWith("-shm"))
      .map((name) => [name, Bun.hash(readFileSync(join(folder, name))).toString(16)]),
  )
}

/** A database with a log that nobody shares: its client died. */
function folderOfACrash(): string {
  const [folder, crashed] = [freshFolder(), freshFolder()]
  const writer = clientDatabase(join(folder, "client.db"))
  for (const suffix of ["", "-wal"])
    copyFileSync(join(folder, `client.db${suffix}`), join(crashed, `client.db${suffix}`))
  writer.close()
  return crashed
}

function bodies(path: string): unknown[] {
  const foreign = openForeignDatabase(path, ["note"])
  const found = [...foreign.rows({ table: "note", columns: ["body"], order: ["id"] })].map((row) => row["body"])
  foreign.close()
  return found
}

test("reads what a writer has written while the writer goes on, and changes neither database nor log", () => {
  const folder = freshFolder()
  const path = join(folder, "client.db")
  const writer = clientDatabase(path)
  const before = contents(folder)
  expect(bodies(path)).toEqual(["one", "two", "three"])
  expect(contents(folder)).toEqual(before)
  writer.run("INSERT INTO note VALUES (4, 'b', 'four', 30, '')")
  expect(bodies(path)).toEqual(["one", "two", "three", "four"])
  writer.close()
})

test("a database whose log is gone is read without a file beside it", () => {
  const folder = freshFolder()
  const path = join(folder, "client.db")
  const writer = clientDatabase(path)
  writer.run("PRAGMA wal_checkpoint(TRUNCATE)")
  const whole = freshFolder()
  copyFileSync(path, join(whole, "copy of #1?.db"))
  writer.close()
  const before = contents(whole)
  expect(bodies(join(whole, "copy of #1?.db"))).toEqual(["one", "two", "three"])
  expect(readdirSync(whole)).toEqual(["copy of #1?.db"])
  expect(contents(whole)).toEqual(before)
})

test("a log without its shared memory is read from a copy, and nothing appears beside it", () => {
  const crashed = folderOfACrash()
  const before = contents(crashed)
  expect(bodies(join(crashed, "client.db"))).toEqual(["one", "two", "three"])
  expect(readdirSync(crashed).sort()).toEqual(["client.db", "client.db-wal"])
  expect(contents(crashed)).toEqual(before)
})

test("a copy that a killed process left a day ago goes with the next one, and a younger one stays", () => {
  const crashed = folderOfACrash()
  const [left, young] = [0, 1].map(() => mkdtempSync(join(tmpdir(), "pond-sqlite-"))) as [string, string]
  folders.push(left, young)
  for (const path of [left, young]) writeFileSync(join(path, "copy.db"), "of a client")
  const { mtimeMs } = statSync(left)
  utimesSync(left, new Date(mtimeMs), new Date(mtimeMs - 25 * 60 * 60 * 1000))
  expect(bodies(join(crashed, "client.db"))).toEqual(["one", "two", "three"])
  expect([existsSync(left), existsSync(young)]).toEqual([false, true])
})

test("a database with a rollback journal is read too", () => {
  const path = join(freshFolder(), "client.db")
  const writer = clientDatabase(path, "DELETE")
  expect(bodies(path)).toEqual(["one", "two", "three"])
  writer.close()
})

test("a reader of a whole file notices that a writer has come", () => {
  const folder = freshFolder()
  const path = join(folder, "client.db")
  clientDatabase(path).close()
  const foreign = openForeignDatabase(path, ["note"])
  expect(foreign.isStale()).toBe(false)
  const writer = new Database(path)
  writer.run("INSERT INTO note VALUES (9, 'b', 'nine', 90, '')")
  expect(foreign.isStale()).toBe(true)
  writer.close()
  foreign.close()
})

test("only named tables can be read, and no column that may hold a secret", () => {
  const path = join(freshFolder(), "client.db")
  clientDatabase(path).close()
  const foreign = openForeignDatabase(path, ["note", "absent"])
  expect([...foreign.tables.keys()]).toEqual(["note"])
  expect(foreign.withheld).toEqual(["note.api_token"])
  expect(() => [...foreign.rows({ table: "credential" })]).toThrow("credential")
  expect(JSON.stringify([...foreign.rows({ table: "note" })])).not.toContain("T0P")
  foreign.close()
})

test("a column that nobody knew is withheld where its name is one of credentials", () => {
  const secret = [
    "bearer",
    "oauth_blob",
    "access_token",
    "apiKey",
    "private_key",
    "cookie_jar",
    "jwt",
    "passphrase",
    "auth",
  ]
  const open = ["tokens_input", "author", "title", "key", "session_id", "pass_count", "permission"]
  const path = join(freshFolder(), "columns.db")
  const database = new Database(path)
  database.run(`CREATE TABLE note (${[...secret, ...open].map((name) => `${name} TEXT`).join(", ")})`)
  database.close()
  const foreign = openForeignDatabase(path, ["note"])
  expect(foreign.withheld).toEqual(secret.map((name) => `note.${name}`))
  expect(foreign.tables.get("note")).toEqual(open)
  foreign.close()
})

test("rows can be chosen by value, after a value and in an order, and counted by a column", () => {
  const path = join(freshFolder(), "client.db")
  clientDatabase(path).close()
  const foreign = openForeignDatabase(path, ["note"])
  const columns = ["id", "no such column"]
  expect([...foreign.rows({ table: "note", columns, where: { owner: "a" }, order: ["updated"] })]).toEqual([
    { id: 1 },
    { id: 2 },
  ])
  expect([...foreign.rows({ table: "note", columns, where: { owner: "a" }, after: ["updated", 10] })]).toEqual([
    { id: 2 },
  ])
  expect([
    ...foreign.tally({ table: "note", by: "owner", greatest: ["updated", "no such column"], totals: [] }),
  ]).toEqual([
    { value: "a", count: 2, greatest: [20, 0], totals: [] },
    { value: "b", count: 1, greatest: [5, 0], totals: [] },
  ])
  foreign.close()
})

test("numbers keep their value and bytes keep their form", () => {
  const path = join(freshFolder(), "client.db")
  const writer = new Database(path, { create: true })
  writer.run("CREATE TABLE odd (whole INTEGER, real REAL, most REAL, least REAL, bytes BLOB, text TEXT)")
  writer.run("INSERT INTO odd VALUES (9007199254740993, 0.001842, 9e999, -9e999, x'00ff', 'é')")
  writer.close()
  const foreign = openForeignDatabase(path, ["odd"])
  const [row] = [...foreign.rows({ table: "odd" })]
  expect(JSON.stringify(row)).toBe(
    `{"whole":9007199254740993,"real":0.001842,"most":1e999,"least":-1e999,"bytes":{"${BYTES_KEY}":"AP8="},"text":"é"}`,
  )
  foreign.close()
})

test("what a client was writing when the power went is not read: its journal says what was there before", () => {
  const [path, crashed] = [join(freshFolder(), "client.db"), join(freshFolder(), "client.db")]
  const writer = clientDatabase(path, "DELETE")
  writer.run(
    "WITH RECURSIVE n(i) AS (SELECT 4 UNION ALL SELECT i + 1 FROM n WHERE i < 300) INSERT INTO note SELECT i, 'c', hex(randomblob(300)), 0, '' FROM n",
  )
  writer.run("PRAGMA cache_size = 2")
  writer.run("BEGIN")
  // More than its cache holds: most of it lies in the file by now, and the journal has what was there.
  writer.run("UPDATE note SET owner = 'half'")
  for (const suffix of ["", "-journal"]) copyFileSync(path + suffix, crashed + suffix)
  writer.close()
  expect(readFileSync(crashed).includes("half")).toBe(true)
  const before = readFileSync(crashed)
  const foreign = openForeignDatabase(crashed, ["note"])
  expect([...foreign.tally({ table: "note", by: "owner" })].map(({ value, count }) => [value, count])).toEqual([
    ["a", 2],
    ["b", 1],
    ["c", 297],
  ])
  foreign.close()
  expect(readFileSync(crashed).equals(before)).toBe(true)
})

test("no copy is left behind: not of what was read, and not of what turns out to be damaged", () => {
  const [folder, temporary, before] = [freshFolder(), freshFolder(), process.env["TMPDIR"]]
  const path = join(folder, "client.db")
  const writer = clientDatabase(join(folder, "writer.db"))
  for (const suffix of ["", "-wal"]) copyFileSync(join(folder, `writer.db${suffix}`), path + suffix)
  writer.close()
  writeFileSync(join(folder, "damaged.db"), "no database at all, but as long as the head of one".repeat(20))
  process.env["TMPDIR"] = temporary
  try {
    const foreign = openForeignDatabase(path, ["note"])
    expect(readdirSync(temporary)).toHaveLength(1)
    foreign.close()
    expect(() => openForeignDatabase(join(folder, "damaged.db"), ["note"])).toThrow()
    expect(readdirSync(temporary)).toEqual([])
  } finally {
    if (before === undefined) delete process.env["TMPDIR"]
    else process.env["TMPDIR"] = before
  }
})

test("a path without a database is an error that says so", () => {
  expect(() => openForeignDatabase(join(freshFolder(), "none.db"), ["note"])).toThrow("No database")
})

test("a log is in use while a program has its database open, and no more when that one was killed", async () => {
  const path = join(freshFolder(), "client.db")
  const hold = `const { Database } = require("bun:sqlite"); const held = new Database(${JSON.stringify(path)}, { create: true });
    held.run("PRAGMA journal_mode = WAL"); held.run("CREATE TABLE note (id)"); console.log("held"); setInterval(() => held, 1e6)`
  const holder = Bun.spawn([process.execPath, "-e", hold], { stdout: "pipe" })
  await holder.stdout.getReader().read()
  expect(isLogInUse(path)).toBe(true)
  holder.kill("SIGKILL")
  await holder.exited
  expect(existsSync(`${path}-shm`)).toBe(true)
  // Elsewhere nothing tells, and it may be.
  expect(isLogInUse(path)).toBe(process.platform !== "linux")
  rmSync(`${path}-shm`)
  expect(isLogInUse(path)).toBe(false)
  const other = join(freshFolder(), "other.db")
  clientDatabase(other, "DELETE").close()
  expect(isLogInUse(other)).toBe(false)
})

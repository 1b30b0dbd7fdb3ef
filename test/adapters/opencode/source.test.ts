import { expect, test } from "bun:test"
import { copyFileSync, cpSync, existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { opencode } from "../../../src/adapters/opencode/adapter.ts"
import { nativeFiles } from "../../../src/restore/output-files.ts"
import {
  answer,
  clientDatabase,
  fixture,
  NOW,
  planned,
  read,
  readOnly,
  SESSION,
  sourceAt,
  tempRoot,
  texts,
  user,
} from "./support.ts"

test("the roots are those of the client's own variables and defaults", () => {
  const roots = (environment: Record<string, string>) => sourceAt().source.roots(environment, "/home/a")
  expect(roots({})).toEqual(["/home/a/.local/share/opencode"])
  expect(roots({ XDG_DATA_HOME: "/data" })).toEqual(["/data/opencode"])
  expect(roots({ OPENCODE_DB: ":memory:" })).toEqual(["/home/a/.local/share/opencode"])
  expect(roots({ OPENCODE_DB: "opencode-dev.db" })).toEqual(["/home/a/.local/share/opencode"])
  expect(roots({ OPENCODE_DB: "own.db" })).toEqual([
    "/home/a/.local/share/opencode",
    "/home/a/.local/share/opencode/own.db",
  ])
  expect(roots({ OPENCODE_DB: "/x/own.db" })).toEqual(["/home/a/.local/share/opencode", "/x/own.db"])
})

test("a database under a name of its own is read where a root names it", async () => {
  using temp = tempRoot()
  const path = join(temp.root, "own.db")
  copyFileSync(join(fixture("image"), "opencode.db"), path)
  const { units } = await planned(path)
  expect(units.map(({ files }) => files[0]?.relativePath)).toEqual(["own.db"])
  expect(texts((await readOnly(path)).entries).length).toBeGreaterThan(3)
})

test("a session that is in the database and in the old tree is read from the database, and that is said", async () => {
  using temp = tempRoot()
  cpSync(fixture("tree"), temp.root, { recursive: true })
  const client = clientDatabase(join(temp.root, "opencode.db"))
  const id = "ses_4f2a11c6fffeAbCdEfGhIjKlMn"
  client.session({ id })
  const { units, issues } = await planned(temp.root)
  expect(units.map(({ key }) => key.split("/").at(-1))).toEqual([
    `opencode.db#${id}`,
    "ses_4f2a0f05dffeZyXwVuTsRqPoNm.json",
  ])
  expect(issues.map(({ kind, found }) => `${kind}: ${found.slice(0, 10)}`)).toEqual(["duplicate_session: 1 sessions"])
})

test.each([
  ["tree", "storage/part/msg_gone"],
  ["first-tree", "project/work-alpha/storage/session/part/ses_gone/msg_gone"],
])("%s: parts whose message was taken back are named", async (name, parts) => {
  using temp = tempRoot()
  cpSync(fixture(name), temp.root, { recursive: true })
  const { units, issues } = await planned(temp.root)
  expect(issues).toEqual([])
  await Bun.write(join(temp.root, parts, "prt_1.json"), '{"id":"prt_1","type":"text","text":"taken back"}')
  const again = await planned(temp.root)
  expect(again.units).toEqual(units)
  expect(again.issues.map(({ kind, severity, file }) => [kind, severity, file])).toEqual([
    ["orphan_file", "note", `${parts}/prt_1.json`],
  ])
})

test("a database of something else is named, and one that is none is a fault", async () => {
  using temp = tempRoot()
  const client = clientDatabase(join(temp.root, "opencode.db"))
  client.database.run("DROP TABLE session")
  await Bun.write(join(temp.root, "opencode-dev.db"), "this is no database ".repeat(50))
  const { units, issues } = await planned(temp.root)
  expect(units).toEqual([])
  expect(issues.map(({ kind, severity }) => `${kind} ${severity}`).sort()).toEqual([
    "unknown_store note",
    "unreadable_file fault",
  ])
})

test("the model that the person works with is that of the session used last, and a broken database only says nothing of it", async () => {
  using temp = tempRoot()
  const path = join(temp.root, "opencode.db")
  expect(opencode.models?.lastUsed?.(temp.root)).toBeUndefined()
  const client = clientDatabase(path)
  const model = JSON.stringify({ id: "claude-opus-4-5", providerID: "anthropic" })
  client.session({ model })
  client.session({ id: "ses_older", slug: "o", model: model.replace("opus", "haiku"), time_updated: 1 })
  expect(opencode.models?.lastUsed?.(temp.root)).toBe("anthropic/claude-opus-4-5")
  client.database.close()
  await Bun.write(path, "this is no database ".repeat(50))
  expect(opencode.models?.lastUsed?.(temp.root)).toBeUndefined()
})

test("a column of the future is kept and named, and one that may hold a secret is not read", async () => {
  using temp = tempRoot()
  const client = clientDatabase(join(temp.root, "opencode.db"))
  client.database.run("ALTER TABLE session ADD mood text")
  client.database.run("ALTER TABLE session ADD share_secret text")
  client.session({ mood: "calm", share_secret: "T0P" })
  const { issues } = await planned(temp.root)
  expect(issues.map(({ kind, found }) => `${kind}: ${found.split(" ")[0]}`)).toEqual([
    "withheld_column: session.share_secret",
    "unknown_column: session.mood",
  ])
  const raws = JSON.stringify((await readOnly(temp.root)).raws)
  expect(raws).toContain("calm")
  expect(raws).not.toContain("T0P")
})

test("a table of the future that is about sessions is named and not read, and one of shares is left alone", async () => {
  using temp = tempRoot()
  const client = clientDatabase(join(temp.root, "opencode.db"))
  client.database.run("CREATE TABLE session_future (id text, session_id text, note text)")
  client.database.run("CREATE TABLE weather (id text, note text)")
  client.database.run("INSERT INTO session_future VALUES ('f', 'ses_x', 'T0P')")
  client.session({})
  const { issues } = await planned(temp.root)
  expect(issues).toMatchObject([
    { kind: "unknown_table", severity: "note", found: expect.stringContaining("session_future") },
  ])
  expect(JSON.stringify((await readOnly(temp.root)).raws)).not.toContain("T0P")
})

test("an older database without the newer tables and columns is read", async () => {
  using temp = tempRoot()
  const { database, message, part } = clientDatabase(join(temp.root, "opencode.db"))
  for (const table of [
    "session_message",
    "session_input",
    "session_context_epoch",
    "event",
    "event_sequence",
    "migration",
  ])
    database.run(`DROP TABLE ${table}`)
  for (const column of ["agent", "model", "cost", "path"]) database.run(`ALTER TABLE session DROP COLUMN ${column}`)
  database.run(`INSERT INTO session (id, project_id, slug, directory, title, version, time_created, time_updated)
    VALUES ('${SESSION}', 'global', 's', '/work/alpha', 'Old', '1.2.5', 1, 1)`)
  message("msg_1", NOW - 60_000, user())
  part("prt_1", "msg_1", { type: "text", text: "a question" })
  expect(texts((await readOnly(temp.root)).entries)).toEqual(["user: a question"])
})

/** Everything of a client that holds a token: the tables, the files, and a share. */
function plantTokens(root: string): void {
  const client = clientDatabase(join(root, "opencode.db"))
  client.session()
  client.message("msg_1", NOW - 60_000, user())
  client.part("prt_1", "msg_1", { type: "text", text: "a question" })
  client.message("msg_2", NOW - 50_000, answer("msg_1"))
  const { database } = client
  database.run("INSERT INTO account VALUES ('a', 'e', 'u', 'T0K3N-1', 'T0K3N-2', 1, 1, 1)")
  database.run("INSERT INTO control_account VALUES ('e', 'u', 'T0K3N-3', 'T0K3N-4', 1, 1, 1, 1)")
  database.run("INSERT INTO credential VALUES ('c', 'i', 'l', 'T0K3N-5', NULL, NULL, 1, 1, 1)")
  database.run(`INSERT INTO session_share VALUES ('${SESSION}', 's', 'T0K3N-6', 'u', 1, 1)`)
  cpSync(join(fixture("tree"), "storage"), join(root, "storage"), { recursive: true })
  copyFileSync(join(fixture("tree"), "auth.json"), join(root, "auth.json"))
  copyFileSync(join(fixture("tree"), "auth.json"), join(root, "mcp-auth.json"))
}

test("no credential that lies beside the sessions is read: not from tables, not from files, not from shares", async () => {
  using temp = tempRoot()
  plantTokens(temp.root)
  expect(readFileSync(join(temp.root, "auth.json"), "utf8")).toContain("S3CRET")
  const { units } = await planned(temp.root)
  expect(units.length).toBe(3)
  for (const unit of units) {
    const stored = await read(unit)
    const all = JSON.stringify([stored, nativeFiles(opencode, stored)])
    expect(all.length).toBeGreaterThan(1_000)
    expect(all).not.toMatch(/T0K3N|S3CRET/)
  }
})

test("reading a database leaves the client's folder as it was", async () => {
  using temp = tempRoot()
  const client = clientDatabase(join(temp.root, "opencode.db"))
  client.session()
  const hashes = () =>
    readdirSync(temp.root)
      .filter((name) => !name.endsWith("-shm"))
      .map((name) => [name, Bun.hash(readFileSync(join(temp.root, name)))])
  const before = hashes()
  await readOnly(temp.root)
  expect(hashes()).toEqual(before)
  expect(before.length).toBe(2)
})

test("a folder that somebody points at is searched for stores and exports, and credentials in it are left alone", async () => {
  using temp = tempRoot()
  const deep = join(temp.root, "backup", "laptop")
  mkdirSync(deep, { recursive: true })
  cpSync(fixture("handed-over"), deep, { recursive: true })
  copyFileSync(join(fixture("tree"), "auth.json"), join(temp.root, "backup", "auth.json"))
  const { units } = await planned(temp.root)
  expect(units.map(({ key }) => key)).toEqual([
    "backup/laptop/exports/ses_e117aa7ffffexgd7esUWaW5CFI.json",
    "backup/laptop/old/storage/part/msg_b1f000000001OrPhAnOrPhAnOr/001.json",
  ])
  expect(existsSync(join(temp.root, "backup", "auth.json"))).toBe(true)
})

test("one file that somebody points at is an export, whatever its name", async () => {
  using temp = tempRoot()
  const path = join(temp.root, "what I did.json")
  copyFileSync(join(fixture("handed-over"), "exports/ses_e117aa7ffffexgd7esUWaW5CFI.json"), path)
  expect((await readOnly(path)).session).toMatchObject({ id: "ses_e117aa7ffffexgd7esUWaW5CFI", project: "/work/alpha" })
})

test("the changes of a session lie in a document beside its database", async () => {
  using temp = tempRoot()
  mkdirSync(join(temp.root, "storage/session_diff"), { recursive: true })
  copyFileSync(join(fixture("image"), "opencode.db"), join(temp.root, "opencode.db"))
  const id = (await planned(temp.root)).units[0]?.row?.id ?? ""
  const diff = `storage/session_diff/${id}.json`
  writeFileSync(join(temp.root, diff), "[]")
  const { units } = await planned(temp.root)
  expect(units[0]?.files.map(({ relativePath }) => relativePath)).toEqual(["opencode.db", diff])
})

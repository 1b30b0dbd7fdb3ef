/** Rows that are written by a process which is killed, by SIGKILL, before each of its steps: all of them are there, or none. */
import { Database } from "bun:sqlite"
import { afterEach, expect, test } from "bun:test"
import { copyFileSync, existsSync, mkdtempSync, readdirSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { type RowsToWrite, writeForeignRows } from "../../src/platform/files/foreign-sqlite-writer.ts"

const folders: string[] = []
afterEach(() => {
  for (const folder of folders.splice(0)) rmSync(folder, { recursive: true, force: true })
})

function freshFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), "pond-crash-"))
  folders.push(folder)
  return folder
}

const SCHEMA: RowsToWrite["schema"] = {
  create: [
    "CREATE TABLE session (id TEXT PRIMARY KEY, title TEXT)",
    "CREATE TABLE part (id TEXT PRIMARY KEY, session_id TEXT REFERENCES session(id) ON DELETE CASCADE, data TEXT)",
  ],
  keys: { session: ["id"], part: ["id"] },
  shared: [],
  owners: ["session"],
}

function rowsOf(id: string, title: string, parts: readonly string[] = ["1", "2", "3"]): RowsToWrite {
  const part = parts.map((each) => ({ id: `${id}-${each}`, session_id: id, data: { text: title.repeat(2000) } }))
  return { rows: [{ table: "session", row: { id, title, part } }], schema: SCHEMA }
}

interface Run {
  readonly wasKilled: boolean
  readonly steps: number
}

async function writes(path: string, diesBefore: number, rows: RowsToWrite, backup?: string): Promise<Run> {
  const words = [path, String(diesBefore), JSON.stringify(rows), ...(backup === undefined ? [] : [backup])]
  const child = Bun.spawn([process.execPath, join(import.meta.dir, "dies-writing.ts"), ...words], { stdout: "pipe" })
  const said = await new Response(child.stdout).text()
  await child.exited
  if (child.signalCode === null && child.exitCode !== 0) throw new Error(`it ended with ${child.exitCode}: ${said}`)
  return { wasKilled: child.signalCode === "SIGKILL", steps: Number(said) }
}

/** Each session and its parts, as whoever opens the database next finds them. */
function told(path: string): Record<string, number> | undefined {
  if (!existsSync(path)) return undefined
  using database = new Database(path)
  expect(database.query("PRAGMA integrity_check").values()).toEqual([["ok"]])
  const sql = "SELECT title, count(part.id) FROM session LEFT JOIN part ON session_id = session.id GROUP BY session.id"
  return Object.fromEntries(database.query(sql).values() as [string, number][])
}

interface Trial extends Run {
  readonly folder: string
  readonly path: string
}

/** A place as it was before, once for each step and once for none; some at a time. */
async function atEachStep(act: (folder: string, diesBefore: number) => Promise<Run>, before: string | undefined) {
  const trial = async (diesBefore: number): Promise<Trial> => {
    const folder = freshFolder()
    const path = join(folder, "client.db")
    if (before !== undefined) for (const end of ["", "-wal"]) copyIfThere(before + end, path + end)
    return { folder, path, ...(await act(folder, diesBefore)) }
  }
  const whole = await trial(0)
  expect(whole.wasKilled).toBe(false)
  const trials: Trial[] = []
  for (let first = 1; first <= whole.steps; first += AT_ONCE) {
    const some = Array.from({ length: Math.min(AT_ONCE, whole.steps + 1 - first) }, (_, index) => trial(first + index))
    trials.push(...(await Promise.all(some)))
  }
  expect(trials.map(({ wasKilled }) => wasKilled)).toEqual(trials.map(() => true))
  return { whole, trials }
}

const AT_ONCE = 4

function copyIfThere(from: string, to: string): void {
  if (existsSync(from)) copyFileSync(from, to)
}

test("a new database is not there until it is whole, whenever the writer is killed", async () => {
  const rows = rowsOf("s1", "new")
  const { whole, trials } = await atEachStep((folder, step) => writes(join(folder, "client.db"), step, rows), undefined)
  expect(told(whole.path)).toEqual({ new: 3 })
  // The schema, the beginning of the transaction, the rows, its end, the closing.
  expect(trials.length).toBeGreaterThan(10)
  for (const { path, folder } of trials) {
    expect(told(path)).toBeUndefined()
    writeForeignRows(path, rows)
    expect(told(path)).toEqual({ new: 3 })
    expect(readdirSync(folder)).toEqual(["client.db"])
  }
}, 60_000)

test("rows that are added to a client's database are all there or none, and what was there stays", async () => {
  const before = join(freshFolder(), "before.db")
  writeForeignRows(before, rowsOf("s0", "old"))
  using client = new Database(before)
  // As clients leave it: what they wrote last lies in a log beside the database.
  client.run("PRAGMA journal_mode = WAL")
  client.run("INSERT INTO part VALUES ('s0-4', 's0', '{}')")
  const rows = rowsOf("s1", "new")
  const { whole, trials } = await atEachStep((folder, step) => writes(join(folder, "client.db"), step, rows), before)
  const [none, all] = [{ old: 4 }, { old: 4, new: 3 }]
  expect(told(whole.path)).toEqual(all)
  const found = trials.map(({ path }) => told(path))
  // Once it is there it stays there: the commit is one step.
  const committed = found.findIndex((each) => Object.hasOwn(each ?? {}, "new"))
  expect(committed).toBeGreaterThan(5)
  expect(found).toEqual(found.map((_, index) => (index < committed ? none : all)))
  for (const { path } of trials) {
    writeForeignRows(path, rows)
    expect(told(path)).toEqual(all)
  }
}, 60_000)

test("a session that is replaced is the old one or the new one, and the old one is kept in any case", async () => {
  const before = join(freshFolder(), "before.db")
  writeForeignRows(before, rowsOf("s1", "old", ["1", "2", "9"]))
  const rows = rowsOf("s1", "new")
  const write = (folder: string, step: number) =>
    writes(join(folder, "client.db"), step, rows, join(folder, "client.db.backup"))
  const { whole, trials } = await atEachStep(write, before)
  const [old, now] = [{ old: 3 }, { new: 3 }]
  expect([told(whole.path), told(`${whole.path}.backup`)]).toEqual([now, old])
  const found = trials.map(({ path }) => told(path))
  const committed = found.findIndex((each) => Object.hasOwn(each ?? {}, "new"))
  expect(committed).toBeGreaterThan(5)
  expect(found).toEqual(found.map((_, index) => (index < committed ? old : now)))
  expect(trials.slice(committed).map(({ path }) => told(`${path}.backup`))).toEqual(
    trials.slice(committed).map(() => old),
  )
}, 60_000)

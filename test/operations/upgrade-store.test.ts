/** What an older pond left: its store and its export file are opened, searched, checked and written to by the pond of today. */
import { afterAll, beforeAll, expect, test } from "bun:test"
import { cpSync, mkdirSync, readFileSync } from "node:fs"
import { join } from "node:path"
import { SOURCES } from "../../build/older-store.ts"
import { type TemporaryHome, temporaryHome } from "../support/pond-process.ts"
import { runPond } from "../support/warm-pond.ts"

const FIXTURES = join(import.meta.dir, "../../fixtures")
const COUNTED = `SELECT s.id AS session_id, s.source_agent, count(*) AS messages FROM sessions s
  JOIN messages m ON m.session_id = s.id GROUP BY 1, 2 ORDER BY 1`

interface Expected {
  readonly rows: readonly { readonly session_id: string; readonly source_agent: string; readonly messages: number }[]
}
const { rows } = JSON.parse(readFileSync(join(FIXTURES, "older-store/expected.json"), "utf8")) as Expected

let home: TemporaryHome
let store: string
beforeAll(async () => {
  home = temporaryHome()
  const tar = Bun.spawn(["tar", "-xzf", join(FIXTURES, "older-store/older.tar.gz"), "-C", home.path])
  expect(await tar.exited).toBe(0)
  store = join(home.path, "older/store")
  for (const [fixture, place] of SOURCES) {
    mkdirSync(join(home.path, place), { recursive: true })
    cpSync(join(FIXTURES, fixture, "root"), join(home.path, place), { recursive: true })
  }
})
afterAll(() => home[Symbol.dispose]())

async function pond(...words: readonly string[]) {
  return await pondOver(store, ...words)
}

async function pondOver(place: string, ...words: readonly string[]) {
  const { stdout, stderr, exitCode } = await runPond([...words, "--json", "--store", place], { env: home.env })
  expect({ words, exitCode, stderr: exitCode === 0 ? "" : stderr }).toEqual({ words, exitCode: 0, stderr: "" })
  return JSON.parse(stdout)
}

test("every session and message of the older store is there, whole", async () => {
  expect((await pond("sql", COUNTED)).rows).toEqual(rows)
  const { tables } = await pond("check", "--read-data")
  expect(tables.flatMap(({ damaged }: { damaged: readonly unknown[] }) => damaged)).toEqual([])
  for (const { session_id, source_agent } of rows) {
    const { session } = await pond("get", session_id)
    expect(session).toMatchObject({ id: session_id, source_agent })
  }
}, 60_000)

test("its words are found, and a session of it is restored", async () => {
  const { sessions } = await pond("search", "the", "--limit", "50")
  expect(sessions.length).toBeGreaterThan(0)
  const codex = rows.find(({ source_agent }) => source_agent === "codex")?.session_id ?? ""
  const root = join(home.path, "restored")
  await pond("restore", codex, "--to", "codex", "--root", root, "--cwd", home.path)
  expect([...new Bun.Glob("**/*.jsonl").scanSync(root)]).toHaveLength(1)
}, 60_000)

test("a sync of the same sessions stores nothing twice, and the store that it wrote into still holds everything", async () => {
  const { adapters } = await pond("sync")
  const added = adapters.reduce((sum: number, { messages }: { messages: { new: number } }) => sum + messages.new, 0)
  expect(added).toBe(0)
  expect((await pond("sql", COUNTED)).rows).toEqual(rows)
}, 60_000)

test("its export file is imported into a new store", async () => {
  const imported = join(home.path, "imported")
  await pondOver(imported, "import", join(home.path, "older/all.pond"))
  expect((await pondOver(imported, "sql", COUNTED)).rows).toEqual(rows)
}, 60_000)

/** `pond restore` from the outside: what it says, what it writes, and what it refuses, over sessions of real clients. */
import { Database } from "bun:sqlite"
import { afterAll, expect, test } from "bun:test"
import {
  cpSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  realpathSync,
  rmSync,
  symlinkSync,
  truncateSync,
  writeFileSync,
} from "node:fs"
import { join } from "node:path"
import { type Ran, type TemporaryHome, temporaryHome } from "../support/pond-process.ts"
import { runPond } from "../support/warm-pond.ts"

const FIXTURES = join(import.meta.dir, "../../fixtures")
const TOOLS = "0a0fb0f6-d949-4c88-a1ca-9484aeb8c9f8"
const AGENT = "9b9a57e5-d547-4b23-84f8-cfda13a0759c"

const synced = new Map<string, TemporaryHome>()
afterAll(() => {
  for (const home of synced.values()) home[Symbol.dispose]()
})

/** A separate home, as it is after a sync: those of one fixture are copies of one. */
async function homeWith(adapter: string, fixture: string): Promise<TemporaryHome> {
  const path = join(FIXTURES, adapter, fixture, "root")
  const first = synced.get(path) ?? temporaryHome()
  if (!synced.has(path)) {
    synced.set(path, first)
    const ran = await runPond(["sync", adapter, "--path", path, "--only", "import"], first)
    expect(ran).toMatchObject({ exitCode: 0 })
  }
  const home = temporaryHome()
  cpSync(first.path, home.path, { recursive: true })
  return home
}

function restored(home: TemporaryHome, session: string, ...words: readonly string[]): Promise<Ran> {
  return runPond(["restore", session, "--root", join(home.path, "target"), ...words], home)
}

function filesBelow(folder: string): string[] {
  if (!existsSync(folder)) return []
  const entries = readdirSync(folder, { recursive: true, withFileTypes: true })
  return entries
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name))
    .sort()
}

test("a plan names the files and the losses, and writes none of them", async () => {
  using home = await homeWith("claude-code", "tools")
  const { exitCode, stdout } = await restored(home, TOOLS, "--to", "codex", "--dry-run")
  expect(stdout).toContain("Would convert 1 session to Codex: 1 file")
  expect(stdout).toContain("\n  lost: 2 failure marks (exec_command)")
  expect(stdout).toContain("codex resume")
  // The command that goes on with it begins in a directory that this machine does not have.
  expect(stdout).toMatch(/^ {2}\/\S+ does not exist: create it, or choose another with --cwd\.$/m)
  const here = await restored(home, TOOLS, "--to", "codex", "--cwd", home.path, "--dry-run")
  expect(here.stdout).not.toContain("does not exist")
  expect({ exitCode, files: filesBelow(join(home.path, "target")) }).toEqual({ exitCode: 0, files: [] })
})

test("a session of a form that its client opens no more is restored as it was, and told of, and goes on if it is written anew", async () => {
  using home = await homeWith("opencode", "first-tree")
  const session = "ses_7f1fb3f1cffeFiRsTtReEsEs02"
  const asItWas = await restored(home, session)
  expect(asItWas.stderr).toContain(`\`pond resume ${session}\` writes a new session in the current format`)
  expect(asItWas.stdout).toContain("Restored 1 session: 3 files")
  const anew = await restored(home, session, "--anew", "--json")
  expect(anew).toMatchObject({ exitCode: 0, stderr: "" })
  const report = JSON.parse(anew.stdout)
  expect(report).toMatchObject({ fidelity: "foreign", outdated: false, sessions: [{ from: "opencode" }] })
  using database = new Database(join(home.path, "target/opencode.db"), { readonly: true })
  const rows = database.query("select id from session").all()
  expect(rows).toEqual([{ id: report.session_id }])
  const plan = await restored(home, session, "--dry-run", "--json")
  expect(JSON.parse(plan.stdout)).toMatchObject({ fidelity: "native", outdated: true })
  // Who wants to go on has it written so without asking, unless the client has it in its database by now.
  const resume = (root: string) =>
    runPond(["resume", session, "--root", join(home.path, root), "--dry-run", "--json"], home)
  expect(JSON.parse((await resume("target")).stdout)).toMatchObject({
    fidelity: "foreign",
    session_id: report.session_id,
  })
  using taken = new Database(join(home.path, "target/opencode.db"))
  taken.run("update session set id = ?", [session])
  expect(JSON.parse((await resume("target")).stdout)).toMatchObject({ fidelity: "native", session_id: session })
})

/** opencode's server sends rows of `session_message` on; `opencode --session`, which a resume starts, shows nothing of them. */
test("a session of rows that its client's terminal does not show goes on anew, where it lies in that database, too", async () => {
  using home = await homeWith("opencode", "events")
  const root = join(home.path, "target")
  cpSync(join(FIXTURES, "opencode/events/root"), root, { recursive: true })
  const session = "ses_e1138857effe82NtrLlbMMyWoe"
  const plan = await runPond(["resume", session, "--root", root, "--dry-run", "--json"], home)
  expect(JSON.parse(plan.stdout)).toMatchObject({ fidelity: "foreign", outdated: false })
  expect(JSON.parse(plan.stdout).session_id).not.toBe(session)
})

test("a log that pi does not take for a session goes on anew", async () => {
  using home = await homeWith("pi", "v4-lanes")
  const session = "5d1f0a30-0000-4000-8000-000000000004"
  const asItWas = await restored(home, session)
  expect(asItWas.stderr).toContain("pi cannot open this old format")
  const plan = await runPond(["resume", session, "--root", join(home.path, "target"), "--dry-run", "--json"], home)
  expect(JSON.parse(plan.stdout)).toMatchObject({ fidelity: "foreign", outdated: false })
})

test("what only parts of a session lie of is not gone on with, and a place that is no file is no fault of ours", async () => {
  using home = await homeWith("claude-code", "agent")
  const root = join(home.path, "target")
  const resume = (...words: readonly string[]) =>
    runPond(["resume", AGENT, "--root", root, "--cwd", home.path, ...words], { env: { ...home.env, PATH: "" } })
  // Its client is not on the PATH: as far as that a session comes that is there.
  expect(await resume()).toMatchObject({ exitCode: 3 })
  expect(await resume()).toMatchObject({ exitCode: 3 })
  const main = filesBelow(root).find((path) => path.endsWith(`${AGENT}.jsonl`)) ?? ""
  rmSync(main)
  const parts = await resume()
  expect(parts.stderr).toContain("subagents")
  expect(parts.stderr).toContain("Use --force to replace it")
  expect(parts.exitCode).toBe(8)
  expect(await resume("--force")).toMatchObject({ exitCode: 3 })
  expect(existsSync(main)).toBe(true)
  // One that is written into another client, and where a folder or more than memory holds lies in its place.
  expect(await resume("--to", "pi")).toMatchObject({ exitCode: 3 })
  const [log = ""] = filesBelow(root).filter((path) => !path.includes("projects"))
  truncateSync(log, 2 ** 33)
  expect(await resume("--to", "pi")).toMatchObject({ exitCode: 3 })
  rmSync(log)
  mkdirSync(log)
  const folder = await resume("--to", "pi")
  expect(folder.stderr).toContain("Or resume the existing session")
  expect(folder.exitCode).toBe(8)
})

test("a session of a database that its client has open goes on there, and one that is not in it waits", async () => {
  using home = await homeWith("opencode", "tools")
  const root = join(home.path, "target")
  cpSync(join(FIXTURES, "opencode/tools/root"), root, { recursive: true })
  using open = new Database(join(root, "opencode.db"))
  const [{ id: session }] = open.query("SELECT id FROM session").all() as [{ id: string }]
  const resume = (...words: readonly string[]) =>
    runPond(["resume", session, "--root", root, "--cwd", home.path, ...words], { env: { ...home.env, PATH: "" } })
  // Its client is not on the PATH: as far as that a session comes that is there.
  const goneOn = await resume()
  expect(goneOn.stderr).toContain(`opencode --session ${session}`)
  expect(goneOn.exitCode).toBe(3)
  for (const words of [["--force"], ["--anew"]]) {
    expect((await resume(...words)).stderr).toContain("is in use by another program. Close it and run this again.")
  }
})

test("a session that another client got goes on in its database while that client has it open, if nobody changed it", async () => {
  using home = await homeWith("claude-code", "agent")
  const root = join(home.path, "target")
  const resume = () =>
    runPond(["resume", AGENT, "--to", "opencode", "--root", root, "--cwd", home.path], {
      env: { ...home.env, PATH: "" },
    })
  const command = /opencode --session (ses_\w+)/
  const first = await resume()
  const [, session = ""] = command.exec(first.stderr) ?? []
  expect(session).not.toBe("")
  using client = new Database(join(root, "opencode.db"))
  client.run("PRAGMA journal_mode = WAL") // as the client opens it
  const rows = () => client.query("SELECT * FROM session").all()
  const before = rows()
  const goneOn = await resume()
  expect(goneOn.exitCode).toBe(3)
  expect(goneOn.stderr).toContain(`opencode --session ${session}`)
  expect(goneOn.stderr).not.toContain("in use by another program")
  expect(rows()).toEqual(before)
  client.run("UPDATE session SET title = 'otherwise' WHERE id = ?", [session])
  const changed = await resume()
  expect(changed.exitCode).toBe(6)
  expect(changed.stderr).toContain(
    "is in use by another program. Close it and run this again. Or resume the existing session",
  )
  client.run("DELETE FROM session WHERE id = ?", [session])
  const gone = await resume()
  expect(gone.exitCode).toBe(6)
  expect(gone.stderr).not.toContain("Or resume")
})

test("a root that is a file is refused, whatever client it is asked for", async () => {
  using home = await homeWith("opencode", "first-tree")
  const root = join(home.path, "file")
  writeFileSync(root, "")
  for (const to of ["claude-code", "codex", "opencode", "pi"]) {
    const ran = await runPond(["restore", "ses_7f1fb3f1cffeFiRsTtReEsEs02", "--root", root, "--to", to, "--anew"], home)
    expect(ran.stderr).toContain("It is not a directory: choose another path.")
    expect(ran.exitCode).toBe(5)
  }
})

test("losses are said before anything is written, whatever becomes of the writing", async () => {
  using home = await homeWith("claude-code", "tools")
  const first = await restored(home, TOOLS, "--to", "codex")
  expect(first.stderr).toContain("Lost: 2 failure marks (exec_command)")
  expect(first.stdout).toContain("Converted 1 session to Codex: 1 file")
  const again = await restored(home, TOOLS, "--to", "codex")
  expect(again.exitCode).toBe(8)
  expect(again.stderr.indexOf("Lost")).toBeLessThan(again.stderr.indexOf("already exists"))
  expect(again.stderr).toContain("Lost")
})

test("a session that is there is not written over, and with force it is kept beside", async () => {
  using home = await homeWith("claude-code", "agent")
  const first = await restored(home, AGENT)
  expect(first.exitCode).toBe(0)
  const files = filesBelow(join(home.path, "target"))
  expect(files.length).toBeGreaterThan(1)
  const refused = await restored(home, AGENT)
  expect(refused.exitCode).toBe(8)
  expect(filesBelow(join(home.path, "target"))).toEqual(files)
  const forced = JSON.parse((await restored(home, AGENT, "--force", "--json")).stdout)
  expect(forced.backups.toSorted()).toEqual(files.map((file) => expect.stringContaining(`${file}.pond-backup-`)))
  for (const [index, backup] of forced.backups.toSorted().entries())
    expect(readFileSync(backup, "utf8")).toBe(readFileSync(files[index] as string, "utf8"))
})

test("a database that its client holds is left alone, and the message says what to do", async () => {
  using home = await homeWith("claude-code", "agent")
  expect((await restored(home, AGENT, "--to", "opencode")).exitCode).toBe(0)
  const path = join(home.path, "target/opencode.db")
  using client = new Database(path)
  client.run("BEGIN IMMEDIATE")
  const before = client.query("SELECT count(*) AS count FROM message").get()
  const held = await restored(home, AGENT, "--to", "opencode", "--force")
  expect(held).toMatchObject({ exitCode: 6, stderr: expect.stringContaining("in use by another program. Close it") })
  client.run("COMMIT")
  expect(client.query("SELECT count(*) AS count FROM message").get()).toEqual(before)
})

const ELSEWHERE = "/elsewhere/日 dir"
const ANY_CWD = /"cwd":"([^"]*)"/g

test.each([
  ["claude-code", "agent", AGENT, "target/projects/-elsewhere---dir/"],
  ["codex", "agents", "01a1ee88-4729-7090-8eca-c6d39203b7b7", "target/sessions/2026/"],
  ["pi", "tools", "01a1ee89-97dc-76c1-a2ff-0ea01fd8b5d5", "target/--elsewhere-日 dir--/"],
] as const)(
  "--cwd moves a session of %s: its folder, its header, its records",
  async (adapter, fixture, id, folder) => {
    using home = await homeWith(adapter, fixture)
    const report = JSON.parse((await restored(home, id, "--cwd", ELSEWHERE, "--json")).stdout)
    expect(report).toMatchObject({ fidelity: "native", resume: { cwd: ELSEWHERE } })
    const files = filesBelow(join(home.path, "target"))
    expect(files.map((file) => file.includes(folder))).toEqual(files.map(() => true))
    const logs = files.filter((file) => file.endsWith(".jsonl")).map((file) => readFileSync(file, "utf8"))
    const named = logs.flatMap((log) => [...log.matchAll(ANY_CWD)].map(([, cwd = ""]) => decodeURIComponent(cwd)))
    const places = named.map((cwd) => cwd.replace("file://", "")).filter((cwd) => cwd.startsWith("/"))
    expect(new Set(places)).toEqual(new Set([ELSEWHERE]))
    expect(report.rewritten_paths).toBeGreaterThanOrEqual(places.length)
  },
)

test("--cwd moves a session of opencode, and those that it started", async () => {
  using home = await homeWith("opencode", "subagent")
  const { exitCode } = await restored(home, "ses_e1179559cffeqlotMbP4MNe7we", "--cwd", ELSEWHERE)
  expect(exitCode).toBe(0)
  using database = new Database(join(home.path, "target/opencode.db"))
  expect(database.query("SELECT project_id, directory, path FROM session").all()).toEqual([
    { project_id: "global", directory: ELSEWHERE, path: ELSEWHERE.slice(1) },
    { project_id: "global", directory: ELSEWHERE, path: ELSEWHERE.slice(1) },
  ])
})

// --- Lineage -----------------------------------------------------------------------------------------------------------

const ROOT = "ses_e1179559cffeqlotMbP4MNe7we"
const CHILD = "ses_e11794606ffestYnU3R367LQZw"
const GRANDCHILD = "ses_e1179460000000000000000000"

/** The sub-agent of the fixture has started one itself. */
async function homeWithGrandchild(change: (database: Database) => void = () => undefined): Promise<TemporaryHome> {
  const home = temporaryHome()
  const path = join(home.path, "opencode.db")
  await Bun.write(path, Bun.file(join(FIXTURES, "opencode/subagent/root/opencode.db")))
  using database = new Database(path)
  database.run("CREATE TEMP TABLE one AS SELECT * FROM session WHERE id = ?", [CHILD])
  database.run("UPDATE one SET id = ?, parent_id = ?, title = 'deeper'", [GRANDCHILD, CHILD])
  database.run("INSERT INTO session SELECT * FROM one")
  database.run("CREATE TEMP TABLE said AS SELECT * FROM message WHERE session_id = ? LIMIT 1", [CHILD])
  database.run("UPDATE said SET id = 'msg_deep', session_id = ?", [GRANDCHILD])
  database.run("INSERT INTO message SELECT * FROM said")
  database.run(`INSERT INTO part (id, message_id, session_id, time_created, time_updated, data)
    VALUES ('prt_deep', 'msg_deep', '${GRANDCHILD}', 1, 1, '{"type":"text","text":"DEEPER-PROMPT"}')`)
  change(database)
  database.close()
  expect(await runPond(["sync", "opencode", "--path", home.path, "--only", "import"], home)).toMatchObject({
    exitCode: 0,
  })
  return home
}

test("a session comes with its sub-agents and with theirs, into its own client and into others", async () => {
  using home = await homeWithGrandchild()
  const own = JSON.parse((await restored(home, ROOT, "--json")).stdout)
  expect(own.sessions.map(({ id }: { id: string }) => id)).toEqual([ROOT, CHILD, GRANDCHILD])
  using database = new Database(join(home.path, "target/opencode.db"))
  expect(database.query("SELECT id, parent_id FROM session WHERE parent_id IS NOT NULL ORDER BY id").all()).toEqual([
    { id: GRANDCHILD, parent_id: CHILD },
    { id: CHILD, parent_id: ROOT },
  ])
  for (const to of ["claude-code", "codex", "pi"]) {
    const { stdout } = await restored(home, ROOT, "--to", to, "--root", join(home.path, to), "--json")
    expect(JSON.parse(stdout).sessions).toHaveLength(3)
    const logs = filesBelow(join(home.path, to)).map((file) => readFileSync(file, "utf8"))
    expect({ to, told: logs.some((log) => log.includes("DEEPER-PROMPT")) }).toEqual({ to, told: true })
  }
})

test("a lineage that bites its own tail is refused by name, and nothing is written", async () => {
  using home = await homeWithGrandchild((database) => {
    database.run("UPDATE session SET parent_id = ? WHERE id = ?", [GRANDCHILD, ROOT])
  })
  const { exitCode, stdout } = await restored(home, ROOT, "--json")
  const { error } = JSON.parse(stdout)
  expect({ exitCode, code: error.code }).toEqual({ exitCode: 2, code: "validation_failed" })
  expect(error.message).toContain("has a cycle")
  expect(filesBelow(join(home.path, "target"))).toEqual([])
})

test("--cwd is told as the whole path of a directory, however it is typed", async () => {
  using home = await homeWith("claude-code", "tools")
  const work = join(home.path, "work")
  mkdirSync(work)
  symlinkSync(work, join(home.path, "link"))
  const planned = async (cwd: string, from: string) => {
    const words = ["restore", TOOLS, "--root", join(home.path, "target"), "--cwd", cwd, "--dry-run", "--json"]
    return JSON.parse((await runPond(words, { ...home, cwd: from })).stdout).resume.cwd
  }
  const real = realpathSync(work)
  expect(await Promise.all([planned(".", work), planned("../link", work), planned("new/one", real)])).toEqual([
    real,
    real,
    join(real, "new/one"),
  ])
})

test("a database whose place is taken by a directory is refused in words", async () => {
  using home = await homeWith("claude-code", "tools")
  mkdirSync(join(home.path, "target/opencode.db"), { recursive: true })
  const { exitCode, stderr } = await restored(home, TOOLS, "--to", "opencode")
  expect(exitCode).toBe(5)
  expect(stderr).toContain("opencode.db (SQLITE_CANTOPEN). Make it writable, or choose another directory.")
  expect(filesBelow(join(home.path, "target"))).toEqual([])
})

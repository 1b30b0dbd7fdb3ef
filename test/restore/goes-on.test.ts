/**
 * A session that was restored into another directory goes on there, and the next sync finds it: what was said since is stored
 * with the session that it belongs to, and nothing of it twice.
 */
import { Database } from "bun:sqlite"
import { expect, test } from "bun:test"
import { appendFileSync, cpSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { ADAPTERS, adapterById } from "../../src/adapters/registry.ts"
import type { SessionLog } from "../../src/model/session.ts"
import { planRestoreOf, restore } from "../../src/operations/machine/restore.ts"
import { verifyPond } from "../../src/operations/machine/verify.ts"
import { nativeFiles } from "../../src/restore/output-files.ts"
import { memoryPond, type TestPond } from "../operations/support.ts"
import { syncedInto } from "./support.ts"

const NEW = "/projects/移 beta"
const SAID = "and on in the new directory"
const MOMENT = "2026-11-19T02:00:00.000Z"

function rootOf(adapter: string, fixture = "tools"): string {
  return join(import.meta.dir, "../../fixtures", adapter, fixture, "root")
}

async function synced(place: TestPond, adapter: string, root: string, isFull = false) {
  const found = ADAPTERS.find(({ id }) => id === adapter)
  if (found === undefined) throw new Error(`no adapter ${adapter}`)
  const { sessions, issues, messages } = await syncedInto(place, found, root, isFull)
  return { failed: sessions.failed, issues, messages: messages.new }
}

/** A client reads the time of a log's last change, and pond leaves alone what is still being written. */
function logBelow(root: string): string {
  const [file] = readdirSync(root, { recursive: true, withFileTypes: true }).filter((entry) => entry.isFile())
  return join(file?.parentPath ?? "", file?.name ?? "")
}

function lastOf(path: string, key: string): unknown {
  const records = readFileSync(path, "utf8")
    .split("\n")
    .filter((line) => line !== "")
    .map((line) => JSON.parse(line) as Record<string, unknown>)
  return records.findLast((record) => typeof record[key] === "string")?.[key]
}

/** What each client writes when its user says one more thing. */
const GOES_ON: Readonly<Record<string, (root: string) => void>> = {
  "claude-code": (root) => {
    const path = logBelow(root)
    const [parentUuid, sessionId] = [lastOf(path, "uuid"), lastOf(path, "sessionId")]
    const own = { uuid: "c0ffee00-0000-4000-8000-000000000001", parentUuid, sessionId, cwd: NEW, timestamp: MOMENT }
    add(path, { ...own, type: "user", isSidechain: false, message: { role: "user", content: SAID } })
  },
  codex: (root) => {
    const content = [{ type: "input_text", text: SAID }]
    const payload = { type: "message", role: "user", content }
    add(logBelow(root), { timestamp: MOMENT, ordinal: 9999, type: "response_item", payload })
  },
  pi: (root) => {
    const path = logBelow(root)
    const message = { role: "user", content: [{ type: "text", text: SAID }], timestamp: 1 }
    add(path, { type: "message", id: "c0ffee01", parentId: lastOf(path, "id"), timestamp: MOMENT, message })
  },
  opencode: (root) => {
    using database = new Database(join(root, "opencode.db"))
    database.run(
      `insert into message (id, session_id, time_created, time_updated, data)
       select 'msg_zzz', session_id, 1e13, 1e13, data from message where data like '%"user"%' limit 1`,
    )
    database.run(
      `insert into part (id, message_id, session_id, time_created, time_updated, data)
       select 'prt_zzz', 'msg_zzz', session_id, time_created, time_updated, ? from message where id = 'msg_zzz'`,
      [JSON.stringify({ type: "text", text: SAID })],
    )
  },
}

function add(path: string, record: unknown): void {
  appendFileSync(path, `${JSON.stringify(record)}\n`)
}

function saidIn({ entries }: SessionLog): string[] {
  return entries.flatMap(({ message, parts }) =>
    message.role === "user" ? parts.flatMap((part) => (part.type === "text" ? [part.text] : [])) : [],
  )
}

test.each(Object.entries(GOES_ON))(
  "%s: what was said in another directory is stored, and nothing twice",
  async (adapter, goOn) => {
    using place = memoryPond()
    const { sessions } = place.place
    await synced(place, adapter, rootOf(adapter))
    const [{ id, project } = { id: "", project: "" }] = await sessions.tables.sessions.read({
      columns: ["id", "project"],
    })
    const before = await sessions.log(id)
    const root = join(place.place.path, "moved")
    mkdirSync(root)
    const options = { sessionId: id, root, cwd: NEW, reasoning: "keep" as const, isForced: false }
    await restore(place.pond, await planRestoreOf(place.pond, options), options)

    expect(await synced(place, adapter, root)).toMatchObject({ failed: 0, issues: [] })
    expect(saidIn(await sessions.log(id))).toEqual(saidIn(before))
    goOn(root)
    expect(await synced(place, adapter, root)).toMatchObject({ failed: 0, issues: [], messages: 1 })
    for (const isFull of [false, true])
      expect(await synced(place, adapter, root, isFull)).toEqual({ failed: 0, issues: [], messages: 0 })
    const after = await sessions.log(id)
    expect(saidIn(after)).toEqual([...saidIn(before), SAID])
    expect(after.session.project).toBe(project)

    for (const cwd of [undefined, NEW]) {
      const again = await planRestoreOf(place.pond, { sessionId: id, cwd, reasoning: "keep", isForced: false })
      expect(again.fidelity).toBe("native")
    }
    const target = adapterById(adapter)
    const files = (log: SessionLog) => (target === undefined ? [] : nativeFiles(target, log))
    const [old, now] = [files(before)[0], files(after)[0]]
    expect(now?.relativePath).toBe(old?.relativePath ?? "")
    if (old?.form === "log" && now?.form === "log") {
      expect([...now.lines].slice(0, -1)).toEqual([...old.lines])
      expect(String([...now.lines].at(-1))).toContain(SAID)
    }
  },
)

test("a session that opencode has taken into the project of a repository is restored with that one", async () => {
  using place = memoryPond()
  const root = join(place.place.path, "source")
  cpSync(rootOf("opencode"), root, { recursive: true })
  await synced(place, "opencode", root)
  {
    using database = new Database(join(root, "opencode.db"))
    database.run(`insert into project (id, worktree, vcs, time_created, time_updated, sandboxes)
                  values ('0123abcd', '/work/alpha', 'git', 5, 5, '[]')`)
    database.run(`update session set project_id = '0123abcd', time_updated = time_updated + 1`)
  }
  expect(await synced(place, "opencode", root)).toMatchObject({ failed: 0, issues: [] })
  const [{ id } = { id: "" }] = await place.place.sessions.tables.sessions.read({ columns: ["id"] })
  const { files } = await planRestoreOf(place.pond, { sessionId: id, reasoning: "keep", isForced: false })
  const rows = files.flatMap((file) => (file.form === "database" ? [...file.rows] : []))
  const projects = rows.filter(({ table }) => table === "project").map(({ row }) => row["id"])
  expect(projects).toEqual(["0123abcd"])
})

async function mismatches({ pond }: TestPond, path: string) {
  const options = { adapters: ["opencode"], path, throughStore: false, againstStore: true }
  const { adapters } = await verifyPond(pond, options, { signal: new AbortController().signal })
  return adapters.flatMap((each) => each.mismatches)
}

test("a session of opencode that grew after it was stored is restored, though its events were stored before its last messages", async () => {
  using place = memoryPond()
  const root = join(place.place.path, "source")
  cpSync(rootOf("opencode"), root, { recursive: true })
  const happens = (seq: number) => {
    using database = new Database(join(root, "opencode.db"))
    database.run(`insert or replace into event_sequence (aggregate_id, seq) select id, ? from session limit 1`, [seq])
    database.run(
      `insert into event (id, aggregate_id, seq, type, data) select ?, id, ?, 'message.updated.1', ? from session limit 1`,
      [`evt_${seq}`, seq, "{}"],
    )
  }
  happens(1)
  await synced(place, "opencode", root)
  GOES_ON["opencode"]?.(root)
  happens(2)
  expect(await synced(place, "opencode", root)).toEqual({ failed: 0, issues: [], messages: 3 })
  const [{ id } = { id: "" }] = await place.place.sessions.tables.sessions.read({ columns: ["id"] })
  const { files } = await planRestoreOf(place.pond, { sessionId: id, reasoning: "keep", isForced: false })
  const rows = files.flatMap((file) => (file.form === "database" ? [...file.rows] : []))
  const last = rows.slice(-4).map(({ row }) => String(row["id"]))
  expect(last.toSorted()).toEqual(["evt_1", "evt_2", expect.stringMatching(/^msg_1/), "msg_zzz"])

  expect(await mismatches(place, root)).toEqual([])
  {
    using database = new Database(join(root, "opencode.db"))
    database.run("update event set data = '[]' where id = 'evt_2'")
  }
  expect(await mismatches(place, root)).toMatchObject([{ record: 2, pointer: "/data", expected: '"[]"', got: '"{}"' }])
})

test("a fork of Codex that was moved with what it goes on from is stored once, though it counts other bytes", async () => {
  using place = memoryPond()
  const { sessions } = place.place
  await synced(place, "codex", rootOf("codex", "forked"))
  const stored = await sessions.tables.sessions.read({ columns: ["id", "parent_session_id"] })
  const id = stored.find(({ parent_session_id }) => parent_session_id !== null)?.id ?? ""
  const root = join(place.place.path, "moved")
  mkdirSync(root)
  const options = { sessionId: id, root, cwd: NEW, reasoning: "keep" as const, isForced: false }
  const { files } = await restore(place.pond, await planRestoreOf(place.pond, options), options)
  expect(files).toHaveLength(2)
  expect(await synced(place, "codex", root)).toEqual({ failed: 0, issues: [], messages: 0 })
})

test.each([
  ["codex", "first-clients"],
  ["claude-code", "v2.1-workflow-windows"],
  ["opencode", "tree"],
])("%s %s: documents that come back without their white space are known again", async (adapter, fixture) => {
  using place = memoryPond()
  const { sessions } = place.place
  await synced(place, adapter, rootOf(adapter, fixture))
  const stored = await sessions.tables.sessions.read({ columns: ["id", "source_agent"] })
  const own = stored.filter(({ source_agent }) => source_agent === adapter)
  expect(own.length).toBeGreaterThan(0)
  for (const { id } of own) {
    const root = join(place.place.path, id)
    mkdirSync(root)
    const options = { sessionId: id, root, reasoning: "keep" as const, isForced: false }
    await restore(place.pond, await planRestoreOf(place.pond, options), options)
    expect(await synced(place, adapter, root)).toMatchObject({ failed: 0, messages: 0 })
  }
})

test.each([
  ["claude-code", "agent"],
  ["claude-code", "spill"],
  ["pi", "tools"],
])("%s %s: what a forced restore leaves beside is stored with nothing", async (adapter, fixture) => {
  using place = memoryPond()
  const { sessions } = place.place
  await synced(place, adapter, rootOf(adapter, fixture))
  const stored = await sessions.tables.sessions.read({ columns: ["id", "source_agent"] })
  const id = stored.find(({ source_agent }) => source_agent === adapter)?.id ?? ""
  const root = join(place.place.path, "again")
  mkdirSync(root)
  const options = { sessionId: id, root, reasoning: "keep" as const, isForced: true }
  await restore(place.pond, await planRestoreOf(place.pond, options), options)
  const { backups } = await restore(place.pond, await planRestoreOf(place.pond, options), options)
  // What a restore that was killed has left.
  mkdirSync(join(root, ".pond-draft-1/projects/-work"), { recursive: true })
  for (const folder of [".pond-draft-1", ".pond-draft-1/projects/-work"])
    writeFileSync(join(root, folder, "2026-11-19_c0ffee.jsonl"), '{"type":"session","id":"c0ffee","cwd":"/work"}\n')
  expect(backups.length).toBeGreaterThan(0)
  expect(await synced(place, adapter, root)).toEqual({ failed: 0, issues: [], messages: 0 })
})

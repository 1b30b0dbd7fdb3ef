import { expect, test } from "bun:test"
import { codex } from "../../../src/adapters/codex/adapter.ts"
import { CWD, fixture, header, planned, THREAD, userItem, withTree } from "./support.ts"

const OTHER = "019c0000-0000-7000-8000-000000000002"
const LATER = "019c0000-0000-7000-8000-000000000003"
const day = (name: string) => `sessions/2026/02/01/rollout-2026-02-01T${name}`
const log = [header(), userItem("hello")]

test("the home of the client is where its variable says, and where it was before", () => {
  expect(codex.source.roots({}, "/home/someone")).toEqual(["/home/someone/.codex"])
  expect(codex.source.roots({ CODEX_HOME: "/srv/codex" }, "/home/someone")).toEqual([
    "/srv/codex",
    "/home/someone/.codex",
  ])
  expect(codex.source.roots({ CODEX_HOME: "" }, "/home/someone")).toEqual(["/home/someone/.codex"])
})

test("a thread is one unit, its rollouts in the order in which they began", async () => {
  const { units } = await planned(fixture("reverted"))
  expect(units.map(({ key, files }) => [key, files.map(({ relativePath }) => relativePath.slice(-15))])).toEqual([
    ["01a1ee88-f68a-7ac2-9e69-db4c3bd2671e", ["4c3bd2671e.jsonl", "3154ee215a.jsonl"].map((name) => name.slice(-15))],
  ])
})

test("only rollouts and the index are read: no credentials, no settings, no prompts, no databases", async () => {
  const tree = {
    "auth.json": '{"OPENAI_API_KEY":"sk-secret"}',
    "config.toml": 'token = "sk-secret"',
    "history.jsonl": [{ session_id: THREAD, text: "sk-secret" }],
    "state_5.sqlite": "sk-secret",
    "sessions/auth.json": '{"OPENAI_API_KEY":"sk-secret"}',
    "sessions/2026/02/01/notes.jsonl": [{ text: "sk-secret" }],
    "sessions/2026/02/01/rollout-2026-02-01T10-00-00.jsonl.tmp": "sk-secret",
    [day(`10-00-00-${THREAD}.jsonl`)]: log,
  }
  await withTree(tree, async (root) => {
    const { units, issues } = await planned(root)
    expect(units.flatMap(({ files }) => files.map(({ relativePath }) => relativePath))).toEqual([
      day(`10-00-00-${THREAD}.jsonl`),
    ])
    expect(issues).toEqual([])
    expect(JSON.stringify(units)).not.toContain("sk-secret")
  })
})

test("a rollout that lies twice is read once, and the other copy is named", async () => {
  const name = `rollout-2026-02-01T10-00-00-${THREAD}.jsonl`
  const tree = {
    [`sessions/2026/02/01/${name}`]: log,
    [`archived_sessions/${name}`]: [...log, userItem("more")],
    [`sessions/2026/02/01/${name}.zst`]: "being written",
  }
  await withTree(tree, async (root) => {
    const { units, issues } = await planned(root)
    expect(units.map(({ files }) => files.map(({ relativePath }) => relativePath))).toEqual([
      [`archived_sessions/${name}`],
    ])
    expect(issues.map(({ kind, severity, file }) => [kind, severity, file])).toEqual([
      ["shorter_live_copy", "note", `sessions/2026/02/01/${name}`],
      ["second_copy", "note", `sessions/2026/02/01/${name}.zst`],
    ])
    expect(issues[0]).toMatchObject({ found: expect.stringContaining("archiving it replaces the longer") })
  })
  const same = { ...tree, [`archived_sessions/${name}`]: log }
  await withTree(same, async (root) => {
    const kinds = (await planned(root)).issues.map(({ kind }) => kind)
    expect(kinds).toEqual(["second_copy", "second_copy"])
  })
})

test("the index is read by thread, whatever else it holds", async () => {
  const title = (id: string, name: string) =>
    JSON.stringify({ id, thread_name: name, updated_at: "2026-02-02T00:00:00Z" })
  const tree = {
    [day(`10-00-00-${THREAD}.jsonl`)]: log,
    [day(`11-00-00-${OTHER}.jsonl`)]: log,
    "session_index.jsonl": `${title(THREAD, "a")}\n\nnot json\n[]\n${title(LATER, "gone")}\n${title(THREAD, "b")}\n{"cut`,
  }
  await withTree(tree, async (root) => {
    const { units } = await planned(root)
    expect(units.map(({ key, beside }) => [key, (beside ?? []).map(({ line }) => line)])).toEqual([
      [THREAD, [1, 6]],
      [OTHER, []],
    ])
  })
})

test("a rollout is found where its client has put it, and of two the one that it opens", async () => {
  const name = (id: string) => `rollout-2026-02-01T10-00-00-${id}.jsonl`
  const live = (id: string) => `sessions/2026/02/01/${name(id)}`
  const archived = (id: string) => `archived_sessions/${name(id)}`
  const tree = {
    [archived(THREAD)]: log,
    [`${archived(THREAD)}.zst`]: "being written",
    [archived(OTHER)]: [...log, userItem("more")],
    [live(OTHER)]: log,
    [`${live(LATER)}.zst`]: "cold",
    [`elsewhere/${name(LATER)}`]: log,
  }
  await withTree(tree, async (root) => {
    const lies = codex.relocation?.currentPath?.(root)
    expect(lies?.(live(THREAD))).toBe(archived(THREAD))
    expect(lies?.(archived(OTHER))).toBe(live(OTHER))
    expect(lies?.(archived(LATER))).toBe(`${live(LATER)}.zst`)
    for (const place of [live("019c0000-0000-7000-8000-000000000009"), "session_index.jsonl"])
      expect(lies?.(place)).toBe(place)
    expect(codex.relocation?.currentPath?.(`${root}/nowhere`)(live(THREAD))).toBe(live(THREAD))
  })
})

test("a folder of rollouts without the client's own folders is walked whole, and an absent one is empty", async () => {
  await withTree({ [`backup/of/mine/rollout-2026-02-01T10-00-00-${THREAD}.jsonl`]: log }, async (root) => {
    expect((await planned(root)).units.map(({ key }) => key)).toEqual([THREAD])
    expect((await planned(`${root}/nowhere`)).units).toEqual([])
  })
})

test("what goes on is told to the client by the thread's id, in its directory", () => {
  const goOn = { command: ["codex", "resume", THREAD], cwd: CWD }
  expect(codex.serialize.resume(THREAD, CWD)).toEqual(goOn)
  expect(codex.serialize.resume(THREAD, CWD, { relativePath: day(`10-00-00-${THREAD}.jsonl`) })).toEqual(goOn)
  const archived = `archived_sessions/rollout-2026-02-01T10-00-00-${THREAD}.jsonl`
  expect(codex.serialize.resume(THREAD, CWD, { relativePath: archived })).toEqual({
    before: ["codex", "unarchive", THREAD],
    ...goOn,
  })
})

/** What lies below a root and cannot be looked at is told, by every client, and the rest goes on. */
import { expect, test } from "bun:test"
import { chmodSync, cpSync, mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { AS_USER, CAN_BE_USER } from "../../support/as-user.ts"

const SOURCE = join(import.meta.dir, "../../../src")
const FIXTURES = join(import.meta.dir, "../../../fixtures")

interface Seen {
  readonly keys: readonly string[]
  readonly issues: readonly string[]
}

/** What the plan of a root gives, asked by somebody whom a mode keeps out. */
async function plannedByUser(adapter: string, root: string): Promise<Seen> {
  const code = `
    const { ADAPTERS } = await import(${JSON.stringify(join(SOURCE, "adapters/registry.ts"))})
    const { source } = ADAPTERS.find(({ id }) => id === ${JSON.stringify(adapter)})
    const [keys, issues] = [[], []]
    for await (const found of source.plan(${JSON.stringify(root)}))
      if ("severity" in found) issues.push([found.severity, found.kind, found.file, found.found].join(" "))
      else keys.push(found.key)
    console.log(JSON.stringify({ keys, issues }))`
  const child = Bun.spawn([...AS_USER, process.execPath, "-e", code], { stdout: "pipe", stderr: "pipe" })
  const [stdout, stderr] = await Promise.all([child.stdout.text(), child.stderr.text()])
  if (stdout === "") throw new Error(stderr)
  return JSON.parse(stdout) as Seen
}

function folder(): Disposable & { readonly path: string } {
  const path = mkdtempSync(join(tmpdir(), "pond-folders-"))
  chmodSync(path, 0o755)
  return { path, [Symbol.dispose]: () => rmSync(path, { recursive: true, force: true }) }
}

const OPENCODE_FOLDER = "storage/session/0c929829942df1964a7a705d70a58b90dc0d1dab"
const ROLLOUT = "rollout-2026-02-01T10-00-00-019c0000-0000-7000-8000-00000000000"

const TREES: readonly (readonly [adapter: string, make: (root: string) => void, seen: Seen])[] = [
  [
    "claude-code",
    (root) => {
      for (const project of ["-closed", "-open"]) put(root, `projects/${project}/a.jsonl`)
      chmodSync(join(root, "projects/-closed"), 0o000)
    },
    { keys: ["projects/-open/a.jsonl"], issues: ["fault unreadable_file projects/-closed EACCES"] },
  ],
  [
    "codex",
    (root) => {
      for (const day of [1, 2]) put(root, `sessions/2026/02/0${day}/${ROLLOUT}${day}.jsonl`)
      chmodSync(join(root, "sessions/2026/02/01"), 0o000)
    },
    {
      keys: ["019c0000-0000-7000-8000-000000000002"],
      issues: ["fault unreadable_file sessions/2026/02/01 EACCES"],
    },
  ],
  [
    "opencode",
    (root) => {
      cpSync(join(FIXTURES, "opencode/tree/root"), root, { recursive: true })
      chmodSync(join(root, OPENCODE_FOLDER), 0o000)
    },
    // Messages whose session cannot be seen are not taken for some that have none.
    { keys: [], issues: [`fault unreadable_file ${OPENCODE_FOLDER} EACCES`] },
  ],
  [
    "pi",
    (root) => {
      for (const project of ["--closed--", "--open--"]) put(root, `${project}/a.jsonl`)
      chmodSync(join(root, "--closed--"), 0o000)
    },
    { keys: ["--open--/a.jsonl"], issues: ["fault unreadable_file --closed-- EACCES"] },
  ],
]

function put(root: string, place: string): void {
  mkdirSync(join(root, place, ".."), { recursive: true })
  writeFileSync(join(root, place), "{}\n")
}

test.if(CAN_BE_USER).each(TREES)("a folder of %s that cannot be read is told", async (adapter, make, seen) => {
  using root = folder()
  make(root.path)
  expect(await plannedByUser(adapter, root.path)).toEqual(seen)
})

test.if(CAN_BE_USER).each(TREES.map(([adapter]) => adapter))(
  "a root of %s that cannot be read is told",
  async (adapter) => {
    using root = folder()
    const inner = join(root.path, "root")
    mkdirSync(inner)
    chmodSync(inner, 0o000)
    expect(await plannedByUser(adapter, inner)).toEqual({ keys: [], issues: ["fault unreadable_file . EACCES"] })
    expect(await plannedByUser(adapter, join(inner, "below"))).toEqual({
      keys: [],
      issues: expect.arrayContaining([expect.stringContaining("fault unreadable_file")]),
    })
  },
)

test.each(["claude-code", "codex", "opencode", "pi"])(
  "a root of %s that is not there holds nothing",
  async (adapter) => {
    using root = folder()
    expect(await plannedByUser(adapter, join(root.path, "nowhere"))).toEqual({ keys: [], issues: [] })
  },
)

test("a session that is a link to nothing is told, and one that leads to a session is one", async () => {
  using root = folder()
  put(root.path, "projects/-here/a.jsonl")
  symlinkSync(join(root.path, "projects/-here/a.jsonl"), join(root.path, "projects/-here/b.jsonl"))
  symlinkSync(join(root.path, "nowhere"), join(root.path, "projects/-here/c.jsonl"))
  expect(await plannedByUser("claude-code", root.path)).toEqual({
    keys: ["projects/-here/a.jsonl", "projects/-here/b.jsonl"],
    issues: ["fault unreadable_file projects/-here/c.jsonl ENOENT"],
  })
})

const PIPES = [
  ["claude-code", "projects/-here/a.jsonl", ["fault unreadable_file projects/-here/a.jsonl not a regular file"]],
  [
    "codex",
    `sessions/2026/02/01/${ROLLOUT}1.jsonl`,
    [`fault unreadable_file sessions/2026/02/01/${ROLLOUT}1.jsonl not a regular file`],
  ],
  ["pi", "--open--/a.jsonl", []],
] as const

// Who opens one waits for somebody to write into it.
test.each(PIPES)("a pipe is no session of %s", async (adapter, place, issues) => {
  using root = folder()
  mkdirSync(join(root.path, place, ".."), { recursive: true })
  expect(Bun.spawnSync(["mkfifo", join(root.path, place)]).exitCode).toBe(0)
  expect(await plannedByUser(adapter, root.path)).toEqual({ keys: [], issues: [...issues] })
})

const BACK: readonly (readonly [adapter: string, file: string, folder: string, key: string])[] = [
  [
    "claude-code",
    "projects/-here/a/subagents/agent-1.jsonl",
    "projects/-here/a",
    "projects/-here/a/subagents/agent-1.jsonl",
  ],
  ["codex", `sessions/2026/02/01/${ROLLOUT}1.jsonl`, "sessions/2026/02", "019c0000-0000-7000-8000-000000000001"],
  ["pi", "a/1.jsonl", "a", "a/1.jsonl"],
]

// Two of them are two ways on at each step: that ends nowhere.
test.each(BACK)("links of %s that lead back are followed once", async (adapter, file, inner, key) => {
  using root = folder()
  put(root.path, file)
  for (const name of ["back", "again"]) symlinkSync(join(root.path, inner), join(root.path, inner, name))
  symlinkSync(root.path, join(root.path, inner, "root"))
  expect(await plannedByUser(adapter, root.path)).toEqual({ keys: [key], issues: [] })
})

const TANGLED: readonly (readonly [adapter: string, folders: string, inner: string, file: string])[] = [
  ["claude-code", "projects/-here", "subagents", "agent-1.jsonl"],
  ["codex", "sessions/2026", "02", `${ROLLOUT}1.jsonl`],
  ["pi", "all", "sessions", "1.jsonl"],
]

// There are as many ways as there are orders of them: nine did not end.
test.each(TANGLED)(
  "folders of %s that all link to each other are looked at once each",
  async (adapter, at, inner, file) => {
    using root = folder()
    const names = Array.from({ length: 12 }, (_, number) => `f${number + 10}`)
    for (const [number, name] of names.entries())
      put(root.path, `${at}/${name}/${inner}/${file.replace("1.", `${number.toString(16)}.`)}`)
    const plain = await plannedByUser(adapter, root.path)
    expect(plain.keys).toHaveLength(names.length)
    for (const from of names) {
      for (const to of names)
        if (from !== to) symlinkSync(join(root.path, at, to), join(root.path, at, from, inner, to))
      // The name that would come first leads to what has one of its own.
      symlinkSync(join(root.path, at, from), join(root.path, at, `a-${from}`))
    }
    expect(await plannedByUser(adapter, root.path)).toEqual(plain)
  },
)

test("of the ways to a folder that lies elsewhere the one with the fewest links is taken, and of those the first", async () => {
  using root = folder()
  using elsewhere = folder()
  put(root.path, "sessions/own/1.jsonl")
  for (const name of ["x", "y"]) put(elsewhere.path, `${name}/1.jsonl`)
  const inner = join(root.path, "sessions")
  symlinkSync(join(elsewhere.path, "x"), join(inner, "a"))
  symlinkSync(join(elsewhere.path, "y"), join(elsewhere.path, "x/deep"))
  for (const name of ["c", "b"]) symlinkSync(join(elsewhere.path, "y"), join(inner, name))
  const { keys } = await plannedByUser("pi", inner)
  expect(keys).toEqual(["own/1.jsonl", "a/1.jsonl", "b/1.jsonl"])
})

test("a link to a folder above the root is followed, once", async () => {
  using root = folder()
  const inner = join(root.path, "one/sessions")
  put(root.path, "one/sessions/own/1.jsonl")
  put(root.path, "two/1.jsonl")
  for (const name of ["up", "again"]) symlinkSync(root.path, join(inner, "own", name))
  symlinkSync(join(root.path, "one"), join(inner, "near"))
  const { keys, issues } = await plannedByUser("pi", inner)
  expect({ keys, issues }).toEqual({ keys: ["own/1.jsonl", "own/again/two/1.jsonl"], issues: [] })
})

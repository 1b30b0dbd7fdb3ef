/** Every verb that can take long, ended in the middle of its work: what it leaves, what it says, and that it is run again. */
import { afterAll, beforeAll, describe, expect, test } from "bun:test"
import { cpSync, existsSync, mkdirSync, readdirSync, watch } from "node:fs"
import { join } from "node:path"
import { writeDemo } from "../../build/corpus/demo.ts"
import { createStyle } from "../../src/cli/render/style.ts"
import type { Page } from "../../src/cli/verb.ts"
import { renderSynced } from "../../src/cli/verbs/sync.ts"
import { POND, STRUCK_POND } from "../support/bundled-pond.ts"
import { runPond, type TemporaryHome, temporaryHome } from "../support/pond-process.ts"
import { runPond as askPond } from "../support/warm-pond.ts"

const SESSION = "de300001-0000-4000-8000-000000000000"
/** A process that was killed, as the shell counts it. */
const KILLED = 137

interface Case {
  /** With `whole.pond` beside it: an archive of the same three sessions. */
  readonly args: readonly string[]
  /** What it says when it is struck. */
  readonly at: string
  /** Where it starts from: three sessions on disk, and whether they are stored. */
  readonly isStored: boolean
  /** What it says when it was asked to stop; most verbs are done with what was asked before anybody could. */
  readonly message: string
  /** What is there afterwards; `isAsked` tells a stop from a kill. */
  readonly left: (home: TemporaryHome, isAsked: boolean) => void | Promise<void>
  /** What must hold when it was run again. */
  readonly again: (home: TemporaryHome) => void | Promise<void>
}

const read = async (home: TemporaryHome, args: readonly string[]) => {
  const { stdout } = await askPond([...args, "--json", "-q"], { env: home.env, cwd: home.path })
  return JSON.parse(stdout)
}
const at = (home: TemporaryHome, name: string) => join(home.path, name)
const draftsIn = (home: TemporaryHome) => readdirSync(home.path).filter((name) => name.startsWith(".pond-draft-"))

async function holdsAll(home: TemporaryHome, store: string): Promise<void> {
  const verified = await read(home, ["verify", "--against-store", "--store", at(home, store)])
  expect(verified).toMatchObject({ ok: true, adapters: [{ sessions: 3, mismatches: [], missing: [] }] })
}
async function countsIn(home: TemporaryHome, store: string): Promise<number> {
  const { rows } = await read(home, ["sql", "select count(*) n from messages", "--store", at(home, store)])
  return Number(rows[0][0] ?? rows[0].n)
}
const OWN = ".local/share/pond/store"

const CASES: Readonly<Record<string, Case>> = {
  export: {
    args: ["export", "-o", "out.pond"],
    at: '"stage":"messages"',
    isStored: true,
    message: "Stopped: nothing was exported.",
    left: (home, isAsked) => {
      expect(existsSync(at(home, "out.pond"))).toBe(false)
      expect(draftsIn(home)).toHaveLength(isAsked ? 0 : 1)
    },
    again: async (home) => {
      expect(draftsIn(home)).toEqual([])
      expect(await read(home, ["import", "out.pond", "--dry-run"])).toMatchObject({ messages: { new: 0, present: 8 } })
    },
  },
  "import into an empty store": {
    args: ["import", "whole.pond", "--store", "new"],
    at: '"stage":"check"',
    isStored: true,
    message: "Stopped while checking the file: nothing was imported.",
    left: async (home, isAsked) => {
      expect(existsSync(at(home, "new"))).toBe(!isAsked)
      expect(await countsIn(home, "new")).toBe(0)
    },
    again: (home) => holdsAll(home, "new"),
  },
  "import into a store that has something": {
    args: ["import", "whole.pond", "--store", "half"],
    at: '"stage":"messages"',
    isStored: true,
    message: "Run it again to",
    left: async (home) => expect(await countsIn(home, "half")).toBe(2),
    again: (home) => holdsAll(home, "half"),
  },
  copy: {
    args: ["copy", "--to", "copied"],
    at: '"stage":"messages"',
    isStored: true,
    message: "Run it again to",
    left: async (home) => expect(await countsIn(home, "copied")).toBe(0),
    again: (home) => holdsAll(home, "copied"),
  },
  optimize: {
    args: ["optimize"],
    at: '"stage":"messages"',
    isStored: true,
    message: "Stopped after sessions, messages. Run it again for the rest.",
    left: (home) => holdsAll(home, OWN),
    again: (home) => holdsAll(home, OWN),
  },
  sync: {
    args: ["sync"],
    at: '"stage":"claude-code"',
    isStored: false,
    message: "",
    left: async (home) => expect([0, 8]).toContain(await countsIn(home, OWN)),
    again: (home) => holdsAll(home, OWN),
  },
  "verify through a store": {
    args: ["verify", "--through-store"],
    at: '"stage":"claude-code"',
    isStored: true,
    message: "Stopped before everything was verified.",
    left: (home, isAsked) => {
      const left = existsSync(at(home, ".cache/pond")) ? readdirSync(at(home, ".cache/pond"), { recursive: true }) : []
      if (isAsked) expect(left).toEqual(["scratch"])
    },
    // The engine's own folder of one that was killed goes with the next.
    again: (home) => expect(readdirSync(at(home, ".cache/pond"))).toEqual(["scratch"]),
  },
}

let fresh: TemporaryHome
let stored: TemporaryHome

beforeAll(async () => {
  fresh = temporaryHome()
  writeDemo(fresh.path)
  stored = copyOf(fresh)
  const run = (args: readonly string[]) => runPond([...args, "-q"], { env: stored.env, cwd: stored.path })
  expect(await run(["sync"])).toMatchObject({ exitCode: 0 })
  expect(await run(["export", "-o", "whole.pond"])).toMatchObject({ exitCode: 0 })
  expect(await run(["export", "-o", "one.pond", "--session", SESSION])).toMatchObject({ exitCode: 0 })
  expect(await run(["import", "one.pond", "--store", "half"])).toMatchObject({ exitCode: 0 })
})
afterAll(() => {
  fresh[Symbol.dispose]()
  stored[Symbol.dispose]()
})

function copyOf(home: TemporaryHome): TemporaryHome {
  const copy = temporaryHome()
  cpSync(home.path, copy.path, { recursive: true })
  return copy
}

describe.each(Object.entries(CASES))("%s", (_, { args, at: point, isStored, message, left, again }) => {
  test.each(["ask", "kill"])(
    "when it is struck (%s) leaves what is whole, and goes on when it is run again",
    async (how) => {
      using home = copyOf(isStored ? stored : fresh)
      const options = { env: { ...home.env, POND_STRIKE: `${how} ${point}` }, cwd: home.path, main: STRUCK_POND }
      const struck = await runPond([...args, "--json"], options)
      expect(struck.exitCode).toBe(how === "kill" ? KILLED : 130)
      if (how === "ask" && message !== "") {
        expect(JSON.parse(struck.stdout)).toMatchObject({ error: { code: "interrupted" } })
        expect(struck.stdout).toContain(message)
      }
      await left(home, how === "ask")
      const ran = await runPond([...args, "-q"], { env: home.env, cwd: home.path })
      expect({ exitCode: ran.exitCode, stderr: ran.stderr }).toMatchObject({ exitCode: 0 })
      await again(home)
    },
    60_000,
  )
})

test.each([
  ['"stage":"claude-code"', "Nothing new was stored; the next `pond sync` starts from the same point.", 0],
  ['"stage":"index"', "At least 8 new messages are stored; the next `pond sync` continues from there.", 8],
])(
  "a sync that is asked twice (at %s) waits for nothing, and says how far it came",
  async (point, said, messages) => {
    using home = copyOf(fresh)
    const options = { env: { ...home.env, POND_STRIKE: `twice ${point}` }, cwd: home.path, main: STRUCK_POND }
    const { exitCode, stdout } = await runPond(["sync", "--json"], options)
    expect(exitCode).toBe(130)
    expect(JSON.parse(stdout)).toMatchObject({ error: { code: "interrupted", message: `Stopped. ${said}` } })
    const left = { exit_code: 130, messages, error: "interrupted" }
    expect(await read(home, ["schedule", "logs"])).toMatchObject({ syncs: [left] })
    expect(await runPond(["sync", "-q"], { env: home.env, cwd: home.path })).toMatchObject({ exitCode: 0 })
    await holdsAll(home, OWN)
  },
  60_000,
)

test("an init whose first sync is stopped says so, and where the next one goes on", () => {
  const page: Page = { style: createStyle(false), columns: 80, path: (path) => path, prose: (text) => text }
  const report = { embed: null, index: null, ms: 7, interrupted: true }
  expect(renderSynced({ ...report, adapters: [] }, page)).toBe(
    "warning  Stopped. Nothing new was stored; the next `pond sync` starts from the same point.\n",
  )
  const sessions = {
    seen: 2,
    new: 1,
    grown: 0,
    rewritten: 0,
    unchanged: 1,
    gone: 0,
    failed: 0,
    nameless: 0,
    erased: 0,
    excluded: 0,
  }
  const root = { adapter: "pi", path: "/pi", sessions, messages: { new: 5 }, parts: { new: 3 }, bytes_read: 10, ms: 3 }
  const adapters = [{ ...root, issues: [], unverified_versions: [], retention: null }]
  expect(renderSynced({ ...report, adapters }, page)).toEndWith(
    "warning  Stopped. 5 new messages are stored; the next `pond sync` continues from there.\n",
  )
})

test("a restore that is killed when it has begun to write leaves the session whole or not at all", async () => {
  using home = copyOf(stored)
  const there = at(home, "there")
  mkdirSync(there)
  const args = ["restore", SESSION, "--to", "codex", "--root", "there", "-q"]
  const child = Bun.spawn([process.execPath, POND, ...args], { env: home.env, cwd: home.path, stderr: "ignore" })
  using watcher = watching(there, () => child.kill("SIGKILL"))
  // On a busy machine it may have ended before the first of its writes is heard of here.
  await Promise.all([child.exited, watcher.heard])
  const isWhole = [0, 8].includes((await runPond(args, { env: home.env, cwd: home.path })).exitCode)
  expect(isWhole).toBe(true)
  expect(await read(home, ["verify", "codex", "--path", there])).toMatchObject({
    ok: true,
    adapters: [{ sessions: 1 }],
  })
}, 60_000)

function watching(folder: string, onChange: () => void): Disposable & { readonly heard: Promise<void> } {
  const { promise: heard, resolve } = Promise.withResolvers<void>()
  const watcher = watch(folder, { recursive: true }, () => {
    resolve()
    onChange()
  })
  return { heard, [Symbol.dispose]: () => watcher.close() }
}

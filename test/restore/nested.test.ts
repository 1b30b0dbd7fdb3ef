/** Sessions that were started by sessions that were started by one: through a store and back, for clients that keep files. */
import { expect, test } from "bun:test"
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs"
import { dirname, join } from "node:path"
import { temporaryHome } from "../support/pond-process.ts"
import { runPond } from "../support/warm-pond.ts"

const FIXTURES = join(import.meta.dir, "../../fixtures")

type Files = Readonly<Record<string, string>>

function filesBelow(root: string): Files {
  const entries = readdirSync(root, { recursive: true, withFileTypes: true }).filter((entry) => entry.isFile())
  const paths = entries.map((entry) => join(entry.parentPath, entry.name))
  return Object.fromEntries(paths.map((path) => [path.slice(root.length + 1), readFileSync(path, "utf8")]))
}

interface Family {
  readonly adapter: string
  readonly root: string
  readonly files: Files
  /** The same files, where the first of the family names the last one as its parent. */
  readonly ring: Files
}

/** The agent of a thread of Codex has started one itself, whose rollout is the same but for its names. */
function threads(): Family {
  const [root, agent, deeper] = [
    "01a1ee88-4729-7090-8eca-c6d39203b7b7",
    "01a1ee88-47ce-7b33-a59e-50f731d777b8",
    "01a1ee88-4999-7b33-a59e-50f731d70000",
  ]
  const files = filesBelow(join(FIXTURES, "codex/agents/root"))
  const [place = "", text = ""] = Object.entries(files).find(([each]) => each.endsWith(`${agent}.jsonl`)) ?? []
  const renamed = text
    .replaceAll(agent, deeper)
    .replaceAll(`"parent_thread_id":"${root}"`, `"parent_thread_id":"${agent}"`)
    .replace('"depth":1', '"depth":2')
  const all = { ...files, [place.replace(agent, deeper)]: renamed }
  const [first = ""] = Object.keys(files).filter((each) => each.endsWith(`${root}.jsonl`))
  const ring = all[first]?.replace('"source":"exec"', `"parent_thread_id":"${deeper}","source":"exec"`) ?? ""
  return { adapter: "codex", root, files: all, ring: { ...all, [first]: ring } }
}

/** A fork of a fork. */
function forks(): Family {
  const ids = [1, 2, 3].map((count) => `5d1f0a30-0000-4000-8000-0000000000a${count}`)
  const placeOf = (id = "") => `--projects-alpha--/2026-02-03T04-05-00-000Z_${id}.jsonl`
  const logOf = (id: string, parent: string | undefined) => {
    const parentSession =
      parent === undefined ? {} : { parentSession: `/home/user/.pi/agent/sessions/${placeOf(parent)}` }
    const timestamp = "2026-02-03T04:05:00.000Z"
    const message = { role: "user", content: `Said in ${id}`, timestamp: 1 }
    const lines = [
      { type: "session", version: 3, id, timestamp, cwd: "/projects/alpha", ...parentSession },
      { type: "message", id: "a0000001", parentId: null, timestamp, message },
    ]
    return lines.map((line) => `${JSON.stringify(line)}\n`).join("")
  }
  const files = Object.fromEntries(ids.map((id, index) => [placeOf(id), logOf(id, ids[index - 1])]))
  const [root = "", , last] = ids
  return { adapter: "pi", root, files, ring: { ...files, [placeOf(root)]: logOf(root, last) } }
}

async function restored({ adapter, root }: Family, files: Files) {
  const home = temporaryHome()
  const source = join(home.path, "source")
  for (const [place, text] of Object.entries(files)) {
    mkdirSync(dirname(join(source, place)), { recursive: true })
    writeFileSync(join(source, place), text)
  }
  expect(await runPond(["sync", adapter, "--path", source, "--only", "import"], home)).toMatchObject({ exitCode: 0 })
  const target = join(home.path, "target")
  mkdirSync(target)
  const ran = await runPond(["restore", root, "--root", target, "--json"], home)
  return { home, target, exitCode: ran.exitCode, report: JSON.parse(ran.stdout) }
}

const valuesOf = (files: Files) =>
  Object.fromEntries(
    Object.entries(files).map(([place, text]) => [
      place,
      text
        .trimEnd()
        .split("\n")
        .map((line) => JSON.parse(line)),
    ]),
  )

test.each([threads(), forks()])("$adapter: three generations come back whole, each where it lay", async (family) => {
  const { home, target, exitCode, report } = await restored(family, family.files)
  using _ = home
  expect({ exitCode, sessions: report.sessions.length }).toEqual({ exitCode: 0, sessions: 3 })
  expect(valuesOf(filesBelow(target))).toEqual(valuesOf(family.files))
})

test.each([threads(), forks()])("$adapter: a lineage that bites its own tail is refused by name", async (family) => {
  const { home, target, exitCode, report } = await restored(family, family.ring)
  using _ = home
  expect({ exitCode, code: report.error.code }).toEqual({ exitCode: 2, code: "validation_failed" })
  expect(report.error.message).toContain("has a cycle")
  expect(filesBelow(target)).toEqual({})
})

/** What verbs about files print and write: `blame`, `recover`, `restore`, `sql -o`, `verify`. */
import { afterAll, expect, test } from "bun:test"
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import type { Outcome, Page } from "../../src/cli/verb.ts"
import { blame } from "../../src/cli/verbs/blame.ts"
import { recover } from "../../src/cli/verbs/recover.ts"
import { outcomeOf } from "../../src/cli/verbs/restore.ts"
import type { Entry } from "../../src/model/session.ts"
import { memoryPond } from "../operations/support.ts"
import { said, session } from "../sessions/support.ts"
import { temporaryHome } from "../support/pond-process.ts"
import { runPond } from "../support/warm-pond.ts"

const folder = mkdtempSync(join(tmpdir(), "pond-file-verbs-"))
afterAll(() => rmSync(folder, { recursive: true }))
const LONG = "const quiteALongLine = 'of more than twenty letters'"
const FILE = join(folder, "a.ts")
const plain = (text: string) => text
const style = new Proxy({}, { get: () => plain })
const page = (columns: number) => ({ style, columns, path: plain, prose: plain }) as unknown as Page

function call(ordinal: number, name: string, params: object): Entry {
  const { message } = said("s", ordinal, "", { role: "assistant", timestamp: "2026-01-03T12:00:00.000Z" })
  const common = { session_id: "s", message_id: message.id, provenance: "injected", options: {} }
  const part = {
    ...common,
    id: "call",
    type: "tool_call",
    call_id: `c${ordinal}`,
    name,
    params,
    provider_executed: false,
  }
  return { message, parts: [part] } as unknown as Entry
}

function result(ordinal: number, told: string): Entry {
  const { message } = said("s", ordinal, "", { timestamp: "2026-01-03T12:00:00.000Z" })
  const common = { session_id: "s", message_id: message.id, provenance: "injected", options: {} }
  const part = { ...common, id: "r", type: "tool_result", call_id: `c${ordinal - 1}`, is_failure: false, result: told }
  return { message: { ...message, role: "tool" }, parts: [part] } as unknown as Entry
}

async function run(verb: { run: (context: never) => unknown }, flags: object, columns: number): Promise<string> {
  const box = memoryPond()
  try {
    await box.place.sessions.write([
      {
        session: session("s", { source_agent: "claude-code", project: folder }),
        entries: [
          call(0, "Write", { file_path: FILE, content: `${LONG}\n` }),
          result(1, `File created successfully at: ${FILE}`),
          call(2, "Bash", { command: `rm ${FILE}` }),
          result(3, ""),
        ],
      },
    ])
    const progress = { stage: () => undefined }
    const context = { pond: box.pond, words: [FILE], flags, progress, signal: new AbortController().signal }
    return ((await verb.run({ ...context, isJson: false } as never)) as Outcome).render(page(columns))
  } finally {
    box[Symbol.dispose]()
  }
}

test("a line of a file is shown as far as the page is wide, and never less than twenty columns of it", async () => {
  writeFileSync(FILE, `${LONG}\n`)
  expect(await run(blame, {}, 200)).toContain(LONG)
  const narrow = await run(blame, {}, 10)
  expect(narrow).not.toContain(LONG)
  expect(narrow).toContain(LONG.slice(0, 15))
})

test("versions of a file have their count of lines, or that it was deleted", async () => {
  const shown = await run(recover, { list: true }, 200)
  expect(shown).toMatch(/\b1\s+claude-code/)
})

test("what was restored says how large it is, unless it went into a database", () => {
  const report = (bytes: number) => ({
    ...{ fidelity: "native", outdated: false, session_id: "s", sessions: [{ id: "s", from: "codex" }], backups: [] },
    ...{ files: [{ path: "/x", bytes }], losses: [], rewritten_paths: 0, written: true },
    resume: { command: ["codex", "resume", "s"], cwd: folder },
  })
  const shown = (bytes: number) => outcomeOf(report(bytes) as never, "Codex").render(page(200))
  expect(shown(12)).toContain("1 file, 12 bytes.")
  expect(shown(0)).toContain("1 file.")
})

test("the ending of a file says how the rows of a query are written", async () => {
  using home = temporaryHome()
  for (const [ending, content] of [
    ["csv", "n\r\n1\r\n"],
    ["jsonl", '{"n":1}\n'],
  ] as const) {
    const file = join(folder, `rows.${ending}`)
    expect(await runPond(["sql", "SELECT 1 AS n", "-o", file], { env: home.env })).toMatchObject({ exitCode: 0 })
    expect(readFileSync(file, "utf8")).toBe(content)
  }
})

test("of many missing sessions twenty are named and the others counted", async () => {
  using home = temporaryHome()
  const ids = Array.from({ length: 23 }, (_, at) => `5f0c7e86-9d0e-4c07-9f8f-4f4f7e1f2a${at + 10}`)
  const project = join(home.path, ".claude/projects/-w")
  mkdirSync(project, { recursive: true })
  for (const sessionId of ids) {
    const line = { type: "user", uuid: sessionId, sessionId, cwd: "/w", timestamp: "2026-01-02T03:04:05.000Z" }
    const message = { role: "user", content: "hello" }
    writeFileSync(join(project, `${sessionId}.jsonl`), `${JSON.stringify({ ...line, version: "2.1.0", message })}\n`)
  }
  const { stdout } = await runPond(["verify", "claude-code", "--against-store"], { env: home.env })
  expect(stdout.match(/^missing /gm)?.length).toBe(20)
  expect(stdout).toContain("3 more: run again with --json.")
})

test("a project is excluded once, and the second time nothing changes", async () => {
  using home = temporaryHome()
  const add = async () => (await runPond(["exclude", "add", "acme"], { env: home.env })).stdout
  expect(await add()).toStartWith("Excluded in ")
  expect(await add()).toStartWith("No changes: already excluded.")
})

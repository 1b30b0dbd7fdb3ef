/** The verb as people run it: a process, a home, a store in it. */
import { expect, test } from "bun:test"
import { appendFileSync, existsSync, mkdirSync, renameSync, rmSync, utimesSync, writeFileSync } from "node:fs"
import { basename, dirname, join } from "node:path"
import { SAMPLE_SESSION_ID, writeSampleSession } from "../../build/corpus/sample-session.ts"
import { writeTinyModel } from "../../build/corpus/tiny-model.ts"
import { POND } from "../support/bundled-pond.ts"
import { temporaryHome } from "../support/pond-process.ts"
import { runPond } from "../support/warm-pond.ts"

const STORE = ".local/share/pond/store"

async function sync(home: { readonly env: Readonly<Record<string, string>> }) {
  const { stdout } = await runPond(["sync", "--json", "--only", "import"], home)
  const document = JSON.parse(stdout) as {
    adapters: { sessions: { new: number; unchanged: number }; messages: { new: number } }[]
  }
  return document.adapters[0]
}

test("a store that was deleted is filled again, whatever is remembered of the sources", async () => {
  using home = temporaryHome()
  writeSampleSession(home.path)
  expect(await sync(home)).toMatchObject({ sessions: { new: 1 }, messages: { new: 2 } })
  expect(await sync(home)).toMatchObject({ sessions: { new: 0, unchanged: 1 }, messages: { new: 0 } })
  expect(existsSync(join(home.path, STORE))).toBe(true)
  rmSync(join(home.path, STORE), { recursive: true })
  expect(await sync(home)).toMatchObject({ sessions: { new: 1 }, messages: { new: 2 } })
  expect(await sync(home)).toMatchObject({ sessions: { new: 0, unchanged: 1 }, messages: { new: 0 } })
})

test.each([
  ["nothing, which is thirty days", undefined, "30 days"],
  ["a week", '{"cleanupPeriodDays":7}', "7 days"],
  ["for ever, nearly", '{"cleanupPeriodDays":99999}', undefined],
  ["what cannot be read", '{"cleanupPeriodDays":', "30 days"],
])("a client whose settings say %s deletes by that, and a sync says so", async (_, settings, want) => {
  using home = temporaryHome()
  writeSampleSession(home.path)
  if (settings !== undefined) writeFileSync(join(home.path, ".claude/settings.json"), settings)
  const { stdout } = await runPond(["sync", "--only", "import"], home)
  expect(stdout).toContain("claude-code")
  if (want === undefined) expect(stdout).not.toContain("deletes sessions")
  else expect(stdout).toContain(`it deletes sessions after ${want}`)
})

test.each([
  ["nothing", undefined, "2 sessions", "30 days"],
  ["half a day", { maxAge: "12h" }, "3 sessions", "12 hours"],
  ["off", { enabled: false }, undefined, ""],
  ["an age that it cannot read", { maxAge: "for ever" }, undefined, ""],
])(
  "of a client that names an age of its own, whose settings say %s, what it will delete is said",
  async (_, said, want, age) => {
    using home = temporaryHome()
    const chats = join(home.path, ".gemini/tmp/a-project/chats")
    mkdirSync(chats, { recursive: true })
    for (const [name, daysAgo] of [
      ["older", 40],
      ["old", 25],
      ["new", 1],
    ] as const) {
      const chat = join(chats, `session-2026-01-01T10-00-${name}.json`)
      const messages = [{ id: `m-${name}`, timestamp: "2026-01-01T10:00:00.000Z", type: "user", content: "Hello" }]
      writeFileSync(chat, JSON.stringify({ sessionId: `s-${name}`, startTime: "2026-01-01T10:00:00.000Z", messages }))
      const moment = Date.now() / 1000 - daysAgo * 86_400
      utimesSync(chat, moment, moment)
    }
    writeFileSync(join(home.path, ".gemini/tmp/a-project/logs.json"), "[]")
    const settings = { general: { sessionRetention: said } }
    if (said !== undefined) writeFileSync(join(home.path, ".gemini/settings.json"), JSON.stringify(settings))
    const synced = await runPond(["sync", "--only", "import"], home)
    const status = await runPond(["status"], home)
    expect([synced, status]).toMatchObject([{ exitCode: 0 }, { exitCode: 0 }])
    if (want === undefined) expect(`${synced.stdout} ${status.stdout}`).not.toContain("deletes")
    else {
      expect(synced.stdout).toContain(
        `gemini-cli: it deletes sessions after ${age} (general.sessionRetention.maxAge in`,
      )
      expect(status.stdout.replaceAll(/\s+/g, " ")).toContain(
        `Gemini CLI deletes ${want} within a week (general.sessionRetention.maxAge: ${age})`,
      )
    }
  },
)

const LOG = `.claude/projects/-garden/${SAMPLE_SESSION_ID}.jsonl`

function withLines(home: string, ...lines: readonly (object | string)[]): void {
  writeSampleSession(home)
  for (const line of lines)
    appendFileSync(join(home, LOG), `${typeof line === "string" ? line : JSON.stringify(line)}\n`)
}

const strange = (number: number) => ({ type: "hologram", uuid: `h${number}`, sessionId: SAMPLE_SESSION_ID })

test("records of a kind that nobody knows are kept, counted, and shown by one example", async () => {
  using home = temporaryHome()
  withLines(home.path, strange(1), strange(2), strange(3))
  const { stdout, exitCode } = await runPond(["sync", "--only", "import"], home)
  const lines = stdout.split("\n").filter((line) => line.includes("hologram"))
  expect(lines).toEqual([
    expect.stringMatching(/^note {2}claude-code: unknown .*, 3 times; first: .*hologram.* in .*\.jsonl:3$/),
  ])
  expect(exitCode).toBe(0)
})

test("a line that is not JSON is a fault: it is said, the rest is stored, and the exit code is 4", async () => {
  using home = temporaryHome()
  withLines(home.path, '{"type":"user","message":')
  const { stdout, exitCode } = await runPond(["sync", "--only", "import", "--json"], home)
  const [root] = (JSON.parse(stdout) as { adapters: { messages: object; issues: object[] }[] }).adapters
  expect(root?.issues).toEqual([expect.objectContaining({ severity: "fault", count: 1 })])
  expect(root?.messages).toEqual({ new: 3 })
  expect(exitCode).toBe(4)
})

test("a client that is newer than pond knows, and a root that holds nothing, are said", async () => {
  using home = temporaryHome()
  const [uuid, timestamp] = ["0c1d2e3f-1111-4222-8333-444455558888", "2026-01-02T03:05:05.678Z"]
  const message = { role: "user", content: "from the future" }
  withLines(home.path, { type: "user", uuid, timestamp, message, sessionId: SAMPLE_SESSION_ID, version: "99.1.0" })
  mkdirSync(join(home.path, ".pi/agent/sessions"), { recursive: true })
  const { stdout, exitCode } = await runPond(["sync", "--only", "import"], home)
  expect(stdout).toContain(
    "claude-code: written by newer versions than pond was verified with (99.1.0). Everything is stored.",
  )
  expect(stdout).toContain(`pi: no sessions found in ${join(home.path, ".pi/agent/sessions")}.`)
  expect(exitCode).toBe(0)
})

test("a stage runs alone, or is left out", async () => {
  using home = temporaryHome()
  writeSampleSession(home.path)
  const model = join(home.path, "model")
  await writeTinyModel(model)
  const env = { ...home.env, POND_EMBEDDINGS_DIRECTORY: model, POND_EMBEDDINGS_MODEL: "tiny" }
  const stages = async (...args: readonly string[]) => {
    const { stdout } = await runPond(["sync", "--json", ...args], { env })
    const { adapters, embed, index } = JSON.parse(stdout) as {
      adapters: object[]
      embed: { embedded: number } | null
      index: object | null
    }
    return { imports: adapters.length > 0, embeds: embed?.embedded ?? null, folds: index !== null }
  }
  expect(await stages("--only", "index")).toEqual({ imports: false, embeds: null, folds: true })
  expect(await stages("--skip", "index", "--skip", "embed")).toEqual({ imports: true, embeds: null, folds: false })
  expect(await stages("--skip", "embed")).toEqual({ imports: true, embeds: null, folds: true })
  expect(await stages("--only", "embed")).toEqual({ imports: false, embeds: 2, folds: false })
  expect(await stages("--skip", "index")).toEqual({ imports: true, embeds: 0, folds: false })
  expect(await stages()).toEqual({ imports: true, embeds: 0, folds: true })
  const says = async (...args: readonly string[]) => (await runPond(["sync", ...args], { env })).stdout
  expect(await says("--only", "embed")).toBe("All messages are already embedded with tiny.\n")
  expect(await says("--skip", "import")).toBe("All messages are already embedded with tiny.\nIndexes are up to date.\n")
  expect(await says("--only", "index")).toBe("Indexes are up to date.\n")
  const { stdout } = await runPond(["sync", "--only", "embed"], home)
  expect(stdout).toBe("No embedding model is configured; see `pond help embeddings`.\n")
}, 60_000)

test("a dry run says what would be read, for each client, and makes no store", async () => {
  using home = temporaryHome()
  writeSampleSession(home.path)
  const { stdout } = await runPond(["sync", "--dry-run", "--json"], home)
  expect(JSON.parse(stdout)).toMatchObject({
    dry_run: true,
    adapters: [
      { adapter: "claude-code", sessions: { seen: 1, new: 1, grown: 0, rewritten: 0, unchanged: 0, gone: 0 } },
    ],
  })
  expect(existsSync(join(home.path, STORE))).toBe(false)
  expect(existsSync(join(home.path, ".local/state/pond"))).toBe(false)
})

test("a source that does not say yet which session it is, is said, by a sync and by a dry run", async () => {
  using home = temporaryHome()
  writeSampleSession(home.path)
  const waiting = join(home.path, dirname(LOG), "0c1d2e3f-2222-4222-8333-444455556666.jsonl")
  writeFileSync(waiting, `${JSON.stringify({ type: "file-history-snapshot", messageId: "m", snapshot: {} })}\n`)
  const said =
    "claude-code: 1 file has no session id yet: it will be stored once it does, or after a day without changes.\n"
  const { stdout, exitCode } = await runPond(["sync", "--only", "import"], home)
  expect(stdout).toContain(said)
  expect(exitCode).toBe(0)
  const again = JSON.parse((await runPond(["sync", "--only", "import", "--json"], home)).stdout)
  expect(again.adapters).toMatchObject([{ sessions: { seen: 2, unchanged: 1, nameless: 1 } }])
  expect((await runPond(["sync", "--dry-run"], home)).stdout).toContain(said)
  const plan = JSON.parse((await runPond(["sync", "--dry-run", "--json"], home)).stdout)
  expect(plan.adapters).toMatchObject([{ sessions: { seen: 2, rewritten: 0, unchanged: 1, nameless: 1 } }])
})

test("a directory is the same by each of its names, and files without a session wait for nobody", async () => {
  using home = temporaryHome()
  writeSampleSession(home.path)
  const other = join(home.path, "other")
  renameSync(join(home.path, ".claude"), other)
  const strays = join(other, "projects/-stray/0c1d2e3f-2222-4222-8333-444455556666.jsonl")
  mkdirSync(dirname(strays))
  writeFileSync(strays, "")
  utimesSync(strays, 1_700_000_000, 1_700_000_000)
  const read = async (path: string) => {
    const args = ["sync", "claude-code", "--path", path, "--only", "import", "--json"]
    const { stdout } = await runPond(args, { env: home.env, cwd: home.path })
    return JSON.parse(stdout).adapters[0]
  }
  const sessions = { seen: 2, new: 1, unchanged: 1, nameless: 0 }
  expect(await read("other")).toMatchObject({ path: other, sessions })
  for (const name of ["./other/", other, `../${basename(home.path)}/other`])
    expect(await read(name)).toMatchObject({ path: other, sessions: { new: 0, nameless: 0 }, bytes_read: 0 })
})

test("a sync of which every stage is left out is a mistake", async () => {
  using home = temporaryHome()
  const { stderr, exitCode } = await runPond(["sync", "--only", "import", "--skip", "import"], home)
  expect({ stderr, exitCode }).toEqual({
    stderr: "pond: All stages are skipped: nothing to do. Remove one --skip.\n",
    exitCode: 2,
  })
})

test("a watch tells of faults, and of what is not understood once, as a sync does", async () => {
  using home = temporaryHome()
  withLines(home.path, strange(1), "{ no JSON")
  const env = { PATH: process.env["PATH"] ?? "", ...home.env }
  const child = Bun.spawn([process.execPath, POND, "watch"], { env, stdout: "pipe", stderr: "ignore" })
  const reader = child.stdout.getReader()
  let said = ""
  const until = async (text: string) => {
    while (!said.includes(text)) said += new TextDecoder().decode((await reader.read()).value)
  }
  await until("unparsable line, once")
  expect(said).toMatch(/^\d\d:\d\d:\d\d {2}claude-code: 4 messages in 1 session$/m)
  expect(said).toMatch(/^fault {2}claude-code: unparsable line, once: a line that is not JSON in .*\.jsonl:4$/m)
  expect(said.match(/^note {2}claude-code: unknown record/gm)?.length).toBe(1)
  appendFileSync(join(home.path, LOG), `${JSON.stringify(strange(2))}\n{ none either\n`)
  await until(".jsonl:6")
  expect(said.match(/^note {2}claude-code: unknown record/gm)?.length).toBe(1)
  child.kill("SIGINT")
  expect(await child.exited).toBe(0)
})

test.each(["watch", "sync --watch"])("pond %s ends well when it is asked to end", async (verb) => {
  using home = temporaryHome()
  writeSampleSession(home.path)
  const env = { PATH: process.env["PATH"] ?? "", ...home.env }
  const child = Bun.spawn([process.execPath, POND, ...verb.split(" "), "--json"], {
    env,
    stdout: "pipe",
    stderr: "ignore",
  })
  const lines = child.stdout.getReader()
  const first = new TextDecoder().decode((await lines.read()).value).split("\n")[0] ?? ""
  expect(JSON.parse(first)).toMatchObject({ adapters: [{ sessions: { new: 1 }, messages: { new: 2 } }] })
  child.kill("SIGINT")
  expect(await child.exited).toBe(0)
})

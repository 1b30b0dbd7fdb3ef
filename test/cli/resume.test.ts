/** Going on with a session: chosen by eye or named, in the directory it was held in, with the client in charge of the terminal. */
import { afterAll, beforeAll, describe, expect, test } from "bun:test"
import { chmodSync, existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs"
import { basename, join } from "node:path"
import { writeDemo } from "../../build/corpus/demo.ts"
import { type TemporaryHome, temporaryHome } from "../support/pond-process.ts"
import { onTerminal as onTypedTerminal, type TypedStep } from "../support/typed-terminal.ts"
import { runPond } from "../support/warm-pond.ts"

describe("pond resume", () => {
  const SESSION = "de300001-0000-4000-8000-000000000000"
  let home: TemporaryHome
  let env: Record<string, string>
  const work = () => join(home.path, "work")

  beforeAll(async () => {
    home = temporaryHome()
    writeDemo(home.path)
    mkdirSync(join(home.path, "bin"))
    mkdirSync(work())
    const client = join(home.path, "bin/claude")
    writeFileSync(client, '#!/bin/sh\necho "client in $(pwd): $*"\nread answer\necho "it read $answer"\nexit 7\n')
    chmodSync(client, 0o755)
    env = { ...home.env, TERM: "xterm", NO_COLOR: "1", PATH: `${join(home.path, "bin")}:${process.env["PATH"] ?? ""}` }
    expect(await runPond(["sync", "-q"], { env })).toMatchObject({ exitCode: 0 })
  })
  afterAll(() => home[Symbol.dispose]())

  const onTerminal = (args: readonly string[], steps: readonly TypedStep[], surroundings = env) =>
    onTypedTerminal(["resume", ...args], steps, { env: surroundings })

  test("without a session: chosen by a filter, then its client has the terminal, and the last word", async () => {
    const { exitCode, screen } = await onTerminal(
      ["--cwd", work()],
      [
        ["Orders are sometimes", "charged"],
        ["1 of 3", "\r"],
        ["client in", "yes\r"],
      ],
    )
    expect(screen).toContain(`client in ${work()}: --resume ${SESSION}`)
    expect(screen).toContain("it read yes")
    expect(exitCode).toBe(7)
  })

  test("an old session is found behind one that is longer than what is looked at first", async () => {
    using own = temporaryHome()
    const ownEnv = { ...env, ...own.env }
    const folder = join(own.path, ".claude/projects/-old")
    mkdirSync(folder, { recursive: true })
    const write = (sessionId: string, from: string, texts: readonly string[]) => {
      const lines = texts.map((content, index) => {
        const at = { uuid: `${sessionId}-${index}`, timestamp: new Date(Date.parse(from) + index).toISOString() }
        const said = { type: "user", message: { role: "user", content } }
        return JSON.stringify({ parentUuid: null, sessionId, cwd: "/old", version: "2.1.0", ...at, ...said })
      })
      writeFileSync(join(folder, `${sessionId}.jsonl`), `${lines.join("\n")}\n`)
    }
    const old = "0d000000-0000-4000-8000-000000000001"
    write(old, "2024-01-01T00:00:00Z", ["an ancient needle"])
    const long = Array.from({ length: 20_001 }, (_, index) => `text ${index}`)
    write("0d000000-0000-4000-8000-000000000002", "2037-01-01T00:00:00Z", long)
    expect(await runPond(["sync", "-q", "--only", "import"], { env: ownEnv })).toMatchObject({ exitCode: 0 })

    const { exitCode, screen } = await onTerminal(
      ["--cwd", work()],
      [
        ["1 of 1+", "needle"],
        ["1 of 2\u001b", "\r"],
        ["client in", "yes\r"],
      ],
      ownEnv,
    )
    expect(screen).toContain(`client in ${work()}: --resume ${old}`)
    expect(exitCode).toBe(7)
  })

  test("the screen is drawn anew where the terminal has another size, and Enter takes nothing where there is nothing", async () => {
    const { exitCode, screen } = await onTerminal(
      ["--cwd", work()],
      [
        ["3 of 3", [60, 10]],
        [`${"─".repeat(59)}\u001b`, "no such thing\r"],
        ["Nothing matches.", "\r\u0015charged"],
        ["1 of 3", "\r"],
        ["client in", "yes\r"],
      ],
    )
    expect(screen).toContain(`--resume ${SESSION}`)
    expect(exitCode).toBe(7)
  })

  test("who leaves has chosen nothing", async () => {
    const { exitCode, screen } = await onTerminal([], [["3 of 3", "\u001b"]])
    expect(exitCode).toBe(130)
    expect(screen).toEndWith("pond: No session chosen.\n")
  })

  test.each([
    ["no session and no terminal", [], 2, "Missing SESSION: name one, or run pond resume on a terminal to choose."],
    ["a session that is not there", ["nowhere"], 3, "No session nowhere in this store."],
    ["a directory that is gone", [SESSION], 3, "The session ran in /home/you/shop, which does not exist here."],
    ["a client nobody knows", [SESSION, "--to", "cladue-code"], 2, 'Cannot restore into "cladue-code".'],
  ])("%s: said, with an exit code", async (_, args, exitCode, line) => {
    const ran = await runPond(["resume", ...args], { env })
    expect(ran).toMatchObject({ exitCode, stdout: "" })
    expect(ran.stderr).toStartWith(`pond: ${line}`)
  })

  test.each([
    ["codex", /^Would convert 1 session to [\w ]+: 1 file, [\d.]+ KB\.$/m, ".codex"],
    ["opencode", /^Would convert 1 session to [\w ]+: 1 file\.$/m, ".local/share/opencode"],
  ])("--dry-run into %s says what it would do, writes nothing and starts nobody", async (client, line, folder) => {
    const ran = await runPond(["resume", SESSION, "--to", client, "--cwd", work(), "--dry-run"], { env })
    expect(ran.exitCode).toBe(0)
    expect(ran.stdout).toMatch(line)
    expect(ran.stdout).toMatch(/^Resume with: cd .*\/work && /m)
    expect(existsSync(join(home.path, folder))).toBe(false)
  })

  test("what was restored before goes on as it lies, unless it is not that any more", async () => {
    const resumed = () =>
      runPond(["resume", "de300002-0000-4000-8000-000000000000", "--anew", "--cwd", work()], { env })
    expect(await resumed()).toMatchObject({ exitCode: 7 })
    const [name = ""] = readdirSync(join(home.path, ".claude/projects"), { recursive: true, encoding: "utf8" }).filter(
      (each) => /work\/(?!de300002).*\.jsonl$/.test(each),
    )
    const path = join(home.path, ".claude/projects", name)
    const written = readFileSync(path, "utf8")
    writeFileSync(path, `${written}{"type":"mode","mode":"plan"}\n`)
    expect(await resumed()).toMatchObject({ exitCode: 7 })
    expect(readFileSync(path, "utf8")).toBe(`${written}{"type":"mode","mode":"plan"}\n`)
    writeFileSync(path, written.slice(0, -2))
    const { exitCode, stderr } = await resumed()
    expect(exitCode).toBe(8)
    expect(stderr).toContain(
      `Or resume the existing session: cd ${work()} && claude --resume ${basename(name, ".jsonl")}`,
    )
  })

  test("a store without a session says what fills it", async () => {
    using empty = temporaryHome()
    const { exitCode, stderr } = await runPond(["resume", "x"], { env: { ...env, HOME: empty.path } })
    expect({ exitCode, stderr }).toMatchObject({ exitCode: 3 })
  })
})

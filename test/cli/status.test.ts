/** `pond status`, as a process, in a home that four clients have lived in. */
import { Database } from "bun:sqlite"
import { expect, test } from "bun:test"
import {
  appendFileSync,
  cpSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from "node:fs"
import { join } from "node:path"
import { writeTinyModel } from "../../build/corpus/tiny-model.ts"
import { homeOfClients } from "../support/clients-home.ts"
import { fakePrograms } from "../support/fake-programs.ts"
import { type TemporaryHome, temporaryHome } from "../support/pond-process.ts"
import { runPond } from "../support/warm-pond.ts"

const environmentOf = (home: TemporaryHome) => ({ ...home.env, PATH: fakePrograms(home.path, {}).path })

test("an empty machine hears what to do", async () => {
  using home = temporaryHome()
  const { stdout, stderr, exitCode } = await runPond(["status"], { env: environmentOf(home) })
  expect({ stderr, exitCode }).toEqual({ stderr: "", exitCode: 0 })
  for (const line of [
    "contains   nothing yet; run `pond sync`\n",
    "last sync  never on this machine; run `pond sync`\n",
    "schedule   off; `pond schedule start` turns on automatic sync\n",
    "source     no supported client has sessions here; `pond adapters list` shows where pond looks\n",
  ])
    expect(stdout).toContain(line)
})

test("what is stored, what waits, what is off and what is in danger stands on one screen", async () => {
  using home = homeOfClients()
  const env = environmentOf(home)
  expect((await runPond(["sync", "-q"], { env })).exitCode).toBe(0)
  const project = join(home.path, ".claude/projects/-work-alpha")
  const [name = ""] = readdirSync(project)
  const log = join(project, name)
  appendFileSync(log, '{"type":"summary","summary":"more","leafUuid":"none"}\n')
  cpSync(log, join(project, "11111111-1111-4111-8111-111111111111.jsonl"))
  const longAgo = new Date("2020-01-01T00:00:00Z")
  utimesSync(log, longAgo, longAgo)
  await runPond(["adapters", "disable", "pi"], { env })

  const [words, json] = await Promise.all([runPond(["status"], { env }), runPond(["status", "--json"], { env })])
  expect([words.exitCode, json.exitCode]).toEqual([0, 0])
  expect(words.stdout.split("\n").length).toBeLessThan(24)
  const status = JSON.parse(json.stdout)
  expect(status).toMatchObject({
    sessions: 4,
    disabled: ["pi"],
    last_sync: { exit_code: 0, error: null },
    troubles: [],
  })
  expect(status.by_agent).toEqual(
    ["claude-code", "codex", "opencode", "pi"].map((source_agent) => ({ source_agent, sessions: 1 })),
  )
  expect(status.bytes.live).toBeGreaterThan(10_000)
  const [claude, codex] = status.sources
  expect(claude).toMatchObject({
    adapter: "claude-code",
    sessions: 2,
    pending: { new: 1, grown: 1, rewritten: 0 },
    retention: { days: 30, due: 1 },
  })
  expect(codex).toMatchObject({ adapter: "codex", pending: { new: 0, grown: 0, rewritten: 0 }, retention: null })
  expect(words.stdout).toMatch(/source {5}Claude Code, 2 sessions in .*: 1 new, 1 grown \(\d+ KB\); run `pond sync`\n/)
  expect(words.stdout).toMatch(/source {5}Codex, 1 session in .*: all stored\n/)
  expect(words.stdout).toContain("disabled   pi; `pond adapters enable NAME`\n")
  expect(words.stdout).toContain("warning    Claude Code deletes 1 session within a week (cleanupPeriodDays: 30 days).")
})

test("versions and records that no adapter knows are said until they are known", async () => {
  using home = homeOfClients()
  const env = environmentOf(home)
  const project = join(home.path, ".claude/projects/-work-alpha")
  const [name = ""] = readdirSync(project)
  const log = join(project, name)
  writeFileSync(log, readFileSync(log, "utf8").replaceAll(/"version":"[^"]+"/g, '"version":"99.1.0"'))
  appendFileSync(log, '{"type":"hologram","uuid":"h","sessionId":"s"}\n')
  await runPond(["sync", "-q"], { env })
  const { stdout } = await runPond(["status"], { env })
  expect(stdout).toContain(
    "warning    Claude Code: sessions written by newer versions than pond was verified with (99.1.0). Everything is stored; `pond verify` checks it\n",
  )
  expect(stdout).toContain("warning    Claude Code: unknown records, stored complete: hologram (1 session)\n")
})

test("an installed version that is newer than those verified is named, though no session says it", async () => {
  using home = homeOfClients()
  const programs = fakePrograms(home.path, {}).path
  const installed = join(home.path, "lib/node_modules/@anthropic-ai/claude-code")
  mkdirSync(installed, { recursive: true })
  writeFileSync(join(installed, "cli.js"), "#!/bin/sh\nexit 1\n", { mode: 0o755 })
  symlinkSync(join(installed, "cli.js"), join(programs, "claude"))
  const env = { ...home.env, PATH: programs }
  const status = async (version: string) => {
    writeFileSync(join(installed, "package.json"), JSON.stringify({ version }))
    const { stdout } = await runPond(["status"], { env })
    return stdout.split("\n").filter((line) => line.includes("is installed"))
  }
  expect(await status("99.1.0")).toEqual([
    "warning    Claude Code: version 99.1.0 is installed, which is newer than pond was verified with. Everything is stored; `pond verify` checks it",
  ])
  expect(await status("2.0.1")).toEqual([])
})

test("the quick part looks at no source, and a store that fails is one line", async () => {
  using home = homeOfClients()
  const env = environmentOf(home)
  const quick = await runPond(["status", "--quick"], { env })
  expect(quick.stdout).not.toContain("source")
  expect(quick.stdout).toContain("store      ")
  const blocked = await runPond(["status", "--json", "--store", "ftp://x/y"], { env })
  expect({ exitCode: blocked.exitCode, code: JSON.parse(blocked.stdout).error.code }).toEqual({
    exitCode: 2,
    code: "validation_failed",
  })
})

test("a sync state that cannot be read costs the sources, not the store", async () => {
  using home = homeOfClients()
  const env = environmentOf(home)
  await runPond(["sync", "-q"], { env })
  const state = join(home.path, ".local/state/pond")
  const [file = ""] = readdirSync(state).filter((name) => name.endsWith(".sqlite"))
  using held = new Database(join(state, file))
  held.run("DROP TABLE units")
  held.run("CREATE TABLE units (other TEXT)")
  const { stdout, exitCode } = await runPond(["status"], { env })
  expect(exitCode).toBe(0)
  expect(stdout).toContain("contains   4 sessions")
  expect(stdout).toContain("warning    sources: ")
})

test("how far the embeddings came is said, and what turns them on", async () => {
  using home = homeOfClients()
  const env = environmentOf(home)
  const model = join(home.path, "model")
  await writeTinyModel(model)
  const embedding = { ...env, POND_EMBEDDINGS_DIRECTORY: model, POND_EMBEDDINGS_MODEL: "tiny" }
  await runPond(["sync", "-q", "--skip", "embed"], { env })
  const [off, before] = await Promise.all([runPond(["status"], { env }), runPond(["status"], { env: embedding })])
  expect(off.stdout).toContain("semantic   off (keyword search is used); see `pond help embeddings`\n")
  expect(before.stdout).toMatch(/semantic {3}tiny, 0 of \d+ messages; run `pond sync --only embed` to continue\n/)
  await runPond(["sync", "-q", "--only", "embed"], { env: embedding })
  const { embeddings } = JSON.parse((await runPond(["status", "--json"], { env: embedding })).stdout)
  expect(embeddings).toMatchObject({ configured: true, model: "tiny" })
  expect(embeddings.coverage.total).toBeGreaterThan(2)
  expect(embeddings.coverage.embedded).toBe(embeddings.coverage.total)
}, 60_000)

test("whether the words are indexed is said as it is, before and after", async () => {
  using home = homeOfClients()
  expect(await runPond(["sync", "-q"], home)).toMatchObject({ exitCode: 0 })
  const words = async () => /^word index .*$/m.exec((await runPond(["status"], home)).stdout)?.[0]
  expect(await words()).toBe("word index not built yet; not needed for so few messages")
  expect(await runPond(["optimize", "-q"], home)).toMatchObject({ exitCode: 0 })
  expect(await words()).toBe("word index up to date")
})

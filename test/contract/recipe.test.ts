/**
 * The recipe of `src/adapters/README.md`, followed: a client that nobody has (`recipe/notes`) is added to a copy of pond as
 * one folder, one line of the registry and its fixtures. It compiles, the laws hold for it without a line of test, and pond
 * reads it, proves it, and writes into it and out of it.
 */
import { afterAll, beforeAll, expect, test } from "bun:test"
import { cpSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { runPond } from "../support/pond-process.ts"

const ROOT = join(import.meta.dir, "../..")
const NOTES = join(import.meta.dir, "recipe/notes")
const SESSION = "b3c7a5f0-0000-4000-8000-00000000000a"
const LOG = [
  { open: SESSION, cwd: "/projects/alpha", at: "2026-02-03T04:05:00.000Z" },
  { who: "user", at: "2026-02-03T04:05:01.000Z", text: "What is here? 日本" },
  { call: "c1", at: "2026-02-03T04:05:02.000Z", tool: "look", given: { path: "." } },
  { call: "c1", at: "2026-02-03T04:05:03.000Z", came: "main.ts" },
  { mood: "cheerful" },
  { who: "assistant", at: "2026-02-03T04:05:04.000Z", text: "One file." },
]

let copy: string

beforeAll(() => {
  copy = mkdtempSync(join(tmpdir(), "pond-recipe-"))
  for (const name of [
    "src",
    "test/contract",
    "test/support",
    "test/operations/support.ts",
    "test/sessions/support.ts",
    "package.json",
    "bunfig.toml",
  ])
    cpSync(join(ROOT, name), join(copy, name), { recursive: true })
  for (const name of ["recipe", "recipe.test.ts"]) rmSync(join(copy, "test/contract", name), { recursive: true })
  const { compilerOptions } = JSON.parse(readFileSync(join(ROOT, "tsconfig.json"), "utf8"))
  // What is above the adapters sees a list of `Adapter` whoever is in it: to compile it again would cost 10 s more. The cache of
  // the compiler is the real tree's.
  const options = { ...compilerOptions, incremental: false, tsBuildInfoFile: undefined }
  writeFileSync(join(copy, "tsconfig.json"), JSON.stringify({ compilerOptions: options, include: ["src/adapters"] }))
  symlinkSync(join(ROOT, "node_modules"), join(copy, "node_modules"))
  addFolder()
  addLine()
  addFixtures()
})
afterAll(() => rmSync(copy, { recursive: true, force: true }))

function addFolder(): void {
  const folder = join(copy, "src/adapters/notes")
  mkdirSync(folder)
  for (const name of readdirSync(NOTES)) {
    const text = readFileSync(join(NOTES, name), "utf8")
    // It lies elsewhere here, so that the compiler and the linter see it.
    writeFileSync(
      join(folder, name),
      text.replaceAll("../../../../src/adapters/", "../").replaceAll("../../../../src/", "../../"),
    )
  }
}

const LINE = '  listed("notes", notesRoots, () => require("./notes/adapter.ts").notes),'

function addLine(): void {
  const path = join(copy, "src/adapters/registry.ts")
  const before = readFileSync(path, "utf8")
  const after = before
    .replace(/^import \{ [^\n]*opencodeRoots/m, 'import { roots as notesRoots } from "./notes/roots.ts"\n$&')
    .replace(/^(export const ADAPTERS.*(?:\n {2}listed\(.*)*)\n\]$/m, (_, listed) => `${listed}\n${LINE}\n]`)
  // The one line, and the import of its roots.
  expect(after.split("\n").length - before.split("\n").length).toBe(2)
  expect(after).toContain(`\n${LINE}\n]`)
  writeFileSync(path, after)
}

/** The whole log, and as it is where it breaks off, where a line of it was cut, and where a value is none of its own. */
const FIXTURES = {
  plain: LOG.map((line) => JSON.stringify(line)),
  short: LOG.slice(0, 3).map((line) => JSON.stringify(line)),
  cut: LOG.map((line, index) => JSON.stringify(line).slice(0, index === 5 ? 20 : undefined)),
  odd: [...LOG, 12, { call: "c2", tool: 7 }].map((line) => JSON.stringify(line)),
}
const ISSUES: Readonly<Record<string, object>> = {
  plain: { unknown_record: 1 },
  cut: { unknown_record: 1, unparsable_line: 1 },
  odd: { unknown_record: 3 },
}

function addFixtures(): void {
  for (const [name, lines] of Object.entries(FIXTURES)) {
    const folder = join(copy, "fixtures/notes", name)
    mkdirSync(join(folder, "root"), { recursive: true })
    const about = { intent: "What the client writes.", client: "Notes 1.0", issues: ISSUES[name] ?? {} }
    writeFileSync(join(folder, "fixture.json"), JSON.stringify(about))
    writeFileSync(join(folder, "root", `${SESSION}.jsonl`), lines.map((line) => `${line}\n`).join(""))
  }
}

async function runs(...words: readonly string[]) {
  const child = Bun.spawn([process.execPath, ...words], {
    cwd: copy,
    env: { ...process.env, UPDATE_GOLDEN: "1", POND_PROPERTY_RUNS: "20" },
    stdout: "pipe",
    stderr: "pipe",
  })
  const [stdout, stderr] = await Promise.all([new Response(child.stdout).text(), new Response(child.stderr).text()])
  return { exitCode: await child.exited, said: `${stdout}${stderr}` }
}

test("a client that is one folder and one line compiles", async () => {
  expect(await runs(join(copy, "node_modules/.bin/tsc"), "--noEmit")).toEqual({ exitCode: 0, said: "" })
}, 120_000)

test("the laws are proved for it: round trip, reading on, purity, and conversations from and into every other client", async () => {
  const { exitCode, said } = await runs("test", "--timeout", "60000", "test/contract", "-t", "notes")
  expect(exitCode, said).toBe(0)
  for (const law of ["law 2", "law 3", "law 5", "notes to codex", "damaged input"]) expect(said).toContain(law)
}, 120_000)

test("pond syncs it, proves it through a store, and restores it into another client and back", async () => {
  const home = join(copy, "home")
  const main = join(copy, "src/main.ts")
  const pond = async (...words: readonly string[]) => {
    const { exitCode, stdout, stderr } = await runPond([...words, "--json"], { main, env: { HOME: home } })
    expect({ words, exitCode, stderr }).toEqual({ words, exitCode: 0, stderr })
    return JSON.parse(stdout)
  }
  cpSync(join(copy, "fixtures/notes/plain/root"), join(home, ".notes"), { recursive: true })
  const synced = await pond("sync", "notes", "--only", "import")
  expect(synced.adapters).toMatchObject([{ adapter: "notes", sessions: { new: 1 }, messages: { new: LOG.length } }])
  await pond("verify", "notes", "--through-store")
  const native = await pond("restore", SESSION, "--root", join(home, "again"))
  expect(native).toMatchObject({ fidelity: "native", losses: [] })
  const restored = readFileSync(join(home, "again", `${SESSION}.jsonl`), "utf8")
  expect(
    restored
      .trimEnd()
      .split("\n")
      .map((line) => JSON.parse(line)),
  ).toEqual(LOG)
  const there = await pond("restore", SESSION, "--to", "pi", "--root", join(home, "pi"))
  await pond("sync", "pi", "--path", join(home, "pi"), "--only", "import")
  const back = await pond("restore", there.session_id, "--to", "notes")
  expect(readFileSync(back.files[0].path, "utf8")).toContain("What is here? 日本")
}, 120_000)

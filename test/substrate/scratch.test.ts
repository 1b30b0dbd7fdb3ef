/** What the engine writes beside its work, in separate processes, because it aborts the one that it runs in. */
import { afterAll, beforeAll, expect, test } from "bun:test"
import { mkdirSync, readdirSync, rmSync, utimesSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { writeSampleSession } from "../../build/corpus/sample-session.ts"
import { processMark } from "../../src/platform/process/process-mark.ts"
import { runPond, type TemporaryHome, temporaryHome } from "../support/pond-process.ts"

let home: TemporaryHome
let temporary: string
const scratch = () => readdirSync(join(home.path, ".cache/pond/scratch"))
const search = (env: Readonly<Record<string, string>>) =>
  runPond(["search", "charged"], { env: { ...home.env, ...env } })

beforeAll(async () => {
  home = temporaryHome()
  temporary = join(home.path, "temporary")
  mkdirSync(temporary)
  writeSampleSession(home.path)
  expect((await runPond(["sync", "-q"], { env: { ...home.env, TMPDIR: temporary } })).exitCode).toBe(0)
})
afterAll(() => home[Symbol.dispose]())

test("a process leaves nothing in the temporary directory, nor in pond's own", async () => {
  expect((await search({ TMPDIR: temporary })).exitCode).toBe(0)
  expect([readdirSync(temporary), scratch()]).toEqual([[], []])
})

test("a temporary directory that is gone is in nobody's way", async () => {
  const { exitCode, stdout } = await search({ TMPDIR: join(home.path, "gone") })
  expect({ exitCode, isFound: stdout.includes("charged") }).toEqual({ exitCode: 0, isFound: true })
})

test("what a killed process left goes with the next one; that of another machine once it is old", async () => {
  const dead = Bun.spawnSync(["true"]).pid
  const own = processMark()
  const here = own.replace(/^\d+/, String(dead))
  const elsewhere = `${dead}-00000000-`
  const left = [`${here}young`, `${elsewhere}old`, `${dead}-old`]
  const kept = [`${own}old`, `${elsewhere}young`, `${process.pid}-old`]
  const daysAgo = new Date(Date.now() - 2 * 86_400_000)
  for (const name of [...left, ...kept]) {
    const path = join(home.path, ".cache/pond/scratch", name)
    mkdirSync(path, { recursive: true })
    if (name.endsWith("old")) utimesSync(path, daysAgo, daysAgo)
  }
  expect((await search({})).exitCode).toBe(0)
  expect(new Set(scratch())).toEqual(new Set(kept))
  for (const name of scratch()) rmSync(join(home.path, ".cache/pond/scratch", name), { recursive: true })
})

test("without a cache it lies in the temporary directory, and without that one the failure says what to do", async () => {
  const file = join(home.path, "file")
  writeFileSync(file, "")
  const env = { XDG_CACHE_HOME: file }
  const { exitCode, stderr } = await search({ ...env, TMPDIR: join(home.path, "gone") })
  expect(exitCode).toBe(5)
  expect(stderr).toMatch(/^pond: Cannot write to .*gone \(ENOENT\)\. .*\n$/)
  expect((await search({ ...env, TMPDIR: temporary })).exitCode).toBe(0)
  expect(readdirSync(temporary)).toEqual([])
})

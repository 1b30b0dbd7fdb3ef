/**
 * `pond check` and `pond repair`, as processes: damage of each table is named by file and session, every answer says so
 * until it is repaired, and the next sync stores what was lost and nothing else.
 */
import { expect, test } from "bun:test"
import { cpSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { writeDemo } from "../../build/corpus/demo.ts"
import { type TemporaryHome, temporaryHome } from "../support/pond-process.ts"
import { runPond } from "../support/warm-pond.ts"

async function synced(): Promise<{ home: TemporaryHome; store: string; run: typeof runPond; json: Ask }> {
  const home = temporaryHome()
  writeDemo(home.path)
  const store = join(home.path, "store")
  const run: typeof runPond = (args) => runPond([...args, "--store", store], { env: home.env, cwd: home.path })
  const json: Ask = async (args) => {
    const { stdout, exitCode } = await run([...args, "--json", "-q"])
    return { exitCode, ...JSON.parse(stdout) }
  }
  expect(await run(["sync", "-q"])).toMatchObject({ exitCode: 0 })
  return { home, store, run, json }
}

type Ask = (args: readonly string[]) => Promise<Record<string, unknown>>

const dataOf = (store: string, table: string) => {
  const folder = join(store, `${table}.lance/data`)
  return readdirSync(folder)
    .filter((name) => name.endsWith(".lance"))
    .map((name) => join(folder, name))
}

function flip(path: string): void {
  const bytes = readFileSync(path)
  const at = Math.floor(bytes.length / 3)
  bytes[at] = (bytes[at] as number) ^ 16
  writeFileSync(path, bytes)
}

const COUNTS = { sessions: 3, messages: 8, parts: 8 }

for (const table of ["sessions", "messages", "parts"] as const) {
  test(`a flipped bit in ${table} is found, told, taken out, and stored again by the next sync`, async () => {
    const { home, store, run, json } = await synced()
    using _ = home
    expect(await json(["check", "--read-data"])).toMatchObject({ exitCode: 0, ok: true, is_covered: true })
    for (const path of dataOf(store, table)) flip(path)

    const checked = await json(["check", "--read-data"])
    expect(checked).toMatchObject({ exitCode: 4, ok: false })
    const sessions = checked["sessions"] as string[]
    expect(sessions.length).toBe(3)
    expect(JSON.stringify(checked["tables"])).toContain(`${table}.lance/data/`)
    expect((await json(["status", "--quick"]))["damage"]).toMatchObject([{ table, lost_rows: COUNTS[table] }])
    const doctor = await run(["doctor"])
    expect(doctor.exitCode).toBe(4)
    expect(doctor.stdout).toContain(`The table ${table} is damaged`)
    const answer = await run(["get", sessions[0] ?? ""])
    expect(answer.stderr).toContain("pond repair")
    const refused = await run(["sync", "--full"])
    expect(refused.exitCode).toBe(5)
    expect(refused.stderr).toContain("pond repair")

    expect(await json(["repair"])).toMatchObject({ exitCode: 0, lost_rows: COUNTS[table] })
    expect(await json(["check", "--read-data"])).toMatchObject({ exitCode: 0, ok: true })
    expect(await run(["sync", "-q"])).toMatchObject({ exitCode: 0 })
    expect(await json(["status", "--quick"])).toMatchObject({ ...COUNTS, damage: [] })
    expect(await json(["verify", "--against-store"])).toMatchObject({ exitCode: 0 })
  }, 120_000)
}

test("a lost table is no empty store, and a whole copy brings it back", async () => {
  const { home, store, run, json } = await synced()
  using _ = home
  const table = join(store, "sessions.lance")
  cpSync(table, join(home.path, "aside"), { recursive: true })
  rmSync(table, { recursive: true })
  expect(await json(["check"])).toMatchObject({ exitCode: 4 })
  expect((await run(["status", "--quick"])).stdout).toContain("The table sessions is missing")
  cpSync(join(home.path, "aside"), table, { recursive: true })
  expect(await json(["check", "--read-data"])).toMatchObject({ exitCode: 0 })
  expect(await json(["status", "--quick"])).toMatchObject(COUNTS)
}, 120_000)

test("files of a build that wrote no checksums are not taken for covered, and pond optimize covers them", async () => {
  const { home, store, run, json } = await synced()
  using _ = home
  expect(await json(["check"])).toMatchObject({ is_covered: true })
  rmSync(join(store, ".pond"), { recursive: true })
  const { tables, ...checked } = await json(["check"])
  expect(checked).toMatchObject({ exitCode: 0, ok: true, is_covered: false })
  expect((tables as { not_covered: number }[]).every(({ not_covered: files }) => files > 0)).toBe(true)
  expect((await run(["check"])).stdout).toMatch(/^\d+ files not covered yet; `pond optimize` covers them\.\n/)
  expect(await run(["optimize", "-q"])).toMatchObject({ exitCode: 0 })
  expect(await json(["check"])).toMatchObject({ is_covered: true })
}, 120_000)

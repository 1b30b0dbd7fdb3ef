/** `pond verify` from the outside: what a script and a person get. */
import { expect, test } from "bun:test"
import { mkdirSync, readdirSync, utimesSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { runPond as runProcess, type TemporaryHome, temporaryHome } from "../support/pond-process.ts"
import { runPond } from "../support/warm-pond.ts"

const ID = "5d1f0a30-0000-4000-8000-000000000001"
const LINES = [
  { type: "session", version: 3, id: ID, timestamp: "2026-03-01T10:00:00.000Z", cwd: "/work" },
  {
    ...{ type: "message", id: "m1", parentId: null, timestamp: "2026-03-01T10:00:01.000Z" },
    message: { role: "user", content: "Fix the build. \ud83d 日本", timestamp: 1 },
  },
]
const WHOLE = LINES.map((line) => `${JSON.stringify(line)}\n`).join("")

function homeWith(content: string): TemporaryHome {
  const home = temporaryHome()
  const directory = join(home.path, ".pi/agent/sessions/--work--")
  mkdirSync(directory, { recursive: true })
  writeFileSync(join(directory, "2026-03-01T10-00-00-000Z_s1.jsonl"), content)
  writeFileSync(join(home.path, ".pi/agent/auth.json"), "{}")
  return home
}

for (const flags of [[], ["--through-store"]]) {
  test(`verify ${flags.join(" ")} finds the sessions of this machine, and says that they come back`, async () => {
    using home = homeWith(WHOLE)
    const { exitCode, stdout } = await runPond(["verify", "--json", ...flags], home)
    expect(JSON.parse(stdout)).toMatchObject({
      protocol_version: 1,
      ok: true,
      adapters: [
        {
          adapter: "pi",
          sessions: 1,
          files: 1,
          records: 2,
          bytes: Buffer.byteLength(WHOLE),
          mismatches: [],
          issues: [],
        },
      ],
    })
    expect(exitCode).toBe(0)
  })
}

test("verify --against-store compares with what the store contains, and names what it lacks", async () => {
  using home = homeWith(WHOLE)
  const against = (...args: readonly string[]) => runPond(["verify", "--against-store", ...args], home)
  const before = await against()
  expect(before.stdout).toContain(`missing  pi ${ID}: not in the store\n`)
  expect(before.stdout).toEndWith("Run `pond sync` to store what is missing.\n")
  expect(before.exitCode).toBe(4)
  expect(JSON.parse((await against("--json")).stdout)).toMatchObject({ ok: false, adapters: [{ missing: [ID] }] })
  expect(await runPond(["sync", "-q"], home)).toMatchObject({ exitCode: 0 })
  expect(await against()).toMatchObject({ exitCode: 0 })
  const log = join(home.path, ".pi/agent/sessions/--work--/2026-03-01T10-00-00-000Z_s1.jsonl")
  writeFileSync(log, WHOLE.replace("Fix the build", "Mix the build"))
  const changed = await against()
  expect(changed.stdout).toContain(":2 at /message/content")
  expect(changed.exitCode).toBe(4)
})

test("of many sessions that the store lacks the first are named and the others counted", async () => {
  using home = homeWith(WHOLE)
  const folder = join(home.path, ".pi/agent/sessions/--work--")
  for (let at = 2; at <= 23; at++)
    writeFileSync(join(folder, `2026-03-01T10-00-00-000Z_s${at}.jsonl`), WHOLE.replaceAll(ID, `${ID}-${at}`))
  const { stdout, exitCode } = await runPond(["verify", "--against-store"], home)
  expect(stdout.match(/^missing {2}pi /gm)).toHaveLength(20)
  expect(stdout).toContain("\n3 more: run again with --json.\n")
  expect(exitCode).toBe(4)
})

test("a line that a client may still be writing is not missing in the store; one that it left is", async () => {
  const last =
    '{"type":"message","id":"00000099","parentId":null,"timestamp":"2026-03-01T10:09:00.000Z","message":{"role":"user","content":"later","timestamp":1}}'
  using home = homeWith(`${WHOLE}${last}`)
  const log = join(home.path, ".pi/agent/sessions/--work--/2026-03-01T10-00-00-000Z_s1.jsonl")
  utimesSync(log, new Date(), new Date())
  expect(await runPond(["sync", "-q"], home)).toMatchObject({ exitCode: 0 })
  expect(await runPond(["verify", "--against-store"], home)).toMatchObject({ exitCode: 0 })
  utimesSync(log, 1, 1)
  const left = await runPond(["verify", "--against-store"], home)
  expect(left.stdout).toContain("differs  pi")
  expect(left.exitCode).toBe(4)
})

test("a store of its own and the one that is configured are not verified at once", async () => {
  using home = homeWith(WHOLE)
  const both = await runPond(["verify", "--against-store", "--through-store"], home)
  expect(both.stderr).toContain("cannot be combined.")
  expect(both.exitCode).toBe(2)
})

test("the store that sessions went through is gone afterwards", async () => {
  using home = homeWith(WHOLE)
  const left = join(home.path, ".cache/pond/verify-of-one-that-was-killed")
  mkdirSync(left, { recursive: true })
  writeFileSync(join(left, "in-use"), "")
  // Its process takes it along as it ends.
  await runProcess(["verify", "pi", "--through-store"], home)
  expect(readdirSync(join(home.path, ".cache/pond"), { recursive: true })).toEqual(["scratch"])
})

test("a broken source is listed with its place, and the exit code says so", async () => {
  using home = homeWith(`${WHOLE}{"half`)
  const { exitCode, stdout } = await runPond(["verify", "pi"], home)
  expect(stdout).toContain("fault  pi: unparsable line, once: a line that is not JSON in --work--/2026-03-01T10")
  expect(stdout).toContain("Every record of every session can be restored exactly.")
  expect(exitCode).toBe(4)
})

test("a path and a session can be named", async () => {
  using home = homeWith(WHOLE)
  const path = join(home.path, ".pi/agent/sessions")
  const elsewhere = { env: { HOME: "/nonexistent" } }
  const found = await runPond(["verify", "pi", "--path", path, "--session", ID, "--json"], elsewhere)
  expect(JSON.parse(found.stdout)).toMatchObject({ ok: true, adapters: [{ sessions: 1, path }] })
  const missed = await runPond(["verify", "pi", "--path", path, "--session", "s9", "--json"], elsewhere)
  expect(JSON.parse(missed.stdout)).toMatchObject({ error: { code: "not_found", details: { session: "s9" } } })
  expect(missed.exitCode).toBe(3)
})

/** `pond doctor`, as a process: what it finds on a machine, and what it mends. */
import { expect, test } from "bun:test"
import { chmodSync, mkdirSync, readFileSync, statSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { POND } from "../support/bundled-pond.ts"
import { CLIENT_SETTINGS, homeOfClients } from "../support/clients-home.ts"
import { fakePrograms } from "../support/fake-programs.ts"
import { type Ran, temporaryHome } from "../support/pond-process.ts"
import { runPond } from "../support/warm-pond.ts"

interface Finding {
  readonly check: string
  readonly status: string
  readonly found: string
  readonly fix: { readonly does: string; readonly done: boolean } | null
}

function findingsOf({ stdout }: Ran, check: string): Finding[] {
  return (JSON.parse(stdout).findings as Finding[]).filter((finding) => finding.check === check)
}

test("a machine that is set up is well, and each client is named with what it knows", async () => {
  using home = homeOfClients()
  const env = { ...home.env, PATH: fakePrograms(home.path, { systemctl: "exit 0" }).path }
  await runPond(["init", "--yes", "-q"], { env })
  const ran = await runPond(["doctor", "--json"], { env })
  expect(ran.exitCode).toBe(0)
  expect((JSON.parse(ran.stdout).findings as Finding[]).filter(({ status }) => status !== "ok")).toEqual([])
  expect(findingsOf(ran, "MCP").map(({ found }) => found.split(" (")[0])).toEqual([
    "pond is set up in Claude Code",
    "pond is set up in Codex",
    "pond is set up in opencode",
    "pond is set up in pi",
  ])
  expect(findingsOf(ran, "schedule")[0]?.found).toBe("systemd syncs every 15 minutes")
  expect(findingsOf(ran, "clients")[0]?.found).toBe("Claude Code, Codex, opencode, pi")
  expect(findingsOf(ran, "store")[0]?.found).toMatch(/ contains \d+ messages$/)
}, 60_000)

test("what pond can mend it mends: rights, a registration that went stale, a schedule that lost its executable", async () => {
  using home = homeOfClients()
  const programs = fakePrograms(home.path, { systemctl: "exit 0" })
  const env = { ...home.env, PATH: programs.path }
  await runPond(["init", "--yes", "-q"], { env })
  const store = join(home.path, ".local/share/pond/store")
  chmodSync(store, 0o755)
  const claude = join(home.path, CLIENT_SETTINGS["claude-code"][0])
  writeFileSync(
    claude,
    readFileSync(claude, "utf8")
      .replace(JSON.stringify(process.execPath), '"/old/bin/pond"')
      .replace(/"args": \[.*\]/, '"args": ["mcp"]'),
  )
  const state = join(home.path, ".local/state/pond/schedule.json")
  writeFileSync(
    state,
    JSON.stringify({ ...JSON.parse(readFileSync(state, "utf8")), command: ["/old/bin/pond", "sync"] }),
  )

  const ill = await runPond(["doctor"], { env })
  expect(ill.exitCode).toBe(0)
  expect(ill.stdout).toContain(`warning  permissions: others on this machine can read ${store}\n`)
  expect(ill.stdout).toContain("warning  MCP: Claude Code starts another pond, /old/bin/pond mcp\n")
  expect(ill.stdout).toContain("warning  schedule: /old/bin/pond no longer exists\n")
  expect(ill.stdout).toContain("`pond doctor --fix` can fix 3 of these.\n")

  const mended = await runPond(["doctor", "--fix", "--json"], { env })
  expect(["permissions", "MCP", "schedule"].map((check) => findingsOf(mended, check)[0])).toMatchObject(
    ["permissions", "MCP", "schedule"].map((check) => ({ check, status: "ok", fix: { done: true } })),
  )
  expect(statSync(store).mode & 0o777).toBe(0o700)
  expect(readFileSync(claude, "utf8")).toContain(JSON.stringify(process.execPath))
  const well = await runPond(["doctor", "--json"], { env })
  expect((JSON.parse(well.stdout).findings as Finding[]).filter(({ status }) => status !== "ok")).toEqual([])
}, 60_000)

test("what it cannot mend it tells, and a fix that fails is a failure", async () => {
  using home = homeOfClients()
  const env = { ...home.env, PATH: fakePrograms(home.path, { systemctl: 'case "$2" in restart) exit 1;; esac' }).path }
  const codex = join(home.path, CLIENT_SETTINGS.codex[0])
  writeFileSync(codex, "model = = 1\n")
  writeFileSync(join(home.path, ".config/pond/config.toml"), '[adapters]\ndisabled = ["codxe"]\n')
  await runPond(["adapters", "list"], { env })
  const state = join(home.path, ".local/state/pond")
  mkdirSync(state, { recursive: true })
  writeFileSync(join(state, "schedule.json"), '{"scheduler":"systemd","every_minutes":15,"command":["/old/bin/pond"]}')
  const ran = await runPond(["doctor", "--fix", "--json"], { env })
  expect(ran.exitCode).toBe(4)
  expect(findingsOf(ran, "clients")[0]).toMatchObject({
    status: "warning",
    found: expect.stringContaining("codxe. Did you mean codex?"),
  })
  expect(findingsOf(ran, "MCP")[1]).toMatchObject({
    status: "warning",
    found: expect.stringContaining("By hand: codex mcp add pond -- "),
  })
  expect(findingsOf(ran, "schedule").map(({ status, fix }) => [status, fix?.done])).toEqual([
    ["warning", false],
    ["failed", false],
  ])
}, 60_000)

const mayMount = Bun.which("unshare") !== null && Bun.spawnSync(["unshare", "-rm", "true"]).success

test.if(mayMount)("a full disk is found where only the state lies on it", async () => {
  using home = homeOfClients()
  const state = join(home.path, ".local/state")
  mkdirSync(state, { recursive: true })
  const inside = (verb: string) => {
    const script = `mount -t tmpfs -o size=16k tmpfs ${state} && head -c 9000 /dev/zero > ${state}/else && exec "$@"`
    const { stdout, exitCode } = Bun.spawnSync(
      ["unshare", "-rm", "sh", "-c", script, "sh", process.execPath, POND, verb, "--json"],
      { env: { ...home.env, PATH: process.env["PATH"] ?? "" }, stderr: "inherit" },
    )
    return { stdout: stdout.toString(), exitCode, stderr: "" }
  }
  const doctor = inside("doctor")
  expect(findingsOf(doctor, "disk")).toMatchObject([{ status: "failed", found: expect.stringContaining(state) }])
  expect(JSON.parse(inside("sync").stdout).error.message).toMatch(/\(SQLITE_\w+\)\. The disk is full/)
})

test("settings that cannot be read are one failure, not one for each check", async () => {
  using home = temporaryHome()
  writeFileSync(join(home.path, ".config/pond/config.toml"), "store = = 1\n")
  const ran = await runPond(["doctor", "--json"], { env: home.env })
  expect(ran.exitCode).toBe(4)
  const failed = (JSON.parse(ran.stdout).findings as Finding[]).filter(({ status }) => status === "failed")
  expect(failed.map(({ check }) => check)).toEqual(["config"])
}, 60_000)

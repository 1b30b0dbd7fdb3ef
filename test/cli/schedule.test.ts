/** `pond schedule`, as a process, against schedulers that note what they were told. */
import { expect, test } from "bun:test"
import { existsSync, readFileSync, rmSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { fakePrograms } from "../support/fake-programs.ts"
import { temporaryHome } from "../support/pond-process.ts"
import { runPond } from "../support/warm-pond.ts"

const UNITS = ".config/systemd/user/pond-sync"

test("systemd: start writes the units and loads them, stop takes both back", async () => {
  using home = temporaryHome()
  const systemctl = fakePrograms(home.path, { systemctl: "exit 0" })
  const env = { ...home.env, PATH: systemctl.path, CODEX_HOME: "/elsewhere/codex", AWS_SECRET_ACCESS_KEY: "hidden" }
  const started = await runPond(["schedule", "start", "--every", "30m", "--json"], { env })
  expect(started.stderr).toBe("")
  expect(JSON.parse(started.stdout)).toMatchObject({
    scheduled: true,
    scheduler: "systemd",
    active: true,
    every_minutes: 30,
    trouble: null,
  })
  expect(systemctl.calls()).toEqual([
    "systemctl --user show-environment",
    "systemctl --user daemon-reload",
    "systemctl --user enable pond-sync.timer",
    "systemctl --user restart pond-sync.timer",
    "systemctl --user is-active pond-sync.timer",
  ])
  const service = readFileSync(join(home.path, `${UNITS}.service`), "utf8")
  expect(service).toContain('Environment="CODEX_HOME=/elsewhere/codex"\n')
  expect(service).toMatch(/^ExecStart="\/.*"sync" "--quiet"$/m)
  expect(service).not.toContain("hidden")
  expect(readFileSync(join(home.path, `${UNITS}.timer`), "utf8")).toContain("OnUnitInactiveSec=30min\n")

  const stopped = await runPond(["schedule", "stop"], { env })
  expect(stopped.stdout).toBe("Automatic sync is off. Stored sessions are kept.\n")
  expect(systemctl.calls().slice(5)).toEqual([
    "systemctl --user disable --now pond-sync.timer",
    "systemctl --user daemon-reload",
  ])
  expect([".service", ".timer"].filter((kind) => existsSync(join(home.path, `${UNITS}${kind}`)))).toEqual([])
  expect((await runPond(["schedule", "stop"], { env })).stdout).toBe("Nothing was scheduled.\n")
})

test("launchd: start loads a list of the user, and loads it anew when it is there", async () => {
  using home = temporaryHome()
  const launchctl = fakePrograms(home.path, { launchctl: 'case "$1" in bootout) exit 3;; esac' })
  const env = { ...home.env, PATH: launchctl.path }
  const list = join(home.path, "Library/LaunchAgents/pond.sync.plist")
  const started = await runPond(["schedule", "start"], { env })
  expect({ ...started, stdout: started.stdout.replace(/`.*`/, "`…`") }).toEqual({
    stdout: "launchd runs `…` every 15 minutes.\n",
    stderr: "",
    exitCode: 0,
  })
  const domain = `gui/${process.getuid?.()}`
  expect(launchctl.calls()).toEqual([
    `launchctl bootout ${domain}/pond.sync`,
    `launchctl bootstrap ${domain} ${list}`,
    `launchctl print ${domain}/pond.sync`,
  ])
  expect(readFileSync(list, "utf8")).toContain("<integer>900</integer>")
  await runPond(["schedule", "stop"], { env })
  expect(existsSync(list)).toBe(false)
})

test("cron: the user's table gets one line and keeps the others", async () => {
  using home = temporaryHome()
  const table = join(home.path, "table")
  writeFileSync(table, "0 5 * * * backup\n")
  const crontab = fakePrograms(home.path, {
    crontab: `if [ "$1" = -l ]; then cat '${table}'; else cat > '${table}'; fi`,
  })
  const env = { ...home.env, PATH: crontab.path }
  for (const every of ["5m", "1h"])
    expect((await runPond(["schedule", "start", "--every", every], { env })).exitCode).toBe(0)
  const lines = readFileSync(table, "utf8").split("\n")
  expect(lines[0]).toBe("0 5 * * * backup")
  expect(lines[1]).toMatch(/^17 \* \* \* \* .* sync --quiet > .*\/schedule\.log 2>&1 # pond sync/)
  expect(lines.slice(2)).toEqual([""])
  const odd = await runPond(["schedule", "start", "--every", "7m", "--json"], { env })
  expect({ code: JSON.parse(odd.stdout).error.code, exitCode: odd.exitCode }).toEqual({
    code: "validation_failed",
    exitCode: 2,
  })
  await runPond(["schedule", "stop"], { env })
  expect(readFileSync(table, "utf8")).toBe("0 5 * * * backup\n")
})

test("a dry run shows what would be written, and tells nobody", async () => {
  using home = temporaryHome()
  const systemctl = fakePrograms(home.path, { systemctl: "exit 0" })
  const env = { ...home.env, PATH: systemctl.path }
  const { stdout, exitCode } = await runPond(["schedule", "start", "--with", "systemd", "--dry-run"], { env })
  expect(exitCode).toBe(0)
  expect(stdout).toContain("OnUnitInactiveSec=15min\n")
  expect(systemctl.calls()).toEqual([])
  expect(existsSync(join(home.path, `${UNITS}.timer`))).toBe(false)
})

test("a schedule that lost its executable or its timer says so, with what mends it", async () => {
  using home = temporaryHome()
  const systemctl = fakePrograms(home.path, { systemctl: 'case "$2" in is-active) exit 3;; esac' })
  const env = { ...home.env, PATH: systemctl.path }
  expect((await runPond(["schedule", "start"], { env })).exitCode).toBe(4)
  const idle = await runPond(["schedule", "status"], { env })
  expect(idle.stdout).toContain("warning  systemd is not running it. `pond schedule start` fixes it.\n")
  const state = join(home.path, ".local/state/pond/schedule.json")
  const scheduled = JSON.parse(readFileSync(state, "utf8"))
  writeFileSync(state, JSON.stringify({ ...scheduled, command: ["/gone/pond", "sync"] }))
  const gone = await runPond(["schedule", "status", "--json"], { env })
  expect({ exitCode: gone.exitCode, trouble: JSON.parse(gone.stdout).trouble }).toEqual({
    exitCode: 4,
    trouble: "/gone/pond no longer exists",
  })
})

test("the log tells how each sync went, also one that failed", async () => {
  using home = temporaryHome()
  const env = { ...home.env, PATH: fakePrograms(home.path, {}).path }
  expect((await runPond(["schedule", "logs"], { env })).stdout).toBe("No sync has run yet. `pond sync` runs one now.\n")
  expect((await runPond(["sync"], { env })).exitCode).toBe(0)
  writeFileSync(join(home.path, "blocked"), "")
  const failed = await runPond(["sync", "--store", join(home.path, "blocked/store")], { env })
  const { syncs } = JSON.parse((await runPond(["schedule", "logs", "--json"], { env })).stdout)
  expect(syncs.map(({ exit_code }: { exit_code: number }) => exit_code)).toEqual([0, failed.exitCode])
  expect((await runPond(["schedule", "logs"], { env })).stdout).toContain("nothing new")
  const damaged = join(home.path, ".local/state/pond/syncs.jsonl")
  writeFileSync(damaged, `half a li\n${readFileSync(damaged, "utf8")}`)
  expect((await runPond(["schedule", "logs", "--limit", "1"], { env })).exitCode).toBe(0)
  rmSync(damaged)
})

const MISTAKES: readonly (readonly [
  args: readonly string[],
  scripts: Readonly<Record<string, string>>,
  exitCode: number,
  line: RegExp,
])[] = [
  [["start", "--every", "soon"], {}, 2, /--every must be a time such as/],
  [["start", "--every", "10s"], { systemctl: "exit 0" }, 2, /must be whole minutes/],
  [["start", "--every", "40d"], { systemctl: "exit 0" }, 2, /must be whole minutes/],
  [["start", "--with", "at"], {}, 2, /--with must be one of systemd, launchd, cron/],
  [["start"], {}, 3, /No scheduler found for this user \(systemd, launchd, cron\)\. Keep `pond watch`/],
  [["start", "--with", "cron"], {}, 3, /crontab is not on the PATH/],
  [
    ["start"],
    { systemctl: 'case "$2" in enable) echo "no bus" >&2; exit 1;; esac' },
    5,
    /`systemctl --user enable pond-sync.timer` failed \(1\): no bus/,
  ],
  [["logs", "--limit", "0"], {}, 2, /--limit must be a whole number/],
  [[], {}, 2, /needs one of: start, stop, status, logs/],
]

test.each(MISTAKES.map(([args, scripts, exitCode, line]) => ({ args, scripts, exitCode, line })))(
  "schedule $args: exit code $exitCode",
  async ({ args, scripts, exitCode, line }) => {
    using home = temporaryHome()
    const ran = await runPond(["schedule", ...args], {
      env: { ...home.env, PATH: fakePrograms(home.path, scripts).path },
    })
    expect({ exitCode: ran.exitCode, stdout: ran.stdout }).toEqual({ exitCode, stdout: "" })
    expect(ran.stderr).toMatch(line)
  },
)

test("a store in a bucket: it is said that credentials of the shell do not come along", async () => {
  using home = temporaryHome()
  const env = { ...home.env, PATH: fakePrograms(home.path, { systemctl: "exit 0" }).path }
  const bucket = ["--store", "s3://bucket/pond"]
  const bare = await runPond(["schedule", "start", ...bucket], { env })
  expect(readFileSync(join(home.path, `${UNITS}.service`), "utf8")).toContain(
    '"sync" "--quiet" "--store" "s3://bucket/pond"\n',
  )
  expect(bare.stderr).toContain("put them in the config file: see `pond help storage`.\n")
  writeFileSync(
    join(home.path, ".config/pond/config.toml"),
    '[storage."s3://bucket"]\naccess_key_id = "a"\nsecret_access_key = "b"\n',
  )
  expect((await runPond(["schedule", "start", ...bucket], { env })).stderr).toBe("")
})

test("a place that cannot be written is named", async () => {
  using home = temporaryHome()
  writeFileSync(join(home.path, ".config/systemd"), "")
  const env = { ...home.env, PATH: fakePrograms(home.path, { systemctl: "exit 0" }).path }
  const ran = await runPond(["schedule", "start"], { env })
  expect(ran.exitCode).toBe(5)
  expect(ran.stderr).toContain(`Cannot edit ${join(home.path, `${UNITS}.service`)}`)
})

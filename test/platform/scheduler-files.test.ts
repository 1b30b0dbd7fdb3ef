/** What the schedulers read, to the byte. */
import { expect, test } from "bun:test"
import { readFileSync } from "node:fs"
import { join } from "node:path"
import {
  CRON_MARK,
  crontabWith,
  isCronInterval,
  type Job,
  launchdList,
  systemdService,
  systemdTimer,
} from "../../src/platform/process/scheduler-files.ts"
import { temporaryHome } from "../support/pond-process.ts"

const JOB: Job = {
  command: ["/opt/my tools/pond", "sync", "--quiet", "--config", '/home/a/100%/$x/it\'s "it".toml'],
  everyMinutes: 15,
  variables: { CODEX_HOME: "/home/a/50% & <codex>", POND_STORE: "s3://bucket/$HOME" },
  logPath: "/home/a/.local/state/pond/schedule.log",
}

test("systemd gets a service and a timer, quoted by its rules", () => {
  expect(systemdService(JOB)).toBe(`# Created by pond schedule start; removed by pond schedule stop.
[Unit]
Description=Store sessions of coding agents (pond sync)
Documentation=man:systemd.timer(5)

[Service]
Type=oneshot
Environment="CODEX_HOME=/home/a/50%% & <codex>"
Environment="POND_STORE=s3://bucket/$HOME"
ExecStart="/opt/my tools/pond" "sync" "--quiet" "--config" "/home/a/100%%/$$x/it's \\"it\\".toml"
SuccessExitStatus=4
Nice=10
IOSchedulingClass=idle
`)
  expect(systemdTimer(JOB)).toBe(`# Created by pond schedule start; removed by pond schedule stop.
[Unit]
Description=pond sync, every 15 minutes

[Timer]
OnStartupSec=2min
OnUnitInactiveSec=15min
AccuracySec=1min

[Install]
WantedBy=timers.target
`)
})

test("launchd gets a property list", () => {
  expect(launchdList("pond.sync", JOB)).toBe(`<?xml version="1.0" encoding="UTF-8"?>
<!DOCTYPE plist PUBLIC "-//Apple//DTD PLIST 1.0//EN" "http://www.apple.com/DTDs/PropertyList-1.0.dtd">
<!-- Created by pond schedule start; removed by pond schedule stop. -->
<plist version="1.0">
<dict>
  <key>Label</key>
  <string>pond.sync</string>
  <key>ProgramArguments</key>
  <array>
    <string>/opt/my tools/pond</string>
    <string>sync</string>
    <string>--quiet</string>
    <string>--config</string>
    <string>/home/a/100%/$x/it's "it".toml</string>
  </array>
  <key>EnvironmentVariables</key>
  <dict>
    <key>CODEX_HOME</key>
    <string>/home/a/50% &amp; &lt;codex&gt;</string>
    <key>POND_STORE</key>
    <string>s3://bucket/$HOME</string>
  </dict>
  <key>StartInterval</key>
  <integer>900</integer>
  <key>RunAtLoad</key>
  <true/>
  <key>ProcessType</key>
  <string>Background</string>
  <key>LowPriorityIO</key>
  <true/>
  <key>StandardOutPath</key>
  <string>/home/a/.local/state/pond/schedule.log</string>
  <key>StandardErrorPath</key>
  <string>/home/a/.local/state/pond/schedule.log</string>
</dict>
</plist>
`)
})

const LINE = `*/15 * * * * CODEX_HOME='/home/a/50\\% & <codex>' POND_STORE='s3://bucket/$HOME' '/opt/my tools/pond' sync --quiet --config '/home/a/100\\%/$x/it'\\''s "it".toml' > /home/a/.local/state/pond/schedule.log 2>&1 ${CRON_MARK}`

const TABLES: readonly (readonly [before: string, after: string])[] = [
  ["", `${LINE}\n`],
  ["MAILTO=a\n0 5 * * * backup # mine\n", `MAILTO=a\n0 5 * * * backup # mine\n${LINE}\n`],
  ["0 5 * * * backup", `0 5 * * * backup\n${LINE}\n`],
]

test.each(TABLES)("a crontab %j gets pond's line once, and loses it again", (before, after) => {
  expect(crontabWith(before, JOB)).toBe(after)
  expect(crontabWith(after, JOB)).toBe(after)
  expect(crontabWith(after, undefined).trimEnd()).toBe(before.trimEnd())
})

test("the shell reads cron's line as the command that was meant", async () => {
  using home = temporaryHome()
  const logPath = join(home.path, "it's a log")
  const job = { ...JOB, command: ["printf", "%s\\n", ...JOB.command], logPath }
  const [, line = ""] = /^\S+ \S+ \S+ \S+ \S+ (.*)$/m.exec(crontabWith("", job)) ?? []
  expect(await Bun.spawn(["sh", "-c", line.replaceAll("\\%", "%")]).exited).toBe(0)
  expect(readFileSync(logPath, "utf8").split("\n").slice(0, -1)).toEqual([...JOB.command])
})

test("cron's intervals are those that come out even", () => {
  const even = [1, 5, 15, 30, 60, 120, 360, 1440].filter(isCronInterval)
  const odd = [7, 45, 90, 300, 1441].filter(isCronInterval)
  expect({ even, odd }).toEqual({ even: [1, 5, 15, 30, 60, 120, 360, 1440], odd: [] })
})

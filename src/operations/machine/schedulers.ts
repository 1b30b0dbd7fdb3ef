/**
 * The three schedulers that pond knows: where each keeps its files, and what it is told. What the files say is
 * `platform/process/scheduler-files.ts`; when to use which, and what a person is told, is `schedule.ts`.
 */
import { rmSync } from "node:fs"
import { homedir } from "node:os"
import { join } from "node:path"
import { PondError } from "../../model/errors.ts"
import { bytesOfFile, replaceFile } from "../../platform/files/replace-file.ts"
import { findProgram, type ProgramRun, runProgram } from "../../platform/process/programs.ts"
import {
  crontabWith,
  isCronInterval,
  type Job,
  launchdList,
  systemdService,
  systemdTimer,
} from "../../platform/process/scheduler-files.ts"
import type { Pond } from "../pond.ts"

export const SCHEDULERS = ["systemd", "launchd", "cron"] as const
export type SchedulerId = (typeof SCHEDULERS)[number]

export interface UnitFile {
  readonly path: string
  readonly text: string
}

export interface Scheduler {
  readonly id: SchedulerId
  /** Whether it runs for this user, now. */
  readonly isHere: (pond: Pond) => Promise<boolean>
  readonly files: (pond: Pond, job: Job) => readonly UnitFile[]
  readonly start: (pond: Pond, job: Job) => Promise<void>
  readonly stop: (pond: Pond) => Promise<void>
  readonly isActive: (pond: Pond) => Promise<boolean>
  /** What the scheduler says of past runs, by its own command. */
  readonly ownLog: readonly string[] | undefined
}

const UNIT = "pond-sync"
const LABEL = "pond.sync"

const systemd: Scheduler = {
  id: "systemd",
  isHere: async ({ host }) =>
    findProgram("systemctl", host.environment) !== undefined &&
    (await runProgram(["systemctl", "--user", "show-environment"], host.environment)).exitCode === 0,
  files: (pond, job) => [
    { path: unitPath(pond, "service"), text: systemdService(job) },
    { path: unitPath(pond, "timer"), text: systemdTimer(job) },
  ],
  start: async (pond, job) => {
    place(systemd.files(pond, job))
    await must(pond, ["systemctl", "--user", "daemon-reload"])
    await must(pond, ["systemctl", "--user", "enable", `${UNIT}.timer`])
    // Not `enable --now`: a timer that runs already would keep its old interval.
    await must(pond, ["systemctl", "--user", "restart", `${UNIT}.timer`])
  },
  stop: async (pond) => {
    await runProgram(["systemctl", "--user", "disable", "--now", `${UNIT}.timer`], pond.host.environment)
    for (const kind of ["service", "timer"]) rmSync(unitPath(pond, kind), { force: true })
    await runProgram(["systemctl", "--user", "daemon-reload"], pond.host.environment)
  },
  isActive: async ({ host }) =>
    (await runProgram(["systemctl", "--user", "is-active", `${UNIT}.timer`], host.environment)).exitCode === 0,
  ownLog: ["journalctl", "--user", "--unit", `${UNIT}.service`],
}

const launchd: Scheduler = {
  id: "launchd",
  isHere: ({ host }) => Promise.resolve(findProgram("launchctl", host.environment) !== undefined),
  files: (pond, job) => [{ path: agentPath(pond), text: launchdList(LABEL, job) }],
  start: async (pond, job) => {
    place(launchd.files(pond, job))
    // Refused for a label that is loaded already.
    await runProgram(["launchctl", "bootout", `${domain()}/${LABEL}`], pond.host.environment)
    await must(pond, ["launchctl", "bootstrap", domain(), agentPath(pond)])
  },
  stop: async (pond) => {
    await runProgram(["launchctl", "bootout", `${domain()}/${LABEL}`], pond.host.environment)
    rmSync(agentPath(pond), { force: true })
  },
  isActive: async ({ host }) =>
    (await runProgram(["launchctl", "print", `${domain()}/${LABEL}`], host.environment)).exitCode === 0,
  ownLog: undefined,
}

const cron: Scheduler = {
  id: "cron",
  isHere: ({ host }) => Promise.resolve(findProgram("crontab", host.environment) !== undefined),
  files: () => [],
  start: async (pond, job) => {
    if (!isCronInterval(job.everyMinutes)) {
      throw new PondError(
        "validation_failed",
        "cron needs an interval that divides an hour or a day: 5m, 15m, 30m, 1h, 6h or 1d.",
        {
          details: { every_minutes: job.everyMinutes },
        },
      )
    }
    await must(pond, ["crontab", "-"], crontabWith(await crontab(pond), job))
  },
  stop: async (pond) => {
    const table = await crontab(pond)
    const without = crontabWith(table, undefined)
    if (without !== table) await must(pond, ["crontab", "-"], without)
  },
  isActive: async (pond) => {
    const table = await crontab(pond)
    return crontabWith(table, undefined) !== table
  },
  ownLog: undefined,
}

const ALL: readonly Scheduler[] = [systemd, launchd, cron]

export function schedulerNamed(id: SchedulerId): Scheduler {
  return ALL.find((scheduler) => scheduler.id === id) ?? systemd
}

/** The one that belongs to this system: where there is none, the user is told how to do without. */
export async function schedulerOf(pond: Pond): Promise<Scheduler | undefined> {
  for (const scheduler of [launchd, systemd, cron]) if (await scheduler.isHere(pond)) return scheduler
  return undefined
}

async function crontab({ host }: Pond): Promise<string> {
  const { exitCode, stdout } = await runProgram(["crontab", "-l"], host.environment)
  return exitCode === 0 ? stdout : ""
}

async function must({ host }: Pond, command: readonly string[], input?: string): Promise<ProgramRun> {
  const ran = await runProgram(command, host.environment, input === undefined ? {} : { input })
  if (ran.exitCode === 0) return ran
  const said = ran.stderr.trim().split("\n").at(-1) ?? ""
  throw new PondError(
    "storage_unavailable",
    `\`${command.join(" ")}\` failed (${ran.exitCode})${said === "" ? "" : `: ${said}`}. Choose another with --with, or keep \`pond watch\` running some other way.`,
    { details: { command, exit_code: ran.exitCode, stderr: ran.stderr } },
  )
}

function place(files: readonly UnitFile[]): void {
  for (const { path, text } of files) {
    const from = bytesOfFile(path)
    // A unit of ours needs no backup of itself.
    if (from === undefined || Buffer.from(from).toString() !== text)
      replaceFile({ path, from, text, keepsBackup: false })
  }
}

function unitPath({ host }: Pond, kind: string): string {
  const config = host.environment["XDG_CONFIG_HOME"] || join(homeDirectory(host.environment), ".config")
  return join(config, "systemd/user", `${UNIT}.${kind}`)
}

function agentPath({ host }: Pond): string {
  return join(homeDirectory(host.environment), "Library/LaunchAgents", `${LABEL}.plist`)
}

function homeDirectory(environment: Readonly<Record<string, string | undefined>>): string {
  return environment["HOME"] ?? homedir()
}

function domain(): string {
  return `gui/${process.getuid?.() ?? 0}`
}

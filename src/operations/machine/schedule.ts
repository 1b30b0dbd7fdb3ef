/**
 * Syncing by itself: pond tells the scheduler of the system to run `pond sync`, and what became of it is read from pond's
 * own history of syncs. What is scheduled stands in the state directory, so that it can be shown and taken back.
 */
import { existsSync, rmSync, writeFileSync } from "node:fs"
import { homedir } from "node:os"
import { join } from "node:path"
import { ADAPTERS } from "../../adapters/registry.ts"
import { PondError } from "../../model/errors.ts"
import { isJsonObject, parseJson } from "../../model/json.ts"
import { VARIABLES } from "../../platform/config/config.ts"
import { valueInToml } from "../../platform/edit/toml-edit.ts"
import { bytesOfFile } from "../../platform/files/replace-file.ts"
import type { Environment } from "../../platform/host/environment.ts"
import { ensureWritable, placePath } from "../../platform/host/paths.ts"
import { ownCommand } from "../../platform/process/programs.ts"
import type { Job } from "../../platform/process/scheduler-files.ts"
import { parseLocation } from "../../substrate/location.ts"
import type { Pond } from "../pond.ts"
import { SCHEDULERS, type Scheduler, type SchedulerId, schedulerNamed, schedulerOf } from "./schedulers.ts"

export const EVERY_MINUTES_DEFAULT = 15
const EVERY_MINUTES_MAX = 24 * 60

export interface ScheduleRequest {
  readonly everyMinutes: number
  /** The one of the system, where nothing is said. */
  readonly with?: SchedulerId | undefined
}

export interface ScheduleStatus {
  readonly scheduled: boolean
  readonly scheduler: SchedulerId | null
  /** Whether the scheduler itself says that it runs. */
  readonly active: boolean
  readonly every_minutes: number | null
  readonly command: readonly string[]
  readonly files: readonly string[]
  /** What keeps it from doing its work. */
  readonly trouble: string | null
}

/** What stands in the state directory. */
interface Scheduled {
  readonly scheduler: SchedulerId
  readonly every_minutes: number
  readonly command: readonly string[]
}

export async function planSchedule(pond: Pond, request: ScheduleRequest) {
  const scheduler = await chosen(pond, request)
  const job = jobOf(pond, request)
  return {
    scheduler: scheduler.id,
    every_minutes: job.everyMinutes,
    command: job.command,
    files: scheduler.files(pond, job),
  }
}

export async function startSchedule(pond: Pond, request: ScheduleRequest): Promise<ScheduleStatus> {
  const scheduler = await chosen(pond, request)
  const job = jobOf(pond, request)
  warnOfCredentials(pond)
  const before = readScheduled(pond)
  if (before !== undefined && before.scheduler !== scheduler.id) await schedulerNamed(before.scheduler).stop(pond)
  await scheduler.start(pond, job)
  ensureWritable(pond.host.path("state"))
  const scheduled: Scheduled = { scheduler: scheduler.id, every_minutes: job.everyMinutes, command: job.command }
  writeFileSync(statePath(pond), `${JSON.stringify(scheduled)}\n`, { mode: 0o600 })
  return await scheduleStatus(pond)
}

/** What a shell exports never reaches a scheduler, and never goes into a file of its. */
function warnOfCredentials(pond: Pond): void {
  const { backend, shown } = parseLocation(pond.storeName(), pond.host)
  if (backend === "local" || pond.host.settings().values.storage !== undefined) return
  pond.host.log.warn(
    `A schedule does not see this shell's variables. If ${shown} needs credentials, put them in the config file: see \`pond help storage\`.`,
  )
}

/** Whether there was one. */
export async function stopSchedule(pond: Pond): Promise<boolean> {
  const scheduled = readScheduled(pond)
  if (scheduled === undefined) return false
  await schedulerNamed(scheduled.scheduler).stop(pond)
  rmSync(statePath(pond), { force: true })
  return true
}

export async function scheduleStatus(pond: Pond): Promise<ScheduleStatus> {
  const scheduled = readScheduled(pond)
  if (scheduled === undefined) {
    const command = syncCommand(pond)
    return { scheduled: false, scheduler: null, active: false, every_minutes: null, command, files: [], trouble: null }
  }
  const scheduler = schedulerNamed(scheduled.scheduler)
  const job = { ...jobOf(pond, { everyMinutes: scheduled.every_minutes }), command: scheduled.command }
  const active = await scheduler.isActive(pond)
  return {
    scheduled: true,
    scheduler: scheduler.id,
    active,
    every_minutes: scheduled.every_minutes,
    command: scheduled.command,
    files: scheduler.files(pond, job).map(({ path }) => path),
    trouble: troubleOf(scheduled, scheduler, active),
  }
}

/** Where the scheduler keeps what a run said beyond pond's own history. */
export function scheduleLog(pond: Pond): { readonly command: readonly string[] | null; readonly file: string | null } {
  const scheduled = readScheduled(pond)
  if (scheduled === undefined) return { command: null, file: null }
  const { ownLog } = schedulerNamed(scheduled.scheduler)
  return { command: ownLog ?? null, file: ownLog === undefined ? logPath(pond) : null }
}

function troubleOf({ command }: Scheduled, scheduler: Scheduler, active: boolean): string | null {
  const gone = command.filter((word) => word.startsWith("/") && !existsSync(word))
  if (gone.length > 0) return `${gone.join(", ")} no longer exists`
  return active ? null : `${scheduler.id} is not running it`
}

async function chosen(pond: Pond, { with: id }: ScheduleRequest): Promise<Scheduler> {
  const scheduler = id === undefined ? await schedulerOf(pond) : schedulerNamed(id)
  if (scheduler !== undefined) return scheduler
  throw new PondError(
    "not_found",
    `No scheduler found for this user (${SCHEDULERS.join(", ")}). Keep \`pond watch\` running some other way.`,
    { details: { schedulers: SCHEDULERS } },
  )
}

function jobOf(pond: Pond, { everyMinutes }: ScheduleRequest): Job {
  if (!Number.isInteger(everyMinutes) || everyMinutes < 1 || everyMinutes > EVERY_MINUTES_MAX) {
    throw new PondError("validation_failed", "--every must be whole minutes from 1m to 1d, for example 15m.", {
      details: { every_minutes: everyMinutes },
    })
  }
  return { command: syncCommand(pond), everyMinutes, variables: variablesOf(pond), logPath: logPath(pond) }
}

function syncCommand({ host }: Pond): readonly string[] {
  const { file, effective } = host.settings()
  const bytes = bytesOfFile(file.path)
  const text = bytes === undefined ? "" : new TextDecoder().decode(bytes)
  // What was said on this command line goes along, but for what `init` has written into the settings meanwhile.
  const said = effective.flatMap(({ key, shown, origin }) => {
    if (origin.kind !== "flag" || valueInToml(text, key.split(".")) === shown) return []
    return [`--${origin.name}`, String(shown)]
  })
  const isUsual = file.path === join(placePath(host.environment, "config"), "config.toml")
  return [...ownCommand(host.environment), "sync", "--quiet", ...said, ...(isUsual ? [] : ["--config", file.path])]
}

const PLACES = ["XDG_CONFIG_HOME", "XDG_DATA_HOME", "XDG_STATE_HOME", "XDG_CACHE_HOME"]

/** Places and pond's own settings, and whatever an adapter asks the environment for: never a credential. */
function variablesOf({ host: { environment } }: Pond): Record<string, string> {
  const asked = new Set([...PLACES, ...VARIABLES])
  const listening = new Proxy<Environment>(environment, {
    get: (all, name) => {
      if (typeof name === "string") asked.add(name)
      return all[String(name)]
    },
  })
  for (const { source } of ADAPTERS) source.roots(listening, environment["HOME"] ?? homedir())
  const given = [...asked]
    .filter((name) => name !== "HOME")
    .map((name): [string, string] => [name, environment[name] ?? ""])
  return Object.fromEntries(
    given.filter(([, value]) => value !== "").sort(([left], [right]) => (left < right ? -1 : 1)),
  )
}

function logPath({ host }: Pond): string {
  return join(host.path("state"), "schedule.log")
}

function statePath({ host }: Pond): string {
  return join(host.path("state"), "schedule.json")
}

function readScheduled(pond: Pond): Scheduled | undefined {
  const bytes = bytesOfFile(statePath(pond))
  const parsed = bytes === undefined ? undefined : parseJson(new TextDecoder().decode(bytes))
  return parsed?.ok === true && isJsonObject(parsed.value) ? (parsed.value as unknown as Scheduled) : undefined
}

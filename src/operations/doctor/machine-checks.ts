/**
 * The checks of `doctor` that look at this machine and not at pond's own parts: the store, who may read it, the room on the
 * disk, the clients, what they are told of pond, the schedule. A finding that pond can mend says how, and does it when asked.
 */
import { accessSync, chmodSync, constants, existsSync, readdirSync, type Stats, statfsSync, statSync } from "node:fs"
import { dirname, join } from "node:path"
import { ADAPTERS, adapterById } from "../../adapters/registry.ts"
import { bytesText, counted } from "../../model/numbers.ts"
import { suggestion } from "../../platform/nearest.ts"
import { isSystemError } from "../../platform/system-error.ts"
import { parseLocation } from "../../substrate/location.ts"
import { disabledIds, listClients } from "../machine/clients.ts"
import { type RegistrationState, register, registrationOf } from "../machine/registrations.ts"
import { type ScheduleStatus, scheduleStatus, startSchedule } from "../machine/schedule.ts"
import { readSyncHistory } from "../machine/sync-history.ts"
import type { Pond } from "../pond.ts"
import { knownDamage, lostNamespaces, repairIntegrity } from "../store/integrity.ts"
import type { Fix, Seen } from "./check.ts"

/** Below it Lance cannot fold an index of some size, and a sync may stop halfway. */
const FREE_BYTES_LOW = 512 * 1024 * 1024
const FREE_BYTES_MIN = 32 * 1024 * 1024
const OTHERS = 0o077
const OWNER = 0o700

export async function storeOpens(pond: Pond): Promise<Seen> {
  const sessions = await pond.sessions()
  const { messages } = await sessions.counts()
  const { shown } = sessions.store.location
  return ok(
    messages === 0 ? `${shown} is empty; run \`pond sync\`` : `${shown} contains ${counted(messages, "message")}`,
  )
}

/** By names and sizes, and by what an earlier check has found. */
export async function storeIsWhole(pond: Pond): Promise<Seen> {
  const damage = [...(await knownDamage(await pond.sessions())), ...(await lostNamespaces(pond))]
  if (damage.length === 0) return ok("nothing is missing; `pond check --read-data` reads every file")
  const fix = {
    does: "remove what is damaged from the store",
    act: async () => {
      await repairIntegrity(pond)
    },
  }
  return { status: "failed", found: damage.map(({ message }) => message).join(" "), fix }
}

export async function modelOpens(pond: Pond): Promise<Seen> {
  const embedder = await pond.embedder()
  if (embedder === undefined) return ok("off (keyword search is used); see `pond help embeddings`")
  return ok(`${embedder.model} works (${embedder.dimension} dimensions)`)
}

/** Transcripts hold whatever was said and read: keys and passwords too. And whose they are has to get at them. */
export function privateFiles(pond: Pond): Seen {
  const { host } = pond
  const { file, values } = host.settings()
  const store = localStore(pond)
  const folders = [...(store === undefined ? [] : [store]), host.path("state")]
  const shut = folders.filter((path) => isFolder(path) && ((modeOf(path) ?? 0) & OWNER) !== OWNER)
  if (shut.length > 0) {
    const found = `their owner has no access to ${shut.join(", ")}`
    return { status: "failed", found, fix: modeFix(`give the owner access to ${shut.join(", ")}`, shut, asOwn) }
  }
  const denied = deniedIn(host.path("state"))
  if (denied.length > 0) {
    const found = `not writable: ${denied.join(", ")} (created by \`sudo pond\`?); fix with chown`
    return { status: "failed", found }
  }
  const config = values.storage === undefined ? [] : [file.path]
  const open = [...folders, ...config].filter((path) => (modeOf(path) ?? 0) & OTHERS)
  if (open.length === 0) return ok("private to this user")
  const found = `others on this machine can read ${open.join(", ")}`
  return { status: "warning", found, fix: modeFix(`remove access for others to ${open.join(", ")}`, open, asPrivate) }
}

function deniedIn(folder: string): string[] {
  if (!isFolder(folder)) return []
  return readdirSync(folder)
    .toSorted()
    .map((name) => join(folder, name))
    .filter((path) => existsSync(path) && !may(path, constants.R_OK | constants.W_OK))
}

const asOwn = (mode: number) => mode | OWNER
const asPrivate = (mode: number) => mode & ~OTHERS

function modeFix(does: string, paths: readonly string[], changed: (mode: number) => number): Fix {
  return {
    does,
    act: () => {
      for (const path of paths) chmodSync(path, changed(modeOf(path) ?? OWNER))
    },
  }
}

export function roomOnDisk(pond: Pond): Seen {
  const { host } = pond
  const place = roomAt(localStore(pond) ?? host.path("state"))
  // The smaller places may lie on separate disks, and need little.
  const all = [place, ...(["state", "cache"] as const).map((name) => roomAt(host.path(name)))]
  const worst = all.find((each) => each.free < FREE_BYTES_MIN)
  const { found, free } = worst ?? place
  if (free >= FREE_BYTES_LOW) return ok(found)
  const advice = `${found}. Free some space: sync and \`pond optimize\` write before they delete`
  return { status: worst === undefined ? "warning" : "failed", found: advice }
}

function roomAt(path: string) {
  const place = existing(path)
  const { bavail, bsize } = statfsSync(place)
  const free = bavail * bsize
  return { free, found: `${bytesText(free)} free at ${place}` }
}

export function clientsHere(pond: Pond): Seen {
  const unknown = disabledIds(pond).filter((id) => adapterById(id) === undefined)
  if (unknown.length > 0) {
    const ids = ADAPTERS.map(({ id }) => id)
    const near = suggestion(unknown[0] ?? "", ids)
    return {
      status: "warning",
      found: `adapters.disabled has unknown clients: ${unknown.join(", ")}.${near}`,
    }
  }
  const here = listClients(pond).filter(({ found }) => found)
  const shut = here.flatMap(({ title, enabled, roots }) =>
    roots.filter(({ path, exists }) => enabled && exists && !isReadable(path)).map(({ path }) => `${title} in ${path}`),
  )
  if (shut.length > 0) {
    const found = `cannot read ${shut.join(", ")}: its sessions are not stored. Fix its permissions (chmod, chown), or run \`pond adapters disable\``
    return { status: "failed", found }
  }
  if (here.length === 0) return ok("none found; `pond adapters list` shows where pond looks")
  return ok(here.map(({ title, enabled }) => (enabled ? title : `${title} (disabled)`)).join(", "))
}

/** One finding for each client that is here and knows MCP. */
export function registrations(pond: Pond): Seen[] {
  const here = listClients(pond).filter(({ found, mcp }) => found && mcp)
  return here.flatMap(({ adapter: id }) => {
    const adapter = adapterById(id)
    const state = adapter === undefined ? undefined : registrationOf(pond, adapter)
    return adapter === undefined || state === undefined ? [] : [registrationSeen(state, () => register(pond, adapter))]
  })
}

function registrationSeen(
  { title, file, status, command, why, by_hand }: RegistrationState,
  mend: () => unknown,
): Seen {
  switch (status) {
    case "registered":
      return ok(`pond is set up in ${title} (${file})`)
    case "absent":
      return { status: "todo", found: `pond is not set up in ${title}; run \`pond init\`` }
    case "taken":
      return {
        status: "warning",
        found: `${title} has another server named pond in ${file}; rename it and run \`pond init\``,
      }
    case "unreadable":
      return {
        status: "warning",
        found: `${title}: ${file} cannot be edited safely: ${why ?? ""}${by_hand === null ? "" : `. By hand: ${by_hand.join(" ")}`}`,
      }
    default:
      return {
        status: "warning",
        found: `${title} starts another pond, ${(command ?? []).join(" ")}`,
        fix: { does: `sets ${file} right`, act: () => void mend() },
      }
  }
}

export async function scheduleRuns(pond: Pond): Promise<Seen> {
  const schedule = await scheduleStatus(pond)
  if (!schedule.scheduled) return { status: "todo", found: "off; `pond schedule start` turns on automatic sync" }
  if (schedule.trouble !== null) return broken(pond, schedule)
  const last = readSyncHistory(pond).at(-1)
  if (last?.error !== null && last?.error !== undefined && last.exit_code !== 130) {
    return { status: "warning", found: `the last sync failed: ${last.error}` }
  }
  return ok(`${schedule.scheduler} syncs every ${schedule.every_minutes} minutes`)
}

function broken(pond: Pond, { trouble, every_minutes, scheduler }: ScheduleStatus): Seen {
  return {
    status: "warning",
    found: trouble ?? "",
    fix: {
      does: "schedule it again",
      act: async () => {
        await startSchedule(pond, { everyMinutes: every_minutes ?? 0, with: scheduler ?? undefined })
      },
    },
  }
}

function ok(found: string): Seen {
  return { status: "ok", found }
}

/** The directory of a store on this machine's disk. */
function localStore(pond: Pond): string | undefined {
  const { backend, uri } = parseLocation(pond.storeName(), pond.host)
  return backend === "local" ? uri : undefined
}

function modeOf(path: string): number | undefined {
  return statIfThere(path)?.mode
}

function isFolder(path: string): boolean {
  return statIfThere(path)?.isDirectory() === true
}

/** Nothing also where a file lies in the way of it. */
function statIfThere(path: string): Stats | undefined {
  try {
    return statSync(path, { throwIfNoEntry: false })
  } catch (error) {
    if (isSystemError(error, "ENOTDIR")) return undefined
    throw error
  }
}

function isReadable(path: string): boolean {
  return may(path, isFolder(path) ? constants.R_OK | constants.X_OK : constants.R_OK)
}

function may(path: string, access: number): boolean {
  try {
    accessSync(path, access)
    return true
  } catch {
    return false
  }
}

function existing(path: string): string {
  let place = path
  while (statIfThere(place) === undefined && dirname(place) !== place) place = dirname(place)
  return place
}

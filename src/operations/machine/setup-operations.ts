/** Setting pond up on this machine: clients, schedule, registration. Each loads its work when it runs. */
import { rm } from "node:fs/promises"
import { Type } from "typebox"
import { choice, nullable, oneOf, onOff, text } from "../fields.ts"
import { closedObject, defineLocalOperation, type RunContext } from "../operation.ts"
import type { InitChoices, InitPlan } from "./init.ts"
import {
  CLIENT,
  Discovered,
  LastSync,
  MINUTES_DEFAULT,
  PLANNED_SCHEDULE,
  SCHEDULE,
  SCHEDULERS,
  SyncRecordShape,
  SyncReportOutput,
  Texts,
} from "./shapes.ts"
import type { SyncOutcome } from "./sync.ts"

export const adaptersList = defineLocalOperation({
  name: "adapters_list",
  summary: "List the clients that pond supports.",
  input: closedObject({}),
  output: closedObject({ adapters: Type.Array(closedObject(CLIENT)) }),
  errors: [],
  surfaces: { local: true, cli: "adapters list" },
  read: true,
  run: async ({ pond }: RunContext) => ({ adapters: (await import("./clients.ts")).listClients(pond) }),
})

export const adaptersDiscover = defineLocalOperation({
  name: "adapters_discover",
  summary: "Report what each client has on this machine.",
  input: closedObject({}),
  output: closedObject({ adapters: Type.Array(Discovered) }),
  errors: ["interrupted"],
  surfaces: { local: true, cli: "adapters discover" },
  read: true,
  run: async ({ pond, signal }: RunContext) => ({
    adapters: await (await import("./clients.ts")).discoverClients(pond, signal),
  }),
})

const SwitchInput = closedObject({
  adapters: Type.Array(Type.String(), { minItems: 1, description: "The client, or several." }),
})
const SwitchOutput = closedObject({ file: Type.String(), changed: Texts, disabled: Texts })

export const adaptersEnable = defineLocalOperation({
  name: "adapters_enable",
  summary: "Read these clients again.",
  input: SwitchInput,
  output: SwitchOutput,
  errors: [],
  surfaces: { local: true, cli: "adapters enable" },
  read: false,
  run: async ({ pond }: RunContext, { adapters }) => (await import("./clients.ts")).switchClients(pond, adapters, true),
})

export const adaptersDisable = defineLocalOperation({
  name: "adapters_disable",
  summary: "Leave these clients alone. What is stored stays.",
  input: SwitchInput,
  output: SwitchOutput,
  errors: [],
  surfaces: { local: true, cli: "adapters disable" },
  read: false,
  run: async ({ pond }: RunContext, { adapters }) =>
    (await import("./clients.ts")).switchClients(pond, adapters, false),
})

// --- Schedule ---------------------------------------------------------------------------------------------------------

export const scheduleStart = defineLocalOperation({
  name: "schedule_start",
  summary: "Sync regularly, through the scheduler of this system.",
  input: closedObject({
    every_minutes: Type.Optional(
      Type.Number({ exclusiveMinimum: 0, default: MINUTES_DEFAULT, description: "How often to sync." }),
    ),
    with: choice(SCHEDULERS, "The scheduler to use (default: the system's)."),
    dry_run: onOff("Show what would be written without writing it."),
  }),
  output: Type.Union([closedObject(SCHEDULE), closedObject({ ...PLANNED_SCHEDULE, dry_run: Type.Literal(true) })]),
  errors: ["not_found"],
  surfaces: { local: true, cli: "schedule start" },
  read: false,
  run: async ({ pond }: RunContext, { every_minutes: everyMinutes = MINUTES_DEFAULT, with: scheduler, dry_run }) => {
    const { planSchedule, startSchedule } = await import("./schedule.ts")
    const request = { everyMinutes, with: scheduler }
    if (dry_run === true) return { ...(await planSchedule(pond, request)), dry_run: true as const }
    return await startSchedule(pond, request)
  },
})

export const scheduleStop = defineLocalOperation({
  name: "schedule_stop",
  summary: "Stop syncing regularly.",
  input: closedObject({}),
  output: closedObject({ stopped: Type.Boolean({ description: "False if nothing was scheduled." }) }),
  errors: [],
  surfaces: { local: true, cli: "schedule stop" },
  read: false,
  run: async ({ pond }: RunContext) => ({ stopped: await (await import("./schedule.ts")).stopSchedule(pond) }),
})

export const scheduleStatus = defineLocalOperation({
  name: "schedule_status",
  summary: "Report whether pond syncs regularly, and how the last sync ended.",
  input: closedObject({}),
  output: closedObject({ ...SCHEDULE, last_sync: LastSync }),
  errors: [],
  surfaces: { local: true, cli: "schedule status" },
  read: true,
  run: async ({ pond }: RunContext) => {
    const [{ scheduleStatus: stateOf }, { readSyncHistory }] = await Promise.all([
      import("./schedule.ts"),
      import("./sync-history.ts"),
    ])
    return { ...(await stateOf(pond)), last_sync: readSyncHistory(pond).at(-1) ?? null }
  },
})

export const scheduleLogs = defineLocalOperation({
  name: "schedule_logs",
  summary: "List how the last syncs ended.",
  input: closedObject({
    limit: Type.Optional(
      Type.Integer({ minimum: 1, maximum: 1000, default: 20, description: "Maximum number of syncs." }),
    ),
  }),
  output: closedObject({
    syncs: Type.Array(closedObject(SyncRecordShape)),
    log_command: nullable(Texts, { description: "The command that prints the scheduler's own log." }),
    log_file: nullable(Type.String()),
  }),
  errors: [],
  surfaces: { local: true, cli: "schedule logs" },
  read: true,
  run: async ({ pond }: RunContext, { limit = 20 }) => {
    const [{ scheduleLog }, { readSyncHistory }] = await Promise.all([
      import("./schedule.ts"),
      import("./sync-history.ts"),
    ])
    const { command, file } = scheduleLog(pond)
    return { syncs: readSyncHistory(pond).slice(-limit), log_command: command, log_file: file }
  },
})

// --- Init -------------------------------------------------------------------------------------------------------------

const REGISTRATION = { adapter: Type.String(), title: Type.String(), file: Type.String() }
const Steps = Type.Array(
  Type.Union([
    closedObject({
      ...REGISTRATION,
      change: oneOf(["added", "updated", "removed", "none"]),
      backup: nullable(Type.String()),
    }),
    closedObject({ ...REGISTRATION, change: Type.Literal("failed"), why: Type.String() }),
  ]),
)
const INIT_PLAN = {
  config: closedObject({
    path: Type.String(),
    exists: Type.Boolean(),
    store: Type.String(),
    sets: Type.Record(Type.String(), Type.Unknown(), { description: "What would be written into the config file." }),
  }),
  clients: Type.Array(Discovered),
  registrations: Type.Array(
    closedObject({
      ...REGISTRATION,
      status: oneOf(["absent", "registered", "outdated", "taken", "unreadable"]),
      command: nullable(Texts),
      wanted: Type.String(),
      by_hand: nullable(Texts),
      why: nullable(Type.String()),
    }),
    { description: "pond as an MCP server of each client." },
  ),
  hooks: Type.Array(
    closedObject({
      ...REGISTRATION,
      status: oneOf(["absent", "registered", "outdated", "taken", "unreadable"]),
      next: nullable(Type.String(), { description: "What a person has to do besides." }),
      why: nullable(Type.String()),
    }),
    { description: "Hooks of each client that call pond." },
  ),
  schedule: closedObject({
    now: closedObject(SCHEDULE),
    planned: nullable(closedObject(PLANNED_SCHEDULE)),
    why: nullable(Type.String(), { description: "Why there can be none." }),
  }),
}
const InitDone = closedObject({
  config: closedObject({ path: Type.String(), made: Type.Boolean(), changed: Type.Boolean() }),
  registrations: Steps,
  hooks: Steps,
  schedule: closedObject(SCHEDULE),
  schedule_failed: nullable(Type.String()),
})

const Undone = closedObject({
  registrations: Steps,
  hooks: Steps,
  schedule_stopped: Type.Boolean(),
  config_removed: Type.Boolean(),
})

export interface InitHooks {
  /** Asks a person. Absent: everything that is offered is done with `yes`, and nothing without. */
  readonly choose?: (plan: InitPlan) => Promise<InitChoices>
  /** Runs the first sync, or not where the person declines. */
  readonly firstSync?: (plan: InitPlan) => Promise<SyncOutcome | undefined>
  readonly onPlan?: (plan: InitPlan) => void
}

export const init = defineLocalOperation({
  name: "init",
  summary: "Set up pond: clients, settings, MCP, a schedule, a first sync.",
  input: closedObject({
    yes: onOff("Accept every step without asking."),
    hooks: onOff("Also let clients call pond before prompts and at the end of sessions: see pond help recall."),
    no_mcp: onOff("Do not add pond to clients: no MCP server, no hooks."),
    no_schedule: onOff("Do not turn on automatic sync."),
    no_sync: onOff("Skip the first sync."),
    dry_run: onOff("Show what would be done without doing it."),
    undo: onOff("Undo what init did. Stored sessions are kept."),
  }),
  output: Type.Union([
    closedObject({ applied: Type.Literal(false), ...INIT_PLAN }),
    closedObject({
      applied: Type.Literal(true),
      ...INIT_PLAN,
      done: InitDone,
      sync: nullable(SyncReportOutput),
    }),
    Undone,
  ]),
  errors: ["interrupted"],
  surfaces: { local: true, cli: "init" },
  read: false,
  run: async ({ pond, signal, choose, firstSync, onPlan }: RunContext & InitHooks, input) => {
    const { applyInit, offeredChoices, planInit, undoInit } = await import("./init.ts")
    if (input.undo === true) return await undoInit(pond)
    const plan = await planInit(pond, signal)
    const isAllowed = input.yes === true || choose !== undefined
    if (input.dry_run === true || !isAllowed) return { applied: false as const, ...plan }
    onPlan?.(plan)
    const offered = offeredChoices(plan, {
      mcp: input.no_mcp !== true,
      hooks: input.hooks === true && input.no_mcp !== true,
      schedule: input.no_schedule !== true,
    })
    const done = await applyInit(pond, plan, choose === undefined ? offered : await choose(plan))
    const report = input.no_sync === true ? undefined : await firstSync?.(plan)
    return { applied: true as const, ...plan, done, sync: report ?? null }
  },
})

export const uninstall = defineLocalOperation({
  name: "uninstall",
  summary: "Remove what pond has set up on this machine.",
  input: closedObject({
    yes: onOff("Remove without asking."),
    delete_store: onOff("Also delete the store of this machine, with every session in it."),
    dry_run: onOff("Show what would be removed without removing it."),
  }),
  output: closedObject({
    removed: Type.Boolean({ description: "False for a dry run, or without consent." }),
    directories: Texts,
    undone: nullable(Undone),
  }),
  errors: [],
  surfaces: { local: true, cli: "uninstall" },
  read: false,
  run: async ({ pond, confirm }: RunContext & UninstallHooks, input) => {
    const { host } = pond
    const directories = [
      host.path("cache"),
      ...(input.delete_store === true ? [host.path("data"), host.path("state")] : []),
    ]
    const isAllowed = input.dry_run !== true && (input.yes === true || (await confirm?.(directories)) === true)
    if (!isAllowed) return { removed: false, directories, undone: null }
    const { undoInit } = await import("./init.ts")
    const undone = await undoInit(pond)
    await pond.close()
    for (const directory of directories) await rm(directory, { recursive: true, force: true })
    return { removed: true, directories, undone }
  },
})

export interface UninstallHooks {
  readonly confirm?: (directories: readonly string[]) => Promise<boolean>
}

export const upgrade = defineLocalOperation({
  name: "upgrade",
  summary: "Report whether there is a newer release, and how to install it here.",
  input: closedObject({
    check: onOff("Only check whether there is a newer release."),
    from: text("Where to look instead of the project's releases: a URL or a directory with the files of a release."),
  }),
  output: closedObject({
    version: Type.String(),
    latest: Type.String(),
    newer: Type.Boolean({ description: "Whether the latest release is newer than this pond." }),
    installed_by: oneOf(["script", "homebrew", "npm", "nix", "deb", "rpm", "source", "unknown"]),
    commands: Type.Array(Type.String(), { description: "What installs the latest release here, for a shell." }),
    page: nullable(Type.String()),
  }),
  errors: ["not_found", "interrupted"],
  surfaces: { local: true, cli: "upgrade" },
  read: true,
  run: async ({ signal }: RunContext, { from }) => await (await import("./upgrade.ts")).checkUpgrade(from, signal),
})

/**
 * The first minutes with pond, planned and done: what is on this machine, the settings, pond as an MCP server of each
 * client that knows such, a schedule, the first sync. Every step can be done again without doing it twice, and undone.
 */
import { ADAPTERS, adapterById } from "../../adapters/registry.ts"
import { toPondError } from "../../model/errors.ts"
import type { ConfigValue } from "../../platform/edit/editable.ts"
import type { Pond } from "../pond.ts"
import { addHooks, type HooksState, hooksStateOf, removeHooks } from "./client-hooks.ts"
import { type Discovered, discoverClients } from "./clients.ts"
import { changeConfig, takeBackConfig } from "./config-file.ts"
import {
  type RegistrationChange,
  type RegistrationState,
  register,
  registrationOf,
  unregister,
} from "./registrations.ts"
import {
  EVERY_MINUTES_DEFAULT,
  planSchedule,
  type ScheduleStatus,
  scheduleStatus,
  startSchedule,
  stopSchedule,
} from "./schedule.ts"

export interface InitPlan {
  readonly config: {
    readonly path: string
    readonly exists: boolean
    readonly store: string
    /** What would be written into it: what was said on the command line or in the environment. */
    readonly sets: Readonly<Record<string, ConfigValue>>
  }
  readonly clients: readonly Discovered[]
  /** Of the clients that are here and know MCP. */
  readonly registrations: readonly RegistrationState[]
  /** Of the clients that are here and have hooks. */
  readonly hooks: readonly HooksState[]
  readonly schedule: {
    readonly now: ScheduleStatus
    readonly planned: Awaited<ReturnType<typeof planSchedule>> | null
    /** Why there can be none. */
    readonly why: string | null
  }
}

export interface InitChoices {
  /** The adapters to register pond with. */
  readonly registrations: readonly string[]
  /** The adapters whose clients are told to call `pond hook`. */
  readonly hooks: readonly string[]
  readonly schedule: boolean
}

export type Step =
  | RegistrationChange
  | (Pick<RegistrationChange, "adapter" | "title" | "file"> & { readonly change: "failed"; readonly why: string })

export interface InitDone {
  readonly config: { readonly path: string; readonly made: boolean; readonly changed: boolean }
  readonly registrations: readonly Step[]
  readonly hooks: readonly Step[]
  readonly schedule: ScheduleStatus
  readonly schedule_failed: string | null
}

export async function planInit(pond: Pond, signal: AbortSignal): Promise<InitPlan> {
  const { file, effective, values } = pond.host.settings()
  // A store that cannot be is refused before its name stands in the settings, where every verb would meet it.
  await (await pond.sessions()).store.names()
  const clients = await discoverClients(pond, signal)
  const given = effective.filter(({ origin }) => origin.kind === "flag" || origin.kind === "environment")
  const told = clients.filter(({ found, enabled }) => found && enabled)
  const known = told.flatMap(({ adapter }) => adapterById(adapter) ?? [])
  const plan = await planSchedule(pond, { everyMinutes: EVERY_MINUTES_DEFAULT }).then(
    (planned) => ({ planned, why: null }),
    (error: unknown) => ({ planned: null, why: toPondError(error).message }),
  )
  return {
    config: {
      path: file.path,
      exists: file.exists,
      store: values.store,
      sets: Object.fromEntries(given.map(({ key, shown }): [string, ConfigValue] => [key, shown as ConfigValue])),
    },
    clients,
    registrations: known.flatMap((adapter) => registrationOf(pond, adapter) ?? []),
    hooks: known.flatMap((adapter) => hooksStateOf(pond, adapter) ?? []),
    schedule: { now: await scheduleStatus(pond), ...plan },
  }
}

/** What init does where nobody is asked. */
export function offeredChoices(
  { registrations, hooks, schedule }: InitPlan,
  wants: { readonly mcp: boolean; readonly hooks: boolean; readonly schedule: boolean },
): InitChoices {
  return {
    registrations: wants.mcp ? openIn(registrations) : [],
    // Hooks of a pond that was moved are set right without being asked for: the client calls something that is not there.
    hooks: wants.hooks ? openIn(hooks) : openIn(hooks.filter(({ status }) => status === "outdated")),
    schedule: wants.schedule && schedule.planned !== null,
  }
}

function openIn(states: readonly Pick<RegistrationState, "adapter" | "status">[]): readonly string[] {
  return states.filter(({ status }) => status === "absent" || status === "outdated").map(({ adapter }) => adapter)
}

/** A step that fails stops no other. */
export async function applyInit(pond: Pond, plan: InitPlan, choices: InitChoices): Promise<InitDone> {
  const sets = Object.entries(plan.config.sets).map(([key, value]) => ({ key: key.split("."), value }))
  const config = changeConfig(pond, sets)
  const registrations = choices.registrations.flatMap((id) => stepFor(pond, id, register) ?? [])
  const hooks = choices.hooks.flatMap((id) => stepFor(pond, id, addHooks) ?? [])
  let failed: string | null = null
  if (choices.schedule) {
    try {
      await startSchedule(pond, { everyMinutes: plan.schedule.now.every_minutes ?? EVERY_MINUTES_DEFAULT })
    } catch (error) {
      failed = toPondError(error).message
    }
  }
  return { config, registrations, hooks, schedule: await scheduleStatus(pond), schedule_failed: failed }
}

export interface Undone {
  readonly registrations: readonly Step[]
  readonly hooks: readonly Step[]
  readonly schedule_stopped: boolean
  readonly config_removed: boolean
}

/** Takes back what `applyInit` did. What is stored stays, and so do settings that somebody has written. */
export async function undoInit(pond: Pond): Promise<Undone> {
  // Every adapter, also one that is disabled or whose client is gone: its settings may name pond still.
  // Of two changes in one file the later goes first: the file that was before both may come back whole.
  const registered = new Set(ADAPTERS.filter((each) => isPonds(registrationOf(pond, each))).map(({ id }) => id))
  const hooks = ADAPTERS.flatMap(({ id }) => stepFor(pond, id, removeHooks) ?? [])
  const registrations = ADAPTERS.flatMap(({ id }) => stepFor(pond, id, unregister) ?? []).map(
    (step): Step => (step.change === "none" && registered.has(step.adapter) ? { ...step, change: "removed" } : step),
  )
  return {
    registrations: registrations.filter(({ change }) => change !== "none"),
    hooks: hooks.filter(({ change }) => change !== "none"),
    schedule_stopped: await stopSchedule(pond),
    config_removed: takeBackConfig(pond),
  }
}

function isPonds(state: RegistrationState | undefined): boolean {
  return state?.status === "registered" || state?.status === "outdated"
}

function stepFor(pond: Pond, id: string, act: typeof register): Step | undefined {
  const adapter = adapterById(id)
  if (adapter === undefined) return undefined
  try {
    return act(pond, adapter)
  } catch (error) {
    const file = registrationOf(pond, adapter)?.file ?? ""
    return { adapter: id, title: adapter.title, file, change: "failed", why: toPondError(error).message }
  }
}

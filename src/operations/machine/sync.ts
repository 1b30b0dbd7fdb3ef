/**
 * Bring what the clients have written into the store. Not on the wire: it reads this machine, so only its owner asks for it.
 */

import { existsSync, statSync } from "node:fs"
import { homedir } from "node:os"
import { resolve } from "node:path"
import type { Adapter } from "../../adapters/adapter.ts"
import { wantsVectors } from "../../embeddings/enabled.ts"
import { EXIT_NOT_WHOLE, PondError } from "../../model/errors.ts"
import type { EmbedReport } from "../../search/embed-missing.ts"
import type { TableMaintenance } from "../../sessions/store.ts"
import type { ImportSource } from "../../sync/import.ts"
import type { RootPlan } from "../../sync/plan/plan-root.ts"
import { waitsForClient } from "../../sync/plan/survey.ts"
import { planSync, runSync, STAGES, type Stage, type SyncContext, type SyncReport } from "../../sync/sync.ts"
import type { Pond } from "../pond.ts"
import { checkShare } from "../store/integrity.ts"
import { storeIdentity } from "../store/store-identity.ts"
import { adapterNamed, enabledAdapters } from "./clients.ts"
import type { EmbedHooks } from "./embed.ts"
import { noted } from "./sync-history.ts"

export interface SyncOptions {
  /** The ids of adapters; none means all that are not disabled. */
  readonly adapters: readonly string[]
  /** A root other than the client's own. */
  readonly path?: string | undefined
  readonly only: readonly Stage[]
  readonly skip: readonly Stage[]
  readonly isFull: boolean
  readonly isPatient: boolean
}

type ImportHooks = Pick<SyncContext, "signal" | "onPlan" | "onProgress" | "onStored" | "onStage">

export interface SyncHooks extends ImportHooks, EmbedHooks {
  /** Asked for between two steps of the work on the indexes, by callers with more urgent work. */
  readonly stepAside?: () => Promise<void>
  /** Runs when the process ends, also where it leaves the sync behind. */
  readonly onEnd?: (cleanup: () => void) => void
}

/** A sync's report with what its two later stages say, which the sync layer passes through without knowing it. */
export interface SyncOutcome extends SyncReport {
  readonly embed: EmbedReport | null
  readonly index: { readonly tables: readonly TableMaintenance[] } | null
}

const EMBED_BUDGET_MS = 60_000

export async function syncPond(pond: Pond, options: SyncOptions, hooks: SyncHooks): Promise<SyncOutcome> {
  const request = requestOf(pond, options)
  let stored = 0
  const onStored = (messages: number) => {
    stored += messages
    hooks.onStored?.(messages)
  }
  // A sync that was asked for nothing but vectors makes all of them. Any other leaves the machine to its user again.
  const budgetMs = options.only.includes("embed") ? {} : { budgetMs: EMBED_BUDGET_MS }
  const noting = { exitCodeOf: syncExitCode, onEnd: hooks.onEnd, stored: () => stored }
  const report = await noted(pond, noting, async () =>
    runSync(request, await contextOf(pond, { ...hooks, ...budgetMs, onStored })),
  )
  return report as SyncOutcome
}

export interface SourcePlan extends RootPlan {
  /** Units that are looked at, and wait for the word of their client. They are not among the others. */
  readonly nameless: number
}

export async function planPond(pond: Pond, options: SyncOptions, hooks: SyncHooks): Promise<readonly SourcePlan[]> {
  const plans = await planSync(requestOf(pond, options), await contextOf(pond, hooks))
  const nowMs = pond.host.clock.nowMs()
  return plans.map((plan) => {
    const units = plan.units.filter((unit) => !waitsForClient(unit, nowMs))
    return { ...plan, units, nameless: plan.units.length - units.length }
  })
}

/** What a sync would read, by source. */
export function planDocument(plans: readonly SourcePlan[]) {
  return {
    adapters: plans.map((plan) => {
      const count = (change: string) => plan.units.filter((unit) => unit.change === change).length
      return {
        adapter: plan.adapter.id,
        path: plan.root,
        sessions: {
          seen: plan.seen,
          new: count("new"),
          grown: count("grown"),
          rewritten: count("rewritten"),
          unchanged: plan.unchanged,
          gone: plan.gone.length,
          nameless: plan.nameless,
        },
        bytes_to_read: plan.bytesToRead,
      }
    }),
    dry_run: true as const,
  }
}

/** 4 where something was not whole: a fault in a source, or a session that the store refused. */
export function syncExitCode({ adapters, interrupted }: SyncReport): number {
  if (interrupted) return new PondError("interrupted", "stopped").row.exit
  const isWhole = adapters.every(
    ({ sessions, issues }) => sessions.failed === 0 && issues.every(({ severity }) => severity === "note"),
  )
  return isWhole ? 0 : EXIT_NOT_WHOLE
}

/** The roots of the asked adapters that exist. A root that was named must exist. */
export function importSources(pond: Pond, { adapters, path }: Pick<SyncOptions, "adapters" | "path">): ImportSource[] {
  const chosen = adapters.length === 0 ? enabledAdapters(pond) : adapters.map(adapterNamed)
  if (path !== undefined) {
    if (!existsSync(path)) {
      throw new PondError("not_found", `No directory ${path}. Give the one with the client's sessions.`, {
        details: { path },
      })
    }
    // Nobody said whose file this is: one that says it itself is of no other source.
    const isFile = adapters.length === 0 && statSync(path).isFile()
    const own = isFile ? chosen.filter(({ source }) => source.isOwn?.(path) === true) : []
    // What is remembered of it is remembered by its name, and the same name is another directory elsewhere.
    return (own.length > 0 ? own : chosen).map((adapter) => ({
      adapter,
      root: resolve(path),
      isChosen: adapters.length > 0 ? true : undefined,
    }))
  }
  const { environment } = pond.host
  const home = environment["HOME"] ?? homedir()
  const asked = ({ source }: Adapter) => (adapters.length === 0 ? [] : (source.askedRoots?.(environment, home) ?? []))
  return chosen.flatMap((adapter) =>
    [...adapter.source.roots(environment, home), ...asked(adapter)]
      .filter((root) => existsSync(root))
      .map((root) => ({ adapter, root })),
  )
}

/** Nothing where a directory was named: it is looked at alone. */
export function inProjects(pond: Pond, { adapters, path }: Pick<SyncOptions, "adapters" | "path">): readonly Adapter[] {
  const chosen = adapters.length === 0 ? enabledAdapters(pond) : adapters.map(adapterNamed)
  return path === undefined ? chosen.filter(({ source }) => source.isIn !== undefined) : []
}

export function requestOf(pond: Pond, options: SyncOptions) {
  const asked = options.only.length === 0 ? STAGES : STAGES.filter((stage) => options.only.includes(stage))
  const stages = asked.filter((stage) => !options.skip.includes(stage))
  if (stages.length === 0) {
    throw new PondError("validation_failed", "All stages are skipped: nothing to do. Remove one --skip.", {
      details: { only: options.only, skip: options.skip },
    })
  }
  return {
    sources: importSources(pond, options),
    inProjects: inProjects(pond, options),
    stages,
    isFull: options.isFull,
    isPatient: options.isPatient,
  }
}

export async function contextOf(pond: Pond, hooks: SyncHooks): Promise<SyncContext> {
  const { host } = pond
  const remoteMark = await remoteMarkOf(pond)
  return {
    storeName: pond.storeName(),
    stateDirectory: host.path("state"),
    storeMark: () => storeIdentity(pond.storeName(), host) ?? remoteMark?.(),
    sessions: () => pond.sessions(),
    embed: async () =>
      wantsVectors(host.settings().values.embeddings)
        ? await (await import("./embed.ts")).embedStore(pond, hooks)
        : null,
    index: async (idleSignature) => {
      const sessions = await pond.sessions()
      const tables = await sessions.maintain("due", { stepAside: hooks.stepAside, idleSignature })
      // Without one nothing was at rest for an hour.
      if (idleSignature === undefined) await checkShare(pond, hooks.signal)
      return { tables }
    },
    clock: host.clock,
    log: host.log,
    ...hooks,
  }
}

/**
 * Of a store in a bucket: the id of a table, because one that was emptied or replaced has another, and how many repairs
 * there were, which may have taken out what is remembered. Where the store does not answer the sync itself says so.
 */
async function remoteMarkOf(pond: Pond): Promise<(() => string) | undefined> {
  if (storeIdentity(pond.storeName(), pond.host) !== undefined) return undefined
  try {
    const sessions = await pond.sessions()
    const [generation] = await Promise.all([sessions.store.generation(), sessions.identify()])
    const repairs = generation === 0 ? "" : `generation ${generation}`
    // Asked again when rows are remembered: the first of them made the table.
    return () => `table ${sessions.storeId()} ${repairs}`.trimEnd()
  } catch {
    return undefined
  }
}

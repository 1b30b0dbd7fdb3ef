/**
 * Follow the clients for as long as nobody ends it. A round reads what changed; what is made of the rows (vectors, indexes)
 * follows when they rest, so that no change waits for the one before to be indexed: what is not indexed yet is found all the
 * same.
 */
import { toPondError } from "../../model/errors.ts"
import { pause } from "../../platform/pause.ts"
import type { ImportSource } from "../../sync/import.ts"
import { runSync, type Stage, type SyncReport } from "../../sync/sync.ts"
import { type Round, watchSources } from "../../sync/watch/watch-sources.ts"
import type { Pond } from "../pond.ts"
import { contextOf, importSources, requestOf, type SyncHooks, type SyncOptions, type SyncOutcome } from "./sync.ts"
import { createWatchMaintenance } from "./watch-maintenance.ts"

export interface WatchHooks extends SyncHooks {
  /** After each round that stored something, or met a fault, and after what was made of it. */
  readonly onReport: (report: SyncOutcome) => void
}

/** Until the signal. A round that fails is said and outlived: a later one reads what this one could not store. */
export async function watchPond(pond: Pond, options: SyncOptions, hooks: WatchHooks): Promise<void> {
  const { clock, log } = pond.host
  const { signal, onReport } = hooks
  const request = { ...requestOf(pond, options), isPatient: true }
  const wants = (stages: readonly Stage[]) => request.stages.filter((stage) => stages.includes(stage))
  const outlive = (error: unknown) => {
    if (!signal.aborted) log.warn(`${toPondError(error).message} Still watching.`)
  }
  const rest = createWatchMaintenance({
    run: async () => {
      const stages = wants(["embed", "index"])
      const stepAside = () => rest.stepAside()
      const report = await runSync({ ...request, stages }, await contextOf(pond, { ...hooks, stepAside })).catch(
        outlive,
      )
      if (report !== undefined && hasMade(report)) onReport(report as SyncOutcome)
    },
    clock,
    signal,
    pause,
  })
  // Everything is read once more at the beginning, where that is asked for, and not at every change.
  let { isFull } = options

  async function round(sources: readonly ImportSource[]): Promise<Round> {
    let planned = 0
    const onPlan: SyncHooks["onPlan"] = (plan) => {
      // One that waits for its client's first word is read again by every look, and is no reason to look more often.
      planned += plan.units.filter(({ isNameless }) => isNameless !== true).length
      hooks.onPlan?.(plan)
    }
    try {
      const asked = { ...request, sources, isFull, stages: wants(["import"]) }
      const report = await rest.during(async () => runSync(asked, await contextOf(pond, { ...hooks, onPlan })))
      isFull = false
      const isNew = report.adapters.some(isNews)
      if (isNew || report.adapters.some(hasFault)) onReport(report as SyncOutcome)
      if (isNew) rest.begin()
      return planned > 0 ? "news" : "nothing"
    } catch (error) {
      outlive(error)
      return "failed"
    }
  }

  const keepLittle = async () => (await pond.sessions()).store.useSmallCaches()
  try {
    await keepLittle().catch(outlive)
    // An earlier process may have left before it indexed what it stored.
    rest.begin()
    await watchSources({ sources: () => importSources(pond, options), sync: round, signal, clock, log })
  } finally {
    await rest.ended()
  }
}

function isNews({ sessions, messages }: SyncReport["adapters"][number]): boolean {
  return sessions.new + sessions.grown + sessions.rewritten + sessions.failed + sessions.gone + messages.new > 0
}

function hasFault({ issues }: SyncReport["adapters"][number]): boolean {
  return issues.some(({ severity }) => severity === "fault")
}

function hasMade({ embed, index }: SyncReport): boolean {
  const embedded = typeof embed === "object" && embed !== null && "embedded" in embed ? Number(embed.embedded) : 0
  const tables = typeof index === "object" && index !== null && "tables" in index ? index.tables : []
  return embedded > 0 || (Array.isArray(tables) && tables.some(({ steps }) => steps.length > 0))
}

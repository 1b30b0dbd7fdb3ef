/** Runs one sync: the stages in order, under the locks of this store and host. Each stage can be requested alone. */
import { join } from "node:path"
import type { Adapter } from "../adapters/adapter.ts"
import { PondError } from "../model/errors.ts"
import { type Lock, takeLock } from "../platform/files/machine-lock.ts"
import type { Clock } from "../platform/host/clock.ts"
import type { Log } from "../platform/host/log.ts"
import { between } from "../platform/memory.ts"
import type { Sessions, TableMaintenance } from "../sessions/store.ts"
import { type ImportContext, type ImportSource, importAll, type RootReport } from "./import.ts"
import { planRoot, type RootPlan } from "./plan/plan-root.ts"
import { projectSources } from "./plan/project-sources.ts"
import { type Rested, type SyncState, withSyncState } from "./state/sync-state.ts"

export const STAGES = ["import", "embed", "index"] as const
export type Stage = (typeof STAGES)[number]

export interface SyncRequest {
  readonly sources: readonly ImportSource[]
  /** Clients that have sessions in the projects of others: looked for there, once those were read. */
  readonly inProjects?: readonly Adapter[]
  readonly stages: readonly Stage[]
  /** Ignores the sync state. */
  readonly isFull: boolean
  /** Whether to wait while another sync of this store runs. */
  readonly isPatient: boolean
}

export interface SyncContext {
  /** The location of the store, which names the state file and the locks. */
  readonly storeName: string
  readonly stateDirectory: string
  /**
   * Identifies the store at this location, so that a store that was replaced is noticed. Undefined if that is unknown.
   */
  readonly storeMark: () => string | undefined
  readonly sessions: () => Promise<Sessions>
  readonly clock: Clock
  readonly log: Log
  readonly signal: AbortSignal
  readonly onPlan?: ImportContext["onPlan"]
  readonly onProgress?: ImportContext["onProgress"]
  readonly onStored?: ImportContext["onStored"]
  /** Called when a stage begins that reports no progress. */
  readonly onStage?: (stage: Stage) => void
  /** Stages that the caller provides. Each returns its part of the report. */
  readonly embed?: () => Promise<unknown>
  readonly index?: (idleSignature: string | undefined) => Promise<IndexReport>
}

export interface IndexReport {
  readonly tables: readonly TableMaintenance[]
}

export interface SyncReport {
  readonly adapters: readonly RootReport[]
  readonly embed: unknown
  readonly index: unknown
  readonly ms: number
  /** Whether the sync was stopped early. What it had done by then is stored and remembered. */
  readonly interrupted: boolean
}

/** Importing and deriving (embeddings, indexes) have a lock each, so that a slow model does not delay a watch. */
type Turn = "import" | "rest"
type TakeTurn = <Result>(turn: Turn, work: () => Promise<Result>) => Promise<Result>

export async function runSync(request: SyncRequest, context: SyncContext): Promise<SyncReport> {
  if (request.isPatient) {
    return await runStages(request, context, async (turn, work) => {
      using _ = await lockOf(turn, request, context)
      return await work()
    })
  }
  // Without waiting, the caller learns that another sync runs before anything is done.
  using _ = await lockOf("import", request, context)
  using __ = await lockOf("rest", request, context)
  return await runStages(request, context, (_turn, work) => work())
}

async function runStages(request: SyncRequest, context: SyncContext, inTurn: TakeTurn): Promise<SyncReport> {
  const startedMs = context.clock.monotonicMs()
  const wants = (stage: Stage) => request.stages.includes(stage) && !context.signal.aborted
  const imported = wants("import") ? await inTurn("import", () => importStage(request, context)) : undefined
  const later = async () => {
    // Words are indexed even if the model cannot be opened. The failure is reported afterwards.
    const [embed] = await Promise.allSettled([wants("embed") ? context.embed?.() : undefined])
    const index = wants("index") ? await indexStage(imported?.lastIdle, context) : undefined
    if (embed.status === "rejected") throw embed.reason
    return { embed: embed.value ?? null, index: index ?? null }
  }
  const { embed, index } = wants("embed") || wants("index") ? await inTurn("rest", later) : { embed: null, index: null }
  const ms = Math.round(context.clock.monotonicMs() - startedMs)
  const adapters = imported?.adapters ?? []
  return { adapters, embed, index, ms, interrupted: context.signal.aborted }
}

interface Imported {
  readonly adapters: readonly RootReport[]
  /** When the index stage last found nothing to do. Undefined if it must run. */
  readonly lastIdle: Rested | undefined
}

async function importStage({ sources, inProjects = [], isFull }: SyncRequest, context: SyncContext): Promise<Imported> {
  return await withState(context, async (state) => {
    const adapters = await importAll(sources, { ...context, state, isFull })
    const found = context.signal.aborted ? [] : projectSources(inProjects, state, sources)
    if (found.length > 0) adapters.push(...(await importAll(found, { ...context, state, isFull })))
    // Read here, where the state is open: opening it again took 2 % of a sync without changes.
    return { adapters, lastIdle: isFull ? undefined : state.lastIdle() }
  })
}

/** Some maintenance becomes due by time alone, for example the clean-up of old table versions. */
const RESTED_MS = 3_600_000

/**
 * Runs the index stage unless nothing was due and nothing was stored since. Asking every table takes as long as the
 * rest of a sync without changes, and 25 requests on an object store.
 */
async function indexStage(lastIdle: Rested | undefined, context: SyncContext): Promise<IndexReport | undefined> {
  const { clock, index } = context
  if (index === undefined) return undefined
  const standing = await (await context.sessions()).standing()
  const recent = lastIdle !== undefined && Math.abs(clock.nowMs() - lastIdle.atMs) < RESTED_MS ? lastIdle : undefined
  if (recent?.standing === standing) return { tables: [] }
  context.onStage?.("index")
  // What the import has left would stand beside the engine's copies of whole tables.
  between("stages")
  const report = await index(recent?.standing)
  if (report.tables.every(isIdle)) {
    // The signature of before the stage: the next sync looks at what was committed meanwhile.
    const atMs = recent?.atMs ?? clock.nowMs()
    await withState(context, (state) => Promise.resolve(state.rest({ standing, atMs })))
  }
  return report
}

function isIdle({ steps, isBusy }: TableMaintenance): boolean {
  return steps.length === 0 && !isBusy
}

/** Plans a sync without running it. Reads names, sizes and a few bytes; writes nothing and needs no lock. */
export async function planSync(request: SyncRequest, context: SyncContext): Promise<RootPlan[]> {
  const { signal } = context
  const plan = async (state: SyncState) => {
    const plans: RootPlan[] = []
    const found = projectSources(request.inProjects ?? [], state, request.sources)
    for (const { adapter, root, isChosen } of [...request.sources, ...found]) {
      plans.push(await planRoot(adapter, root, state, { ...request, isChosen, signal }))
      if (signal.aborted)
        throw new PondError("interrupted", "Stopped before all sources were checked. Nothing was stored.")
    }
    return plans
  }
  return await withState({ ...context, isLook: true }, plan)
}

type StateContext = Pick<SyncContext, "stateDirectory" | "storeName" | "storeMark" | "log"> & {
  readonly isLook?: boolean
}

export async function withState<Result>(
  { stateDirectory, storeName, ...context }: StateContext,
  work: (state: SyncState) => Promise<Result>,
): Promise<Result> {
  return await withSyncState({ path: stateFilePath(stateDirectory, storeName), ...context }, work)
}

async function lockOf(
  turn: Turn,
  { isPatient }: SyncRequest,
  { stateDirectory, storeName, clock, log, signal }: SyncContext,
): Promise<Lock> {
  const name = { import: "lock", rest: "rest.lock" }[turn]
  return await takeLock(`${stateFilePath(stateDirectory, storeName)}.${name}`, {
    clock,
    signal,
    mayWait: isPatient,
    onWait: (holder) =>
      log.info(
        `Waiting for another pond${holder === undefined ? "" : ` (process ${holder.pid})`} to finish with this store.`,
      ),
  })
}

/**
 * Path of the state file without its ending. Each store has its own, because another store may lack what this one has.
 */
function stateFilePath(stateDirectory: string, storeName: string): string {
  return join(stateDirectory, `sync-${Bun.hash.xxHash64(storeName).toString(16).padStart(16, "0")}`)
}

/**
 * One sync: the stages in order, by turns with the other syncs of this store and host. Each stage can be asked for alone.
 * What a stage does is its own business; here is only that it runs, and what it said.
 */
import { join } from "node:path"
import { PondError } from "../model/errors.ts"
import { type Lock, takeLock } from "../platform/files/machine-lock.ts"
import type { Clock } from "../platform/host/clock.ts"
import type { Log } from "../platform/host/log.ts"
import type { Sessions, TableMaintenance } from "../sessions/store.ts"
import { type ImportContext, type ImportSource, importAll, type RootReport } from "./import.ts"
import { planRoot, type RootPlan } from "./plan/plan-root.ts"
import { type Rested, type SyncState, withSyncState } from "./state/sync-state.ts"

export const STAGES = ["import", "embed", "index"] as const
export type Stage = (typeof STAGES)[number]

export interface SyncRequest {
  readonly sources: readonly ImportSource[]
  readonly stages: readonly Stage[]
  /** Ignore what is remembered of the sources. */
  readonly isFull: boolean
  /** Whether to wait for another sync of this store. */
  readonly isPatient: boolean
}

export interface SyncContext {
  /** What the state and the lock are called by: the store's location. */
  readonly storeName: string
  readonly stateDirectory: string
  /** Another one for another store at the same place; nothing where that cannot be told. */
  readonly storeMark: () => string | undefined
  readonly sessions: () => Promise<Sessions>
  readonly clock: Clock
  readonly log: Log
  readonly signal: AbortSignal
  readonly onPlan?: ImportContext["onPlan"]
  readonly onProgress?: ImportContext["onProgress"]
  readonly onStored?: ImportContext["onStored"]
  /** A stage that says nothing of how far it is begins. */
  readonly onStage?: (stage: Stage) => void
  /** The stages that others bring. Each gives what its part of the report says. */
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
  /** Whether it was stopped before its end. What it had done is stored and remembered. */
  readonly interrupted: boolean
}

/** Reading the sources is one turn, and what is made of the rows another: a model that is at work for long keeps no watch waiting. */
type Turn = "import" | "rest"
type TakeTurn = <Result>(turn: Turn, work: () => Promise<Result>) => Promise<Result>

export async function runSync(request: SyncRequest, context: SyncContext): Promise<SyncReport> {
  if (request.isPatient) {
    return await runStages(request, context, async (turn, work) => {
      using _ = await lockOf(turn, request, context)
      return await work()
    })
  }
  // Who will not wait is told so before anything is done.
  using _ = await lockOf("import", request, context)
  using __ = await lockOf("rest", request, context)
  return await runStages(request, context, (_turn, work) => work())
}

async function runStages(request: SyncRequest, context: SyncContext, inTurn: TakeTurn): Promise<SyncReport> {
  const startedMs = context.clock.monotonicMs()
  const wants = (stage: Stage) => request.stages.includes(stage) && !context.signal.aborted
  const imported = wants("import") ? await inTurn("import", () => importStage(request, context)) : undefined
  const later = async () => {
    // A model that cannot be opened keeps no words from being found: it is told once they are indexed.
    const [embed] = await Promise.allSettled([wants("embed") ? context.embed?.() : undefined])
    const index = wants("index") ? await indexStage(imported?.rested, context) : undefined
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
  /** Nothing where the stages that come after must not rest on it. */
  readonly rested: Rested | undefined
}

async function importStage({ sources, isFull }: SyncRequest, context: SyncContext): Promise<Imported> {
  return await withState(context, async (state) => {
    const adapters = await importAll(sources, { ...context, state, isFull })
    // With the state at hand: to open it once more took 2 % of a sync without changes.
    return { adapters, rested: isFull ? undefined : state.rested() }
  })
}

/** Some of it becomes due by time alone: a short tail on an object store, what an older version of a table still holds. */
const RESTED_MS = 3_600_000

/**
 * Asking every table whether something is due takes as long as all the rest of a sync without changes, and on an object
 * store 25 requests. Where nothing was due and nothing was stored since, nothing is. Who asks for the stage by itself gets it.
 */
async function indexStage(rested: Rested | undefined, context: SyncContext): Promise<IndexReport | undefined> {
  const { clock, index } = context
  if (index === undefined) return undefined
  const standing = await (await context.sessions()).standing()
  const recent = rested !== undefined && Math.abs(clock.nowMs() - rested.atMs) < RESTED_MS ? rested : undefined
  if (recent?.standing === standing) return { tables: [] }
  context.onStage?.("index")
  const report = await index(recent?.standing)
  if (report.tables.every(isIdle)) {
    // As it stood before: what was committed in the meantime is looked at by the next one. Tables that were not asked are once the hour is over.
    const atMs = recent?.atMs ?? clock.nowMs()
    await withState(context, (state) => Promise.resolve(state.rest({ standing, atMs })))
  }
  return report
}

function isIdle({ steps, isBusy }: TableMaintenance): boolean {
  return steps.length === 0 && !isBusy
}

/** What a sync would do. Reads names, sizes and a few bytes; writes nothing, and needs no lock. */
export async function planSync(request: SyncRequest, context: SyncContext): Promise<RootPlan[]> {
  const { signal } = context
  const plan = async (state: SyncState) => {
    const plans: RootPlan[] = []
    for (const { adapter, root } of request.sources) {
      plans.push(await planRoot(adapter, root, state, { ...request, signal }))
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

/** Two stores never share a state: what one has stored, the other may not have. */
function stateFilePath(stateDirectory: string, storeName: string): string {
  return join(stateDirectory, `sync-${Bun.hash.xxHash64(storeName).toString(16).padStart(16, "0")}`)
}

/**
 * Maintenance, applied: the only code that builds indexes, compacts and cleans (`lance-index-maintenance`). What is done
 * is decided in `maintenance-plan.ts`; here it is only carried out, beside readers and writers.
 */
import { join } from "node:path"
import type { IndexConfig, Table as LanceTable } from "@lancedb/lancedb"
import { PondError } from "../../model/errors.ts"
import { between } from "../../platform/memory.ts"
import type { Dataset } from "../lance/dataset.ts"
import { findChangedRows } from "../lance/prove-rows.ts"
import { countOf } from "../lance/read.ts"
import { assessTable } from "../local/assess.ts"
import type { StoredRows } from "../local/checksum-lines.ts"
import { damagedTable } from "../local/describe-damage.ts"
import type { MaintenanceReport, TableStatistics } from "../table.ts"
import { indexName } from "../table-definition.ts"
import { buildIndex } from "./indexes.ts"
import {
  type Effort,
  type IndexState,
  type MaintenanceStep,
  planMaintenance,
  type TableState,
} from "./maintenance-plan.ts"
import { findOrphans, type TableUsage, tableUsage, usageAtRest } from "./table-usage.ts"
import { takeBack } from "./take-back.ts"

const NOTHING: MaintenanceReport = { isBusy: false, steps: [] }

/** An import asks after each flush: the answer costs a few milliseconds, so it is worth asking only after so many rows. */
const LOOKUP_LOOK_ROWS = 20_000

export async function maintain(dataset: Dataset, effort: Effort): Promise<MaintenanceReport> {
  const { local } = dataset
  if (effort === "lookups" && dataset.tail.rows < LOOKUP_LOOK_ROWS) return NOTHING
  dataset.tail.rows = 0
  // What is indexed now can be looked up: the keys of two million rows take 16 MB, beside the largest moment of a copy.
  if (effort !== "lookups") {
    dataset.own = undefined
    dataset.put = 0
  }
  const work = async () => {
    await dataset.refuseDamaged()
    // A separate handle: a long build must not keep the readers of the shared one waiting.
    const table = await dataset.separate()
    return table === undefined ? [] : await carryOut(dataset, table, effort)
  }
  if ((await dataset.version()) === undefined) return NOTHING
  const done = await (local === undefined ? work().catch(busyIfLost) : local.maintaining(work))
  return done === "busy" ? { isBusy: true, steps: [] } : { isBusy: false, steps: done }
}

/** In a bucket a step may meet a commit of another machine: then that one is at it, and no rows are in danger. */
function busyIfLost(error: unknown): "busy" {
  if (error instanceof PondError && error.code === "conflict") return "busy"
  throw error
}

/** What `status` shows of a table: nothing where it was never written. */
export async function tableStatistics(dataset: Dataset): Promise<TableStatistics | undefined> {
  const table = await dataset.separate()
  if (table === undefined) return undefined
  const { noted } = dataset
  const bytes = noted && (await tableUsage(noted))
  const state = {
    ...(await readTableState(dataset, table)),
    ...(bytes === undefined ? {} : { bytes, isRemote: true as const }),
  }
  return { ...state, version: await dataset.attempt(() => table.version()) }
}

type Steps = MaintenanceReport["steps"]

async function planNewest(dataset: Dataset, table: LanceTable, effort: Effort): Promise<readonly MaintenanceStep[]> {
  await dataset.attempt(() => table.checkoutLatest())
  const read = await readTableState(dataset, table, effort !== "lookups")
  const atRest = effort === "due" ? await bytesAtRest(dataset) : undefined
  const state = { ...read, ...(atRest === undefined ? {} : { atRest }) }
  return planMaintenance(dataset.definition, state, { effort, nowMs: dataset.catalog.context.clock.nowMs() })
}

async function carryOut(dataset: Dataset, table: LanceTable, effort: Effort): Promise<Steps | "busy"> {
  const lease = dataset.catalog.bucket()?.maintenance
  const plan = await planNewest(dataset, table, effort)
  if (plan.length === 0) return []
  // The machine that had the lease before may have done what was due.
  const work = async () => await carryOutPlan(dataset, table, await planNewest(dataset, table, effort))
  return await (lease === undefined ? carryOutPlan(dataset, table, plan) : lease.hold(work))
}

async function carryOutPlan(dataset: Dataset, table: LanceTable, plan: readonly MaintenanceStep[]): Promise<Steps> {
  const { clock, log } = dataset.catalog.context
  const steps: Steps[number][] = []
  for (const planned of plan) {
    const from = clock.monotonicMs()
    await apply(dataset, table, planned)
    const ms = Math.round(clock.monotonicMs() - from)
    const why = "why" in planned ? planned.why : "it is not declared any more"
    steps.push({ step: planned.step, why, ms })
    between("commits")
    log.debug(`table ${dataset.definition.name}: ${planned.step}, because ${why} (${ms} ms)`)
  }
  if (steps.length > 0) await coverNoted(dataset, table)
  return steps
}

/** A call that lost a race would lose every repeat with what it had read before. */
async function attemptAnew<Result>(
  { attempt }: Pick<Dataset, "attempt">,
  table: LanceTable,
  call: () => Promise<Result>,
): Promise<Result> {
  return await attempt(async (count) => {
    if (count > 1) await table.checkoutLatest()
    return await call()
  })
}

async function apply(dataset: Dataset, table: LanceTable, planned: MaintenanceStep): Promise<void> {
  switch (planned.step) {
    case "drop_index":
      await attemptAnew(dataset, table, () => table.dropIndex(planned.name))
      break
    case "build_index":
      await attemptAnew(dataset, table, () => buildIndex(table, planned.index))
      break
    case "optimize":
      await compact(dataset, table)
      break
    case "clean":
      await clean(dataset, table)
  }
  await dataset.local?.exclusively(() => Promise.resolve())
}

/** What was damaged unseen would get checksums that say it is right. Reading is a small part of what rewriting costs. */
export async function refuseUnproven({ local, noted, catalog, definition }: Dataset): Promise<void> {
  const table = local ?? noted
  // In a bucket the rows are compared once they are rewritten: to read the files too would be to read all of it twice.
  const found = table && (await assessTable(table, { isDeep: noted === undefined }))
  if (found === undefined || found.damaged.every((each) => each.found === "unfinished")) return
  throw damagedTable(catalog.location.shown, definition.name, found)
}

/** The engine compacts indexed and unindexed fragments apart, so that the second round finds what the first has left. */
const ROUNDS_MAX = 3

/** `isLocked`: whether the write lock of the table is held already. */
async function compact(dataset: Dataset, table: LanceTable, isLocked = false): Promise<void> {
  await refuseUnproven(dataset)
  const before = await dataset.attempt(() => table.version())
  let isRewritten = false
  for (let round = 1; round <= ROUNDS_MAX; round++) {
    const { compaction } = await attemptAnew(dataset, table, () => table.optimize())
    if (compaction.fragmentsRemoved === 0) break
    isRewritten = true
  }
  if (!isRewritten || (await isAsGiven(dataset, table))) return
  const restore = () => takeBack(dataset, table, before)
  await (isLocked ? restore() : dataset.exclusively(restore))
  throw new PondError(
    "storage_unavailable",
    `A compaction of the table ${dataset.definition.name} gave other rows than were stored, and was rolled back. Run \`pond check --read-data\`.`,
    { details: { store: dataset.catalog.location.shown, table: dataset.definition.name, failure: "damaged" } },
  )
}

/** Before what was rewritten is removed: a fault of the memory on the way would otherwise get a checksum, and stay. */
async function isAsGiven(dataset: Dataset, table: LanceTable): Promise<boolean> {
  const { local, noted } = dataset
  const checksums = (local ?? noted)?.checksums
  if (checksums === undefined) return true
  const { rows } = await checksums.read()
  await checksums.prove(0)
  if ((await findChangedRows(await asInBucket(dataset, table), rows)).length > 0) return false
  await checksums.prove(reachOf(rows))
  return true
}

/** What this machine has kept of the bucket says nothing about the bucket. */
async function asInBucket({ catalog, definition }: Dataset, table: LanceTable): Promise<LanceTable> {
  return catalog.gateway() === undefined ? table : ((await catalog.open(definition, "uncached")) ?? table)
}

function reachOf(rows: readonly StoredRows[]): number {
  return rows.reduce((most, { to }) => Math.max(most, to), 0)
}

/**
 * In a bucket the files of a table get their checksums here, by reading what is new: a writer does not see the bytes that
 * the engine uploads. Rows that are not proved are compared first, so that nothing wrong is taken for right.
 */
async function coverNoted(dataset: Dataset, table: LanceTable): Promise<void> {
  const { noted, definition, catalog } = dataset
  if (noted === undefined) return
  const { rows, proved } = await noted.checksums.read()
  const unproved = rows.filter(({ from }) => from >= proved)
  await dataset.attempt(() => table.checkoutLatest())
  if (unproved.length > 0 && (await findChangedRows(await asInBucket(dataset, table), unproved)).length > 0) {
    throw new PondError(
      "storage_unavailable",
      `Rows of the table ${definition.name} are not as they were stored. Run \`pond check --read-data\`.`,
      { details: { store: catalog.location.shown, table: definition.name, failure: "damaged" } },
    )
  }
  if (unproved.length > 0) await noted.checksums.prove(reachOf(rows))
  await noted.cover()
}

// --- Cleaning --------------------------------------------------------------------------------------------------------

/**
 * How long a version stays after it was superseded, for readers that still use it. Of a local table none needs to stay
 * when nobody reads; a reader on an object store cannot be seen, nor can one of another machine.
 */
const LOCAL_RETENTION_MS = 15 * 60_000
const REMOTE_RETENTION_MS = 60 * 60_000
/** As old is nothing that another machine, which our locks may not reach, is still writing. */
const ORPHAN_AGE_MS = 24 * 60 * 60_000

async function clean(dataset: Dataset, table: LanceTable): Promise<void> {
  await compact(dataset, table)
  // In a bucket writers go on meanwhile: their commits and this one's are told apart.
  const inTurn = dataset.local === undefined ? (work: () => Promise<void>) => work() : dataset.exclusively
  await inTurn(async () => {
    // Compacted before it is asked who reads: the removal below makes no further version then, and who begins to read
    // in between reads the one that stays.
    await dataset.attempt(() => table.checkoutLatest())
    await compact(dataset, table, true)
    // A power cut must not take what the compaction wrote when what it was made of is gone already.
    await dataset.local?.makeDurable()
    const olderThan = await removableBefore(dataset, table)
    if (olderThan !== undefined)
      await attemptAnew(dataset, table, () => table.optimize({ cleanupOlderThan: olderThan }))
    await removeOrphans(dataset)
  })
}

/** What a killed process wrote and no version names. The engine keeps it for a week, and each kill may leave a whole table. */
async function removeOrphans({ local, catalog }: Dataset): Promise<void> {
  if (local === undefined) return
  for (const path of await findOrphans(local, catalog.context.clock.nowMs() - ORPHAN_AGE_MS))
    await local.files.remove(join(local.folder, path))
}

/** A version ends when its successor begins: an old one that was current a moment ago may have a reader still. */
async function removableBefore(dataset: Dataset, table: LanceTable): Promise<Date | undefined> {
  const { local, catalog } = dataset
  const versions = await dataset.attempt(() => table.listVersions())
  const begins = versions.toSorted((one, other) => one.version - other.version).map(({ timestamp }) => timestamp)
  const newest = begins.at(-1)
  if (newest === undefined || begins.length === 1) return undefined
  // One more than its moment: a compaction makes two versions, often within one millisecond. The newest always stays.
  if (local?.readers.areNone() === true) return new Date(newest.getTime() + 1)
  const endedBy = catalog.context.clock.nowMs() - (local === undefined ? REMOTE_RETENTION_MS : LOCAL_RETENTION_MS)
  return begins.slice(1).findLast((successor) => successor.getTime() < endedBy)
}

// --- For a purge -------------------------------------------------------------------------------------------------------

/** An index names the values of rows that are gone until it is built anew. */
export async function rebuildIndexes(dataset: Dataset, table: LanceTable): Promise<void> {
  const { definition, attempt } = dataset
  const built = await attempt(() => table.listIndices())
  const rows = await countOf(dataset, table)
  for (const { name } of built) {
    const declared = definition.indexes.find((index) => indexName(index) === name)
    if (declared === undefined || rows === 0) await attempt(() => table.dropIndex(name))
    else await attempt(() => buildIndex(table, declared))
  }
}

const READERS_WAIT_MS = 10_000
const READERS_STEP_MS = 50

/** All old versions at once, and every file that the newest version does not name. */
export async function removeOlderVersions(dataset: Dataset, table: LanceTable): Promise<void> {
  const { attempt, local, noted } = dataset
  await attempt(() => table.checkoutLatest())
  await compact(dataset, table, true)
  await coverNoted(dataset, table)
  // A power cut must not take what was written anew when what it was made of is gone already.
  await local?.makeDurable()
  await waitForReaders(dataset)
  const versions = await attempt(() => table.listVersions())
  const newest = Math.max(...versions.map(({ timestamp }) => timestamp.getTime()))
  await attempt(() => table.optimize({ cleanupOlderThan: new Date(newest + 1) }))
  // In a bucket a file that no version names may be one that another machine is about to commit.
  for (const path of local === undefined ? [] : await findOrphans(local, Number.POSITIVE_INFINITY))
    await local?.files.remove(join(local.folder, path))
  const kept = local ?? noted
  for (const path of (await kept?.files.list(kept.quarantine)) ?? [])
    await kept?.files.remove(join(kept.quarantine, path))
  await noted?.cover()
  // Other machines have kept files of the bucket too: there they go once they have not been read for long.
  dataset.catalog.gateway()?.clear()
  await dataset.catalog.bucket()?.removeOpening()
}

/** In a bucket readers cannot be seen: one that still reads an older version fails, and reads again. */
async function waitForReaders({ local, catalog, definition }: Dataset): Promise<void> {
  if (local === undefined) return
  const { clock, sleep = Bun.sleep } = catalog.context
  const until = clock.monotonicMs() + READERS_WAIT_MS
  while (!local.readers.areNone()) {
    if (clock.monotonicMs() > until)
      throw new PondError(
        "conflict",
        `Another process reads an older version of the table ${definition.name}, which therefore stays. Run the purge again when it has ended.`,
      )
    await sleep(READERS_STEP_MS)
  }
}

/** What rewriting leaves behind in a bucket stays for readers; an hour after the last commit nobody needs it. */
async function bytesAtRest({ noted, catalog }: Dataset): Promise<TableUsage | undefined> {
  return noted && (await usageAtRest(noted, catalog.context.clock.nowMs() - REMOTE_RETENTION_MS))
}

// --- State -----------------------------------------------------------------------------------------------------------

async function readTableState(dataset: Dataset, table: LanceTable, withBytes = true): Promise<TableState> {
  const { local } = dataset
  const [stats, configs] = await dataset.attempt(() => Promise.all([table.stats(), table.listIndices()]))
  const bytes = withBytes && local !== undefined ? await tableUsage(local) : undefined
  return {
    rows: stats.numRows,
    fragments: stats.fragmentStats.numFragments,
    indexes: configs.map(indexState),
    ...(bytes === undefined ? {} : { bytes }),
  }
}

function indexState(config: IndexConfig): IndexState {
  return {
    name: config.name,
    indexedRows: config.numIndexedRows ?? 0,
    unindexedRows: config.numUnindexedRows ?? 0,
    bytes: config.sizeBytes ?? 0,
    createdAtMs: config.createdAt?.getTime() ?? 0,
  }
}

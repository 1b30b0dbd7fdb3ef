/**
 * Crash recovery of a local table, before its first write: what was committed after the durable mark was acknowledged to
 * nobody, so where it is not whole the table goes back to the newest version that is. What is newer moves to the
 * quarantine and is never deleted. Versions that were durable are never touched here: see `repair.ts`. A broken index is
 * built again and costs no version.
 */
import { join } from "node:path"
import type { Clock } from "../../platform/host/clock.ts"
import type { Log } from "../../platform/host/log.ts"
import { filesOfVersion, type LocalTable, manifestPath, versionsNewestFirst } from "./local-table.ts"
import { blobOwner, type ReferencedFile } from "./manifest-file.ts"

export interface HealContext {
  readonly log: Log
  readonly clock: Clock
  /** Opens the newest version and reads every row of it. False where a file turns out not to be whole. */
  readonly scansWhole: () => Promise<boolean>
  /** Builds those of these indexes again that are declared, and says which; maintenance drops the others. */
  readonly rebuild: (indexes: readonly string[]) => Promise<readonly string[]>
}

const VERSION_HINT = "_versions/latest_version_hint.json"

/** Cheap where nothing is wrong: it reads the newest manifest and asks how long its files are. */
export async function healTable(table: LocalTable, context: HealContext): Promise<void> {
  const settled = await table.durableVersion()
  const state = await inspect(table, settled)
  if (state === undefined) return
  const isSuspect = settled !== undefined && settled < state.newest
  if (!isSuspect && state.brokenIndexes.length === 0) return
  await table.exclusively(() => healExclusively(table, context, settled))
}

interface Inspected {
  readonly newest: bigint
  /** The newest version that is whole, if one is. */
  readonly whole: bigint | undefined
  readonly versions: readonly bigint[]
  /** Of the version that is whole. */
  readonly brokenIndexes: readonly string[]
}

async function inspect(table: LocalTable, settled: bigint | undefined): Promise<Inspected | undefined> {
  const versions = versionsNewestFirst(await table.files.list(table.folder))
  const newest = versions[0]
  if (newest === undefined) return undefined
  for (const version of versions) {
    // Whether a version that was durable is whole is not for a recovery to judge: rows of it were acknowledged.
    const isSettled = version === settled || settled === undefined
    const files = await filesOfVersion(table, version)
    if (files === undefined && !isSettled) continue
    const broken = await brokenFiles(table, files ?? [])
    const brokenIndexes = [...new Set(broken.flatMap(({ index }) => index ?? []))]
    if (isSettled || broken.every(({ index }) => index !== undefined)) {
      return { newest, whole: version, versions, brokenIndexes }
    }
  }
  return { newest, whole: undefined, versions, brokenIndexes: [] }
}

async function brokenFiles(table: LocalTable, files: readonly ReferencedFile[]): Promise<ReferencedFile[]> {
  const broken: ReferencedFile[] = []
  for (const file of files) if (!(await isIntact(table, file))) broken.push(file)
  return broken
}

async function isIntact(table: LocalTable, file: ReferencedFile): Promise<boolean> {
  const path = join(table.folder, file.path)
  const bytes = await table.files.size(path)
  if (bytes === undefined || bytes === 0 || (file.bytes !== undefined && bytes !== file.bytes)) return false
  // A file of the right length can still end in blocks that were never written.
  if (!file.path.startsWith("data/")) return true
  return Buffer.from(await table.files.readEnd(path, 4)).toString("latin1") === "LANC"
}

/**
 * Looked at again under the lock: another process may have recovered or written meanwhile. What a crash left in doubt is
 * durable afterwards, so that it is doubted once.
 */
async function healExclusively(table: LocalTable, context: HealContext, settled: bigint | undefined): Promise<void> {
  const isSuspect = (await table.durableVersion()) === settled && settled !== undefined
  table.doubt()
  for (let isDoubted = false; ; isDoubted = true) {
    const state = await inspect(table, settled)
    if (state === undefined) return
    const kept = isDoubted && state.whole === state.newest ? state.versions[1] : state.whole
    if (kept === undefined) return
    if (kept !== state.newest) await quarantine(table, context, state, kept)
    if (isSuspect && kept !== settled && !(await context.scansWhole())) continue
    await rebuildBroken(table, context, kept === state.whole ? state : await inspect(table, settled))
    return
  }
}

async function rebuildBroken(table: LocalTable, context: HealContext, state: Inspected | undefined): Promise<void> {
  if (state === undefined || state.brokenIndexes.length === 0) return
  const broken = state.brokenIndexes
  const built = await context.rebuild(broken)
  if (built.length === 0) return
  context.log.warn(`The table ${table.name} was missing part of ${built.join(" and ")}; it was rebuilt from its rows.`)
}

async function quarantine(
  table: LocalTable,
  { log, clock }: HealContext,
  { newest, versions }: Inspected,
  kept: bigint,
): Promise<void> {
  const place = join(table.quarantine, new Date(clock.nowMs()).toISOString().replaceAll(":", "-"))
  const broken = versions.filter((version) => version > kept)
  const needed = new Set((await filesOfVersion(table, kept))?.map((file) => file.path))
  for (const version of broken) {
    const own = new Set(
      (await filesOfVersion(table, version))?.map((file) => file.path).filter((path) => !needed.has(path)),
    )
    for (const path of await table.files.list(table.folder)) {
      if (own.has(blobOwner(path))) await table.files.rename(join(table.folder, path), join(place, path))
    }
    const manifest = manifestPath(version)
    await table.files.rename(join(table.folder, manifest), join(place, manifest))
  }
  if ((await table.files.size(join(table.folder, VERSION_HINT))) !== undefined) {
    await table.files.rename(join(table.folder, VERSION_HINT), join(place, VERSION_HINT))
  }
  log.warn(
    `The last write to the table ${table.name} was cut off, so it was reset from version ${newest} to ${kept}; ` +
      `what was newer was moved to ${place}. \`pond sync\` stores it again.`,
  )
}

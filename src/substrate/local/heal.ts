/**
 * Crash recovery of a local table: rolls it back to the newest version whose files are whole. What is newer moves to the
 * quarantine and is never deleted; the next import stores what is missing, because every write can be repeated. A broken
 * index is built again and costs no version.
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
  const state = await inspect(table)
  if (state === undefined) return
  const settled = await table.durableVersion()
  const isSuspect = settled !== undefined && settled < state.newest
  if (state.whole === state.newest && !isSuspect && state.brokenIndexes.length === 0) return
  await table.exclusively(() => healExclusively(table, context, isSuspect))
}

interface Inspected {
  readonly newest: bigint
  /** The newest version that is whole, if one is. */
  readonly whole: bigint | undefined
  readonly versions: readonly bigint[]
  /** Of the version that is whole. */
  readonly brokenIndexes: readonly string[]
}

async function inspect(table: LocalTable): Promise<Inspected | undefined> {
  const versions = versionsNewestFirst(await table.files.list(table.folder))
  const newest = versions[0]
  if (newest === undefined) return undefined
  for (const version of versions) {
    const files = await filesOfVersion(table, version)
    if (files === undefined) continue
    const broken = await brokenFiles(table, files)
    const brokenIndexes = [...new Set(broken.flatMap(({ index }) => index ?? []))]
    if (broken.every(({ index }) => index !== undefined)) return { newest, whole: version, versions, brokenIndexes }
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
 * Looked at again under the lock: another process may have healed or written meanwhile. What a crash left in doubt is
 * durable afterwards, so that it is doubted once.
 */
async function healExclusively(table: LocalTable, context: HealContext, isSuspect: boolean): Promise<void> {
  table.doubt()
  for (let isDoubted = false; ; isDoubted = true) {
    const state = await inspect(table)
    if (state === undefined) return
    const kept = isDoubted && state.whole === state.newest ? state.versions[1] : state.whole
    if (kept !== state.newest) await quarantine(table, context, state, kept)
    if (kept === undefined) return
    if (isSuspect && !(await context.scansWhole())) continue
    const { brokenIndexes } = kept === state.whole ? state : ((await inspect(table)) ?? state)
    if (brokenIndexes.length > 0) await rebuild(table, context, brokenIndexes)
    return
  }
}

async function rebuild(table: LocalTable, context: HealContext, broken: readonly string[]): Promise<void> {
  const built = await context.rebuild(broken)
  if (built.length === 0) return
  context.log.warn(`The table ${table.name} was missing part of ${built.join(" and ")}; it was rebuilt from its rows.`)
}

async function quarantine(
  table: LocalTable,
  { log, clock }: HealContext,
  { newest, versions }: Inspected,
  kept: bigint | undefined,
): Promise<void> {
  const place = join(table.quarantine, new Date(clock.nowMs()).toISOString().replaceAll(":", "-"))
  if (kept === undefined) {
    await table.files.rename(table.folder, join(place, "whole"))
    log.warn(
      `The table ${table.name} was damaged in every version; it was moved to ${place}. Run \`pond sync\` to fill it again.`,
    )
    return
  }
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
    `The table ${table.name} was damaged in version ${newest}, so it was reset to version ${kept}; ` +
      `${broken.length} newer were moved to ${place}. Run \`pond sync\` to store what is missing.`,
  )
}

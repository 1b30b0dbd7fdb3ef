/**
 * Healing of a local table after a power cut: back to the newest version whose files are whole. What is newer is moved
 * to the quarantine and never deleted; the next import stores what is missing, since every write is repeatable.
 */
import { join } from "node:path"
import type { Clock } from "../platform/clock.ts"
import type { Log } from "../platform/log.ts"
import { type LocalTable, versionsNewestFirst } from "./local-table.ts"
import { manifestName, type ReferencedFile, referencedFiles } from "./manifest-file.ts"

export interface HealContext {
  readonly log: Log
  readonly clock: Clock
  /** Opens the newest version and reads every row of it. False where a file turns out not to be whole. */
  readonly scansWhole: () => Promise<boolean>
}

const VERSION_HINT = "_versions/latest_version_hint.json"

/** Cheap where nothing is wrong: it reads the newest manifest and asks how long its files are. */
export async function healTable(table: LocalTable, context: HealContext): Promise<void> {
  const state = await inspect(table)
  if (state === undefined) return
  const settled = await table.settledVersion()
  const isSuspect = settled !== undefined && settled < state.newest
  if (state.whole === state.newest && !isSuspect) return
  await table.exclusively(() => healExclusively(table, context, isSuspect))
}

interface Inspected {
  readonly newest: bigint
  /** The newest version that is whole, if one is. */
  readonly whole: bigint | undefined
  readonly versions: readonly bigint[]
}

async function inspect(table: LocalTable): Promise<Inspected | undefined> {
  const versions = versionsNewestFirst(await table.files.list(table.folder))
  const newest = versions[0]
  if (newest === undefined) return undefined
  for (const version of versions) {
    const files = await filesOf(table, version)
    if (files !== undefined && (await areWhole(table, files))) return { newest, whole: version, versions }
  }
  return { newest, whole: undefined, versions }
}

async function filesOf(table: LocalTable, version: bigint): Promise<readonly ReferencedFile[] | undefined> {
  return referencedFiles(await table.files.read(manifestPath(table, version)))
}

function manifestPath(table: LocalTable, version: bigint): string {
  return join(table.folder, "_versions", manifestName(version))
}

async function areWhole(table: LocalTable, files: readonly ReferencedFile[]): Promise<boolean> {
  for (const file of files) {
    const path = join(table.folder, file.path)
    const bytes = await table.files.size(path)
    if (bytes === undefined || bytes === 0 || (file.bytes !== undefined && bytes !== file.bytes)) return false
    // A file of the right length can still end in blocks that were never written.
    if (!file.path.startsWith("data/")) continue
    if (Buffer.from(await table.files.readEnd(path, 4)).toString("latin1") !== "LANC") return false
  }
  return true
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
    if (kept === undefined || !isSuspect || (await context.scansWhole())) return
  }
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
      `The table ${table.name} was not whole in any version; it lies in ${place}. Run \`pond sync\` to fill it again.`,
    )
    return
  }
  const broken = versions.filter((version) => version > kept)
  const needed = new Set((await filesOf(table, kept))?.map((file) => file.path))
  for (const version of broken) {
    for (const { path } of (await filesOf(table, version)) ?? []) {
      if (needed.has(path) || (await table.files.size(join(table.folder, path))) === undefined) continue
      await table.files.rename(join(table.folder, path), join(place, path))
    }
    await table.files.rename(manifestPath(table, version), join(place, "_versions", manifestName(version)))
  }
  if ((await table.files.size(join(table.folder, VERSION_HINT))) !== undefined) {
    await table.files.rename(join(table.folder, VERSION_HINT), join(place, VERSION_HINT))
  }
  log.warn(
    `The table ${table.name} was not whole in version ${newest}, so it is back at version ${kept}; ` +
      `${broken.length} newer lie in ${place}. Run \`pond sync\` to store what is missing.`,
  )
}

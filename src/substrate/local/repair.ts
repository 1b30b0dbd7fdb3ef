/**
 * Repair of a local table: what is whole comes back from the quarantine, what is not leaves the manifest and goes to the
 * quarantine, and the rest is the table from then on. Never done by a reader, and nothing is deleted.
 */
import { join } from "node:path"
import { PondError } from "../../model/errors.ts"
import type { Clock } from "../../platform/host/clock.ts"
import type { RepairedTable } from "../table.ts"
import { type Assessment, assessTable, DAMAGE_NOTE } from "./assess.ts"
import { assessAll, groupsOfRows, type ReadBack } from "./check.ts"
import type { DiskFiles } from "./disk-files.ts"
import { manifestPath, newestVersionOf, OWN_FOLDER, type StoredTable } from "./local-table.ts"
import { withoutDamaged } from "./manifest-edit.ts"

/** Nothing where the table is whole. */
async function repairTable(table: StoredTable, readBack: ReadBack, clock: Clock): Promise<RepairedTable | undefined> {
  return await table.exclusively(async () => {
    const place = join(table.quarantine, new Date(clock.nowMs()).toISOString().replaceAll(":", "-"))
    const { found: before } = await assessAll(table, readBack)
    const returned = await takeBack(table, before, place)
    const found = returned.length === 0 ? before : await assessTable(table, { isDeep: true })
    const { damagedLines, rows: stored } = await table.checksums.read()
    const areNotesWhole = damagedLines === 0 && (await hasWholeRecord(table, found))
    if (found.damaged.length === 0 && returned.length === 0 && areNotesWhole) return undefined
    const isGone = found.damaged.some(({ path }) => path === "")
    if (isGone) for (const note of await table.notePaths()) await moveNote(table, note, place)
    else await writeManifest(table, found)
    const moved = await quarantine(table, found, place)
    table.doubt()
    if (!isGone) {
      await table.checksums.renew()
      await table.record()
    }
    const lost = found.edited?.lost ?? []
    return {
      table: table.name,
      lostRows: lost.reduce((sum, { rows }) => sum + rows, 0),
      groups: lost.length === 0 ? [] : groupsOfRows(lost, stored),
      returned,
      moved,
      place: moved.length === 0 ? undefined : place,
    }
  })
}

/** In a bucket only commits of rows are recorded. */
async function hasWholeRecord(table: StoredTable, { base }: Assessment): Promise<boolean> {
  if (table.isRemote === true) return true
  const recorded = await table.recorded()
  return base === undefined || (recorded?.version === base.version && (await table.durableVersion()) === base.version)
}

/** Files that an earlier repair, or another program, has moved there whole. */
async function takeBack(table: StoredTable, { damaged }: Assessment, place: string): Promise<string[]> {
  const { files, folder, quarantine: above } = table
  const sums = await table.checksums.read()
  const kept = damaged.length === 0 ? [] : await files.list(above)
  const returned: string[] = []
  for (const { path, found } of damaged) {
    const expected = sums.files.get(path)
    if (expected === undefined) continue
    for (const from of kept.filter((each) => each.endsWith(`/${path}`))) {
      if ((await files.checksum(join(above, from)))?.hash !== expected.hash) continue
      if (found === "changed") await files.rename(join(folder, path), join(place, path))
      await files.rename(join(above, from), join(folder, path))
      returned.push(path)
      break
    }
  }
  return returned
}

async function quarantine({ files, folder }: StoredTable, { damaged }: Assessment, place: string): Promise<string[]> {
  const moved: string[] = []
  for (const { path } of damaged) {
    if (path === "" || (await files.size(join(folder, path))) === undefined) continue
    await files.rename(join(folder, path), join(place, path))
    moved.push(path)
  }
  return moved
}

async function moveNote({ files }: StoredTable, note: string, place: string): Promise<void> {
  if ((await files.size(note)) !== undefined)
    await files.rename(note, join(place, "notes", note.split("/").at(-1) ?? ""))
}

/** A new version: readers of an older one continue, and no name means two things. */
async function writeManifest(table: StoredTable, { base, edited, isInPlace, damaged }: Assessment): Promise<void> {
  if (base === undefined || edited === undefined) return
  const bad = new Set(damaged.map(({ path }) => path))
  const isSame = isInPlace && withoutDamaged(base.bytes, () => false).bytes.length === edited.bytes.length
  if (isSame && !bad.has(manifestPath(base.version))) return
  const newest = (await newestVersionOf(table)) ?? 0n
  const version = BigInt(Math.max(Number(newest), Number(base.version)) + 1)
  const lost = new Set([...edited.lost.flatMap((fragment) => fragment.files), ...bad])
  const { bytes } = withoutDamaged(base.bytes, (each) => lost.has(each), version)
  if (!(await table.createManifest(join(table.folder, manifestPath(version)), bytes))) throw raced(table)
  await table.files.remove(join(table.folder, "_versions/latest_version_hint.json"))
}

function raced({ name }: StoredTable): PondError {
  return new PondError("conflict", `Another process wrote to the table ${name} during the repair. Run it again.`)
}

// --- The generation of a store ---------------------------------------------------------------------------------------

/** Counts the repairs, and what was erased and came back: what was remembered of an older one is not true any more. */
export const GENERATION_NOTE = "generation"

interface GenerationPlace {
  readonly files: DiskFiles
  readonly root: string
}

export async function beginGeneration(place: GenerationPlace): Promise<void> {
  await place.files.write(join(place.root, OWN_FOLDER, GENERATION_NOTE), String((await readGeneration(place)) + 1))
}

export async function repairTables(
  tables: readonly StoredTable[],
  { files, root }: { readonly files: DiskFiles; readonly root: string },
  { clock, readBack }: { readonly clock: Clock; readonly readBack: ReadBack },
): Promise<RepairedTable[]> {
  const repaired: RepairedTable[] = []
  for (const table of tables) {
    const done = await repairTable(table, readBack, clock)
    if (done !== undefined) repaired.push(done)
  }
  if (repaired.length > 0) await beginGeneration({ files, root })
  await files.remove(join(root, OWN_FOLDER, DAMAGE_NOTE))
  return repaired
}

export async function readGeneration({ files, root }: { readonly files: DiskFiles; readonly root: string }) {
  return Number(Buffer.from((await files.find(join(root, OWN_FOLDER, GENERATION_NOTE))) ?? []).toString())
}

import { expect, test } from "bun:test"
import { existsSync, readdirSync, statSync, truncateSync } from "node:fs"
import { join } from "node:path"
import { type DiskFiles, diskFiles } from "../../src/substrate/local/disk-files.ts"
import { EVERY_KIND, row, type TestStore, testStore } from "./support.ts"

const rowsFrom = (from: number) =>
  Array.from({ length: 10 }, (_, index) => row(`row-${from + index}`, { text: "words" }))

const filesBelow = (folder: string) =>
  readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile() && !entry.parentPath.includes("/.pond"))
    .map((entry) => join(entry.parentPath, entry.name))

/** The disk, with each change that pond asks of it written down. */
function recordedDisk(): { readonly disk: DiskFiles; readonly steps: string[] } {
  const steps: string[] = []
  const disk: DiskFiles = {
    ...diskFiles,
    sync: async (path) => {
      await diskFiles.sync(path)
      steps.push(path)
    },
    write: async (path, text) => {
      await diskFiles.write(path, text)
      steps.push(path)
    },
  }
  return { disk, steps }
}

test("a commit is durable in this order: content, manifests, folders, and then the notes of it", async () => {
  using place = testStore()
  await place.store.table(EVERY_KIND).insertAbsent(rowsFrom(0))
  const before = new Set(filesBelow(place.path))
  const { disk, steps } = recordedDisk()
  await place.open({ disk }).table(EVERY_KIND).insertAbsent(rowsFrom(10))

  const folder = join(place.path, "every_kind.lance")
  const fresh = filesBelow(place.path).filter((path) => !before.has(path))
  const isManifest = (path: string) => path.startsWith(join(folder, "_versions/"))
  const content = steps.filter((path) => fresh.includes(path) && !isManifest(path))
  const manifests = steps.filter((path) => fresh.includes(path) && isManifest(path))
  const folders = steps.filter((path) => statSync(path).isDirectory())
  const notes = ["checksums", "manifest", "durable"].map((kind) => join(place.path, `.pond/every_kind.${kind}`))
  expect(steps).toEqual([...content, ...manifests, ...folders, ...notes])
  expect(new Set([...content, ...manifests])).toEqual(new Set(fresh))
  expect(content.filter((path) => path.includes("/data/")).length).toBe(1)
  expect(manifests.length).toBeGreaterThan(0)
  for (const name of ["", "data", "_versions"]) expect(folders).toContain(join(folder, name).replace(/\/$/, ""))
  expect(folders).toContain(place.path)
})

class PowerCut extends Error {}

/** The power goes at that step; what was new and not yet synced comes back cut. */
async function cutPower(
  place: TestStore,
  diesAt: number,
  work: (disk: DiskFiles) => Promise<unknown>,
): Promise<boolean> {
  const before = new Set(filesBelow(place.path))
  const synced = new Set<string>()
  let step = 0
  const mortal: DiskFiles = {
    ...diskFiles,
    sync: async (path) => {
      step += 1
      if (step >= diesAt) throw new PowerCut()
      await diskFiles.sync(path)
      synced.add(path)
    },
  }
  const died = await work(mortal).then(
    () => false,
    (error) => {
      if (error instanceof PowerCut || error.cause instanceof PowerCut) return true
      throw error
    },
  )
  for (const path of filesBelow(place.path)) {
    if (died && !before.has(path) && !synced.has(path)) truncateSync(path, Math.floor(statSync(path).size / 2))
  }
  return died
}

const STEPS_MAX = 20

test("whenever the power goes, what was durable stays, and the next import makes the table whole", async () => {
  let survived = 0
  for (let diesAt = 1; diesAt <= STEPS_MAX && survived === 0; diesAt++) {
    using place = testStore()
    await place.store.table(EVERY_KIND).insertAbsent(rowsFrom(0))
    const died = await cutPower(place, diesAt, (disk) =>
      place.open({ disk }).table(EVERY_KIND).insertAbsent(rowsFrom(10)),
    )
    const ids = (
      await place
        .open()
        .table(EVERY_KIND)
        .read({ columns: ["id"] })
    ).map(({ id }) => id)
    expect(ids, `died at step ${diesAt}`).toEqual(expect.arrayContaining(rowsFrom(0).map(({ id }) => id)))
    expect([10, 20], `died at step ${diesAt}`).toContain(ids.length)
    await place
      .open()
      .table(EVERY_KIND)
      .insertAbsent([...rowsFrom(0), ...rowsFrom(10)])
    expect(await place.open().table(EVERY_KIND).count(), `died at step ${diesAt}`).toBe(20)
    if (!died) survived = diesAt
  }
  expect(survived).toBeGreaterThan(4)
})

test("a clean-up takes old files away only when what replaces them is durable", async () => {
  using place = testStore()
  for (let round = 0; round < 12; round++) await place.store.table(EVERY_KIND).insertAbsent(rowsFrom(round * 10))
  const isData = (path: string) => path.endsWith(".lance") && path.includes("/data/")
  const old = filesBelow(place.path).filter(isData)
  const oldAtSync: number[] = []
  const disk: DiskFiles = {
    ...diskFiles,
    sync: async (path) => {
      if (isData(path) && !old.includes(path)) oldAtSync.push(old.filter((each) => existsSync(each)).length)
      await diskFiles.sync(path)
    },
  }
  const { steps } = await place.open({ disk }).table(EVERY_KIND).maintain("due")
  expect(steps.map(({ step }) => step)).toEqual(["clean"])
  expect(oldAtSync).toEqual([old.length])
  expect(old.filter((each) => existsSync(each))).toEqual([])
})

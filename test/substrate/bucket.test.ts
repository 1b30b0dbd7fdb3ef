/** What the notes beside the tables of a bucket cost in requests, and whom they tell of damage. */
import { afterAll, beforeAll, expect, test } from "bun:test"
import { writeSampleSession } from "../../build/corpus/sample-session.ts"
import { ALL, COMMITS, type DamagedPlace, fill, flipAt, inBucket, ROWS, rowsOf, TABLE } from "../support/damage.ts"
import { type ObjectServer, startObjectServer } from "../support/object-server.ts"
import { temporaryHome } from "../support/pond-process.ts"
import { runPond } from "../support/warm-pond.ts"

let server: ObjectServer
beforeAll(async () => {
  server = await startObjectServer()
})
afterAll(() => server.stop())

const ofNotes = () => server.requests.filter(({ key }) => key.includes("/.pond/")).map(({ kind }) => kind)

test("a commit costs a read of its manifest and a note, a process a listing, and a read nothing", async () => {
  const place = inBucket(server)
  await fill(place)
  const writer = place.open().table(TABLE)
  await writer.insertAbsent([{ session_id: "first", id: "first", text: "" }])
  server.resetCounts()
  await writer.insertAbsent([{ session_id: "next", id: "next", text: "" }])
  expect(ofNotes()).toEqual(["put"])
  const newest = place.paths().findLast((path) => path.includes("/_versions/"))
  expect(newest).toBeDefined()
  const reader = place.open().table(TABLE)
  server.resetCounts()
  expect(await reader.count()).toBe(COMMITS * ROWS + 2)
  const first = server.counts()
  server.resetCounts()
  expect(await reader.count()).toBe(COMMITS * ROWS + 2)
  expect(server.requests).toEqual([])
  server.resetCounts()
  const unnoted = place.open()
  await unnoted.table(TABLE).count()
  expect(server.counts()).toEqual(first)
  expect(ofNotes()).toEqual([])
  expect(first.list).toBeLessThanOrEqual(3)
})

test("a note that is flipped is found, and a repair makes others", async () => {
  const place = inBucket(server)
  await fill(place)
  const notes = place.paths().filter((path) => path.startsWith(".pond/commits/"))
  expect(notes.length).toBe(COMMITS)
  flipAt(0.5)(place, notes[0] as string)
  const damaged = async (of: DamagedPlace) => (await of.open().check({ isDeep: true })).flatMap((each) => each.damaged)
  expect((await damaged(place)).map(({ path }) => path)).toEqual([`../${notes[0]}`])
  expect((await place.open().repair()).map(({ lostRows }) => lostRows)).toEqual([0])
  expect(await damaged(place)).toEqual([])
  expect(await place.open().table(TABLE).count()).toBe(ALL.length)
})

test("two writers at once leave a note each, and what they stored is proved", async () => {
  const place = inBucket(server)
  await Promise.all([0, 1, 2].map((writer) => place.open().table(TABLE).insertAbsent(rowsOf(writer))))
  const [checked] = await place.open().check({ isDeep: true })
  expect([checked?.damaged, checked?.rows]).toEqual([[], 3 * ROWS])
  const [again] = await place.open().check({ isDeep: true })
  expect([again?.uncovered, again?.damaged]).toEqual([0, []])
})

test("a reader and a writer meet what no check has noted: a version that is gone, a file that is missing", async () => {
  const place = inBucket(server)
  const { data } = await fill(place)
  const [newest = ""] = place.paths().filter((path) => path.endsWith(".manifest"))
  const manifest = place.read(newest)
  place.remove(newest)
  const log: string[] = []
  expect(await place.open(log).table(TABLE).count()).toBe(ALL.length)
  expect(log).toEqual([expect.stringContaining("no row is lost")])
  place.write(newest, manifest)
  place.remove(data[1] as string)
  await expect(place.open().table(TABLE).insertAbsent(ALL)).rejects.toThrow("takes no rows until you run `pond repair`")
})

test("status, doctor and answers tell of damage in a bucket, and after a repair the next sync brings it back", async () => {
  using home = temporaryHome()
  writeSampleSession(home.path)
  const place = inBucket(server)
  const env = {
    ...home.env,
    POND_STORE: place.url,
    ...place.environment,
  }
  const pond = (...args: string[]) => runPond(args, { env })
  expect((await pond("sync", "-q")).exitCode).toBe(0)
  const data = place.paths().filter((path) => path.startsWith("parts.lance/data/"))
  expect(data.length).toBe(1)
  expect((await pond("check", "--read-data", "-q")).exitCode).toBe(0)
  flipAt(0.4)(place, data[0] as string)
  const check = await pond("check", "--read-data", "--json")
  expect(check.exitCode).toBe(4)
  const found = JSON.parse(check.stdout) as { readonly tables: { damaged: { file: string; sessions: string[] }[] }[] }
  const [damage] = found.tables.flatMap(({ damaged }) => damaged)
  expect(damage?.file).toBe(data[0])
  expect(damage?.sessions.length).toBe(1)
  const status = await pond("status")
  expect(`${status.stdout}${status.stderr}`).toContain("pond repair")
  const answer = await pond("get", damage?.sessions[0] as string)
  expect(answer.stderr).toContain("The table parts is damaged")
  const repair = await pond("repair", "--json")
  expect([repair.exitCode, repair.stderr]).toEqual([0, ""])
  expect((await pond("sync", "-q")).exitCode).toBe(0)
  const after = JSON.parse((await pond("check", "--read-data", "--json")).stdout) as { readonly ok: boolean }
  expect(after.ok).toBe(true)
  expect((await pond("sync", "--dry-run", "--full", "--json")).exitCode).toBe(0)
  const rows = JSON.parse((await pond("sql", "select count(*) as n from parts", "--json")).stdout)
  expect(JSON.stringify(rows)).not.toContain('"n":0')
}, 120_000)

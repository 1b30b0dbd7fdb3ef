/** Maintenance of a store in a bucket by several machines at once: one does it, and none fails. */
import { afterAll, beforeAll, expect, test } from "bun:test"
import { systemClock } from "../../src/platform/host/clock.ts"
import { parseLocation } from "../../src/substrate/location.ts"
import { openNamespaces } from "../../src/substrate/namespaces.ts"
import { openStore } from "../../src/substrate/open-store.ts"
import { type DamagedPlace, inBucket, TABLE } from "../support/damage.ts"
import { type ObjectServer, startObjectServer, TEST_KEY } from "../support/object-server.ts"
import { testContext } from "./support.ts"

let server: ObjectServer
beforeAll(async () => {
  server = await startObjectServer()
})
afterAll(() => server.stop())

const LEASE = ".pond/maintenance.lease"
const manyRows = Array.from({ length: 1200 }, (_, at) => ({ session_id: "s", id: `row-${at}`, text: `${at}` }))
const fillMany = async (place: DamagedPlace) => void (await place.open().table(TABLE).insertAbsent(manyRows))
const maintain = (place: DamagedPlace) => place.open().table(TABLE).maintain("all")

test("of several machines that maintain a table at once one does it, the others leave it to that one", async () => {
  const place = inBucket(server)
  await fillMany(place)
  server.setFaults({ latency: { rate: 1, ms: 5 } })
  const reports = await Promise.all(Array.from({ length: 4 }, () => maintain(place)))
  server.setFaults({})
  expect(reports.filter(({ isBusy }) => !isBusy).length).toBeGreaterThanOrEqual(1)
  expect(reports.filter(({ isBusy }) => isBusy).length).toBeGreaterThanOrEqual(1)
  expect(place.paths()).not.toContain(LEASE)
  expect(await place.open().table(TABLE).count()).toBe(manyRows.length)
})

test("a lease of another machine is respected until it expires, and one that cannot be read is none", async () => {
  const place = inBucket(server)
  await fillMany(place)
  const lease = (untilMs: number) =>
    place.write(LEASE, new TextEncoder().encode(JSON.stringify({ holder: "other", until_ms: untilMs })))
  lease(Date.now() + 60_000)
  expect(await maintain(place)).toEqual({ isBusy: true, steps: [] })
  expect(place.paths()).toContain(LEASE)
  for (const untilMs of [Date.now() - 1, Date.now() + 86_400_000]) {
    lease(untilMs)
    expect((await maintain(place)).isBusy).toBe(false)
    expect(place.paths()).not.toContain(LEASE)
  }
  place.write(LEASE, new TextEncoder().encode("half a"))
  expect((await maintain(place)).isBusy).toBe(false)
})

test("a step that keeps losing to others is left to them", async () => {
  const place = inBucket(server)
  await fillMany(place)
  // Both believe that they are alone: the lease is taken away under them.
  const removing = setInterval(() => place.remove(LEASE), 1)
  server.setFaults({ latency: { rate: 1, ms: 3 } })
  const reports = await Promise.all(Array.from({ length: 3 }, () => maintain(place)))
  clearInterval(removing)
  server.setFaults({})
  expect(reports.length).toBe(3)
  expect(await place.open().table(TABLE).count()).toBe(manyRows.length)
}, 120_000)

test("a namespace in a bucket costs one request, however many there are", async () => {
  const place = inBucket(server)
  const makeNames = openNamespaces(place.open(), systemClock)
  for (let at = 0; at < 24; at++) expect(await makeNames.create(`tenant ${at}`)).toBe(true)
  const names = openNamespaces(place.open(), systemClock)
  server.resetCounts()
  const store = await names.resolve("tenant 7")
  expect(server.requests.map(({ kind, status }) => [kind, status])).toEqual([["get", 200]])
  expect(await names.resolve("tenant 7")).toBe(store)
  names.forget("tenant 7")
  expect(await names.resolve("tenant 7")).not.toBe(store)
  expect(await names.resolve("nobody").catch((error) => error)).toMatchObject({ code: "namespace_unknown" })
  expect((await names.list()).length).toBe(25)
  // What was made is marked in the store too, so that a folder that is gone is not taken for an empty one.
  for (const path of place.paths()) if (path.endsWith(".pond/namespace")) place.remove(path)
  const resolved = () => openNamespaces(place.open(), systemClock).resolve("tenant 3")
  await expect(resolved()).rejects.toMatchObject({ code: "storage_unavailable" })
  // Made by a pond that left no mark.
  for (const path of place.paths()) if (path.endsWith(".made")) place.remove(path)
  await resolved()
})

test("an hour after the last commit what older versions have left is removed, and sizes are told before and after", async () => {
  const place = inBucket(server)
  const openAfter = (hours: number) => {
    const clock = { nowMs: () => Date.now() + hours * 3_600_000, monotonicMs: () => performance.now() }
    const environment = { AWS_ACCESS_KEY_ID: TEST_KEY.accessKeyId, AWS_SECRET_ACCESS_KEY: TEST_KEY.secretAccessKey }
    return openStore(parseLocation(place.url, { environment }), { ...testContext, clock }).table(TABLE)
  }
  await fillMany(place)
  for (let at = 0; at < 6; at++) {
    await place
      .open()
      .table(TABLE)
      .insertAbsent([{ session_id: "t", id: `tail-${at}`, text: "" }])
    await maintain(place)
  }
  const before = (await openAfter(0).statistics())?.bytes
  expect(before?.dead).toBeGreaterThan(before?.live ?? 0)
  expect((await openAfter(0).maintain("due")).steps).toEqual([])
  expect((await openAfter(2).maintain("due")).steps.map(({ step }) => step)).toEqual(["clean"])
  const after = (await openAfter(2).statistics())?.bytes
  expect(after?.live).toBeGreaterThan(0)
  expect(after?.dead).toBeLessThanOrEqual(0.3 * (after?.live ?? 0))
  expect(await openAfter(2).count()).toBe(manyRows.length + 6)
  expect((await openAfter(2).maintain("due")).steps).toEqual([])
}, 120_000)

import { expect, test } from "bun:test"
import { parseLocation } from "../../src/substrate/location.ts"
import { startObjectServer, TEST_KEY } from "../support/object-server.ts"
import { sessionId, syncPlace, userLine } from "./support.ts"

const KEYS = { AWS_ACCESS_KEY_ID: TEST_KEY.accessKeyId, AWS_SECRET_ACCESS_KEY: TEST_KEY.secretAccessKey }
const SHARED = sessionId(99)

test("several hosts that sync at once into one bucket store every session once", async () => {
  await using server = await startObjectServer({ faults: { latency: { rate: 0.3, ms: 10 } }, seed: 5 })
  const url = `${server.url.replace("http:", "s3+http:")}/pond-test/hosts`
  const location = parseLocation(url, { environment: KEYS })
  const hosts = ["one", "two", "three"].map((host) => syncPlace({ location, host }))
  try {
    for (const [number, host] of hosts.entries()) {
      const own = sessionId(number)
      host.write(own, [userLine(own, 1, `said on host ${number}`), userLine(own, 2, "and on")])
      // A home that is copied from machine to machine has the same session on each.
      host.write(
        SHARED,
        [1, 2, 3].map((line) => userLine(SHARED, line, `shared ${line}`)),
      )
    }
    const reports = await Promise.all(hosts.map((host) => host.sync()))
    expect(reports.map(({ sessions }) => sessions.failed)).toEqual([0, 0, 0])
    // One that was not there before: on an object store a handle may be seconds behind the others.
    using reader = syncPlace({ location })
    expect(await reader.sessions.counts()).toEqual({ sessions: 4, messages: 9, parts: 9, blobs: 0 })
    expect(await reader.texts(SHARED)).toEqual(["shared 1", "shared 2", "shared 3"])
    for (const number of [0, 1, 2]) {
      expect(await reader.texts(sessionId(number))).toEqual([`said on host ${number}`, "and on"])
    }
    const again = await Promise.all(hosts.map((host) => host.sync({ isFull: true })))
    expect(again.map(({ messages, parts }) => messages.new + parts.new)).toEqual([0, 0, 0])
  } finally {
    for (const host of hosts) host[Symbol.dispose]()
  }
})

test.each([
  { what: "as far as it goes", first: "said 1", stored: 4 },
  { what: "but for a record that changed", first: "changed", stored: 5 },
])("a home that is behind another one, $what, has nothing new once it has caught up", async ({ first, stored }) => {
  using ahead = syncPlace({ store: "lance" })
  using behind = syncPlace({ location: ahead.sessions.store.location })
  const line = (number: number, text = `said ${number}`) => userLine(SHARED, number, text)
  ahead.write(SHARED, [line(1), line(2), line(3), line(4)])
  await ahead.sync()
  behind.write(SHARED, [line(1, first), line(2)])
  await behind.sync()
  const rows = async () => (await ahead.sessions.entries(SHARED)).length
  for (const number of [3, 4]) {
    behind.append(SHARED, `${line(number)}\n`)
    await behind.sync()
    expect(await rows()).toBe(stored)
  }
  // By now it has all that is stored, and goes on where it was left.
  for (const number of [5, 6]) {
    behind.append(SHARED, `${line(number)}\n`)
    const { messages, bytes_read } = await behind.sync()
    expect([messages.new, bytes_read]).toEqual([1, line(number).length + 1])
  }
  expect(await rows()).toBe(stored + 2)
  expect(await ahead.texts(SHARED)).toEqual([1, 2, 3, 4, 5, 6].map((number) => `said ${number}`))
})

/** A sync without changes is what runs every few minutes: it asks the store as little as it can. */
import { expect, test } from "bun:test"
import { rmSync } from "node:fs"

import { writeSampleSession } from "../../build/corpus/sample-session.ts"
import { systemClock } from "../../src/platform/host/clock.ts"
import { STAGES, type SyncRequest } from "../../src/sync/sync.ts"
import { said, session } from "../sessions/support.ts"
import { startObjectServer, TEST_BUCKET, TEST_KEY } from "../support/object-server.ts"
import { temporaryHome } from "../support/pond-process.ts"
import { runPond } from "../support/warm-pond.ts"
import { SESSION, syncPlace, userLine } from "./support.ts"

/** How often the tables were asked. */
function asking(place: ReturnType<typeof syncPlace>) {
  let [asked, nowMs] = [0, systemClock.nowMs()]
  const surroundings = {
    clock: { ...systemClock, nowMs: () => nowMs },
    index: async () => {
      asked += 1
      return { tables: await place.sessions.maintain("due") }
    },
  }
  return {
    sync: async (request: Partial<SyncRequest> = {}) => {
      const before = asked
      await place.sync({ stages: STAGES, ...request }, surroundings)
      return asked > before
    },
    wait: (ms: number) => {
      nowMs += ms
    },
  }
}

test("where the tables had nothing due and nothing was stored since, they are not asked again", async () => {
  using place = syncPlace()
  place.write(SESSION, [userLine(SESSION, 1, "one")])
  const { sync } = asking(place)
  expect(await sync()).toBe(true)
  expect(await sync()).toBe(false)
  place.append(SESSION, `${userLine(SESSION, 2, "two")}\n`)
  expect(await sync()).toBe(true)
  expect(await sync()).toBe(false)
})

test("what another process has stored is looked at", async () => {
  using place = syncPlace()
  place.write(SESSION, [userLine(SESSION, 1, "one")])
  const { sync } = asking(place)
  await sync()
  expect(await sync()).toBe(false)
  await place.sessions.write([{ session: session("other"), entries: [said("other", 0, "from elsewhere")] }])
  expect(await sync()).toBe(true)
  expect(await sync()).toBe(false)
})

test("who asks for all of it, or an hour later, gets it", async () => {
  using place = syncPlace()
  place.write(SESSION, [userLine(SESSION, 1, "one")])
  const { sync, wait } = asking(place)
  await sync()
  expect(await sync()).toBe(false)
  expect(await sync({ isFull: true })).toBe(true)
  wait(59 * 60_000)
  expect(await sync()).toBe(false)
  wait(2 * 60_000)
  expect(await sync()).toBe(true)
  // A clock that was put back says nothing of how long ago that was.
  wait(-3 * 3_600_000)
  expect(await sync()).toBe(true)
})

test("what stood still since is said to whoever asks the tables, until an hour is over", async () => {
  using place = syncPlace()
  let nowMs = systemClock.nowMs()
  const told: (string | undefined)[] = []
  const surroundings = {
    clock: { ...systemClock, nowMs: () => nowMs },
    index: async (idleSignature: string | undefined) => {
      told.push(idleSignature)
      return { tables: await place.sessions.maintain("due", { idleSignature }) }
    },
  }
  place.write(SESSION, [userLine(SESSION, 1, "one")])
  for (const number of [2, 3, 4]) {
    await place.sync({ stages: STAGES }, surroundings)
    place.append(SESSION, `${userLine(SESSION, number, "more")}\n`)
    nowMs += 40 * 60_000
  }
  expect(told).toEqual([undefined, expect.any(String), undefined])
})

test("a state that is gone is made again, and the tables are asked", async () => {
  using place = syncPlace()
  place.write(SESSION, [userLine(SESSION, 1, "one")])
  const { sync } = asking(place)
  await sync()
  expect(await sync()).toBe(false)
  rmSync(place.state, { recursive: true })
  expect(await sync()).toBe(true)
})

test("in a bucket a sync without changes takes at most twelve requests", async () => {
  await using server = await startObjectServer()
  using home = temporaryHome()
  writeSampleSession(home.path)
  const env = {
    ...home.env,
    POND_STORE: `${server.url.replace("http:", "s3+http:")}/${TEST_BUCKET}/store`,
    AWS_ACCESS_KEY_ID: TEST_KEY.accessKeyId,
    AWS_SECRET_ACCESS_KEY: TEST_KEY.secretAccessKey,
  }
  const sync = async () => {
    server.resetCounts()
    const { exitCode, stdout } = await runPond(["sync", "--json"], { env })
    expect(exitCode).toBe(0)
    const { adapters } = JSON.parse(stdout) as { adapters: { sessions: { new: number } }[] }
    return { stored: adapters[0]?.sessions.new, requests: server.requests.length }
  }
  expect((await sync()).stored).toBe(1)
  // The second one finds that nothing is due.
  await sync()
  const { stored, requests } = await sync()
  expect(stored).toBe(0)
  expect(requests).toBeLessThanOrEqual(12)
}, 60_000)

/** What the index of words leaves behind in a bucket is removed too, once nobody has written for an hour. */
import { expect, test } from "bun:test"
import { silentLog } from "../../src/platform/host/log.ts"
import { seededRandom } from "../../src/platform/host/random.ts"
import { openSessions } from "../../src/sessions/store.ts"
import { parseLocation } from "../../src/substrate/location.ts"
import { openStore } from "../../src/substrate/open-store.ts"
import { startObjectServer, TEST_BUCKET, TEST_KEY } from "../support/object-server.ts"
import { said, session } from "./support.ts"

const environment = { AWS_ACCESS_KEY_ID: TEST_KEY.accessKeyId, AWS_SECRET_ACCESS_KEY: TEST_KEY.secretAccessKey }
const HOUR_MS = 3_600_000

test("an hour after the last fold the index of words takes no more room than it needs", async () => {
  await using server = await startObjectServer()
  const url = `${server.url.replace("http:", "s3+http:")}/${TEST_BUCKET}/rest`
  const openAfter = (hours: number) => {
    const clock = { nowMs: () => Date.now() + hours * HOUR_MS, monotonicMs: () => performance.now() }
    const store = openStore(parseLocation(url, { environment }), { log: silentLog, clock, random: seededRandom(1) })
    return openSessions(store, { clock, host: "one" })
  }
  const wordsOf = async (hours: number) => (await openAfter(hours).statistics()).find(({ table }) => table === "words")
  for (let round = 0; round < 2; round++) {
    const writer = openAfter(0)
    const entries = Array.from({ length: 1_500 }, (_, at) =>
      said(`session-${round}`, at, `word${round} word${at} word${at * 7}`, { id: `message-${round}-${at}` }),
    )
    await writer.write([{ session: session(`session-${round}`), entries }])
    await writer.maintain("all")
    writer.close()
  }
  const before = (await wordsOf(0))?.bytes
  expect(before?.dead).toBeGreaterThan(0.3 * (before?.live ?? 0))
  const steps = (await openAfter(2).maintain("due")).find(({ table }) => table === "words")?.steps
  expect(steps?.map(({ step }) => step)).toContain("clean")
  const after = (await wordsOf(2))?.bytes
  expect(after?.dead).toBeLessThanOrEqual(Math.max(16_384, 0.3 * (after?.live ?? 0)))
  expect((await openAfter(2).maintain("due")).flatMap((report) => report.steps)).toEqual([])
}, 120_000)

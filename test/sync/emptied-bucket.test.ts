/** A bucket that was emptied, or that another took the place of, is filled by the next sync. */
import { expect, test } from "bun:test"
import { writeCorpus } from "../../build/corpus/corpus.ts"
import { writeSampleSession } from "../../build/corpus/sample-session.ts"
import { inBucket } from "../support/damage.ts"
import { startObjectServer, TEST_KEY } from "../support/object-server.ts"
import { temporaryHome } from "../support/pond-process.ts"
import { runPond } from "../support/warm-pond.ts"

test("an emptied bucket, and one in its place, are noticed at no request more and filled again", async () => {
  await using server = await startObjectServer()
  using home = temporaryHome()
  using other = temporaryHome()
  writeSampleSession(home.path)
  const place = inBucket(server)
  const keys = { AWS_ACCESS_KEY_ID: TEST_KEY.accessKeyId, AWS_SECRET_ACCESS_KEY: TEST_KEY.secretAccessKey }
  const sync = async (of = home) => {
    const ran = await runPond(["sync", "--json"], { env: { ...of.env, ...keys, POND_STORE: place.url } })
    expect(ran.exitCode).toBe(0)
    const { adapters } = JSON.parse(ran.stdout) as {
      readonly adapters: { readonly messages: { readonly new: number } }[]
    }
    return adapters.reduce((sum, { messages }) => sum + messages.new, 0)
  }
  const stored = await sync()
  expect(stored).toBeGreaterThan(0)
  await sync()
  server.resetCounts()
  expect(await sync()).toBe(0)
  expect(server.requests.length).toBeLessThanOrEqual(4)
  for (const path of place.paths()) place.remove(path)
  expect(await sync()).toBe(stored)
  expect(await sync()).toBe(0)
  for (const path of place.paths()) place.remove(path)
  writeCorpus({ home: other.path, sessions: 1, linesTypical: 6, seed: 7 })
  expect(await sync(other)).toBeGreaterThan(0)
  expect(await sync()).toBe(stored)
  expect(await sync()).toBe(0)
}, 60_000)

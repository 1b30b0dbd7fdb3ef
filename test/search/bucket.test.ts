/** A search of a store in a bucket, by a process that has opened nothing: what it waits for is the way there and back. */
import { expect, test } from "bun:test"
import { join } from "node:path"
import { writeSampleSession } from "../../build/corpus/sample-session.ts"
import { startObjectServer, TEST_BUCKET, TEST_KEY } from "../support/object-server.ts"
import { temporaryHome } from "../support/pond-process.ts"
import { runPond } from "../support/warm-pond.ts"

test("the tables that it asks are opened side by side, before the first of them is read", async () => {
  await using server = await startObjectServer()
  using home = temporaryHome()
  writeSampleSession(home.path)
  const env = {
    ...home.env,
    POND_STORE: `${server.url.replace("http:", "s3+http:")}/${TEST_BUCKET}/store`,
    AWS_ACCESS_KEY_ID: TEST_KEY.accessKeyId,
    AWS_SECRET_ACCESS_KEY: TEST_KEY.secretAccessKey,
  }
  expect((await runPond(["sync"], { env })).exitCode).toBe(0)
  server.resetCounts()
  // As on another machine: this one has the files that it wrote.
  const elsewhere = { ...env, XDG_CACHE_HOME: join(home.path, "elsewhere") }
  const { stdout } = await runPond(["search", "water lilies", "--json"], { env: elsewhere })
  expect((JSON.parse(stdout) as { sessions: unknown[] }).sessions).toHaveLength(1)
  const keys = server.requests.map(({ key }) => key)
  const opened = keys.findLastIndex((key) => key.includes("/_versions/"))
  const read = keys.findIndex((key) => key.includes(".lance/data/"))
  expect(opened).toBeGreaterThan(0)
  expect(read).toBeGreaterThan(opened)
}, 60_000)

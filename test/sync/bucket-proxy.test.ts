/** A machine that sends its requests through a proxy: the engine asks a bucket through pond itself, which is on this machine. */
import { expect, test } from "bun:test"
import { writeSampleSession } from "../../build/corpus/sample-session.ts"
import { startObjectServer, TEST_BUCKET, TEST_KEY } from "../support/object-server.ts"
import { runPond, temporaryHome } from "../support/pond-process.ts"

test("a bucket is read and written where a proxy is set that is none of this machine's", async () => {
  await using server = await startObjectServer()
  using home = temporaryHome()
  writeSampleSession(home.path)
  // Nothing answers there. The bucket itself is excepted, as one in the same network is.
  const proxy = "http://127.0.0.1:9"
  const place = server.url.replace("http://127.0.0.1", "s3+http://localhost")
  const env = {
    ...home.env,
    POND_STORE: `${place}/${TEST_BUCKET}/store`,
    AWS_ACCESS_KEY_ID: TEST_KEY.accessKeyId,
    AWS_SECRET_ACCESS_KEY: TEST_KEY.secretAccessKey,
    HTTP_PROXY: proxy,
    http_proxy: proxy,
    NO_PROXY: "localhost",
  }
  const { exitCode, stderr } = await runPond(["sync"], { env })
  expect({ exitCode, stderr }).toMatchObject({ exitCode: 0 })
  expect(server.requests.length).toBeGreaterThan(0)
}, 60_000)

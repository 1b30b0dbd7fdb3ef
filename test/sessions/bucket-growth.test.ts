/** What one changed session costs in a bucket must not depend on how much is stored there. */
import { expect, test } from "bun:test"
import { mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { silentLog } from "../../src/platform/host/log.ts"
import { seededRandom } from "../../src/platform/host/random.ts"
import { openSessions } from "../../src/sessions/store.ts"
import { parseLocation } from "../../src/substrate/location.ts"
import { openStore } from "../../src/substrate/open-store.ts"
import { type ObjectServer, startObjectServer, TEST_BUCKET, TEST_KEY } from "../support/object-server.ts"
import { said, session } from "./support.ts"

const CLOCK = { nowMs: () => 1_000, monotonicMs: () => 0 }
const environment = { AWS_ACCESS_KEY_ID: TEST_KEY.accessKeyId, AWS_SECRET_ACCESS_KEY: TEST_KEY.secretAccessKey }
const MESSAGES = 6

interface Cost {
  readonly requests: number
  readonly bytes: number
}

/** Of one message more, by a process that has opened nothing yet: on the machine that stored the others, and on another. */
async function costOfOneMore(server: ObjectServer, folder: string, sessions: number): Promise<readonly [Cost, Cost]> {
  const url = `${server.url.replace("http:", "s3+http:")}/${TEST_BUCKET}/of-${sessions}`
  const open = (machine: string) => {
    const cache = { folder: join(folder, `${machine}-${sessions}`), bytesMax: 1_000_000_000 }
    const context = { log: silentLog, clock: CLOCK, random: seededRandom(1), cache }
    return openSessions(openStore(parseLocation(url, { environment }), context), { clock: CLOCK, host: machine })
  }
  const batch = (number: number, from: number, to: number) => ({
    session: session(`session-${number}`),
    entries: Array.from({ length: to - from }, (_, at) =>
      said(`session-${number}`, from + at, `what was said in ${number}`, { id: `message-${number}-${from + at}` }),
    ),
  })
  const first = open("first")
  await first.write(Array.from({ length: sessions }, (_, number) => batch(number, 0, MESSAGES)))
  await first.maintain("due")
  first.close()
  const costs: Cost[] = []
  for (const [at, machine] of ["first", "second"].entries()) {
    const writer = open(machine)
    server.resetCounts()
    const [result] = await writer.write([batch(7, 0, MESSAGES + 1 + at)])
    expect(result?.inserted.messages).toBe(1)
    const bytes = server.requests.reduce((sum, { up, down }) => sum + up + down, 0)
    costs.push({ requests: server.requests.length, bytes })
    writer.close()
  }
  return costs as unknown as readonly [Cost, Cost]
}

test("a changed session costs a bucket the same when the store has doubled", async () => {
  await using server = await startObjectServer()
  const folder = mkdtempSync(join(tmpdir(), "pond-growth-"))
  try {
    const [ownOf400, strangerOf400] = await costOfOneMore(server, folder, 400)
    const [ownOf800, strangerOf800] = await costOfOneMore(server, folder, 800)
    expect(ownOf800.requests).toBeLessThanOrEqual(ownOf400.requests * 1.2)
    expect(ownOf800.bytes).toBeLessThanOrEqual(ownOf400.bytes * 1.2)
    expect(ownOf800.requests).toBeLessThanOrEqual(30)
    expect(ownOf800.bytes).toBeLessThanOrEqual(60_000)
    // With nothing kept of the bucket the keys of two sessions are looked up in its indexes.
    expect(strangerOf800.requests).toBeLessThanOrEqual(strangerOf400.requests * 1.2)
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}, 60_000)

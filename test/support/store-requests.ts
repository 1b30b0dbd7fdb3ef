/**
 * What a store on S3 costs in requests, counted at a server of our own: how many commits an import makes, and how many
 * requests a read takes, of a pond that just started and of one that has answered before. The counts are the same each run.
 */
import type { Clock } from "../../src/platform/host/clock.ts"
import { silentLog } from "../../src/platform/host/log.ts"
import { seededRandom } from "../../src/platform/host/random.ts"
import { openSessions, type Sessions } from "../../src/sessions/store.ts"
import { parseLocation } from "../../src/substrate/location.ts"
import { openStore } from "../../src/substrate/open-store.ts"
import { said, session } from "../sessions/support.ts"
import { type ObjectServer, startObjectServer, TEST_BUCKET, TEST_KEY } from "./object-server.ts"

export interface StoreRequests {
  readonly importCommits: number
  /** Of the same import again. */
  readonly repeatedCommits: number
  readonly messageById: Reads
  readonly sessionOf200: Reads
}

interface Reads {
  /** Of a process that has opened nothing yet. */
  readonly first: number
  readonly later: number
}

/** It stands still: what is fresh at the first read is fresh at the next, however slow the machine is. */
const CLOCK: Clock = { nowMs: () => 0, monotonicMs: () => 0 }
const SESSIONS = 1000
const LONG_MESSAGES = 200

export async function countStoreRequests(): Promise<StoreRequests> {
  await using server = await startObjectServer()
  const writer = openOn(server)
  const batches = Array.from({ length: SESSIONS }, (_, number) => {
    const id = `session-${number}`
    const messages = number % 500 === 0 ? LONG_MESSAGES : 4
    return {
      session: session(id),
      entries: Array.from({ length: messages }, (_message, ordinal) =>
        said(id, ordinal, `what was said in ${number} at ${ordinal}`, { id: `message-${number}-${ordinal}` }),
      ),
    }
  })
  const importCommits = await commitsOf(server, () => writer.write(batches))
  const repeatedCommits = await commitsOf(server, () => writer.write(batches))
  await writer.maintain("due")
  const readMessage = (sessions: Sessions, number: number) => sessions.messages(`message-${number}-2`)
  const readSession = (sessions: Sessions, number: number) => sessions.entries(`session-${number * 500}`)
  return {
    importCommits,
    repeatedCommits,
    messageById: await readsOf(server, readMessage, 1),
    sessionOf200: await readsOf(server, readSession, LONG_MESSAGES),
  }
}

function openOn(server: ObjectServer): Sessions {
  const location = parseLocation(`${server.url.replace("http:", "s3+http:")}/${TEST_BUCKET}/store`, {
    environment: { AWS_ACCESS_KEY_ID: TEST_KEY.accessKeyId, AWS_SECRET_ACCESS_KEY: TEST_KEY.secretAccessKey },
  })
  const context = { log: silentLog, clock: CLOCK, random: seededRandom(1) }
  return openSessions(openStore(location, context), { clock: CLOCK, host: "test" })
}

/** A commit is a manifest, written where there was none. */
async function commitsOf(server: ObjectServer, work: () => Promise<unknown>): Promise<number> {
  server.resetCounts()
  await work()
  return server.requests.filter(({ key, isConditionalWrite }) => isConditionalWrite && key.includes("/_versions/"))
    .length
}

async function readsOf(
  server: ObjectServer,
  read: (sessions: Sessions, number: number) => Promise<readonly unknown[]>,
  want: number,
): Promise<Reads> {
  const reader = openOn(server)
  const counts: number[] = []
  for (const number of [0, 1]) {
    server.resetCounts()
    const found = await read(reader, number)
    if (found.length !== want) throw new Error(`${found.length} were found, not ${want}`)
    counts.push(server.requests.length)
  }
  reader.close()
  const [first = 0, later = 0] = counts
  return { first, later }
}

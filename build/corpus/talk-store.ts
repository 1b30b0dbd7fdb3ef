/** A store of talk in a directory, for benches: filled in several goes, and gone on with where one is there. */
import { join } from "node:path"
import { systemClock } from "../../src/platform/host/clock.ts"
import { silentLog } from "../../src/platform/host/log.ts"
import { systemRandom } from "../../src/platform/host/random.ts"
import { openSessions, type Sessions } from "../../src/sessions/store.ts"
import { parseLocation } from "../../src/substrate/location.ts"
import { openStore } from "../../src/substrate/open-store.ts"
import { batchesOf, type Talk } from "./talk.ts"

const SESSIONS_PER_WRITE = 50

export function storeFolder(folder: string): string {
  return join(folder, "store")
}

export function openTalkStore(folder: string): Sessions {
  const parts = { log: silentLog, clock: systemClock, random: systemRandom }
  const location = parseLocation(storeFolder(folder), { environment: {} })
  return openSessions(openStore(location, parts), { clock: systemClock, host: "bench", lifetime: "server" })
}

/** Goes on where an earlier run stopped. */
export async function fillWithTalk(sessions: Sessions, talk: Talk, messages: number): Promise<void> {
  const stored = await sessions.tables.sessions.count()
  const wanted = Math.ceil(messages / talk.messagesPerSession)
  for (let from = stored; from < wanted; from += SESSIONS_PER_WRITE) {
    await sessions.write(batchesOf(talk, from, Math.min(wanted, from + SESSIONS_PER_WRITE)))
    await sessions.maintain("lookups")
    if ((from - stored) % 1_000 === 0) console.error(`${from * talk.messagesPerSession} messages are stored`)
  }
}

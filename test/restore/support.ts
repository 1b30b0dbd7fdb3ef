/** Sessions as a restore is handed them, and how they come into a store. */
import { join } from "node:path"
import type { Adapter } from "../../src/adapters/adapter.ts"
import { revisionOf } from "../../src/adapters/shared/native.ts"
import type { SessionLog } from "../../src/model/session.ts"
import type { StoredLog } from "../../src/sessions/read/read-sessions.ts"
import { runSync } from "../../src/sync/sync.ts"
import type { TestPond } from "../operations/support.ts"

/** As if it lay in a store, so many messages of it read at once. */
export function storedLog({ session, entries }: SessionLog, atOnce = entries.length): StoredLog {
  return {
    session,
    async *stretches() {
      for (let at = 0; at < entries.length; at += atOnce) yield entries.slice(at, at + atOnce)
    },
    revisions: async () => entries.filter(({ message }) => revisionOf(message) !== undefined),
  }
}

export async function syncedInto({ pond, place }: TestPond, adapter: Adapter, root: string, isFull = false) {
  const { adapters } = await runSync(
    { sources: [{ adapter, root }], stages: ["import"], isFull, isPatient: false },
    {
      ...{ storeName: place.path, stateDirectory: join(place.path, "state"), storeMark: () => undefined },
      ...{ sessions: () => Promise.resolve(place.sessions), signal: new AbortController().signal },
      ...{ clock: pond.host.clock, log: pond.host.log },
    },
  )
  const [report] = adapters
  if (report === undefined) throw new Error("nothing was synced")
  return report
}

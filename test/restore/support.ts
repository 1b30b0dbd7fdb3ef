/** Sessions as a restore is handed them. */
import { revisionOf } from "../../src/adapters/shared/native.ts"
import type { SessionLog } from "../../src/model/session.ts"
import type { StoredLog } from "../../src/sessions/read.ts"

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

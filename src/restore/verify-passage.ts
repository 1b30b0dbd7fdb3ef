/**
 * A real store between parsing and serializing: what `verify` proves then is that sessions come back out of a store as
 * they went in. A store that refuses a session gives nothing back for it.
 */
import type { SessionLog } from "../model/session.ts"
import type { Sessions } from "../sessions/store.ts"
import type { Passage } from "./verify.ts"

/** What a store holds already of these sessions, as a sync or an import has left it. Writes nothing. */
export function heldPassage(sessions: Sessions): Passage {
  return {
    isHolding: true,
    async pass(logs) {
      const held: (SessionLog | undefined)[] = []
      for (const { session } of logs) {
        const isThere = (await sessions.session(session.id)) !== undefined
        held.push(isThere ? await sessions.log(session.id) : undefined)
      }
      return held
    },
    [Symbol.asyncDispose]: () => Promise.resolve(),
  }
}

/** `remove` takes away what the store lay in. */
export function storePassage(sessions: Sessions, remove: () => Promise<void>): Passage {
  return {
    async pass(logs) {
      if (logs.length === 0) return []
      const results = await sessions.write(logs)
      const refused = new Set(results.flatMap(({ status, sessionId }) => (status === "rejected" ? [sessionId] : [])))
      const back: (SessionLog | undefined)[] = []
      for (const { session } of logs) back.push(refused.has(session.id) ? undefined : await sessions.log(session.id))
      return back
    },
    async [Symbol.asyncDispose]() {
      sessions.close()
      await remove()
    },
  }
}

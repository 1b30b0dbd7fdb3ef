/**
 * A real store between parsing and serializing: what `verify` proves then is that sessions come back out of a store as
 * they went in. A store that refuses a session gives nothing back for it.
 */
import { assert } from "../model/errors.ts"
import type { SessionLog } from "../model/session.ts"
import type { Sessions } from "../sessions/store.ts"
import type { Passage } from "./verify.ts"

/** What a store holds already of these sessions, as a sync or an import has left it. Writes nothing. */
export function heldPassage(sessions: Sessions): Passage {
  return {
    isHolding: true,
    async pass(rests) {
      const held: (SessionLog | undefined)[] = []
      for (const { log, from } of rests) {
        const isThere = (await sessions.session(log.session.id)) !== undefined
        held.push(isThere ? await restOf(sessions, log, from) : undefined)
      }
      return held
    },
    async stretch(log) {
      // One that is not there is missing as a whole: that is said when it was read to its end.
      const isThere = (await sessions.session(log.session.id)) !== undefined
      return isThere ? await storedStretch(sessions, log) : log
    },
    [Symbol.asyncDispose]: () => Promise.resolve(),
  }
}

/** `remove` takes away what the store lay in. */
export function storePassage(sessions: Sessions, remove: () => Promise<void>): Passage {
  return {
    async pass(rests) {
      if (rests.length === 0) return []
      const results = await sessions.write(rests.map(({ log }) => log))
      const refused = new Set(results.flatMap(({ status, sessionId }) => (status === "rejected" ? [sessionId] : [])))
      const back: (SessionLog | undefined)[] = []
      for (const { log, from } of rests)
        back.push(refused.has(log.session.id) ? undefined : await restOf(sessions, log, from))
      return back
    },
    async stretch(log) {
      const [result] = await sessions.write([log])
      return result?.status === "rejected" ? undefined : await storedStretch(sessions, log)
    },
    async [Symbol.asyncDispose]() {
      sessions.close()
      await remove()
    },
  }
}

async function restOf(sessions: Sessions, { session: { id } }: SessionLog, from: number): Promise<SessionLog> {
  if (from === 0) return await sessions.log(id)
  const [session] = await sessions.sessions([id])
  assert(session !== undefined, "a session of which a stretch was stored is stored")
  return { session, entries: await sessions.entries(id, { from }) }
}

/** Nothing where other messages stand at those places. */
async function storedStretch(sessions: Sessions, { session, entries }: SessionLog): Promise<SessionLog | undefined> {
  const [first, last] = [entries[0], entries.at(-1)]
  const [stored] = await sessions.sessions([session.id])
  if (first === undefined || last === undefined || stored === undefined) return undefined
  const range = { from: first.message.ordinal, to: last.message.ordinal }
  const there = await sessions.entries(session.id, range)
  const isSame =
    there.length === entries.length && there.every((each, index) => each.message.id === entries[index]?.message.id)
  return isSame ? { session: stored, entries: there } : undefined
}

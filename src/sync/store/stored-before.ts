/**
 * A unit of which nothing is remembered may hold a session that is stored: the state is gone, the store was moved or
 * copied to another place, a file that was deleted is back. Read as if it were new, a record that its client changed would
 * be taken for present, and what is new would get ordinals that revisions have. So it is compared with what is stored.
 */
import type { Session } from "../../model/session.ts"
import type { Sessions } from "../../sessions/store.ts"

export interface StoredBefore {
  has(session: Pick<Session, "id" | "source_agent">): Promise<boolean>
  /** The session, stored or among the others, that a unit of this key most likely holds: clients name a log after its session. */
  guess(key: string, others: ReadonlySet<string>): Promise<string | undefined>
}

/** As the store is when it is first asked: what this import has brought since is no session of before. */
export function createStoredBefore(sessions: () => Promise<Sessions>): StoredBefore {
  let agents: Promise<ReadonlyMap<string, string>> | undefined
  const read = () => {
    agents ??= sessions().then((store) => store.agentsById())
    return agents
  }
  return {
    has: async ({ id, source_agent: agent }) => (await read()).get(id) === agent,
    guess: async (key, others) => {
      const known = await read()
      const name = key.slice(key.lastIndexOf("/") + 1).replace(/\.\w+$/, "")
      return [name, name.slice(name.lastIndexOf("_") + 1), name.slice(-UUID_UNITS)].find(
        (id) => known.has(id) || others.has(id),
      )
    },
  }
}

const UUID_UNITS = 36

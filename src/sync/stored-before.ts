/**
 * A unit of which nothing is remembered may hold a session that is stored: the state is gone, the store was moved or
 * copied to another place, a file that was deleted is back. Read as if it were new, a record that its client changed would
 * be taken for present, and what is new would get ordinals that revisions have. So it is compared with what is stored.
 */
import type { Session } from "../model/session.ts"
import type { Sessions } from "../sessions/store.ts"
import type { PreparedStretch, PreparedStretches } from "./stretches.ts"

export interface StoredBefore {
  has(session: Pick<Session, "id" | "source_agent">): Promise<boolean>
}

/** As the store is when it is first asked: what this import has brought since is no session of before. */
export function createStoredBefore(sessions: () => Promise<Sessions>): StoredBefore {
  let agents: Promise<ReadonlyMap<string, string>> | undefined
  return {
    has: async ({ id, source_agent: agent }) => {
      agents ??= sessions().then((store) => store.agentsById())
      return (await agents).get(id) === agent
    },
  }
}

interface Comparison {
  readonly before: StoredBefore
  /** The same unit, compared with what is stored of its session. */
  readonly compared: () => PreparedStretches
}

export async function* unlessStored(fresh: PreparedStretches, { before, compared }: Comparison): PreparedStretches {
  // What comes before it is known which session it is would be counted twice.
  const held: PreparedStretch[] = []
  try {
    for (;;) {
      const { done, value } = await fresh.next()
      if (done) {
        yield* held
        return value
      }
      held.push(value)
      if (value.batch === undefined) continue
      if (await before.has(value.batch.session)) break
      yield* held
      return yield* fresh
    }
    await readToEnd(fresh)
  } finally {
    await fresh.return(undefined as never)
  }
  return yield* compared()
}

/** The thread that parses says what it has read in the order that it was asked. */
async function readToEnd(stretches: PreparedStretches): Promise<void> {
  for (let read = await stretches.next(); read.done !== true; ) read = await stretches.next()
}

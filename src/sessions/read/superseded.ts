/**
 * Which messages are superseded: their client appended them again later (`model/superseded.ts`). Asked of the few sessions
 * that say so; in a store without one, an answer costs one read of small rows, and a server caches even that.
 */
import { parseOwnJson } from "../../model/json.ts"
import type { Message, Session } from "../../model/session.ts"
import { REAPPENDS_JSON, reappends, SUPERSEDES_JSON, supersededBy } from "../../model/superseded.ts"
import type { Lifetime } from "../../platform/host/host.ts"
import { and, contains, type Filter, isIn } from "../../substrate/filter.ts"
import type { SessionTables } from "../write/write-sessions.ts"
import { textOfName } from "./point-reads.ts"
import { cacheRows } from "./row-cache.ts"

/** Of these sessions, or of all: the superseded messages. */
export interface Superseded {
  (sessionIds?: Iterable<string>): Promise<SupersededMessages>
  /** Of a session that was read whole: whether it says so takes no further read. */
  learn(session: Session): void
}

export interface SupersededMessages {
  readonly count: number
  has(sessionId: string, messageId: string): boolean
}

const NONE: SupersededMessages = { count: 0, has: () => false }

export function openSuperseded({ sessions, messages }: SessionTables, lifetime: Lifetime = "command"): Superseded {
  const saysSo = contains("options", REAPPENDS_JSON)
  const cached = cacheRows({ lifetime, table: sessions, columns: ["id"], where: saysSo, keyOf: ({ id }) => id })

  /** What a command has asked: a search asks for its hits, then for the titles of some of them (3 to 10 ms a read). */
  const answered = new Map<string, boolean>()

  async function reappending(asked: readonly string[] | undefined): Promise<readonly string[]> {
    const known = await cached()
    if (known !== undefined) return asked?.filter((id) => known.has(id)) ?? [...known.keys()]
    if (asked === undefined) return await readIds(saysSo)
    if (lifetime === "server") answered.clear()
    const open = asked.filter((id) => !answered.has(id))
    const found = new Set(open.length === 0 ? [] : await readIds(and(isIn("id", open), saysSo)))
    for (const id of open) answered.set(id, found.has(id))
    return asked.filter((id) => answered.get(id) === true)
  }

  async function readIds(where: Filter): Promise<readonly string[]> {
    return (await sessions.read({ columns: ["id"], where })).map(({ id }) => id)
  }

  async function superseded(sessionIds?: Iterable<string>): Promise<SupersededMessages> {
    const asked = sessionIds === undefined ? undefined : [...new Set(sessionIds)]
    if (asked?.length === 0) return NONE
    const ids = await reappending(asked)
    if (ids.length === 0) return NONE
    const where = and(isIn("session_id", ids), contains("options", SUPERSEDES_JSON))
    const found = new Set<string>()
    for (const { session_id: sessionId, options } of await messages.read({
      columns: ["session_id", "options"],
      where,
    })) {
      const parsed = parseOwnJson(options)
      const messageId = parsed.ok ? supersededBy({ options: parsed.value as Message["options"] }) : undefined
      if (messageId !== undefined) found.add(textOfName({ sessionId, messageId }))
    }
    return { count: found.size, has: (sessionId, messageId) => found.has(textOfName({ sessionId, messageId })) }
  }

  return Object.assign(superseded, {
    learn: (session: Session) => {
      if (lifetime === "command") answered.set(session.id, reappends(session))
    },
  })
}

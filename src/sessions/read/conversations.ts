/**
 * Which sessions are one conversation: a session, and the copies of it that pond wrote into clients, which went on there
 * perhaps. Only copies say so (`model/copies.ts`), so that a store without one costs one read of few columns.
 *
 * What came from elsewhere may say so as well, and would stand in lists in place of a session of this machine, and its
 * text under that one's title. It is believed only of sessions that came from elsewhere too.
 */
import { COPY_OF_JSON, copiedFrom } from "../../model/copies.ts"
import { isJsonObject, parseOwnJson } from "../../model/json.ts"
import type { ProviderOptions } from "../../model/session.ts"
import type { Lifetime } from "../../platform/host/host.ts"
import { contains } from "../../substrate/filter.ts"
import type { Origins } from "../write/origins.ts"
import type { SessionTables } from "../write/write-sessions.ts"
import { cacheRows } from "./row-cache.ts"

export type Conversations = () => Promise<ConversationsOfStore>

export interface ConversationsOfStore {
  /** The first session of the conversation; a session without copies is its own. */
  rootOf(sessionId: string): string
  /** All sessions of its conversation, the original first; the session alone where it has no copies. */
  membersOf(sessionId: string): readonly string[]
}

const ALONE: ConversationsOfStore = { rootOf: (id) => id, membersOf: (id) => [id] }
/** What arrives may say anything of itself: a circle ends here. */
const STEPS_MAX = 100

export function openConversations(
  { sessions }: Pick<SessionTables, "sessions">,
  origins: Pick<Origins, "of">,
  lifetime: Lifetime = "command",
): Conversations {
  const columns = ["id", "options"] as const
  const where = contains("options", COPY_OF_JSON)
  const cached = cacheRows({ lifetime, table: sessions, columns, where, keyOf: ({ id }) => id })
  /** Copies that did not come from elsewhere when they were first seen: what they say never changes. */
  const own = new Set<string>()
  /** The version of the sessions in which there was no copy: an answer of a command asks three times. */
  let aloneIn: number | undefined
  return async () => {
    const version = await sessions.version()
    if (version !== undefined && version === aloneIn) return ALONE
    const rows = (await cached())?.values() ?? (await sessions.read({ columns, where }))
    const claims = claimsOf(rows)
    aloneIn = claims.size === 0 ? version : undefined
    await removeForeignClaims(claims)
    return conversationsOf(claims)
  }

  async function removeForeignClaims(claims: Map<string, string>): Promise<void> {
    const unasked = [...claims].filter(([id]) => !own.has(id))
    if (unasked.length === 0) return
    const arrived = await origins.of(unasked.flat())
    for (const [id, original] of unasked) {
      if (!arrived.has(id)) own.add(id)
      else if (!arrived.has(original)) claims.delete(id)
    }
  }
}

/** Of each session the one that it says it is a copy of. */
function claimsOf(rows: Iterable<{ readonly id: string; readonly options: string }>): Map<string, string> {
  const claims = new Map<string, string>()
  for (const { id, options } of rows) {
    const parsed = parseOwnJson(options)
    const original = parsed.ok && isJsonObject(parsed.value) ? copiedFrom(parsed.value as ProviderOptions) : undefined
    if (original !== undefined && original !== id) claims.set(id, original)
  }
  return claims
}

function conversationsOf(originals: ReadonlyMap<string, string>): ConversationsOfStore {
  if (originals.size === 0) return ALONE
  const rootOf = (id: string) => {
    let root = id
    for (let step = 0; step < STEPS_MAX; step++) {
      const original = originals.get(root)
      if (original === undefined) break
      root = original
    }
    return root
  }
  const copiesOf = Map.groupBy(originals.keys(), rootOf)
  return { rootOf, membersOf: (id) => [rootOf(id), ...(copiesOf.get(rootOf(id)) ?? [])] }
}

/**
 * Which sessions are one conversation: a session, and the copies of it that pond wrote into clients, which went on there
 * perhaps. Only copies say so (`model/copies.ts`), so that a store without one costs one read of few columns.
 */
import { COPY_OF_JSON, copiedFrom } from "../../model/copies.ts"
import { isJsonObject, parseOwnJson } from "../../model/json.ts"
import type { ProviderOptions } from "../../model/session.ts"
import type { Lifetime } from "../../platform/host/host.ts"
import { contains } from "../../substrate/filter.ts"
import type { SessionTables } from "../write/write-sessions.ts"
import { cacheRows } from "./row-cache.ts"

export type Conversations = () => Promise<ConversationsOfStore>

export interface ConversationsOfStore {
  /** The session that the conversation began as; a session that nobody copied is its own. */
  rootOf(sessionId: string): string
  /** All sessions of its conversation, the original first; itself alone where nobody copied it. */
  membersOf(sessionId: string): readonly string[]
}

const ALONE: ConversationsOfStore = { rootOf: (id) => id, membersOf: (id) => [id] }
/** What arrives may say anything of itself: a circle ends here. */
const STEPS_MAX = 100

export function openConversations(
  { sessions }: Pick<SessionTables, "sessions">,
  lifetime: Lifetime = "command",
): Conversations {
  const columns = ["id", "options"] as const
  const where = contains("options", COPY_OF_JSON)
  const cached = cacheRows({ lifetime, table: sessions, columns, where, keyOf: ({ id }) => id })
  return async () => {
    const rows = (await cached())?.values() ?? (await sessions.read({ columns, where }))
    return conversationsOf([...rows])
  }
}

function conversationsOf(rows: readonly { readonly id: string; readonly options: string }[]): ConversationsOfStore {
  const origins = new Map<string, string>()
  for (const { id, options } of rows) {
    const parsed = parseOwnJson(options)
    const origin = parsed.ok && isJsonObject(parsed.value) ? copiedFrom(parsed.value as ProviderOptions) : undefined
    if (origin !== undefined && origin !== id) origins.set(id, origin)
  }
  if (origins.size === 0) return ALONE
  const rootOf = (id: string) => {
    let root = id
    for (let step = 0; step < STEPS_MAX; step++) {
      const origin = origins.get(root)
      if (origin === undefined) break
      root = origin
    }
    return root
  }
  const copiesOf = Map.groupBy(origins.keys(), rootOf)
  return { rootOf, membersOf: (id) => [rootOf(id), ...(copiesOf.get(rootOf(id)) ?? [])] }
}

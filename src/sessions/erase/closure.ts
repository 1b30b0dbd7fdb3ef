/**
 * Which sessions an erasure takes with it: the agents that a session started and its forks, at any depth, and sessions that
 * hold copies of its messages. What was said would otherwise still be there, in another place.
 */
import { isJsonObject, parseOwnJson, stringifyJson } from "../../model/json.ts"
import { and, contains, eq, type Filter, or } from "../../substrate/filter.ts"
import type { Lane } from "../tables.ts"
import type { SessionTables } from "../write/write-sessions.ts"

export interface ErasedWith {
  readonly id: string
  /** The session that it goes with; nothing where it was asked for itself. */
  readonly because: string | undefined
  readonly why: "asked" | "child" | "copy"
}

/** Up to so many sessions are looked for by a filter each; of more, every copy is read. */
const FILTERED_MAX = 20
const IS_REPLAY = eq("lane", "replay" satisfies Lane)

/** In the order in which they are met: those that were asked for first. */
export async function closureOf(
  { sessions, messages }: Pick<SessionTables, "sessions" | "messages">,
  asked: readonly string[],
): Promise<readonly ErasedWith[]> {
  const children = new Map<string, string[]>()
  for await (const rows of sessions.batches({ columns: ["id", "parent_session_id"] })) {
    for (const { id, parent_session_id: parent } of rows)
      if (parent !== null) children.set(parent, [...(children.get(parent) ?? []), id])
  }
  const found = new Map<string, ErasedWith>(asked.map((id) => [id, { id, because: undefined, why: "asked" }]))
  for (let fresh = [...found.keys()]; fresh.length > 0; ) {
    const next: ErasedWith[] = fresh.flatMap((because) =>
      (children.get(because) ?? []).map((id) => ({ id, because, why: "child" as const })),
    )
    for (const [id, because] of await copiesOf(messages, new Set(fresh))) next.push({ id, because, why: "copy" })
    fresh = []
    for (const each of next) {
      if (found.has(each.id)) continue
      found.set(each.id, each)
      fresh.push(each.id)
    }
  }
  return [...found.values()]
}

/** The sessions that hold messages of these, each with one that it copies. */
async function copiesOf(
  messages: SessionTables["messages"],
  originals: ReadonlySet<string>,
): Promise<ReadonlyMap<string, string>> {
  const isNarrow = originals.size <= FILTERED_MAX
  const where: Filter = isNarrow
    ? and(
        IS_REPLAY,
        or(...[...originals].map((id) => contains("options", stringifyJson({ replay_of: id }).slice(1, -1)))),
      )
    : IS_REPLAY
  const copies = new Map<string, string>()
  for await (const rows of messages.batches({ columns: ["session_id", "options"], where })) {
    for (const { session_id: id, options } of rows) {
      const original = originalOf(options)
      if (original !== undefined && originals.has(original) && id !== original) copies.set(id, original)
    }
  }
  return copies
}

function originalOf(options: string): string | undefined {
  const parsed = parseOwnJson(options)
  const pond = parsed.ok && isJsonObject(parsed.value) ? parsed.value["pond"] : undefined
  const original = pond !== undefined && isJsonObject(pond) ? pond["replay_of"] : undefined
  return typeof original === "string" ? original : undefined
}

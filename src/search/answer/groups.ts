/**
 * Groups hits by conversation: by the session that it began as. Hits of sub-agents count for the session they worked for,
 * and those of a copy that went on in another client for the original. Each group shows its best few hits.
 */
import { isJsonObject, parseOwnJson } from "../../model/json.ts"
import type { ConversationsOfStore } from "../../sessions/read/conversations.ts"
import type { Sessions } from "../../sessions/store.ts"
import { type FusedHit, keyOfHit } from "../rank/fusion.ts"
import type { Hit } from "../request.ts"

export interface Group {
  readonly rootId: string
  readonly hits: readonly FusedHit[]
  /** Messages found in the group, shown or not. */
  readonly matched: number
}

const HITS_PER_SESSION = 3
const LINEAGE_STEPS_MAX = 8

/** Groups in the order of their best hits. */
export async function groupByRoot(
  sessions: Sessions,
  ranked: readonly FusedHit[],
  { rootOf }: ConversationsOfStore,
): Promise<Group[]> {
  const roots = await findRoots(sessions, new Set(ranked.map(({ hit }) => hit.sessionId)))
  return collectGroups(ranked, (id) => rootOf(roots.get(id) ?? id))
}

/** The same without sub-agents: no lookup of parents. */
export function groupByConversation(ranked: readonly FusedHit[], { rootOf }: ConversationsOfStore): Group[] {
  return collectGroups(ranked, rootOf)
}

function collectGroups(ranked: readonly FusedHit[], rootOf: (sessionId: string) => string): Group[] {
  const groups = new Map<string, FusedHit[]>()
  for (const fused of ranked) {
    const root = rootOf(fused.hit.sessionId)
    const group = groups.get(root)
    if (group === undefined) groups.set(root, [fused])
    else group.push(fused)
  }
  return [...groups].map(([rootId, hits]) => ({ rootId, hits: hits.slice(0, HITS_PER_SESSION), matched: hits.length }))
}

/** Only sub-agents belong to another session. A fork is a separate conversation. */
async function findRoots(sessions: Sessions, ids: ReadonlySet<string>): Promise<Map<string, string>> {
  const roots = new Map([...ids].map((id) => [id, id]))
  const parents = new Map<string, string | null>()
  let open = [...ids]
  for (let step = 0; step < LINEAGE_STEPS_MAX && open.length > 0; step++) {
    const rows = await sessions.answers.sessions(open)
    for (const row of rows) parents.set(row.id, row.source_agent.includes("/") ? row.parent_session_id : null)
    open = [...new Set(rows.flatMap(({ id }) => parents.get(id) ?? []))].filter((id) => !parents.has(id))
  }
  for (const id of ids) {
    let root = id
    for (let step = 0; step < LINEAGE_STEPS_MAX; step++) {
      const parent = parents.get(root)
      if (parent === null || parent === undefined || !parents.has(parent)) break
      root = parent
    }
    roots.set(id, root)
  }
  return roots
}

export interface SessionFacts {
  readonly project: string
  readonly sourceAgent: string
  readonly title: string | undefined
  /** Ordinals of the messages with text, ascending. */
  readonly spoken: readonly number[]
}

export async function readSessionFacts(sessions: Sessions, ids: readonly string[]): Promise<Map<string, SessionFacts>> {
  if (ids.length === 0) return new Map()
  const [rows, spoken] = await Promise.all([sessions.answers.sessions(ids), readSpoken(sessions, ids)])
  return new Map(
    rows.map((row) => [
      row.id,
      {
        project: row.project,
        sourceAgent: row.source_agent,
        title: row.title ?? undefined,
        spoken: spoken.get(row.id) ?? [],
      },
    ]),
  )
}

/** Ordinals of the messages with text of these sessions, ascending. */
export async function readSpoken(
  sessions: Sessions,
  ids: readonly string[],
): Promise<ReadonlyMap<string, readonly number[]>> {
  const kept = await sessions.words.findSpoken(ids)
  if (kept !== undefined) return kept
  const places = await sessions.points.places.spoken(ids)
  const ordinals = places.toSorted((left, right) => left.ordinal - right.ordinal)
  const bySession = Map.groupBy(ordinals, ({ session_id }) => session_id)
  return new Map([...bySession].map(([id, own]) => [id, own.map(({ ordinal }) => ordinal)]))
}

/** Names of files attached to user messages: such a prompt is more than its words. */
export async function readFileNames(sessions: Sessions, hits: readonly Hit[]): Promise<Map<string, string[]>> {
  const ofPeople = hits.filter(({ role }) => role === "user")
  const files = new Map<string, string[]>()
  if (ofPeople.length === 0) return files
  const rows = await sessions.answers.files(ofPeople)
  for (const row of rows) {
    const key = keyOfHit({ sessionId: row.session_id, messageId: row.message_id })
    files.set(key, [...(files.get(key) ?? []), labelOf(row.variant_data)])
  }
  return files
}

function labelOf(variant: string): string {
  const parsed = parseOwnJson(variant)
  if (!parsed.ok || !isJsonObject(parsed.value)) return "file"
  return String(parsed.value["file_name"] ?? parsed.value["media_type"] ?? "file")
}

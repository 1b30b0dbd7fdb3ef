/** Where hits stand among the messages of their session that say something. */
import type { Sessions } from "../../sessions/store.ts"
import { readSpoken } from "../answer/groups.ts"
import type { FusedHit, PlaceOf } from "./fusion.ts"

/** Sessions with several hits among the first: only those have neighbours that could change what is shown. */
const SESSIONS_MAX = 10
const HITS_MAX = 60

export async function spokenPlaces(sessions: Sessions, ranked: readonly FusedHit[]): Promise<PlaceOf> {
  const counts = new Map<string, number>()
  for (const { hit } of ranked.slice(0, HITS_MAX)) counts.set(hit.sessionId, (counts.get(hit.sessionId) ?? 0) + 1)
  const several = [...counts].filter(([, count]) => count > 1).map(([id]) => id)
  const ids = several.slice(0, SESSIONS_MAX)
  const spoken = ids.length === 0 ? new Map<string, readonly number[]>() : await readSpoken(sessions, ids)
  const places = new Map(
    [...spoken].map(([id, ordinals]) => [id, new Map(ordinals.map((ordinal, place) => [ordinal, place]))]),
  )
  return ({ sessionId, ordinal }) => places.get(sessionId)?.get(ordinal) ?? ordinal
}

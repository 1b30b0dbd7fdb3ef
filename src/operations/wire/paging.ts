/** Where a page goes on. Ids are asked for, not places: a session that grew meanwhile has the same messages behind one. */
import { PondError } from "../../model/errors.ts"

export function itemsAfter<P extends { readonly id: string }>(
  places: readonly P[],
  afterId: string,
  sessionId: string,
): readonly P[] {
  const exact = places.findIndex(({ id }) => id === afterId)
  const starting = exact >= 0 ? [] : places.filter(({ id }) => afterId.length >= 4 && id.startsWith(afterId))
  const at = starting.length === 1 && starting[0] !== undefined ? places.indexOf(starting[0]) : exact
  if (at >= 0) return places.slice(at + 1)
  throw new PondError(
    "not_found",
    `Session ${sessionId} has no message ${afterId}. Use the after_id at the end of a page.`,
    { details: { session_id: sessionId, after_id: afterId } },
  )
}

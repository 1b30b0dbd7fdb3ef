/** Where a page goes on. Ids are asked for, not places: a session that grew meanwhile has the same messages behind one. */
import { PondError } from "../../model/errors.ts"

export function itemsAfter<P extends { readonly id: string }>(
  places: readonly P[],
  afterId: string,
  sessionId: string,
): readonly P[] {
  const at = places.findIndex(({ id }) => id === afterId)
  if (at >= 0) return places.slice(at + 1)
  throw new PondError(
    "not_found",
    `Session ${sessionId} has no message ${afterId}. Use the after_id at the end of a page.`,
    { details: { session_id: sessionId, after_id: afterId } },
  )
}

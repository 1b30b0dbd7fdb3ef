/** Names, stars, tags and notes of sessions: who changes them, and which sessions have them. */

import { PondError } from "../../model/errors.ts"
import type { Sessions } from "../../sessions/store.ts"
import type { Label, SessionLabels } from "../../sessions/write/labels.ts"
import { given } from "../fields.ts"
import type { Pond } from "../pond.ts"
import { withFullSessionId } from "./session-ids.ts"

export interface LabelRequest {
  readonly session_id: string
  readonly name?: string | undefined
  readonly star?: boolean | undefined
  readonly unstar?: boolean | undefined
  readonly tags?: readonly string[] | undefined
  readonly untag?: readonly string[] | undefined
  readonly note?: string | undefined
}

export interface LabelledSession {
  readonly session_id: string
  readonly name?: string
  readonly starred: boolean
  readonly tags: readonly string[]
  readonly note?: string
}

export async function labelSession(
  pond: Pond,
  { session_id: asked, ...request }: LabelRequest,
): Promise<LabelledSession> {
  const sessions = await pond.sessions()
  return await withFullSessionId(pond, asked, async (id) => {
    if ((await sessions.session(id)) === undefined) {
      throw new PondError("not_found", `No session ${id} in this store. \`pond list\` prints the ids of sessions.`, {
        details: { session_id: id },
      })
    }
    const labels = labelsIn(request)
    if (labels.length > 0) await sessions.labels.add(id, labels)
    return { session_id: id, ...labelView((await sessions.labels.of([id])).get(id)) }
  })
}

/** An empty name or note takes it away. */
function labelsIn({ name, star, unstar, tags = [], untag = [], note }: Omit<LabelRequest, "session_id">): Label[] {
  if (star === true && unstar === true) throw new PondError("validation_failed", "Give either star or unstar.")
  const both = tags.filter((tag) => untag.includes(tag))
  if (both.length > 0) throw new PondError("validation_failed", `"${both[0]}" cannot be added and removed at once.`)
  return [
    ...(name === undefined ? [] : [{ field: "name" as const, value: name.trim(), isSet: name.trim() !== "" }]),
    ...(star === true ? [{ field: "star" as const, value: "", isSet: true }] : []),
    ...(unstar === true ? [{ field: "star" as const, value: "", isSet: false }] : []),
    ...tags.map((tag) => ({ field: "tag" as const, value: tag.trim(), isSet: true })),
    ...untag.map((tag) => ({ field: "tag" as const, value: tag.trim(), isSet: false })),
    ...(note === undefined ? [] : [{ field: "note" as const, value: note.trim(), isSet: note.trim() !== "" }]),
  ].filter(({ field, value }) => field !== "tag" || value !== "")
}

function labelView({ name, note, isStarred = false, tags = [] }: Partial<SessionLabels> = {}) {
  return { ...given("name", name), starred: isStarred, tags: [...tags], ...given("note", note) }
}

/** The sessions with the asked labels; nothing where none are asked for. */
export async function labelledSessions(
  sessions: Sessions,
  { tag, starred }: { readonly tag?: string | undefined; readonly starred?: boolean | undefined },
): Promise<readonly string[] | undefined> {
  if (tag === undefined && starred !== true) return undefined
  const labels = await sessions.labels.of()
  return [...labels].flatMap(([id, own]) =>
    (tag === undefined || own.tags.includes(tag)) && (starred !== true || own.isStarred) ? [id] : [],
  )
}

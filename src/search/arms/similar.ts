/** Messages like a given one: by its stored vector, or without embeddings by its words. */
import { PondError } from "../../model/errors.ts"
import { eq } from "../../substrate/filter.ts"
import { HIT_COLUMNS, toHit } from "../hit.ts"
import { parseQuery } from "../query-shape.ts"
import { fuse, keyOfHit } from "../rank/fusion.ts"
import { CANDIDATES, type Found, type SearchState } from "../search-state.ts"
import { similarByMeaning } from "./meaning.ts"
import { findWords } from "./words.ts"

const SIMILAR_UNITS_MAX = 2_000
const SAME_ID_MAX = 20

function compareIds(one: { readonly session_id: string }, other: { readonly session_id: string }): number {
  return Number(one.session_id > other.session_id) - Number(one.session_id < other.session_id)
}

export async function findSimilar({ context, where, whereOfVectors }: SearchState, messageId: string): Promise<Found> {
  const { sessions } = context
  const columns = [...HIT_COLUMNS, "lane"] as const
  const sources = await sessions.tables.messages.read({ columns, where: eq("id", messageId), limit: SAME_ID_MAX })
  // An id is unique only within its session. What a fork copied is the same message.
  const owners = sources.filter(({ lane }) => lane !== "replay").toSorted((one, other) => compareIds(one, other))
  const [source] = owners.length > 0 ? owners : sources
  if (source === undefined) {
    throw new PondError("not_found", `No message ${messageId} to find similar ones.`, {
      details: { message_id: messageId },
    })
  }
  const hit = toHit(source, 0)
  const own = keyOfHit(hit)
  const others = owners.slice(1).map(({ session_id }) => session_id)
  const byVector = await similarByMeaning(context, hit, whereOfVectors, CANDIDATES)
  const arms =
    byVector === undefined
      ? await findWords(sessions, parseQuery(hit.text.slice(0, SIMILAR_UNITS_MAX)), { where, limit: CANDIDATES })
      : [byVector]
  return {
    ranked: fuse(arms).filter((fused) => keyOfHit(fused.hit) !== own),
    arms: [byVector === undefined ? "words" : "meaning"],
    remarks: [
      ...(byVector === undefined ? ["meaning: no embeddings; similar messages are found by words"] : []),
      ...(others.length > 0
        ? [`messages like ${messageId} of ${others.join(", ")}; used the one of ${hit.sessionId}`]
        : []),
    ],
    asked: arms,
  }
}

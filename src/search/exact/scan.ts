/** The modes exact and pattern: a walk through the store from the newest message back, as far as its time allows. */
import type { CursorState } from "../answer/cursor.ts"
import { describeUnscanned } from "../answer/remarks.ts"
import { refuseLongPattern } from "../refusals.ts"
import type { SearchRequest } from "../request.ts"
import type { Found, SearchState } from "../search-state.ts"
import { countLargeValues, scanTimeline } from "./timeline.ts"

const WALK_BUDGET_MS = 2_000
/** A later page may take longer, so that it finds what the first page found even on a busy machine. */
const WALK_AGAIN_BUDGET_MS = 20_000
/** Hits that a scan collects: at least this many, and three per session of a page. */
const WALKED_MIN = 100
const WALKED_PER_GROUP = 3
/** The most that any page asks for. A cursor that says more was not written by pond. */
const WALKED_MAX = 600
/** Time limit for counting values too large for a scan. */
const LARGE_BUDGET_MS = 300

export async function scanExact(
  { request, context, where, whereOfTools, cursor }: SearchState,
  mode: "exact" | "pattern",
): Promise<Found> {
  if (mode === "pattern") refuseLongPattern(request.query)
  const limit = scanLimit(request, cursor)
  const answer = await scanTimeline(context.sessions, context.clock, {
    needle: mode === "exact" ? { text: unquoted(request.query) } : { pattern: request.query },
    isCaseBlind: false,
    where,
    whereOfTools,
    scope: request.scope,
    isOfRecords: request.scope === "all",
    limit,
    ...(cursor?.place === undefined ? {} : { from: cursor.place }),
    budgetMs: (cursor?.shown ?? 0) > 0 ? WALK_AGAIN_BUDGET_MS : WALK_BUDGET_MS,
    signal: context.signal,
  })
  const elsewhere = await countLargeValues(
    context.sessions,
    { where, whereOfTools, scope: request.scope },
    LARGE_BUDGET_MS,
  )
  const remarks =
    elsewhere === 0 ? [] : [`${elsewhere ?? "any"} values larger than 4 MiB were not searched; read them with pond get`]
  const unseen = describeUnscanned(answer, limit)
  if (unseen !== undefined) remarks.push(`${unseen} (cursor)`)
  // A scan that continues another one has not found all matches even at its end: the newer ones are on earlier pages.
  const isCut = answer.goesOn !== undefined || cursor?.place !== undefined
  // A scan yields hits newest first, and its scores say so.
  const ranked = answer.hits.map((hit, index) => ({
    hit: { ...hit, score: 1 },
    score: 1 - index / (2 * limit),
    shares: [1],
  }))
  return {
    ranked,
    arms: [mode],
    remarks,
    asked: [{ name: mode, hits: answer.hits, weight: 1, isCut, plan: answer.plan }],
    walked: limit,
    ...(answer.goesOn === undefined ? {} : { goesOn: answer.goesOn }),
  }
}

/** A later page repeats the scan of the first one, because the cursor counts in its hits. */
function scanLimit({ limit }: SearchRequest, cursor: CursorState | undefined): number {
  const own = Math.max(WALKED_MIN, limit * WALKED_PER_GROUP)
  return Math.min(WALKED_MAX, cursor === undefined || cursor.shown === 0 ? own : (cursor.walked ?? own))
}

function unquoted(query: string): string {
  return /^"(.+)"$/s.exec(query)?.[1] ?? query
}

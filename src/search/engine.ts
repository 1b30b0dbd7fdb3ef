/**
 * Runs a search from request to answer: chooses the arms, fuses their rankings and picks what to show. Every arm
 * applies the whole filter before it ranks, and the answer says what was not searched.
 */
import type { Embedder } from "../embeddings/embedder.ts"
import type { Sessions } from "../sessions/store.ts"
import { and, type Filter, range, stored } from "../substrate/filter.ts"
import { type CursorState, readCursor, writeCursor } from "./answer/cursor.ts"
import { explainRankings } from "./answer/explain.ts"
import { type Group, groupByConversation, groupByRoot, readFileNames, readSessionFacts } from "./answer/groups.ts"
import { describeTools, describeUnheld, describeUnmatched, excludedOf } from "./answer/remarks.ts"
import type { SearchAnswer } from "./answer/search-answer.ts"
import { findLiteral, type Literal } from "./arms/literal.ts"
import { meaningAlone, meaningBeside } from "./arms/meaning.ts"
import { findSimilar } from "./arms/similar.ts"
import { findWords, LETTER_WORDS_MAX } from "./arms/words.ts"
import { scanExact } from "./exact/scan.ts"
import type { TimelinePosition } from "./exact/timeline.ts"
import { parseQuery } from "./query-shape.ts"
import { bestFirst, boostNeighbours, type FusedHit, fuse, mergeRankings, type WeightedArm } from "./rank/fusion.ts"
import { leaveOutWords, raiseByPlace } from "./rank/place.ts"
import { rerankLate } from "./rank/rerank-late.ts"
import { searchInRounds } from "./rank/rounds.ts"
import { raiseBySession } from "./rank/session-evidence.ts"
import { spokenPlaces } from "./rank/spoken-places.ts"
import { emptyQuery, noMeaningOfTools } from "./refusals.ts"
import type { ArmName, SearchRequest } from "./request.ts"
import { lanesOf, scopeFilter } from "./scope-filter.ts"
import { CANDIDATES, type Found, type SearchContext, type SearchState } from "./search-state.ts"

export async function search(request: SearchRequest, context: SearchContext): Promise<SearchAnswer> {
  const cursor = readCursor(request)
  await context.sessions.opened()
  const [begun, scope] = await Promise.all([
    cursor ?? beginAnswer(request, context),
    scopeFilter(context.sessions, request.filters),
  ])
  const shape = parseQuery(request.query)
  const asking = { request, context, ...filtersOf(scope, begun, cursor !== undefined), shape, cursor }
  const found = await fillPage(asking)
  const wanted = found.ranked.filter(({ score }) => score >= (request.filters.minScore ?? 0))
  const ranked = request.sort === "recency" ? wanted.toSorted(newestFirst) : wanted
  const shown = cursor?.shown ?? 0
  const groups = await groupsOf(request, context.sessions, ranked)
  const page = groups.slice(shown, shown + request.limit)
  const shownHits = page.flatMap(({ hits }) => hits.map(({ hit }) => hit))
  const [facts, files, missing] = await Promise.all([
    readSessionFacts(context.sessions, [
      ...new Set([...page.map(({ rootId }) => rootId), ...shownHits.map(({ sessionId }) => sessionId)]),
    ]),
    readFileNames(context.sessions, shownHits),
    ranked.length === 0 ? describeUnmatched(context.sessions, request.filters) : [],
  ])
  return {
    groups: page,
    ranked,
    isCut: found.asked.some((arm) => arm.isCut === true),
    facts,
    files,
    shape,
    nextCursor: writeNextCursor(request, {
      ...begun,
      shown: shown + page.length,
      groups: groups.length,
      from: found.walkedTo ?? cursor?.place,
      walked: found.walked,
      goesOn: found.goesOn,
    }),
    explanation: request.explain === true ? await explainRankings(found.asked) : undefined,
    searched: {
      arms: found.arms,
      scope: request.scope,
      excluded: [...missing, ...excludedOf(request), ...found.remarks],
      understood: found.understood ?? [],
    },
  }
}

type Begun = Pick<CursorState, "asOfMicros" | "messages" | "parts">

async function beginAnswer({ scope }: SearchRequest, { sessions: { tables }, clock }: SearchContext): Promise<Begun> {
  const asOfMicros = BigInt(Math.trunc(clock.nowMs())) * 1000n
  const [messages, parts] = await Promise.all([
    tables.messages.nextRowNumber(),
    scope === "conversation" ? undefined : tables.parts.nextRowNumber(),
  ])
  return { asOfMicros, messages, parts }
}

/** Excludes rows stored after the answer began. The first page excludes them too, or later pages would skip hits. */
function filtersOf(scope: Filter, { asOfMicros, messages, parts }: Begun, isLater: boolean) {
  return {
    where: and(scope, stored(0, messages)),
    whereOfTools: parts === undefined ? scope : and(scope, stored(0, parts)),
    whereOfVectors: isLater ? and(scope, range("ingested_at", { to: asOfMicros })) : scope,
  }
}

// --- Arms -------------------------------------------------------------------------------------------------------------

async function fillPage(asking: SearchState): Promise<Found> {
  const { request, context, cursor } = asking
  const first = await findHits(asking)
  // A scan has its own continuation. An answer sorted by time must not start again with newer hits.
  const isTimed = request.sort === "recency" && !first.asked.some(({ sinceMicros }) => sinceMicros !== undefined)
  if (request.group === "none" || first.walked !== undefined || isTimed) return first
  const goal = (cursor?.shown ?? 0) + request.limit
  return await searchInRounds(first, {
    isEnough: async (ranked) => (await groupsOf(request, context.sessions, ranked)).length > goal,
    minScore: request.filters.minScore ?? 0,
    again: (outside) =>
      findHits({
        ...asking,
        where: and(asking.where, outside),
        whereOfTools: and(asking.whereOfTools, outside),
        whereOfVectors: and(asking.whereOfVectors, outside),
        again: { sinceMicros: first.walkedTo?.beforeMicros },
      }),
  })
}

/** A message that its client appended again says at least as much there: the earlier one would be a second hit of the same. */
async function findHits(asking: SearchState): Promise<Found> {
  const { context, request } = asking
  const all = await findWordings(asking)
  const kept = leaveOutWords(all.ranked, request.without ?? [])
  // A scan has the order of time.
  const placed = all.walked === undefined ? await raiseByPlace(context.sessions, request, kept) : undefined
  const raised = placed?.ranked ?? kept
  const gone = await context.sessions.superseded(raised.map(({ hit }) => hit.sessionId))
  const ranked = raised.filter(({ hit }) => !gone.has(hit.sessionId, hit.messageId))
  return {
    ...all,
    ranked: placed !== undefined && request.group === "session" ? raiseBySession(ranked) : ranked,
    understood: placed?.understood ?? [],
  }
}

/** Each wording is a separate search; a hit of several counts by the best and a little by the others. */
async function findWordings(asking: SearchState): Promise<Found> {
  const { wordings = [] } = asking.request
  const first = await findAll(asking)
  if (wordings.length === 0) return first
  const found = [first]
  for (const query of wordings)
    found.push(await findAll({ ...asking, request: { ...asking.request, query }, shape: parseQuery(query) }))
  const [walkedTo] = found
    .flatMap((each) => each.walkedTo ?? [])
    .toSorted((left, right) => (left.beforeMicros > right.beforeMicros ? -1 : 1))
  return {
    ranked: mergeRankings(found.map(({ ranked }) => ranked)),
    arms: [...new Set(found.flatMap(({ arms }) => arms))],
    remarks: [...new Set(found.flatMap(({ remarks }) => remarks))],
    asked: found.flatMap(({ asked }) => asked),
    ...(walkedTo === undefined ? {} : { walkedTo }),
  }
}

async function findAll(asking: SearchState): Promise<Found> {
  const { request } = asking
  if (request.similarTo !== undefined) return await findSimilar(asking, request.similarTo)
  if (request.query.trim() === "") throw emptyQuery()
  if (request.mode === "exact" || request.mode === "pattern") return await scanExact(asking, request.mode)
  if (request.mode === "meaning") return await findByMeaning(asking)
  // Tool output is not in the word index, so it is searched literally.
  if (request.scope === "tools") return await scanExact(asking, "exact")
  return await findRanked(asking)
}

async function findRanked(asking: SearchState): Promise<Found> {
  const { request, context, where, whereOfVectors, shape } = asking
  const newest = recencyMode(asking)
  const words = await findWords(context.sessions, shape, { where, limit: CANDIDATES, ...(newest && { newest }) })
  const arms: WeightedArm[] = [...words]
  const names: ArmName[] = ["words"]
  const remarks: string[] = []
  let reranker: Embedder | undefined
  const literal = request.mode === "auto" ? await askLiteral(asking, words) : undefined
  if (literal !== undefined) {
    arms.push(literal.arm)
    names.push("exact")
  }
  const since = literal?.sinceMicros
  if (request.scope === "all") remarks.push(...describeTools(request.mode, since))
  remarks.push(...describeUnheld(shape, words, literal))
  if (request.mode === "auto") {
    const meaning = await meaningBeside(context, shape, words, whereOfVectors)
    if (typeof meaning === "string") remarks.push(meaning)
    else if (meaning !== undefined) {
      arms.push(meaning.arm)
      names.push("meaning")
      reranker = meaning.reranker
    }
  }
  const newestSince = words[0]?.sinceMicros
  const ranked = fuse(arms).filter(({ hit, shares }) => {
    if (newest === "alone") return (shares[0] ?? 0) > 0
    return newestSince === undefined || hit.timestampMicros >= newestSince
  })
  const isAbout = shape.wordCount > LETTER_WORDS_MAX
  const boosted = isAbout ? boostNeighbours(ranked, await spokenPlaces(context.sessions, ranked)) : ranked
  return {
    ranked: reranker !== undefined && newest === undefined ? await readAgain(asking, reranker, boosted) : boosted,
    arms: names,
    remarks,
    asked: arms,
    ...(since === undefined ? {} : { walkedTo: { beforeMicros: since, skip: 0 } }),
  }
}

async function readAgain(
  { request, context, shape }: SearchState,
  reranker: Embedder,
  ranked: readonly FusedHit[],
): Promise<readonly FusedHit[]> {
  const placed = await raiseByPlace(context.sessions, request, ranked)
  return await rerankLate(reranker, shape, ranked, placed?.ranked)
}

/**
 * Where no message has the words, they may be parts of longer ones. Such a search is reported only if it finds
 * something.
 */
async function askLiteral(asking: SearchState, words: readonly WeightedArm[]): Promise<Literal | undefined> {
  const { request, context, where, whereOfTools, shape, cursor } = asking
  const again = asking.again ?? (cursor && { sinceMicros: cursor.place?.beforeMicros })
  const isUnheard = words.every(({ hits }) => hits.length === 0) && shape.wordCount <= LETTER_WORDS_MAX
  const literal = await findLiteral(context.sessions, context.clock, {
    shape,
    where,
    whereOfTools,
    scope: request.scope,
    isUnheard,
    ...(again === undefined ? {} : { again }),
    signal: context.signal,
  })
  const isAsked = request.scope === "all" || shape.quoted.length + shape.identifiers.length > 0
  return isAsked || (literal?.arm.hits.length ?? 0) > 0 ? literal : undefined
}

/** In later rounds everything is older than the newest hits, so no other arm may put a hit before them. */
function recencyMode({ request, again }: SearchState): "first" | "alone" | undefined {
  if (request.sort !== "recency") return undefined
  return again === undefined ? "first" : "alone"
}

async function findByMeaning({ request, context, whereOfVectors }: SearchState): Promise<Found> {
  if (request.scope === "tools") throw noMeaningOfTools()
  const arm = await meaningAlone(context, request.query, whereOfVectors, CANDIDATES)
  return { ranked: fuse([arm]), arms: ["meaning"], remarks: [], asked: [arm] }
}

// --- The answer -------------------------------------------------------------------------------------------------------

async function groupsOf(request: SearchRequest, sessions: Sessions, ranked: readonly FusedHit[]): Promise<Group[]> {
  if (request.group === "session") {
    // Without sub-agents every conversation is its own root.
    const isFlat = lanesOf(request.filters).every((lane) => lane === "main")
    const conversations = await sessions.conversations()
    return isFlat ? groupByConversation(ranked, conversations) : await groupByRoot(sessions, ranked, conversations)
  }
  return ranked.map((fused) => ({ rootId: fused.hit.sessionId, hits: [fused], matched: 1 }))
}

interface PageEnd extends Begun {
  readonly shown: number
  readonly groups: number
  /** Where the scan behind these groups started, and where the next one continues. */
  readonly from: TimelinePosition | undefined
  readonly walked: number | undefined
  readonly goesOn: TimelinePosition | undefined
}

function writeNextCursor(
  request: SearchRequest,
  { groups, from, walked, goesOn, ...state }: PageEnd,
): string | undefined {
  // A scan that got less far than the one before shows nothing, and is repeated from the same position.
  const isShort = goesOn !== undefined && state.shown > groups
  if (state.shown < groups || isShort) return writeCursor(request, { ...state, place: from, walked })
  if (goesOn === undefined) return undefined
  return writeCursor(request, { ...state, shown: 0, place: goesOn, walked: undefined })
}

function newestFirst(left: FusedHit, right: FusedHit): number {
  if (left.hit.timestampMicros !== right.hit.timestampMicros)
    return left.hit.timestampMicros > right.hit.timestampMicros ? -1 : 1
  return bestFirst(left, right)
}

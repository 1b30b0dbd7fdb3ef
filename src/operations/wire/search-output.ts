/** What a search answers: found sessions and messages as documents, each text cut to the room that the answer has. */
import { type Static, Type } from "typebox"
import { enginePattern, firstMatch, wordsOfPattern } from "../../model/engine-pattern.ts"
import { textOfMicros } from "../../model/timestamp.ts"
import type { Clock } from "../../platform/host/clock.ts"
import type { Group } from "../../search/answer/groups.ts"
import type { SearchAnswer } from "../../search/answer/search-answer.ts"
import { cutHit, type SnippetQuery } from "../../search/answer/snippet.ts"
import { type FusedHit, keyOfHit } from "../../search/rank/fusion.ts"
import type { SearchRequest } from "../../search/request.ts"
import type { Sessions } from "../../sessions/store.ts"
import { given } from "../fields.ts"
import { closedObject } from "../operation.ts"
import { shortIds } from "../store/session-ids.ts"
import { PartSummary, PROMPTS_ONLY, promptsOnly, titleText } from "./views.ts"

/** Characters of all hits together: what an agent can afford to read. */
export const ANSWER_BUDGET = 60_000
const HIT_UNITS_MAX = 1_200
const HIT_UNITS_MIN = 160
const FIRST_SHARE = 3
/** So many words of a query tell where a text is about it. */
const WINDOW_TERMS_MAX = 64

const Match = closedObject({
  message_id: Type.String(),
  /** With `for_reading`: the beginning of the id that no other message has. */
  short_id: Type.Optional(Type.String()),
  session_id: Type.String(),
  ordinal: Type.Integer(),
  role: Type.String(),
  timestamp: Type.String(),
  score: Type.Number(),
  /** How a long message begins, where `text` is from further on. */
  prefix: Type.Optional(Type.String()),
  text: Type.String(),
  truncated: Type.Boolean(),
  parts_summary: Type.Optional(Type.Array(PartSummary)),
  /** With `explain`: what each ranking gave, in their order. */
  shares: Type.Optional(Type.Array(Type.Number())),
})
export type Match = Static<typeof Match>

const FoundSession = closedObject({
  session_id: Type.String(),
  /** With `for_reading`: the beginning of the id that no other session has. */
  short_id: Type.Optional(Type.String()),
  project: Type.String(),
  source_agent: Type.String(),
  prompts_only: PROMPTS_ONLY,
  title: Type.Optional(Type.String()),
  session_messages_count: Type.Integer(),
  matched_message_count: Type.Integer(),
  newer_messages_count: Type.Integer(),
  matches: Type.Array(Match),
})
export type FoundSession = Static<typeof FoundSession>

export const SearchOutput = closedObject({
  sessions: Type.Optional(Type.Array(FoundSession)),
  /** With `group: "none"`. */
  matches: Type.Optional(Type.Array(Match)),
  matched_total: Type.Integer(),
  /** More match: these are the best of them, or in the modes exact and pattern those that this page and the next show of them. */
  matched_more: Type.Optional(Type.Boolean()),
  has_more: Type.Boolean(),
  next_cursor: Type.Optional(Type.String()),
  searched: closedObject({
    arms: Type.Array(Type.String()),
    scope: Type.String(),
    excluded: Type.Array(Type.String()),
    understood: Type.Optional(
      Type.Array(Type.String(), {
        description: "Operators, projects and dates that the query was understood to have.",
      }),
    ),
  }),
  explanation: Type.Optional(
    closedObject({
      rankings: Type.Array(
        closedObject({
          name: Type.String(),
          weight: Type.Number(),
          hits: Type.Integer(),
          plan: Type.Optional(Type.String()),
        }),
      ),
    }),
  ),
})
export type SearchOutput = Static<typeof SearchOutput>

type Searched = SearchOutput["searched"]

/** Newest first and to the end, instead of the best ones. */
export function isWalk({ arms }: Searched): boolean {
  return arms.every((arm) => arm === "exact" || arm === "pattern")
}

/** A walk through what tools did finds their calls and results one by one. */
export function unitOf(searched: Searched): "message" | "place" {
  return searched.scope !== "conversation" && isWalk(searched) ? "place" : "message"
}

/** Of what tools did, and of what agents of a session said, its own messages are no measure. */
export function isOfItsMessages({ session_id, matches }: FoundSession, { scope }: Searched): boolean {
  return scope === "conversation" && matches.every((own) => own.session_id === session_id)
}

// --- For readers ------------------------------------------------------------------------------------------------------

/** Titles are the last that clients recorded, or the first words of the user: a session is never told by its id alone. */
export async function forReading(store: Sessions, output: SearchOutput): Promise<SearchOutput> {
  const found = output.sessions ?? []
  const hits = output.matches ?? found.flatMap(({ matches }) => matches)
  const messageIds = [...new Set(hits.map((hit) => hit.message_id))]
  const [words, sessionIds, shortMessages, labels] = await Promise.all([
    store.firstWords(found.filter(({ title }) => title === undefined).map((session) => session.session_id)),
    shortIds(
      store,
      "sessions",
      found.map((session) => session.session_id),
    ),
    shortIds(store, "messages", messageIds),
    store.labels.of(found.map((session) => session.session_id)),
  ])
  const shorten = (hit: Match) => ({ ...hit, ...given("short_id", shortMessages.get(hit.message_id)) })
  return {
    ...output,
    ...(output.matches === undefined ? {} : { matches: output.matches.map(shorten) }),
    ...(output.sessions === undefined
      ? {}
      : {
          sessions: found.map((session) => ({
            ...session,
            ...given("short_id", sessionIds.get(session.session_id)),
            ...given(
              "title",
              titleText(labels.get(session.session_id)?.name ?? session.title ?? words.get(session.session_id)),
            ),
            matches: session.matches.map(shorten),
          })),
        }),
  }
}

// --- The answer -------------------------------------------------------------------------------------------------------

/** Looking for where a pattern matches takes no longer than that for all hits; the others are shown by its words. */
const PLACES_BUDGET_MS = 200

/** What the texts of hits are shown around. */
function soughtOf({ mode, query, wordings = [] }: SearchRequest, { shape }: SearchAnswer, clock: Clock): SnippetQuery {
  const texts = [shape.text, ...wordings].flatMap((each) => each.split(" "))
  const terms = [...shape.quoted, ...texts].slice(0, WINDOW_TERMS_MAX)
  if (mode !== "pattern") return { terms }
  const pattern = enginePattern(query)
  const words = wordsOfPattern(query).slice(0, WINDOW_TERMS_MAX)
  if (pattern === undefined) return { terms: words }
  const untilMs = clock.monotonicMs() + PLACES_BUDGET_MS
  return { terms: words, placeIn: (text) => firstMatch(text, pattern, () => clock.monotonicMs() > untilMs) }
}

interface Room {
  readonly clock: Clock
  readonly textBudget: number
}

export function outputOf(request: SearchRequest, answer: SearchAnswer, { clock, textBudget }: Room): SearchOutput {
  const shown = answer.groups.flatMap(({ hits }) => hits)
  // The first hit is the one that is read: it has three times the room of another.
  const share = textBudget / (shown.length + FIRST_SHARE - 1)
  const unitsOf = (isFirst: boolean) =>
    Math.max(HIT_UNITS_MIN, Math.min(HIT_UNITS_MAX, Math.floor(isFirst ? FIRST_SHARE * share : share)))
  const summaries = answer.files
  const sought = soughtOf(request, answer, clock)
  const { explanation } = answer
  const matchOf = (fused: FusedHit): Match => ({
    ...match(fused, { sought, unitsMax: unitsOf(fused === shown[0]), summaries }),
    ...(explanation === undefined ? {} : { shares: fused.shares.map(rounded) }),
  })
  return {
    ...(request.group === "none"
      ? { matches: shown.map(matchOf) }
      : { sessions: answer.groups.map((group) => foundSession(group, answer, matchOf)) }),
    matched_total: answer.ranked.length,
    ...(answer.isCut ? { matched_more: true } : {}),
    has_more: answer.nextCursor !== undefined,
    ...(answer.nextCursor === undefined ? {} : { next_cursor: answer.nextCursor }),
    searched: {
      arms: [...answer.searched.arms],
      scope: answer.searched.scope,
      excluded: [...answer.searched.excluded],
      understood: [...answer.searched.understood],
    },
    ...(explanation === undefined ? {} : { explanation: { rankings: [...explanation.rankings] } }),
  }
}

function foundSession(
  { rootId, hits, matched }: Group,
  { facts }: SearchAnswer,
  matchOf: (fused: FusedHit) => Match,
): FoundSession {
  const own = facts.get(rootId)
  const newest = Math.max(-1, ...hits.filter(({ hit }) => hit.sessionId === rootId).map(({ hit }) => hit.ordinal))
  const spoken = own?.spoken ?? []
  return {
    session_id: rootId,
    project: own?.project ?? "",
    source_agent: own?.sourceAgent ?? "",
    ...promptsOnly({ source_agent: own?.sourceAgent ?? "" }),
    ...(own?.title === undefined ? {} : { title: own.title }),
    session_messages_count: spoken.length,
    matched_message_count: matched,
    newer_messages_count: newest < 0 ? 0 : spoken.filter((ordinal) => ordinal > newest).length,
    matches: hits.map(matchOf),
  }
}

function rounded(score: number): number {
  return Math.round(score * 10_000) / 10_000
}

interface Showing {
  readonly sought: SnippetQuery
  readonly unitsMax: number
  readonly summaries: ReadonlyMap<string, readonly string[]>
}

function match({ hit, score }: FusedHit, { sought, unitsMax, summaries }: Showing): Match {
  const shown = cutHit(hit.text, sought, unitsMax)
  const files = summaries.get(keyOfHit(hit))
  return {
    message_id: hit.messageId,
    session_id: hit.sessionId,
    ordinal: hit.ordinal,
    role: hit.role,
    timestamp: textOfMicros(hit.timestampMicros),
    score: rounded(score),
    ...given("prefix", shown.prefix),
    text: shown.text,
    truncated: shown.isCut,
    ...(files === undefined ? {} : { parts_summary: files.map((label) => ({ kind: "file", label })) }),
  }
}

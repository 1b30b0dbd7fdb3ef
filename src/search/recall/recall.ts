/**
 * What old sessions said that a prompt needs, and nothing at all where they said nothing: the gate of `pond hook`. A
 * search always answers with its best hits; here a hit must prove that it bears on the prompt, because nobody asked.
 *
 * Candidates come from the word index, and only their own texts are judged: they must share telling words with the
 * prompt in the same few sentences (`passage.ts`), more of them where they are of another project or no decision.
 */
import type { Sessions } from "../../sessions/store.ts"
import type { Lane } from "../../sessions/tables.ts"
import { and, eq, type Filter, isIn, not } from "../../substrate/filter.ts"
import { HIT_COLUMNS, toHit } from "../hit.ts"
import { isWithin } from "../rank/place.ts"
import type { Hit } from "../request.ts"
import { type Concepts, proseOf, readConcepts, weighByRarity } from "./concepts.ts"
import { bestPassage, type Passage } from "./passage.ts"

export interface RecallRequest {
  readonly prompt: string
  /** The directory that the session works in. */
  readonly near: string
  /** Sessions that the model knows already: the running one and its relatives. */
  readonly withoutSessions?: readonly string[]
  readonly withoutMessages?: readonly string[]
  readonly limit: number
}

export interface Recalled {
  readonly hit: Hit
  readonly passage: Passage
  readonly project: string
  readonly isOwnProject: boolean
}

/**
 * What a passage must share with the prompt, in weights of words, and which share of what the prompt is about. Measured
 * on 24 planted decisions and 797 prompts of real sessions: `test/search/recall-gate.test.ts` holds the first.
 */
const GATE = {
  /** A decision that a person typed in the same project. */
  decision: { score: 1.25, coverage: 0.2 },
  /** Anything else that a person typed there. */
  statement: { score: 2, coverage: 0.3 },
  /** A decision that a model wrote down. */
  conclusion: { score: 2.6, coverage: 0.35 },
  /** Anything else that was said in the same project. */
  own: { score: 4, coverage: 0.4 },
  /** A decision of another project. */
  foreign: { score: 5, coverage: 0.6 },
}
/** For a decision that is about one of the shared words, and does not mention it by the way. */
const SUBJECT_BONUS = 0.3
/** A longer text of a person was pasted: a report, a log, what a model said. */
const TYPED_UNITS_MAX = 700
/** A passage that says little but what the prompt says, such as the same request of last week, tells nothing. */
const NOVELTY_MIN = 0.35
/** Of a long prompt so many of its weightiest words are what it is about. */
const TOPIC_WORDS = 8
const CANDIDATES = 60
/** A passage that is clearly weaker than the best one is left out. */
const LEAST_SHARE = 0.7

export async function findRelevant(sessions: Sessions, request: RecallRequest): Promise<readonly Recalled[]> {
  const read = readConcepts(request.prompt)
  const terms = [...read.words.values()].flatMap((each) => each.terms)
  if (terms.length === 0) return []
  const { messages, of } = await sessions.words.frequencies(terms)
  const concepts = weighByRarity(read, messages, (asked) => Math.max(...asked.map((term) => of.get(term) ?? 0)))
  const topic = topicWeight(concepts)
  const where = candidateFilter(request)
  const rows = await sessions.words.search(
    { terms: terms.filter((term) => of.has(term)) },
    { columns: HIT_COLUMNS, where, limit: CANDIDATES },
  )
  const near = await nearCandidates(sessions, request, { terms, where, of })
  const seen = new Set<number>()
  const hits = [...near, ...rows].flatMap((row) => {
    if (seen.has(row._row)) return []
    seen.add(row._row)
    return [toHit(row, row._score)]
  })
  const projects = await sessions.answers.projectsOf([...new Set(hits.map(({ sessionId }) => sessionId))])
  const told = new Set(request.withoutMessages)
  const passed = hits.flatMap((hit): Recalled[] => {
    if (told.has(hit.messageId)) return []
    const prose = proseOf(hit.text)
    const isTyped = hit.role === "user" && prose.length <= TYPED_UNITS_MAX
    const passage = bestPassage(prose, concepts)
    if (passage === undefined) return []
    const project = projects.get(hit.sessionId) ?? ""
    const isOwnProject = isWithin(request.near, project)
    return isRelevant(passage, { isOwnProject, isTyped, topic }) ? [{ hit, passage, project, isOwnProject }] : []
  })
  return pick(passed, request.limit)
}

interface Gate {
  readonly score: number
  readonly coverage: number
}

interface Standing {
  readonly isOwnProject: boolean
  readonly isTyped: boolean
  readonly topic: number
}

function isRelevant(passage: Passage, { isOwnProject, isTyped, topic }: Standing): boolean {
  const { score, isDecision, isSubject, shared, novelty } = passage
  if (novelty < NOVELTY_MIN) return false
  const passes = (gate: Gate, bonus = 0) => score + bonus >= gate.score && score >= topic * gate.coverage
  if (shared.length < 2) return false
  if (!isOwnProject) return isDecision && passes(GATE.foreign)
  if (isTyped) return passes(isDecision ? GATE.decision : GATE.statement, isSubject ? SUBJECT_BONUS : 0)
  return passes(isDecision ? GATE.conclusion : GATE.own)
}

function topicWeight({ words }: Concepts): number {
  const weights = [...words.values()].map(({ weight }) => weight).toSorted((left, right) => right - left)
  return weights.slice(0, TOPIC_WORDS).reduce((sum, weight) => sum + weight, 0)
}

function candidateFilter({ withoutSessions = [] }: RecallRequest): Filter {
  const known = isIn("lane", ["main"] satisfies Lane[])
  const said = isIn("role", ["user", "assistant"])
  return withoutSessions.length === 0 ? and(known, said) : and(known, said, not(isIn("session_id", withoutSessions)))
}

/** The project's own messages, which others with the same words would crowd out of the best ones. */
async function nearCandidates(
  sessions: Sessions,
  { near }: RecallRequest,
  { terms, where, of }: { terms: readonly string[]; where: Filter; of: ReadonlyMap<string, number> },
) {
  const own = (await sessions.answers.projects()).filter((project) => isWithin(near, project))
  const known = terms.filter((term) => of.has(term))
  if (own.length === 0 || known.length === 0) return []
  const inProject = own.length === 1 ? eq("project", own[0] as string) : isIn("project", own)
  return await sessions.words.search(
    { terms: known },
    { columns: HIT_COLUMNS, where: and(where, inProject), limit: CANDIDATES },
  )
}

/** The own project first, then the best; what several messages say is told once, as it was said last. */
function pick(passed: readonly Recalled[], limit: number): readonly Recalled[] {
  const ranked = passed.toSorted(
    (left, right) =>
      Number(right.isOwnProject) - Number(left.isOwnProject) ||
      right.passage.score - left.passage.score ||
      (right.hit.timestampMicros > left.hit.timestampMicros ? 1 : -1),
  )
  const best = ranked[0]?.passage.score ?? 0
  const told = new Set<string>()
  return ranked
    .filter(({ passage }) => {
      const isNew = !told.has(passage.text)
      told.add(passage.text)
      return isNew && passage.score >= best * LEAST_SHARE
    })
    .slice(0, limit)
}

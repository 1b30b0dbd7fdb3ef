/**
 * Which sentences of a text bear on a prompt, and how strongly. Words that a long message has here and there mean
 * nothing, so what counts stands together: up to three sentences in a row.
 */
import { type Concepts, isTelling, readWords, stemOf } from "./concepts.ts"

export interface Passage {
  readonly text: string
  /** The weights of the telling words and of the pairs that the prompt and the passage share. */
  readonly score: number
  readonly shared: readonly string[]
  /** The share of its telling words that the prompt does not have. */
  readonly novelty: number
  /** It says how something is to be done, or why: a decision, a rule, a cause. */
  readonly isDecision: boolean
  /** One of the shared words is what its first sentence is about. */
  readonly isSubject: boolean
}

const TEXT_UNITS_MAX = 40_000
const SENTENCES_MAX = 3
const PASSAGE_UNITS_MAX = 480
/** Two words side by side in both texts are also a term: "rate limit", "audit log". */
const PAIR_WEIGHT = 0.7
/** Words that tell less count in pairs alone: many of them together still mean nothing. */
const WEIGHT_MIN = 0.35
/** What a sentence is about stands at its beginning. */
const SUBJECT_WORDS = 4
/** Of two passages that share as much, the shorter one. */
const LENGTH_COST = 0.06
const SENTENCE_END = /(?<=[.!?。！？])\s+|\n+/

/** What a sentence that settles something says: that it was settled, that it must be so, why, or what happened otherwise. */
const DECISION = new RegExp(
  [
    "\\b(?:we|let's|let us|i|they|team)\\s+(?:have\\s+|had\\s+|all\\s+|now\\s+)?(?:decided?|agreed|settled?|chose|choose|use|want|wants|prefer|keep|went with|only)\\b",
    "\\b(?:decision|decided|agreed|settle|rule|convention|policy|from now on|no more|no longer|on purpose|going away|deprecated)\\b",
    "\\b(?:must|mustn't|never|always|don't|do not|should not|shouldn't|has to|have to|needs? (?:a|an|to)|(?:goes?|go) through|requires?|only|everywhere)\\b",
    "\\b(?:because|so that|since|otherwise|instead of|rather than|in favou?r of|as [\\w ]{3,24} asked|, so|, not)\\b",
    "\\b(?:turned out|root cause|caused by|the (?:fix|cause|reason|trick) (?:is|was)|broke|blew up|blocked|took [\\w ]{3,20} down|dropped|crashed|lost|too (?:expensive|slow|large|fragile))\\b",
    "^(?:use|prefer|keep|avoid|leave|stick to)\\b",
    "(?:決定|必ず|禁止|因为|必须|不要|决定|原因)",
  ].join("|"),
  "i",
)

export function isDecision(text: string): boolean {
  return DECISION.test(text)
}

export function bestPassage(text: string, concepts: Concepts): Passage | undefined {
  const sentences = text
    .slice(0, TEXT_UNITS_MAX)
    .split(SENTENCE_END)
    .map((sentence) => sentence.trim())
    .filter(Boolean)
  const found = sentences.map((sentence) => sharedIn(sentence, concepts))
  let best: { readonly at: number; readonly score: number } | undefined
  for (const [at, own] of found.entries()) {
    if (own.size === 0) continue
    const shared = new Set<string>()
    for (const [step] of windowFrom(sentences, at).entries()) {
      for (const each of found[at + step] ?? []) shared.add(each)
      const score = weightOf(shared, concepts.words) - LENGTH_COST * step
      if (score > (best?.score ?? 0)) best = { at, score }
    }
  }
  if (best === undefined) return undefined
  const { at, score } = best
  // What follows a sentence belongs to it: the reason, or what to do instead.
  const window = windowFrom(sentences, at)
  const shared = new Set(window.flatMap((_, step) => [...(found[at + step] ?? [])]))
  const told = window.join(" ")
  return {
    text: told,
    score,
    shared: [...shared],
    novelty: noveltyOf(told, concepts.words),
    isDecision: isDecision(told),
    isSubject: hasSubject(sentences[at] ?? "", shared, concepts.words),
  }
}

function windowFrom(sentences: readonly string[], at: number): readonly string[] {
  const taken: string[] = []
  let units = 0
  for (const sentence of sentences.slice(at, at + SENTENCES_MAX)) {
    units += sentence.length
    if (taken.length > 0 && units > PASSAGE_UNITS_MAX) break
    taken.push(sentence)
  }
  return taken
}

function hasSubject(sentence: string, shared: ReadonlySet<string>, words: Concepts["words"]): boolean {
  const first = [...readWords(sentence)].filter(isTelling).slice(0, SUBJECT_WORDS).map(stemOf)
  return first.some((stem) => shared.has(stem) && (words.get(stem)?.weight ?? 0) >= WEIGHT_MIN)
}

function noveltyOf(text: string, words: Concepts["words"]): number {
  const own = new Set([...readWords(text)].filter(isTelling).map(stemOf))
  const known = [...own].filter((stem) => words.has(stem)).length
  return own.size === 0 ? 0 : 1 - known / own.size
}

function sharedIn(sentence: string, { words, pairs }: Concepts): ReadonlySet<string> {
  const shared = new Set<string>()
  let before: string | undefined
  for (const word of readWords(sentence)) {
    const stem = isTelling(word) ? stemOf(word) : undefined
    if (stem !== undefined && words.has(stem)) shared.add(stem)
    if (stem !== undefined && before !== undefined && pairs.has(`${before} ${stem}`)) shared.add(`${before} ${stem}`)
    before = stem
  }
  return shared
}

function weightOf(shared: ReadonlySet<string>, words: Concepts["words"]): number {
  let sum = 0
  for (const each of shared) {
    const weight = words.get(each)?.weight ?? PAIR_WEIGHT
    if (weight >= WEIGHT_MIN) sum += weight
  }
  return sum
}

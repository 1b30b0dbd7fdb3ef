/**
 * What a prompt is about: its telling words and the pairs of words that stand side by side, each with a weight. A word
 * tells the more, the fewer messages have it; words that every programmer types every day tell little in any store, also
 * in a new one that holds too few messages to say so.
 */
import { findWordSpans, foldText } from "../../sessions/words/terms/tokenizer.ts"

export interface Concepts {
  /** By stem. */
  readonly words: ReadonlyMap<string, Concept>
  /** Two stems that stand side by side, joined by a space. */
  readonly pairs: ReadonlySet<string>
}

export interface Concept {
  /** Terms of the word index that stand for it. */
  readonly terms: readonly string[]
  /** Between 0 and 1. */
  readonly weight: number
}

/** So much of a text is looked at. */
const TEXT_UNITS_MAX = 40_000
/** A prompt is read so far: behind that stand pasted logs and files. */
const PROMPT_UNITS_MAX = 4_000
const CONCEPTS_MAX = 60
const STEM_UNITS = 6
const WORD_UNITS_MIN = 3

/** Words of a language that say nothing of a topic. */
const STOP_WORDS = new Set(
  `a about above add added after again all already also always an and another any anything are as at away back be because
  been before behind being below both but by call can cannot come could current currently did different do does doing done
  don down during each either else even ever every everything far few find first fix for found from get gets getting give
  given go going good got had has have having he help her here his how however i if in instead into is isn it its just
  keep know last later least less let lets like little long look looks lot made make makes making many may maybe me might
  more most much must my need needed needs never new next no not nothing now of off ok okay old on once one only onto or
  other our out over own per please put quite rather really right run said same say see seem seems set she should show
  since so some something still such sure take tell than thank thanks that the their them then there these they thing
  things think this those through to together too try trying two under until up upon us use used user uses using very via
  want wanted wants was way we well were what when where whether which while who whole whose why will with within without
  work works working would wrong yes yet you your`.split(/\s+/),
)

/** Words of the trade: they occur in every task, so that sharing one of them means little. */
const TRADE_WORDS = [
  "answer api app application argument array backend branch browser bug build button change check class clean clear click",
  "client code column command comment commit component config configuration console content copy create css data database",
  "date debug default define delete dependency description design detail dev develop directory display document",
  "documentation dom edit element empty end endpoint entry env environment error example exception execute existing export",
  "expression fail failing failure feature field file filter fine folder form format frontend function generate git global",
  "handle handler header hello html http id implement import improve include index info input insert install interface",
  "issue item javascript job json language layout level library line link list load local loop main merge",
  "message method mode model module move name navigation node null number object open operation option order output package",
  "page parameter parse part pass path plan print problem process product program project prompt property provide public",
  "pull push python query question quick react read readme refactor reference release remove rename render replace",
  "repo repository request require reset resolve response result return review role root rule run save screen script",
  "search section select send server service session setting setup shell show simple size small sort source split sql",
  "start state statement status step stop store string structure style suite summary support switch sync system table tag",
  "task template terminal test text time title todo tool track tree type typescript ui unit update",
  "upgrade url usage user utils validate value variable verify version view warning web website window word write",
].join(" ")
/** Measured on the tasks of `test/search/recall-gate.test.ts`. */
const TRADE_WEIGHT = 0.3

const TRADE_STEMS = new Set(TRADE_WORDS.split(/\s+/).map(stemOf))

/**
 * A beginning that the forms of a word share. As long as the longer prefixes of the word index, so that it can say how
 * many messages have it.
 */
export function stemOf(word: string): string {
  const folded = foldText(word)
  const short = folded.replace(folded.length > 4 ? /(?:ies|ing|ed|es|s|e|y)$/ : /(?<=..[^s])s$/, "")
  return (short.length >= WORD_UNITS_MIN ? short : folded).slice(0, STEM_UNITS)
}

/** Addresses, and the directories of a path: two texts that share them need not be about the same thing. */
const ADDRESS = /\b[a-z][a-z0-9+.-]{0,20}:\/\/\S+|(?:~|\.{0,2})\/(?:[\w.@+-]{1,64}\/)+|\b(?:[\w.@+-]{1,64}\/){2,}/gi
/** Hashes, ids and times. */
const NUMBER = /^(?:[0-9a-f]*\d[0-9a-f]*|\d+\w{0,2})$/i

/** "end-to-end" says more than its words, two of which say nothing. */
const COMPOUND = /^\p{L}+(?:-\p{L}+)+/u
const COMPOUND_UNITS_MAX = 60
/** S3, CI, DB. */
const SHORT_NAME = /^\p{Lu}[\p{Lu}\d]$/u

/** The words of a text in order; an identifier is followed by its parts. */
export function* readWords(text: string): Generator<string> {
  const plain = text.replace(ADDRESS, (address) => " ".repeat(address.length))
  for (const { start, end } of findWordSpans(plain)) {
    const word = plain.slice(start, end)
    yield word
    const compound = COMPOUND.exec(plain.slice(start, start + COMPOUND_UNITS_MAX))?.[0]
    if (compound !== undefined && !/[\w-]/.test(plain[start - 1] ?? "")) yield compound.replaceAll("-", "")
    const parts = word.split(/_|(?<=\p{Ll})(?=\p{Lu})/u)
    if (parts.length > 1) yield* parts.filter(Boolean)
  }
}

export function isTelling(word: string): boolean {
  if (word.length < WORD_UNITS_MIN) return SHORT_NAME.test(word)
  return !STOP_WORDS.has(word.toLowerCase()) && !NUMBER.test(word)
}

const CODE_BLOCK = /```[\s\S]*?(?:```|$)|<(\w[\w-]{0,40})>[\s\S]{0,4000}?<\/\1>/g
/** A line of a log, a stack trace, a table or code, where signs and digits are a quarter of what is no space. */
const SIGNS_SHARE = 0.25

/** What a person typed, without what was pasted. */
export function proseOf(prompt: string): string {
  return prompt
    .slice(0, TEXT_UNITS_MAX)
    .replace(CODE_BLOCK, "\n")
    .split("\n")
    .filter((line) => {
      const dense = line.replace(/\s+/g, "")
      return (dense.match(/[^\p{L}\p{M}.,;:!?'"()/-]/gu)?.length ?? 0) <= dense.length * SIGNS_SHARE
    })
    .join("\n")
}

/** Before the store is asked how rare the words are. */
export function readConcepts(prompt: string): Concepts {
  const words = new Map<string, Concept>()
  const pairs = new Set<string>()
  let before: string | undefined
  for (const word of readWords(proseOf(prompt).slice(0, PROMPT_UNITS_MAX))) {
    if (!isTelling(word)) {
      before = undefined
      continue
    }
    const stem = stemOf(word)
    const known = words.get(stem)
    if (known === undefined && words.size >= CONCEPTS_MAX) break
    const terms = new Set([...(known?.terms ?? [stem, `${stem}*`]), foldText(word)])
    words.set(stem, { terms: [...terms], weight: TRADE_STEMS.has(stem) ? TRADE_WEIGHT : 1 })
    if (before !== undefined && before !== stem) pairs.add(`${before} ${stem}`)
    before = stem
  }
  return { words, pairs }
}

/** So few messages say nothing of how rare a word is; in more, one in so many has a word that tells all it can. */
const MESSAGES_MIN = 200

/** With what the store knows. A word that every 14th message has tells half as much as one that every 200th has. */
export function weighByRarity(
  { words, pairs }: Concepts,
  messages: number,
  countOf: (terms: readonly string[]) => number,
): Concepts {
  if (messages < MESSAGES_MIN) return { words, pairs }
  const weighed = [...words].map(([stem, { terms, weight }]): [string, Concept] => {
    const rarity = Math.log(messages / Math.max(countOf(terms), 1)) / Math.log(MESSAGES_MIN)
    return [stem, { terms, weight: weight * Math.min(1, Math.max(0, rarity)) }]
  })
  return { words: new Map(weighed), pairs }
}

/**
 * Compounds: German, Dutch, Swedish, Finnish and others write several words as one. Where nobody wrote a word of the
 * query, its members are asked for, and the words that end with it: `Festplattenverschlüsselung` and `Verschlüsselung`
 * lead to each other. Which beginnings and endings are words is told by the store itself, so no language is listed.
 */
import type { Sessions } from "../../sessions/store.ts"

/** Shorter endings (`ation`, `tion`) are words by chance. */
const MEMBER_LENGTH_MIN = 5
/** What remains of a compound without a member. */
const REST_LENGTH_MIN = 3
/** An ending of more words than this says nothing. */
const COMPOUNDS_MAX = 30
const LETTERS = /^\p{L}+$/u

/** The words of the store that are members of these words, or compounds of which these are the last member. */
export async function compoundTerms(sessions: Sessions, words: readonly string[]): Promise<string[]> {
  const asked = words.filter((word) => LETTERS.test(word) && word.length >= MEMBER_LENGTH_MIN)
  if (asked.length === 0) return []
  const [members, list] = await Promise.all([sessions.words.known(asked.flatMap(possibleMembers)), sessions.wordList()])
  const compounds = asked.flatMap(
    (word) => list?.termsHolding(word, { isStart: false, isEnd: true }, COMPOUNDS_MAX) ?? [],
  )
  return [...new Set([...members, ...compounds])]
}

/** The beginnings and endings of a word that leave a rest. */
function possibleMembers(word: string): string[] {
  const members: string[] = []
  for (let length = MEMBER_LENGTH_MIN; length <= word.length - REST_LENGTH_MIN; length++)
    members.push(word.slice(0, length), word.slice(-length))
  return members
}

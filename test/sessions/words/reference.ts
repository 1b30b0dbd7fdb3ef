/** What the index of words is held against: every message looked at, and scored as it stands in books. */
import { expect } from "bun:test"
import { type Random, seededRandom } from "../../../src/platform/host/random.ts"
import type { Sessions } from "../../../src/sessions/store.ts"
import { indexTerms, queryTerms } from "../../../src/sessions/words/terms/tokenizer.ts"
import { eq, type Filter, isIn, matches, not, or, range, startsWith } from "../../../src/substrate/filter.ts"
import { said, session } from "../support.ts"

export const WORDS = Array.from({ length: 400 }, (_, index) => `w${index.toString(36)}`)

/** The first words are in most messages, the last in few. */
function sentence(own: Random, count: number): string {
  return Array.from({ length: count }, () => WORDS[Math.floor(WORDS.length * own.next() ** 3)]).join(" ")
}

export async function write(sessions: Sessions, from: number, to: number): Promise<void> {
  await sessions.write(
    Array.from({ length: to - from }, (_, index) => {
      const number = from + index
      const own = seededRandom(number + 1)
      return {
        session: session(`s${number}`, { project: `/p${number % 3}` }),
        entries: Array.from({ length: 10 }, (_each, ordinal) =>
          said(`s${number}`, ordinal, sentence(own, 5 + Math.floor(own.next() * 30)), {
            id: `s${number}m${ordinal}`,
            role: ordinal % 2 === 0 ? "user" : "assistant",
          }),
        ),
      }
    }),
  )
}

interface Stored {
  readonly id: string
  readonly terms: ReadonlySet<string>
  readonly passes: boolean
}

/** Every message, and whether the store itself lets it pass. */
async function everything(sessions: Sessions, where: Filter): Promise<Stored[]> {
  const { messages } = sessions.tables
  const passing = new Set((await messages.read({ columns: ["id"], where })).map(({ id }) => id))
  const rows = await messages.read({ columns: ["session_id", "id", "ordinal", "role", "search_text"] })
  const bySession = Map.groupBy(
    rows.toSorted((left, right) => left.ordinal - right.ordinal),
    (row) => row.session_id,
  )
  return rows.map((row) => {
    const own = bySession.get(row.session_id) ?? []
    const terms = termsMet.get(row.id) ?? termsAmong(own, own.indexOf(row))
    termsMet.set(row.id, terms)
    return { id: row.id, terms, passes: passing.has(row.id) }
  })
}

/** By the id of a message, which says what is in it. */
const termsMet = new Map<string, ReadonlySet<string>>()

interface Said {
  readonly role: string
  readonly search_text: string | null
}

/** What a short message is found by: its own words, and those of up to three before it until there are 600 characters. */
function termsAmong(all: readonly Said[], at: number): ReadonlySet<string> {
  const texts = all.slice(Math.max(0, at - 3), at + 1).map(({ role, search_text }) => `${role}: ${search_text}`)
  const own = texts.pop() ?? ""
  let left = 600 - own.length
  const before = texts.toReversed().map((text) => {
    const taken = text.slice(0, Math.max(0, Math.min(300, left)))
    left -= taken.length
    return taken
  })
  return new Set([own, ...before].flatMap((text) => indexTerms(text)))
}

/** BM25 as it stands in books, over all of them. */
function scored(all: readonly Stored[], terms: readonly string[], every: boolean): Map<string, number> {
  const mean = all.reduce((sum, each) => sum + each.terms.size, 0) / all.length
  const rarities = new Map<string, number>()
  for (const term of terms) {
    const having = all.filter((each) => each.terms.has(term)).length
    rarities.set(term, Math.log((all.length - having + 0.5) / (having + 0.5) + 1))
  }
  const scores = new Map<string, number>()
  for (const message of all.filter(({ passes }) => passes)) {
    const held = terms.filter((term) => message.terms.has(term))
    if (held.length === 0 || (every && held.length < terms.length)) continue
    const weight = 2.2 / (1 + 1.2 * (0.25 + (0.75 * message.terms.size) / mean))
    scores.set(message.id, weight * held.reduce((sum, term) => sum + (rarities.get(term) ?? 0), 0))
  }
  return scores
}

const EVERYTHING: Filter = { op: "and", filters: [] }
const FILTERS: readonly Filter[] = [
  EVERYTHING,
  eq("project", "/p1"),
  isIn("role", ["user"]),
  not(eq("project", "/p1")),
  or(startsWith("session_id", "s1"), eq("role", "assistant")),
  range("ordinal", { from: 3, to: 5 }),
  // Not known to the index itself.
  matches("project", "p[12]$"),
  eq("id", "s3m4"),
]

export async function agrees(sessions: Sessions, queries: readonly string[]): Promise<number> {
  let compared = 0
  for (const where of FILTERS) {
    const all = await everything(sessions, where)
    for (const query of queries) {
      const terms = queryTerms(query)
      for (const every of [false, true]) {
        const scores = scored(all, terms, every)
        const wanted = [...scores].toSorted(([, left], [, right]) => right - left)
        const limit = 20
        const found = await sessions.words.search({ terms, every }, { columns: ["id"], where, limit })
        expect(found).toHaveLength(Math.min(limit, wanted.length))
        for (const [index, { id, _score }] of found.entries()) {
          expect(_score).toBeCloseTo(wanted[index]?.[1] ?? 0, 3)
          expect(_score).toBeCloseTo(scores.get(id) ?? 0, 3)
        }
        compared += found.length
      }
    }
  }
  return compared
}

const random = seededRandom(5)
export const QUERIES = [
  ...Array.from({ length: 6 }, () => sentence(random, 3)),
  "w0",
  "w1 w2",
  "nothing of it",
  "w0 w9z",
]

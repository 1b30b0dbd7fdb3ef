/** To the letter among common words: nothing is ranked, few rows are read, and page by page all of it is found. */
import { afterAll, beforeAll, expect, test } from "bun:test"
import { systemClock } from "../../src/platform/host/clock.ts"
import { seededRandom } from "../../src/platform/host/random.ts"
import { findPrefiltered } from "../../src/search/exact/prefilter.ts"
import { scanTimeline, type TimelinePosition, type TimelineRequest } from "../../src/search/exact/timeline.ts"
import type { Sessions } from "../../src/sessions/store.ts"
import { isIn } from "../../src/substrate/filter.ts"
import { type MemorySessions, memorySessions, said, session } from "../sessions/support.ts"

const { signal } = new AbortController()
const SESSIONS = 8
const PER_SESSION = 200
/** Those behind have words that no list of words knows yet. */
const LISTED = (SESSIONS - 1) * PER_SESSION
const WORDS = ["alpha", "beta", "gamma", "delta"]
const where = isIn("lane", ["main"])

interface Said {
  readonly id: string
  readonly session: number
  readonly ordinal: number
  readonly text: string
  readonly ms: number
}

/** Every message has all of the words, in some order; some share their moment, and later ones are not always newer. */
const ALL: readonly Said[] = (() => {
  const random = seededRandom(9)
  return Array.from({ length: SESSIONS * PER_SESSION }, (_, at) => {
    const words = WORDS.map((word) => ({ word, rank: random.next() })).toSorted((left, right) => left.rank - right.rank)
    return {
      id: `m${at}`,
      session: Math.floor(at / PER_SESSION),
      ordinal: at % PER_SESSION,
      text: `${at < LISTED ? "x" : "y"}${words.map(({ word }) => word).join(" ")}s ${at}`,
      ms: Date.UTC(2026, 0, 1) + Math.floor(random.next() * 600) * 60_000,
    }
  })
})()

function newestFirst(left: Said, right: Said): number {
  return right.ms - left.ms || left.session - right.session || right.ordinal - left.ordinal
}

const wanted = (holds: (text: string) => boolean) =>
  ALL.filter(({ text }) => holds(text))
    .toSorted(newestFirst)
    .map(({ id }) => id)

let place: MemorySessions
beforeAll(async () => {
  place = memorySessions()
  const batches = Array.from({ length: SESSIONS }, (_, own) => ({
    session: session(`s${own}`),
    entries: ALL.filter((each) => each.session === own).map(({ ordinal, text, id, ms }) =>
      said(`s${own}`, ordinal, text, { id, timestamp: new Date(ms).toISOString() }),
    ),
  }))
  // The last is in no segment and in no list of words.
  await place.sessions.write(batches.slice(0, -1))
  await place.sessions.maintain("all")
  await place.sessions.write(batches.slice(-1))
})
afterAll(() => place[Symbol.dispose]())

interface Counted {
  readonly sessions: Sessions
  rows: number
  rankings: number
  scans: number
}

function counting(sessions: Sessions): Counted {
  const { words, tables } = sessions
  const counted: Counted = {
    rows: 0,
    rankings: 0,
    scans: 0,
    sessions: {
      ...sessions,
      words: {
        ...words,
        search: (...request) => {
          counted.rankings += 1
          return words.search(...request)
        },
      },
      tables: {
        ...tables,
        messages: {
          ...tables.messages,
          takeByNumber: (rows, columns) => {
            counted.rows += rows.length
            return tables.messages.takeByNumber(rows, columns)
          },
          readWithin: (...request) => {
            counted.scans += 1
            return tables.messages.readWithin(...request)
          },
        },
      },
    },
  }
  return counted
}

const asked = (needle: TimelineRequest["needle"], limit: number, from?: TimelinePosition): TimelineRequest => ({
  needle,
  isCaseBlind: false,
  where,
  whereOfTools: where,
  scope: "conversation",
  limit,
  ...(from === undefined ? {} : { from }),
  budgetMs: 60_000,
  signal,
})

test.each<[string, TimelineRequest["needle"], (text: string) => boolean]>([
  ["whole words", { text: "alpha beta gamma" }, (text) => text.includes("alpha beta gamma")],
  ["parts of words", { text: "pha beta gam" }, (text) => text.includes("pha beta gam")],
  ["a pattern", { pattern: "beta (?:gamma|delta)s" }, (text) => /beta (?:gamma|delta)s/.test(text)],
  ["a pattern with a sure part", { pattern: "alpha beta \\w+s \\d+" }, (text) => /alpha beta \w+s \d+/.test(text)],
  ["nothing", { text: "alpha alpha beta" }, () => false],
])("%s: all pages together are what a look at every text finds", async (_, needle, holds) => {
  for (const limit of [7, 60, 5_000]) {
    const found: string[] = []
    let from: TimelinePosition | undefined
    for (let pages = 0; pages < ALL.length; pages++) {
      const answer = await scanTimeline(place.sessions, systemClock, asked(needle, limit, from))
      found.push(...answer.hits.map(({ messageId }) => messageId))
      from = answer.goesOn
      if (from === undefined) break
    }
    expect(found).toEqual(wanted(holds))
  }
})

test.each<[string, TimelineRequest["needle"]]>([
  ["text", { text: "pha beta gam" }],
  ["pattern", { pattern: "alpha beta gam\\w+" }],
])(
  "for the first page of a %s of common words a few of the newest rows are read, and nothing is ranked",
  async (_, needle) => {
    const counted = counting(place.sessions)
    const { hits, goesOn } = await scanTimeline(counted.sessions, systemClock, asked(needle, 5))
    expect(hits.map(({ messageId }) => messageId)).toEqual(
      wanted((text) => text.includes("alpha beta gam")).slice(0, 5),
    )
    expect(goesOn).toBeDefined()
    expect(counted).toMatchObject({ rankings: 0, scans: 0 })
    expect(counted.rows).toBeGreaterThan(0)
    expect(counted.rows).toBeLessThan(ALL.length / 8)
  },
)

test("when its time is over it says from which moment on it did not look, and what is newer is all there", async () => {
  const request = { stretch: { text: "alpha beta", isCaseBlind: false }, where, limit: 5_000 }
  const found = await findPrefiltered(place.sessions, { ...request, limit: 1_000, isOver: () => true })
  const { hits = [], before } = found ?? {}
  const beforeMs = Number(before) / 1_000
  const newer = ALL.filter(({ ms, text }) => ms >= beforeMs && text.includes("alpha beta")).toSorted(newestFirst)
  expect(hits.map(({ messageId }) => messageId)).toEqual(newer.map(({ id }) => id))
  expect(hits.length).toBeGreaterThan(0)
  const all = await findPrefiltered(place.sessions, { ...request, isOver: () => false })
  expect(hits.length).toBeLessThan(all?.hits.length ?? 0)
  expect(all?.before).toBeUndefined()
})

/** The walk back through time: all of it, newest first, however its rows lie in time and however little time it is given. */
import { afterAll, beforeAll, expect, test } from "bun:test"
import type { Entry } from "../../src/model/session.ts"
import { systemClock } from "../../src/platform/host/clock.ts"
import {
  createTimeWindows,
  END_OF_TIME,
  type TimeWindow,
  type TimeWindows,
} from "../../src/search/exact/time-windows.ts"
import { scanTimeline, type TimelinePosition, type TimelineRequest } from "../../src/search/exact/timeline.ts"
import type { Scope } from "../../src/search/request.ts"
import { isIn } from "../../src/substrate/filter.ts"
import { said, session, type TestSessions, testSessions } from "../sessions/support.ts"

const { signal } = new AbortController()
const MESSAGES = 500

/** A year of talk, a burst in one moment, one from before there were clients, one from a clock that goes wrong. */
function momentOf(at: number): string {
  if (at < 60) return "2026-02-03T04:05:06.789Z"
  if (at === 60) return "1971-01-01T00:00:00.000Z"
  if (at === 61) return "2199-12-31T23:59:59.999Z"
  return new Date(Date.UTC(2025, 0, 1) + at * at * 100_000).toISOString()
}

function entryOf(at: number): Entry {
  const text = at % 3 === 0 ? `a needle-${at % 7} of ${at}` : `hay ${at}`
  const entry = said(`s${at % 5}`, Math.floor(at / 5), text, { id: `m${at}`, timestamp: momentOf(at) })
  const { provenance: _, ...common } = { ...entry.parts[0], id: `m${at}:1` } as Record<string, unknown>
  const result = {
    ...common,
    provenance: "injected",
    type: "tool_result",
    call_id: "c",
    is_failure: false,
    result: text,
  }
  const { text: __, ...part } = result as Record<string, unknown>
  return { message: entry.message, parts: [...entry.parts, part] } as unknown as Entry
}

let place: TestSessions
beforeAll(async () => {
  place = testSessions()
  const all = Array.from({ length: MESSAGES }, (_, at) => at)
  await place.sessions.write(
    Array.from({ length: 5 }, (_, own) => ({
      session: session(`s${own}`),
      entries: all.filter((at) => at % 5 === own).map(entryOf),
    })),
  )
})
afterAll(() => place[Symbol.dispose]())

/** Every hit of every page, as its message. */
async function pagesOf(request: Partial<TimelineRequest>): Promise<string[]> {
  const found: string[] = []
  let from: TimelinePosition | undefined
  for (let pages = 0; pages <= MESSAGES; pages++) {
    const answer = await scanTimeline(place.sessions, systemClock, {
      needle: { pattern: "needle-[0-3]" },
      isCaseBlind: false,
      where: isIn("lane", ["main"]),
      whereOfTools: isIn("lane", ["main"]),
      scope: "conversation",
      limit: 17,
      budgetMs: 60_000,
      windowRows: 16,
      signal,
      ...request,
      ...(from === undefined ? {} : { from }),
    })
    found.push(...answer.hits.map(({ messageId }) => messageId))
    if (answer.goesOn === undefined) return found
    from = answer.goesOn
  }
  throw new Error("the walk has no end")
}

function wanted(holds: (text: string) => boolean): string[] {
  return Array.from({ length: MESSAGES }, (_, at) => at)
    .filter((at) => at % 3 === 0 && holds(`a needle-${at % 7} of ${at}`))
    .toSorted((left, right) => {
      const [one, other] = [Date.parse(momentOf(left)), Date.parse(momentOf(right))]
      if (one !== other) return other - one
      return left % 5 !== right % 5 ? (left % 5) - (right % 5) : right - left
    })
    .map((at) => `m${at}`)
}

const WANTED = wanted((text) => /needle-[0-3]/.test(text))

test.each<[Scope, number]>([
  ["conversation", 17],
  ["conversation", 500],
  ["tools", 17],
  ["tools", 1],
])("every place is found once and newest first, in %s, %d at a time", async (scope, limit) => {
  expect(WANTED.length).toBeGreaterThan(80)
  expect(await pagesOf({ scope, limit })).toEqual(WANTED)
})

test("with no time at all each answer still goes on from where the last one ended, and nothing is missed", async () => {
  for (const scope of ["conversation", "tools"] as const)
    expect(await pagesOf({ scope, budgetMs: 0, limit: 100 })).toEqual(WANTED)
})

/** Each window that was asked for at one place, as if all of them took too long. */
async function triedAt(windows: TimeWindows, to: bigint, isTimeOver: boolean): Promise<TimeWindow[]> {
  const tried: TimeWindow[] = []
  for (let more = true; more; ) {
    const window = await windows.before(to)
    if (window !== undefined) tried.push(window)
    more = window !== undefined && windows.shrink(window, isTimeOver)
  }
  return tried
}

test.each([true, false])(
  "what takes too long is given up for less, and only so often (no time left: %p)",
  async (isOver) => {
    let most = 0
    for (const rowsFirst of [4_096, 64, 16]) {
      const windows = createTimeWindows(place.sessions, systemClock, { isOfTools: false, shareMs: 1, rowsFirst })
      let to: bigint | undefined = END_OF_TIME
      while (to !== undefined) {
        const tried = await triedAt(windows, to, isOver)
        // The last may be as large as the one before, and is looked at however long that takes.
        const rows = tried.slice(0, -1).map((window) => window.rows)
        expect(rows).toEqual([...new Set(rows)].toSorted((left, right) => right - left))
        expect(tried.length).toBeLessThan(isOver ? 3 : 6)
        most = Math.max(most, tried.at(-1)?.rows ?? 0)
        to = tried.at(-1)?.from
      }
    }
    // Those of one moment cannot be cut.
    expect(most).toBeGreaterThanOrEqual(60)
  },
)

test("what the index narrows goes on as a walk does, page by page", async () => {
  await place.sessions.maintain("all")
  for (const windowRows of [16, 4_096])
    for (const text of ["needle-3", "needle-1 of 3", "eedl", "absent"])
      expect(await pagesOf({ needle: { text }, limit: 7, windowRows })).toEqual(wanted((each) => each.includes(text)))
})

test("a walk stops when its time is over, and says where", async () => {
  let nowMs = 0
  const clock = {
    ...systemClock,
    monotonicMs: () => {
      nowMs += 30
      return nowMs
    },
  }
  const answer = await scanTimeline(place.sessions, clock, {
    needle: { pattern: "(nowhere)" },
    isCaseBlind: false,
    where: isIn("lane", ["main"]),
    whereOfTools: isIn("lane", ["main"]),
    scope: "conversation",
    limit: 10,
    budgetMs: 100,
    windowRows: 16,
    signal,
  })
  expect(answer.hits).toEqual([])
  expect(answer.goesOn?.beforeMicros).toBeGreaterThan(BigInt(Date.UTC(2025, 0, 1)) * 1000n)
  expect(nowMs).toBeLessThan(200)
})

test("a long pause before the newest message makes no window of everything behind it", async () => {
  using paused = testSessions()
  const old = Array.from({ length: 1_000 }, (_, second) => new Date(Date.UTC(2023, 10, 15, 0, 0, second)).toISOString())
  await paused.sessions.write([
    { session: session("new"), entries: [said("new", 0, "hello", { timestamp: "2026-01-01T00:00:00.000Z" })] },
    ...Array.from({ length: 50 }, (_, number) => ({
      session: session(`old-${number}`, { created_at: old[number * 20] ?? "" }),
      entries: old
        .slice(number * 20, number * 20 + 20)
        .map((timestamp, ordinal) => said(`old-${number}`, ordinal, "hello", { timestamp })),
    })),
  ])
  const windows = createTimeWindows(paused.sessions, systemClock, { isOfTools: false, shareMs: 100, rowsFirst: 40 })
  const rows: number[] = []
  let to: bigint | undefined = END_OF_TIME
  while (to !== undefined && rows.length < 4) {
    const window = await windows.before(to)
    if (window === undefined) break
    rows.push(window.rows)
    to = window.from
  }
  expect(rows).toHaveLength(4)
  // 40 wanted, and half more at most. It was all of the thousand.
  expect(Math.max(...rows)).toBeLessThanOrEqual(60)
})

test("behind a pause a window has as many sessions as it may have rows, and each row is in one window", async () => {
  using paused = testSessions()
  const secondsOf = (number: number) =>
    Array.from({ length: 5 }, (_, at) => new Date(Date.UTC(2023, 10, 15, 0, number, at)))
  await paused.sessions.write([
    {
      session: session("new", { created_at: "2026-01-01T00:00:00.000Z" }),
      entries: [said("new", 0, "hello", { timestamp: "2026-01-01T00:00:00.000Z" })],
    },
    ...Array.from({ length: 200 }, (_, number) => {
      const times = secondsOf(number).map((time) => time.toISOString())
      return {
        session: session(`old-${number}`, { created_at: times[0] ?? "" }),
        entries: times.map((timestamp, ordinal) => said(`old-${number}`, ordinal, "hello", { timestamp })),
      }
    }),
  ])
  const windows = createTimeWindows(paused.sessions, systemClock, { isOfTools: false, shareMs: 100, rowsFirst: 120 })
  const rows: number[] = []
  let to: bigint | undefined = END_OF_TIME
  while (to !== undefined) {
    const window = await windows.before(to)
    if (window === undefined) break
    rows.push(window.rows)
    windows.took(window, window.rows * (100 / 120), Number.MAX_SAFE_INTEGER)
    to = window.from
  }
  // 27 sessions of five messages. One session after another, a list at a million messages took 40 ms more.
  expect(rows.slice(0, 2)).toEqual([1, 27 * 5])
  expect(rows.reduce((sum, each) => sum + each, 0)).toBe(1_001)
})

/** Page by page through an answer while others store: every place once, whatever came meanwhile. */
import { expect, test } from "bun:test"
import type { Entry } from "../../src/model/session.ts"
import { perform } from "../../src/operations/operation.ts"
import { search } from "../../src/operations/wire/search.ts"
import type { SearchOutput } from "../../src/operations/wire/search-output.ts"
import { systemClock } from "../../src/platform/host/clock.ts"
import { openSessions } from "../../src/sessions/store.ts"
import { said, session } from "../sessions/support.ts"
import { memoryPond, type TestPond } from "./support.ts"

/** Each message is said with a needle, and did three things that hold one, all of a session in one moment. */
function batchOf(id: string) {
  const entries = Array.from({ length: 5 }, (_, ordinal) => {
    const { message, parts } = said(id, ordinal, `needle ${ordinal} of ${id}`, { id: `${id}:${ordinal}` })
    const common = { session_id: id, message_id: message.id, provenance: "injected", options: {} }
    const results = [0, 1, 2].map((at) => ({
      ...common,
      id: `${message.id}:r${at}`,
      type: "tool_result",
      call_id: "c",
      is_failure: false,
      result: `needle ${ordinal}.${at} of ${id}`,
    }))
    return { message, parts: [...parts, ...results] } as unknown as Entry
  })
  return { session: session(id), entries }
}

/** The texts of every page; something is stored after the first two. */
async function pagesOf(box: TestPond, asked: object): Promise<string[]> {
  const texts: string[] = []
  let cursor: string | undefined
  for (let page = 0; page < 100; page++) {
    const answer = (await box.run(search, {
      ...asked,
      group: "none",
      ...(cursor === undefined ? {} : { cursor }),
    })) as SearchOutput
    texts.push(...(answer.matches ?? []).map(({ text }) => text))
    cursor = answer.next_cursor
    if (cursor === undefined) return texts
    if (page < 2) await box.place.sessions.write([batchOf(`later${page}`)])
  }
  throw new Error("the answer has no end")
}

const inOrder = (texts: readonly string[]) => texts.toSorted((left, right) => (left < right ? -1 : 1))

const SESSIONS = ["one", "three", "two"]
const SAID = SESSIONS.flatMap((id) => [0, 1, 2, 3, 4].map((ordinal) => `needle ${ordinal} of ${id}`))
const DONE = SESSIONS.flatMap((id) =>
  [0, 1, 2, 3, 4].flatMap((ordinal) => [0, 1, 2].map((at) => `needle ${ordinal}.${at} of ${id}`)),
)

test.each([
  ["exact", "tools", DONE],
  ["pattern", "tools", DONE],
  ["auto", "tools", DONE],
  ["exact", "all", [...SAID, ...DONE]],
  ["exact", "conversation", SAID],
  ["words", "conversation", SAID],
] as const)("%s in %s: every place is on one page, and nothing that came later is on any", async (mode, scope, all) => {
  using box = memoryPond()
  await box.place.sessions.write(SESSIONS.map(batchOf))
  const shown = await pagesOf(box, { query: "needle", mode, scope, limit: 7 })
  expect(inOrder(shown)).toEqual(inOrder(all))
})

test.each(["words", "exact"])("%s: so it is where a machine stores whose clock is ahead", async (mode) => {
  using box = memoryPond()
  const ahead = openSessions(box.place.sessions.store, {
    clock: { ...systemClock, nowMs: () => systemClock.nowMs() + 3_600_000 },
    host: "ahead",
  })
  await ahead.write(SESSIONS.map(batchOf))
  const shown = await pagesOf(box, { query: "needle", mode, limit: 7 })
  expect(inOrder(shown)).toEqual(inOrder(SAID))
})

test.each(["session", "none"])("by %s: pages of one answer may differ in size", async (group) => {
  using box = memoryPond()
  const ids = Array.from({ length: 400 }, (_, at) => `s${at}`)
  const batches = ids.map((id) => ({ session: session(id), entries: [said(id, 0, "a needle", { id: `of-${id}` })] }))
  await box.place.sessions.write(batches)
  const shown: string[] = []
  let cursor: string | undefined
  for (const limit of [120, 3, 50, 200, 200]) {
    const asked = { query: "needle", mode: "exact", group, limit, ...(cursor === undefined ? {} : { cursor }) }
    const answer = (await box.run(search, asked)) as SearchOutput
    shown.push(...[...(answer.matches ?? []), ...(answer.sessions ?? [])].map(({ session_id: id }) => id))
    cursor = answer.next_cursor
  }
  expect(cursor).toBeUndefined()
  expect(inOrder(shown)).toEqual(inOrder(ids))
})

test.each([
  ["busy", 3_000],
  ["hardly gets on", 30_000],
])("no place comes twice where the machine is %s on a later page", async (_, passesMs) => {
  using box = memoryPond()
  // Both words are in each, and the stretch in every tenth: a walk takes several looks.
  const entries = Array.from({ length: 1_000 }, (_each, at) =>
    said("s", at, at % 10 === 0 ? `one alpha beta two ${at}` : `two beta alpha one ${at}`, {
      timestamp: new Date(Date.UTC(2026, 0, 1) + at * 60_000).toISOString(),
    }),
  )
  await box.place.sessions.write([{ session: session("s"), entries }])
  let passed = 0
  const slow = { ...systemClock, monotonicMs: () => (passed += passesMs) }
  const busy = { ...box.pond, host: { ...box.pond.host, clock: slow } }
  const signal = new AbortController().signal
  const asked = { query: "one alpha beta two", mode: "exact", group: "none", limit: 30 }
  const page = async (pond: typeof box.pond, behind?: string) =>
    (await perform(search, { pond, signal }, { ...asked, ...(behind && { cursor: behind }) })) as SearchOutput
  const first = await page(box.pond)
  const second = await page(busy, first.next_cursor)
  let cursor = second.next_cursor
  const shown = [first, second].flatMap(({ matches = [] }) => matches.map(({ text }) => text))
  while (cursor !== undefined) {
    const next = await page(box.pond, cursor)
    shown.push(...(next.matches ?? []).map(({ text }) => text))
    cursor = next.next_cursor
  }
  expect(shown).toEqual(Array.from({ length: 100 }, (_each, at) => `one alpha beta two ${990 - at * 10}`))
})

test.each([
  ["is busy", 3_000],
  ["hardly gets on", 30_000],
])("a ranking to which a walk adds has no place twice where the machine %s on one page", async (_, passesMs) => {
  using box = memoryPond()
  const entries = Array.from({ length: 400 }, (_each, at) => {
    const timestamp = new Date(Date.UTC(2026, 0, 1) + at * 3_600_000).toISOString()
    const { message, parts } = said("s", at, at % 9 === 0 ? `alpha ${at}` : `other ${at}`, { timestamp })
    const result = { id: "r", session_id: "s", message_id: message.id, provenance: "injected", options: {} }
    const done = { ...result, type: "tool_result", call_id: "c", is_failure: false, result: `the alpha of ${at}` }
    return { message, parts: at % 7 === 0 ? [...parts, done] : parts } as unknown as Entry
  })
  await box.place.sessions.write([{ session: session("s"), entries }])
  let passed = 0
  const slow = { ...systemClock, monotonicMs: () => (passed += passesMs) }
  const busy = { ...box.pond, host: { ...box.pond.host, clock: slow } }
  const signal = new AbortController().signal
  const page = async (pond: typeof box.pond, limit: number, behind?: string) => {
    const asked = { query: "alpha", scope: "all", group: "none", limit, ...(behind && { cursor: behind }) }
    return (await perform(search, { pond, signal }, asked)) as SearchOutput
  }
  const idsOf = ({ matches = [] }: SearchOutput) => matches.map(({ message_id: id }) => id)
  for (const [one, other] of [
    [busy, box.pond],
    [box.pond, busy],
  ] as const) {
    const first = await page(one, 10)
    const rest = await Promise.all([one, other].map((pond) => page(pond, 200, first.next_cursor)))
    for (const { matched_total } of rest) expect(matched_total).toBe(first.matched_total)
    const shown = rest.map((second) => [...idsOf(first), ...idsOf(second)])
    expect(new Set(shown[0]).size).toBe(first.matched_total)
    expect(shown[0]).toHaveLength(first.matched_total)
    expect(shown[1]).toEqual(shown[0])
  }
})

/** One session is about nothing else; in each of the others it is mentioned once, in passing. */
async function withOneLoudSession(): Promise<TestPond> {
  const box = memoryPond()
  const at = (day: number) => new Date(Date.UTC(2026, 0, 1) + day * 86_400_000).toISOString()
  const loud = Array.from({ length: 400 }, (_, ordinal) => said("loud", ordinal, "herring", { timestamp: at(0) }))
  const other = "and here is a lot of text that is about something else ".repeat(20)
  const quiet = Array.from({ length: 30 }, (_, index) => `quiet${String(index).padStart(2, "0")}`)
  await box.place.sessions.write([
    { session: session("loud"), entries: loud },
    ...quiet.map((id, day) => ({
      session: session(id, { project: "/quiet" }),
      entries: [said(id, 0, `${other} a herring`, { id: `of-${id}`, timestamp: at(1 + day) })],
    })),
  ])
  return box
}

async function sessionPages(box: TestPond, asked: object): Promise<string[][]> {
  const pages: string[][] = []
  let cursor: string | undefined
  do {
    const input = { limit: 10, ...asked, ...(cursor === undefined ? {} : { cursor }) }
    const answer = (await box.run(search, input)) as SearchOutput
    pages.push((answer.sessions ?? []).map(({ session_id: id }) => id))
    cursor = answer.next_cursor
  } while (cursor !== undefined)
  return pages
}

test("a session whose every message matches leaves room for the others, page by page", async () => {
  using box = await withOneLoudSession()
  const pages = await sessionPages(box, { query: "herring" })
  expect(pages.map((page) => page.length)).toEqual([10, 10, 10, 1])
  expect(pages[0]?.[0]).toBe("loud")
  expect(new Set(pages.flat()).size).toBe(31)
})

test("newest first is so among all that hold the words, whatever ranks higher", async () => {
  using box = await withOneLoudSession()
  const pages = await sessionPages(box, { query: "herring", sort: "recency" })
  const newestFirst = Array.from({ length: 30 }, (_, index) => `quiet${String(29 - index).padStart(2, "0")}`)
  expect(pages.flat()).toEqual([...newestFirst, "loud"])
  // In the loud one's project nothing is newer, and its newest are shown.
  const one = (await box.run(search, { query: "herring", sort: "recency", group: "none", limit: 3 })) as SearchOutput
  expect(one.matches?.map(({ session_id: id }) => id)).toEqual(newestFirst.slice(0, 3))
})

test.each(["recency", "relevance"])("by %s, pages of few sessions are what one page of all is", async (sort) => {
  using box = memoryPond()
  const ids = ["a", "b", "c", "d", "e", "f"]
  // Each session goes on for longer than the next one, all of them through the same days.
  const batches = ids.map((id, index) => {
    const entries = Array.from({ length: 170 }, (_, ordinal) => {
      const timestamp = new Date(Date.UTC(2026, 0, 1) + ordinal * 3_600_000 * (ids.length - index)).toISOString()
      return said(id, ordinal, `herring ${ordinal}`, { timestamp, id: `${id}${ordinal}` })
    })
    return { session: session(id), entries }
  })
  await box.place.sessions.write(batches)
  const asked = { query: "herring", sort }
  const whole = await sessionPages(box, { ...asked, limit: 100 })
  expect(whole.flat().toSorted()).toEqual(ids)
  if (sort === "recency") expect(whole.flat()).toEqual(ids)
  for (const limit of [1, 2, 4]) expect((await sessionPages(box, { ...asked, limit })).flat()).toEqual(whole.flat())
})

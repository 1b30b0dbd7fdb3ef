/** What the engine does for each arm, read from its own plans: a filter stands below what ranks, or the test fails. */
import { expect, test } from "bun:test"
import { mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { writeTinyModel } from "../../build/corpus/tiny-model.ts"
import { openEmbedder } from "../../src/embeddings/embedder.ts"
import { embedStore } from "../../src/operations/machine/embed.ts"
import { perform } from "../../src/operations/operation.ts"
import { search } from "../../src/operations/wire/search.ts"
import type { SearchOutput } from "../../src/operations/wire/search-output.ts"
import { type TestPond, testPond } from "../operations/support.ts"
import { said, session } from "../sessions/support.ts"

/** Steps that order rows, or keep the best of them. */
const RANKS =
  /^(?:Rank by BM25|SortExec|MatchQuery|FlatMatchQuery|BooleanQuery|KNNVectorDistance|ANNSubIndex|ANNIvfPartition)/
/** The engine's own: what has no distance is no neighbour. */
const OWN = /_distance@\d+ IS NOT NULL, metrics/
const FILTERS = /^Filter: |^FilterExec|ScalarIndexQuery|full_filter=(?!--)\S/

interface Step {
  readonly depth: number
  readonly text: string
}

function stepsOf(plan: string): Step[] {
  return plan
    .split("\n")
    .filter((line) => line.trim() !== "")
    .map((line) => ({ depth: line.length - line.trimStart().length, text: line.trim() }))
}

/** The filters that stand above a ranking step, which is to say: run after it. */
function filtersAfterRanking(plan: string): string[] {
  const steps = stepsOf(plan)
  return steps
    .filter(({ text }) => FILTERS.test(text) && !OWN.test(text))
    .filter((filter) => {
      const from = steps.indexOf(filter) + 1
      const end = steps.findIndex(({ depth }, index) => index >= from && depth <= filter.depth)
      return steps.slice(from, end < 0 ? undefined : end).some(({ text }) => RANKS.test(text))
    })
    .map(({ text }) => text)
}

test("the reader of plans knows a filter that runs after ranking", () => {
  const after = "ProjectionExec: a\n  FilterExec: project = x\n    SortExec: TopK(fetch=10)\n      LanceRead: rows\n"
  const before = "SortExec: TopK(fetch=10)\n  FilterExec: project = x\n    LanceRead: rows\n"
  expect(filtersAfterRanking(after)).toEqual(["FilterExec: project = x"])
  expect(filtersAfterRanking(before)).toEqual([])
})

const ARMS: readonly (readonly [name: string, input: object])[] = [
  ["words", { query: "word number" }],
  ["words and meaning", { query: "word number of the thing" }],
  ["exact", { query: "word", mode: "exact" }],
  ["pattern", { query: "wo.d", mode: "pattern" }],
  ["exact in tools", { query: "word", mode: "exact", scope: "all" }],
  ["meaning", { query: "word number", mode: "meaning" }],
  ["a quoted stretch", { query: 'number "whole thing"' }],
]

const FILTER_KINDS: readonly object[] = [
  { project: { contains: "p1" } },
  { project: { regex: "p1$" } },
  { role: "user" },
  { source_agent: "test-client" },
  { from_date: "2020-01-01", to_date: "2030-01-01" },
  { session_id: "s7" },
]

test("every arm gets every filter before it ranks, with indexes and without", async () => {
  const place = mkdtempSync(join(tmpdir(), "pond-plans-"))
  writeTinyModel(place)
  const embedder = await openEmbedder("tiny", place)
  using box = testPond()
  const pond = { ...box.pond, embedder: () => Promise.resolve(embedder) }
  try {
    await box.place.sessions.write(
      Array.from({ length: 1_100 }, (_, index) => ({
        session: session(`s${index}`, { project: `/p${index % 3}` }),
        entries: [said(`s${index}`, 0, `word number ${index} of the whole thing`, { id: `x${index}` })],
      })),
    )
    await embedStore(pond, { signal })
    let plans = 0
    for (const isIndexed of [false, true]) {
      if (isIndexed) await box.place.sessions.maintain("all")
      for (const [name, input] of ARMS)
        for (const filters of FILTER_KINDS) plans += await judged(pond, name, input, filters)
    }
    expect(plans).toBeGreaterThanOrEqual(2 * ARMS.length * FILTER_KINDS.length)
  } finally {
    await embedder.close()
    rmSync(place, { recursive: true, force: true })
  }
})

const signal = new AbortController().signal

async function judged(pond: TestPond["pond"], name: string, input: object, filters: object): Promise<number> {
  const answer = (await perform(search, { pond, signal }, { ...input, filters, explain: true })) as SearchOutput
  const plans = (answer.explanation?.rankings ?? []).flatMap(({ plan }) => plan ?? [])
  for (const plan of plans) {
    expect(
      stepsOf(plan).some(({ text }) => FILTERS.test(text)),
      `${name} has its filter in its plan`,
    ).toBe(true)
    expect(filtersAfterRanking(plan), name).toEqual([])
  }
  return plans.length
}

test("a selective filter never shortens what there is: all of it is found, whatever ranks above it", async () => {
  using box = testPond()
  await box.place.sessions.write([
    ...Array.from({ length: 600 }, (_, index) => ({
      session: session(`loud${index}`, { project: "/loud" }),
      entries: [said(`loud${index}`, 0, "migration migration migration", { id: `l${index}` })],
    })),
    ...Array.from({ length: 30 }, (_, index) => ({
      session: session(`quiet${index}`, { project: "/quiet" }),
      entries: [said(`quiet${index}`, 0, `a migration ${"among much else ".repeat(20)}`, { id: `q${index}` })],
    })),
  ])
  for (const isIndexed of [false, true]) {
    if (isIndexed) await box.place.sessions.maintain("all")
    for (const mode of ["auto", "exact", "pattern"]) {
      const input = { query: "migration", mode, filters: { project: { equals: "/quiet" } }, limit: 50 }
      const { sessions = [] } = (await box.run(search, input)) as SearchOutput
      expect(sessions.map(({ project }) => project)).toEqual(Array.from({ length: 30 }, () => "/quiet"))
    }
  }
})

test("a least score holds for every arm, and what is explained adds up to the score", async () => {
  using box = testPond()
  await box.place.sessions.write([
    {
      session: session("s"),
      entries: [
        said("s", 0, "database migration failed"),
        said("s", 1, "nothing of the kind, only a database"),
        said("s", 2, "birds"),
      ],
    },
  ])
  const wide = (await box.run(search, { query: "database migration", group: "none", explain: true })) as SearchOutput
  const scores = (wide.matches ?? []).map(({ score }) => score)
  expect(scores.length).toBeGreaterThan(1)
  const least = ((scores[0] ?? 0) + (scores[1] ?? 0)) / 2
  const some = (await box.run(search, {
    query: "database migration",
    group: "none",
    filters: { min_score: least },
  })) as SearchOutput
  expect(some.matches).toHaveLength(1)
  const weights = (wide.explanation?.rankings ?? []).reduce((all, { weight, hits }) => all + (hits > 0 ? weight : 0), 0)
  const [best] = wide.matches ?? []
  const sum = (best?.shares ?? []).reduce((total, each) => total + each, 0)
  expect(sum / weights).toBeCloseTo(best?.score ?? 0, 2)
})

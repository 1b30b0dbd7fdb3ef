/** What a person reads of searches and sessions: marked words, the place around them, days, and the pager. */
import { afterAll, beforeAll, describe, expect, test } from "bun:test"
import { writeDemo } from "../../build/corpus/demo.ts"
import { whenText } from "../../src/cli/render/dates.ts"
import { excerpt, highlightMatches, patternOf } from "../../src/cli/render/highlight.ts"
import { renderResults } from "../../src/cli/render/search-results.ts"
import { createStyle } from "../../src/cli/render/style.ts"
import { renderStats } from "../../src/cli/verbs/stats.ts"
import type { SearchOutput } from "../../src/operations/wire/search-output.ts"
import { POND } from "../support/bundled-pond.ts"
import { type TemporaryHome, temporaryHome } from "../support/pond-process.ts"
import { runPond } from "../support/warm-pond.ts"

const itself = (text: string) => text
const PLAIN = {
  columns: 80,
  style: createStyle(false),
  nowMs: 0,
  home: undefined,
  path: itself,
  prose: itself,
  sort: undefined,
}
const marks = (text: string, query: string, mode?: string) =>
  highlightMatches(text, patternOf(query, mode), (found) => `[${found}]`)

describe("marked in a hit", () => {
  test.each([
    [
      "other forms of a word",
      "it charges, charged and is charging",
      "charged",
      "it [charges], [charged] and is [charging]",
    ],
    ["no word inside of another", "discharged batteries", "charged", "discharged batteries"],
    ["short words as they are alone", "the cat scattered", "cat", "the [cat] scattered"],
    ["words that say little never", "why was it so", "why was ENOENT", "[why] [was] it so"],
    ["a quoted phrase as one", "cannot find module x", '"cannot find"', "[cannot find] module x"],
    ["names with signs in them", "see src/app.ts here", "src/app.ts", "see [src/app.ts] here"],
    ["words without spaces between them", "我们修复了登录问题", "登录", "我们修复了[登录]问题"],
  ])("%s", (_, text, query, wanted) => expect(marks(text, query)).toBe(wanted))

  test("to the letter where it was searched so, and by the pattern where it was one", () => {
    expect(marks("a.b and axb", "a.b", "exact")).toBe("[a.b] and axb")
    expect(marks("a.b and axb", "a.b", "pattern")).toBe("[a.b] and [axb]")
    expect(marks("anything", "(", "pattern")).toBe("anything")
  })
})

test("the lines around the first marked word are shown, and that there are others", () => {
  const text = Array.from({ length: 20 }, (_, line) => (line === 10 ? "the needle is here" : `line ${line}`)).join("\n")
  const look = { width: 40, linesMax: 3 }
  expect(excerpt(text, patternOf("needle", undefined), look)).toEqual(["… line 9", "the needle is here", "line 11 …"])
  expect(excerpt("one\n\ntwo", undefined, look)).toEqual(["one", "two"])
  expect(excerpt(`${"word ".repeat(30)}needle`, patternOf("needle", undefined), look).join(" ")).toContain("needle")
})

test.each([
  [20, "just now"],
  [5 * 60, "5 min ago"],
  [3 * 3600, "3 h ago"],
  [14 * 3600, "yesterday 22:00"],
  [3 * 86_400, "3 days ago"],
  [40 * 86_400, "22 Dec 2025"],
  [20 * 86_400, "11 Jan"],
  [-86_400, "1 Feb"],
])("%d seconds ago is said as %s", (seconds, wanted) => {
  const now = new Date(2026, 0, 31, 12, 0, 0).getTime()
  expect(whenText(new Date(now - seconds * 1000).toISOString(), now)).toBe(wanted)
})

describe("on a terminal", () => {
  let home: TemporaryHome
  const SESSION = "de300000-0000-4000-8000-000000000000"
  beforeAll(async () => {
    home = temporaryHome()
    writeDemo(home.path)
    expect(await runPond(["sync", "-q"], { env: home.env })).toMatchObject({ exitCode: 0 })
  })
  afterAll(() => home[Symbol.dispose]())

  async function onTerminal(args: readonly string[], rows: number): Promise<string> {
    const decoder = new TextDecoder()
    let screen = ""
    const child = Bun.spawn([process.execPath, POND, ...args], {
      env: { ...home.env, PATH: process.env["PATH"] ?? "", TERM: "xterm", NO_COLOR: "1", PAGER: "sed 's/^/| /'" },
      terminal: {
        cols: 60,
        rows,
        data: (_terminal, bytes) => {
          screen += decoder.decode(bytes, { stream: true })
        },
      },
    })
    expect(await child.exited).toBe(0)
    return screen.replaceAll("\r\n", "\n")
  }

  test("a session that is longer than the screen goes through the pager, to its end", async () => {
    const screen = await onTerminal(["get", SESSION], 8)
    expect(screen).toStartWith("| The database migration fails on staging with ENOENT: schema…\n")
    expect(screen).toContain("\n| \n| user  12 Jan")
    expect(screen).toEndWith("so that it also compares\n| the schema version.\n")
  })

  test("one that fits is printed as it is", async () => {
    const screen = await onTerminal(["get", SESSION, "--limit", "1"], 40)
    expect(screen).toStartWith("The database migration fails on staging with ENOENT: schema…\n")
    expect(screen).toEndWith(`3 more messages: pond get ${SESSION} --after de301000-0000-4000-8000-000000000000\n`)
  })

  test("a search fits the width, but for the commands, which are whole", async () => {
    const screen = await onTerminal(["search", "charged", "twice"], 40)
    const wide = screen.split("\n").filter((line) => line.length > 60)
    expect(wide.filter((line) => !line.includes("pond "))).toEqual([])
    expect(screen).toMatch(/^de300001 {2}Orders are sometimes charged twice/m)
  })

  test("in a pipe the same text comes without a pager, and its lines unbroken", async () => {
    const { stdout } = await runPond(["get", SESSION], { env: { ...home.env, PAGER: "false" } })
    expect(stdout).toContain("so that it also compares the schema version.\n")
  })
})

test("the last lines count what was found, or say that it is the best of more", () => {
  const match = { message_id: "m", session_id: "s", ordinal: 0, role: "user", timestamp: "2026-01-01T00:00:00.000Z" }
  const answer: SearchOutput = {
    matches: [{ ...match, score: 1, text: "one", truncated: false }],
    matched_total: 150,
    has_more: false,
    searched: { arms: ["words", "exact"], scope: "", excluded: [] },
  }
  const last = (more: Partial<SearchOutput>) =>
    renderResults({ ...answer, ...more }, { ...PLAIN, query: "one", mode: undefined, scope: undefined })
      .trimEnd()
      .split("\n")
      .at(-2)
  expect(last({})).toBe("150 messages found (keyword and exact search).")
  expect(last({ matched_more: true })).toBe("The best 150 messages (keyword and exact search).")
  const walked = { arms: ["exact"], scope: "conversation", excluded: [] }
  expect(last({ searched: walked, matched_more: true })).toBe("The newest 150 messages (exact search).")
  expect(last({ searched: { ...walked, scope: "tools" } })).toBe("150 places found (exact search).")
})

test.each([
  ["conversation", "s", "2 of 3 messages"],
  ["conversation", "agent", "2 messages"],
  ["tools", "s", "2 places"],
])("what was found in %s, by session %s, is counted as what it is", (scope, sessionId, wanted) => {
  const match = { message_id: "m", session_id: sessionId, ordinal: 0, role: "user", score: 1, truncated: false }
  const found: SearchOutput = {
    sessions: [
      {
        session_id: "s",
        project: "/p",
        source_agent: "pi",
        session_messages_count: 3,
        matched_message_count: 2,
        newer_messages_count: 0,
        matches: [{ ...match, timestamp: "2026-01-01T00:00:00.000Z", text: "one" }],
      },
    ],
    matched_total: 2,
    has_more: false,
    searched: { arms: ["exact"], scope, excluded: [] },
  }
  const [, head] = renderResults(found, { ...PLAIN, query: "one", mode: "exact", scope }).split("\n")
  expect(head).toEndWith(`  ${wanted}`)
})

test("on a narrow screen a hit's project gives way, from its front, and so do bars, all by the same share", () => {
  const project = `/home/you/${"deep/".repeat(20)}shop`
  const match = { message_id: "m", session_id: "s", ordinal: 0, role: "user", score: 1, truncated: false }
  const found: SearchOutput = {
    sessions: [
      {
        ...{ session_id: "s", project, source_agent: "claude-code" },
        ...{ session_messages_count: 3, matched_message_count: 2, newer_messages_count: 0 },
        matches: [{ ...match, timestamp: "1970-01-01T00:00:00.000Z", text: "one" }],
      },
    ],
    ...{ matched_total: 2, has_more: false, searched: { arms: ["words"], scope: "conversation", excluded: [] } },
  }
  const narrow = { ...PLAIN, columns: 60 }
  const [, head = ""] = renderResults(found, { ...narrow, query: "one", mode: undefined, scope: undefined }).split("\n")
  expect(head).toMatch(/^claude-code {2}….*\/shop {2}today \d\d:\d\d {2}2 of 3 messages$/)
  expect(head).toHaveLength(60)
  const rows = [4_000, 3_000, 10].map((count, at) => ({ key: `${project}${at}`, sessions: 1, count }))
  const counted = renderStats({ by: "project", sessions: 3, count: 7_010, rows }, 30, narrow).split("\n")
  expect(counted.slice(1, 4).map((line) => line.replace(/^….*\/shop(\d).*? (▇+)$/, "$1 $2"))).toEqual([
    `0 ${"▇".repeat(6)}`,
    `1 ${"▇".repeat(5)}`,
    "2 ▇",
  ])
})

test("the session to resume is the best one that a client can resume", () => {
  const match = { message_id: "m", ordinal: 0, role: "user", score: 1, truncated: false, text: "one" }
  const found = (id: string, more: object) => ({
    ...{ session_id: id, project: "/p", source_agent: "claude-code", session_messages_count: 1, ...more },
    ...{ matched_message_count: 1, newer_messages_count: 0 },
    matches: [{ ...match, session_id: id, timestamp: "2026-01-01T00:00:00.000Z" }],
  })
  const last = (...sessions: ReturnType<typeof found>[]) => {
    const searched = { arms: ["words"], scope: "conversation", excluded: [] }
    const answer: SearchOutput = { sessions, matched_total: 1, has_more: false, searched }
    return renderResults(answer, { ...PLAIN, query: "one", mode: undefined, scope: undefined })
      .trimEnd()
      .split("\n")
      .at(-1)
  }
  const prompts = found("gone", { prompts_only: true })
  expect(last(prompts, found("whole", {}))).toEndWith("Resume: pond resume whole")
  expect(last(prompts)).toBe("Read a hit: pond get ID --context 3")
})

test("where nothing was found yet, the next thing is to go on", () => {
  const excluded = ["what is older than 2026-03-01T00:00:00.000Z (cursor)"]
  const searched = { arms: ["exact"], scope: "all", excluded }
  const answer = { sessions: [], matched_total: 0, matched_more: true, has_more: true, next_cursor: "eyJ", searched }
  expect(renderResults(answer, { ...PLAIN, query: "word", mode: "exact", scope: "all" })).toBe(
    "No matches (exact search) so far.\n  not searched: what is older than 2026-03-01T00:00:00.000Z (--more)\nKeep searching: pond search --more\n",
  )
})

test("where nothing was found, what can be tried is what a shell takes, and nothing where all was tried", () => {
  const answer = {
    sessions: [],
    matched_total: 0,
    has_more: false,
    searched: { arms: ["words"], scope: "", excluded: [] },
  }
  const tried = (query: string, mode?: string, scope?: string) =>
    renderResults(answer, { ...PLAIN, query, mode, scope })
      .split("\n")
      .at(1)
  expect(tried("two `id` $HOME it's")).toBe(
    "Try an exact search that includes tool output: pond search --mode exact --scope all 'two `id` $HOME it'\\''s'",
  )
  expect(tried("a\\(", "pattern")).toBe(
    "Try a pattern search that includes tool output: pond search --mode pattern --scope all 'a\\('",
  )
  expect(tried("word", "exact", "tools")).toEndWith("--mode exact --scope all word")
  for (const mode of ["exact", "pattern"]) expect(tried("word", mode, "all")).toBe("")
})

/** Tokens on exported pages, counted as `pond cost` does, and several sessions as pages with one that lists them. */
import { afterAll, beforeAll, expect, test } from "bun:test"
import type { Entry } from "../../../src/model/session.ts"
import { sessionMap } from "../../../src/operations/share/html/session-map.ts"
import { shareSession } from "../../../src/operations/share/share.ts"
import { chosenSessions, pageNames, shareSite } from "../../../src/operations/share/site.ts"
import { cost } from "../../../src/operations/wire/cost.ts"
import { said, session } from "../../sessions/support.ts"
import { HTML_ATTACKS } from "../../support/html-attacks.ts"
import { memoryPond, type TestPond } from "../support.ts"

let box: TestPond
const never = new AbortController().signal
const ATTACK = HTML_ATTACKS[0] ?? ""

function answered(id: string, ordinal: number, response: string, output: number): Entry {
  const usage = { input_tokens: 10, cache_read_input_tokens: 1000, output_tokens: output }
  const model = "claude-sonnet-4-5-20250929"
  const record = { type: "assistant", requestId: "r", message: { id: response, model, usage } }
  const { message, parts } = said(id, ordinal, `said ${ordinal}`, { role: "assistant" })
  return { message: { ...message, options: { source: { record } } }, parts } as unknown as Entry
}

beforeAll(async () => {
  box = memoryPond()
  const claude = { source_agent: "claude-code", project: "/home/someone/shop" }
  await box.place.sessions.write([
    {
      session: session("first", { ...claude, title: ATTACK }),
      // One response in three records, as it grew; then another one.
      entries: [
        said("first", 0, "sk-ant-api03-abcdefghijklmnopqrstuvwxyz0123456789abcdefghij"),
        answered("first", 1, "a", 1),
        answered("first", 2, "a", 7),
        answered("first", 3, "a", 7),
        answered("first", 4, "b", 5),
      ],
    },
    {
      session: session("first:agent", { ...claude, source_agent: "claude-code/explorer", parent_session_id: "first" }),
      entries: [answered("first:agent", 0, "c", 3)],
    },
    { session: session("second", { ...claude, title: "Later" }), entries: [said("second", 0, "hello")] },
    { session: session("third", { project: "/home/someone/other" }), entries: [said("third", 0, "hello")] },
  ])
})
afterAll(() => box[Symbol.dispose]())

test("a page has the tokens that cost has, sub-agents included, and each response says its own once", async () => {
  const options = { sessionId: "first", isWhole: true, withSubagents: true, isRedacted: false, format: "html" as const }
  const share = shareSession(box.pond, options, never)
  const html = (await Array.fromAsync(share.chunks)).join("")
  const { total } = await cost.run({ pond: box.pond, signal: never }, { filters: { session_id: "first" } })
  expect(total).toMatchObject({ responses: 3, output_tokens: 15, cache_read_tokens: 3000, input_tokens: 30 })
  expect(html).toContain("Tokens: 3,030 in (3,000 read from the cache), 15 out, $")
  expect(html).toContain("(claude-sonnet-4-5-20250929).")
  expect([...html.matchAll(/<p class="took">([^<]*)/g)].map(([, line]) => line)).toEqual([
    "1,010 tokens in, 7 out",
    "1,010 tokens in, 5 out",
    "1,010 tokens in, 3 out",
  ])
  expect(share.summary()).toMatchObject({ tokens: expect.stringMatching(/^3,045 tokens, \$0\.00/) })
})

test("the map has a row for tokens and one for time; tokens of a silent message go to the one before it", () => {
  const point = (ordinal: number, atMs: number) =>
    ({ anchor: `m${ordinal}`, ordinal, atMs, endMs: atMs, units: 10, kind: "assistant" }) as const
  const map = sessionMap([point(0, 0), point(4, 1000)], new Map([[2, 50]]), "")
  expect(map).toContain("Rows from the top: length, tokens, time.")
  // Three bars of the first point would be length, tokens and time; it took no time.
  const [first = "", second = ""] = map.match(/<a href.*?<\/a>/g) ?? []
  expect(first.match(/<rect/g)).toHaveLength(2)
  expect(second.match(/<rect/g)).toHaveLength(2)
  expect(sessionMap([point(0, 0), point(1, 0)], new Map(), "")).toContain("Rows from the top: length.")
})

test("a long pause does not hide how long the work took", () => {
  const point = (ordinal: number, atMs: number, kind: "user" | "assistant") =>
    ({ anchor: `m${ordinal}`, ordinal, atMs, endMs: atMs, units: 10, kind }) as const
  const map = sessionMap([point(0, 0, "user"), point(1, 60_000, "assistant"), point(2, 9e7, "user")], new Map(), "")
  const heights = [...map.matchAll(/y="46" width="[\d.]+" height="(\d+)"/g)].map(([, height]) => height)
  expect(heights).toEqual(["40", "40"])
})

test("several sessions are pages with a list of them, and nothing of a session is markup or a credential there", async () => {
  const sessionIds = await chosenSessions(box.pond, { ids: [], filters: { project: { contains: "shop" } } }, never)
  expect(new Set(sessionIds)).toEqual(new Set(["first", "second"]))
  const site = shareSite(box.pond, { sessionIds, isWhole: true, isRedacted: true }, never)
  const files = new Map<string, string>()
  for await (const { name, chunks } of site.files()) files.set(name, (await Array.fromAsync(chunks)).join(""))
  expect([...files.keys()].at(-1)).toBe("index.html")
  const index = files.get("index.html") ?? ""
  expect(index).toContain("<h1>/home/someone/shop</h1><p>2 sessions, 7 messages</p>")
  for (const id of sessionIds) {
    expect(index).toContain(`<li><a href="${id}.html">`)
    expect(files.get(`${id}.html`)).toContain('<a href="index.html">All sessions</a>')
  }
  expect(index).toContain("3,045 tokens")
  expect(index).not.toContain(ATTACK)
  expect([...files.values()].join("")).not.toContain("sk-ant-api03")
  expect(site.replaced()?.reduce((all, { count }) => all + count, 0)).toBeGreaterThan(0)
})

test("a session that is not stored is named, and no two pages have one name", async () => {
  await expect(chosenSessions(box.pond, { ids: ["first", "nobody"] }, never)).rejects.toMatchObject({
    code: "not_found",
  })
  const names = [...pageNames(["a", "A", "index", "../x", "a b", "ok-1"]).values()]
  expect(new Set(names.map((name) => name.toLowerCase())).size).toBe(6)
  for (const name of names) expect(name).toMatch(/^[\w-][\w.-]*\.html$/)
  expect(names.at(-1)).toBe("ok-1.html")
  expect(names[2]).not.toBe("index.html")
})

import { expect, test } from "bun:test"
import { readOperators } from "../../src/operations/wire/query-operators.ts"
import { boostNeighbours, type FusedHit, mergeRankings } from "../../src/search/rank/fusion.ts"
import { raiseBySession } from "../../src/search/rank/session-evidence.ts"
import { spokenPlaces } from "../../src/search/rank/spoken-places.ts"
import { said, session } from "../sessions/support.ts"
import { filled, found, ids } from "./search-support.ts"
import { memoryPond } from "./support.ts"

const NOW = Date.UTC(2026, 5, 15, 12)

test.each<[string, object]>([
  ["redis -poker", { query: "redis", without: ["poker"], understood: ['without "poker"'] }],
  ["redis NOT poker", { query: "redis", without: ["poker"] }],
  ["cats OR dogs", { query: "cats dogs", understood: ["OR: any of the words counts"] }],
  ["user: which database", { query: "which database", filters: { role: "user" } }],
  ["assistant:done", { query: "done", filters: { role: "assistant" } }],
  ["project:web login", { query: "login", filters: { project: { contains: "web" } } }],
  [
    "after:2026-01-31 agent:codex login",
    { query: "login", filters: { from_date: "2026-01-31", source_agent: "codex" } },
  ],
  ["conf* file", { query: "conf file" }],
  ["the session where we dropped the breaker", { query: "dropped the breaker" }],
  ["That conversation about daylight saving", { query: "daylight saving" }],
])("%s is understood", (query, read) => expect(readOperators(query, NOW)).toMatchObject(read))

test.each([
  "rm -rf build/dist -verbose",
  "git log --oneline -follow",
  "find . -name foo",
  "tar -xzf",
  "-word",
  "NOT",
  "after:lunch what was said",
  "std::vector http://localhost:80 note: this",
  '"redis -poker"',
  "a or b and c",
  "the session where",
  "the session about encryption",
  "fix the session where it expires too early",
])("%s stays as it is", (query) => {
  expect(readOperators(query, NOW)).toEqual({ query, filters: {}, without: [], around: undefined, understood: [] })
})

test.each([
  ["what did we decide yesterday", "2026-06-14"],
  ["the outage in March", "2026-03-01"],
  ["the outage in march 2025", "2025-03-01"],
  ["decisions of 2026-02", "2026-02-01"],
  ["the talk on 20 May", "2026-05-20"],
])("%s names days", (query, first) => {
  const { around } = readOperators(query, NOW)
  const [year = 0, month = 1, day = 1] = first.split("-").map(Number)
  expect(Number(around?.fromMicros)).toBe(new Date(year, month - 1, day).getTime() * 1000)
})

test.each(["may the force march on", "in the may file", '"yesterday"'])("%s names none", (query) => {
  expect(readOperators(query, NOW).around).toBeUndefined()
})

async function twoProjects() {
  const box = memoryPond()
  const text = "the cache of the parser is flushed twice"
  await box.place.sessions.write([
    { session: session("one", { project: "/home/me/work/agentv" }), entries: [said("one", 0, text, { id: "o" })] },
    {
      session: session("two", { project: "/home/me/work/billing" }),
      entries: [said("two", 0, text, { id: "t", timestamp: "2026-03-05T10:00:00.000Z" })],
    },
  ])
  return box
}

test("hits of the asker's own project come first, and of a directory inside it", async () => {
  using box = await twoProjects()
  const query = "cache of the parser"
  expect(await ids(box, { query, near: "/home/me/work/agentv" })).toEqual(["one/o", "two/t"])
  expect(await ids(box, { query, near: "/home/me/work/agentv/src" })).toEqual(["one/o", "two/t"])
  expect(await ids(box, { query, near: "/home/me/work/billing/" })).toEqual(["two/t", "one/o"])
})

test("a project that the query names comes first, and the answer says so", async () => {
  using box = await twoProjects()
  const query = "agentv: cache of the parser"
  expect(await ids(box, { query, near: "/home/me/work/elsewhere" })).toEqual(["one/o", "two/t"])
  const { searched } = await found(box, { query })
  expect(searched.understood).toEqual(["the project agentv: its messages come first"])
})

test("days that the query names come first, unless a filter says otherwise", async () => {
  using box = await twoProjects()
  const asked = { query: "the parser cache in March 2026" }
  expect((await ids(box, asked))[0]).toBe("two/t")
  expect((await found(box, asked)).searched.understood).toEqual(["March 2026: messages from then come first"])
  expect(await ids(box, { ...asked, filters: { to_date: "2026-02-01" } })).toEqual(["one/o"])
})

test("a word that is left out is in no hit", async () => {
  using box = await filled()
  expect(await ids(box, { query: "migration" })).toContain("alpha/m0")
  expect(await ids(box, { query: "migration -enoent" })).not.toContain("alpha/m0")
})

test("a quoted text that nobody holds is said, and one that somebody holds is not", async () => {
  using box = await filled()
  const missing = await found(box, { query: '"migration of the moon" database' })
  expect(missing.searched.excluded).toContain('no message has "migration of the moon": these have its words')
  const held = await found(box, { query: '"database migration"' })
  expect(held.searched.excluded.join("; ")).not.toContain("no message has")
})

test("several wordings are searched in one call and ranked together", async () => {
  using box = await twoProjects()
  await box.place.sessions.write([
    {
      session: session("three"),
      entries: [said("three", 0, "le cache de l'analyseur est vide deux fois", { id: "f" })],
    },
  ])
  const queries = ["cache de l'analyseur vide", "the cache of the parser"]
  const both = await ids(box, { query: "cache parser flushed", queries })
  expect(new Set(both)).toEqual(new Set(["one/o", "two/t", "three/f"]))
  expect(await ids(box, { queries: ["analyseur"] })).toEqual(["three/f"])
  expect(found(box, { queries, mode: "exact" })).rejects.toMatchObject({ code: "validation_failed" })
})

test("a page of several wordings goes on where it ended", async () => {
  using box = await twoProjects()
  const asked = { query: "cache", queries: ["parser flushed twice"], limit: 1 }
  const first = await found(box, asked)
  const second = await found(box, { ...asked, cursor: first.next_cursor })
  const seen = [first, second].flatMap(({ sessions = [] }) => sessions.map((each) => each.session_id))
  expect(seen.toSorted()).toEqual(["one", "two"])
})

test("neighbours are the messages that say something, however many records of tools lie between them", async () => {
  using box = memoryPond()
  await box.place.sessions.write([
    { session: session("near"), entries: [0, 9, 20].map((ordinal) => said("near", ordinal, `text ${ordinal}`)) },
  ])
  const ranked = [hitAt("near", 0, 0.9), hitAt("near", 9, 0.5), hitAt("other", 4, 0.5)]
  const placeOf = await spokenPlaces(box.place.sessions, ranked)
  expect(ranked.map(({ hit }) => placeOf(hit))).toEqual([0, 1, 4])
  const scores = boostNeighbours(ranked, placeOf).map(({ hit, score }) => [hit.ordinal, score] as const)
  const [near, other] = [9, 4].map((ordinal) => scores.find(([at]) => at === ordinal)?.[1] ?? 0)
  expect(near).toBeGreaterThan(other ?? 1)
})

function hitAt(sessionId: string, ordinal: number, score: number): FusedHit {
  const own = { sessionId, messageId: `m${ordinal}`, ordinal, role: "user", timestampMicros: 0n, text: "", score }
  return { hit: own, score, shares: [score] }
}

test("Turkish words are found whether they were written large or small", async () => {
  using box = memoryPond()
  await box.place.sessions.write([
    { session: session("large"), entries: [said("large", 0, "BÜTÜN ALIŞVERİŞ LİSTESİ KAYIP", { id: "l" })] },
    { session: session("small"), entries: [said("small", 0, "bütün alışveriş listesi ve sınıf kaydı", { id: "s" })] },
  ])
  expect(new Set(await ids(box, { query: "kayıp bir alışveriş için sormuştum dün akşam" }))).toEqual(
    new Set(["large/l", "small/s"]),
  )
  expect(await ids(box, { query: "SINIFIN SINIF KAYDI NEREDE ŞİMDİ BİLEN VAR" })).toContain("small/s")
})

test("a hit of two wordings comes before one that is as good in a single one", () => {
  const hit = (messageId: string, score: number) => ({ hit: { sessionId: "s", messageId }, score, shares: [] })
  const merged = mergeRankings([
    [hit("first", 1), hit("one", 0.8)],
    [hit("both", 0.8), hit("first", 0.5)],
    [hit("both", 0.4)],
  ] as unknown as FusedHit[][])
  expect(merged.map((each) => each.hit.messageId)).toEqual(["first", "both", "one"])
})

test("a session with several good hits comes before one with a single better one", () => {
  const hit = (sessionId: string, score: number) => ({ hit: { sessionId, messageId: `${score}` }, score, shares: [] })
  const ranked = [hit("single", 0.9), hit("several", 0.8), hit("several", 0.7), hit("several", 0.6)]
  const raised = raiseBySession(ranked as unknown as FusedHit[])
  expect(raised.map((each) => each.hit.sessionId)).toEqual(["several", "single", "several", "several"])
  expect(raised[0]?.score).toBe(1)
})

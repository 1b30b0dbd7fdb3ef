import { expect, test } from "bun:test"
import { searchTranscript } from "../../src/mcp/transcript.ts"
import type { Entry } from "../../src/model/session.ts"
import { perform } from "../../src/operations/operation.ts"
import { search } from "../../src/operations/wire/search.ts"
import type { SearchOutput } from "../../src/operations/wire/search-output.ts"
import { systemClock } from "../../src/platform/host/clock.ts"
import { said, session } from "../sessions/support.ts"
import { filled, found, ids } from "./search-support.ts"
import { type TestPond, testPond } from "./support.ts"

test("words are found, grouped by session, with what a reader needs to judge them", async () => {
  using box = await filled()
  const answer = await found(box, { query: "database migration" })
  expect(answer.sessions?.[0]).toMatchObject({
    session_id: "alpha",
    project: "/work/web",
    title: "The migration",
    session_messages_count: 3,
  })
  expect(answer.sessions?.[0]?.matches[0]).toMatchObject({
    message_id: "m0",
    role: "user",
    text: "the database migration failed with ENOENT",
    truncated: false,
  })
  expect(answer.sessions?.map(({ session_id }) => session_id)).toEqual(["alpha", "beta"])
  expect(answer.searched).toMatchObject({ arms: ["words"], scope: "conversation" })
})

test("days in the wrong order are said to be, where an empty answer would not", async () => {
  using box = await filled()
  const asked = { query: "migration", filters: { from_date: "2026-02-01", to_date: "2026-01-31" } }
  await expect(found(box, asked)).rejects.toThrow("from_date 2026-02-01 is after to_date 2026-01-31: swap them.")
})

test("where more match than are ranked, it is said that these are the best", async () => {
  using box = await filled()
  const many = Array.from({ length: 160 }, (_, ordinal) => said("many", ordinal, `a herring of number ${ordinal}`))
  await box.place.sessions.write([{ session: session("many"), entries: many }])
  const few = await found(box, { query: "migration" })
  expect(few.matched_total).toBeGreaterThan(0)
  expect(few.matched_more).toBeUndefined()
  const best = await found(box, { query: "herring" })
  expect(best).toMatchObject({ matched_total: 150, matched_more: true })
})

test("a walk that has more pages says that more match, and so does its last page", async () => {
  using box = await filled()
  const many = Array.from({ length: 160 }, (_, ordinal) => said("many", ordinal, `a herring of number ${ordinal}`))
  await box.place.sessions.write([{ session: session("many"), entries: many }])
  const asked = { query: "herring", mode: "exact", group: "none", limit: 100 }
  expect(await found(box, { ...asked, limit: 200 })).not.toHaveProperty("matched_more")
  const first = await found(box, { ...asked, limit: 30 })
  expect(first).toMatchObject({ matched_total: 100, matched_more: true })
  const second = await found(box, { ...asked, cursor: first.next_cursor })
  const last = await found(box, { ...asked, cursor: second.next_cursor })
  expect(last).toMatchObject({ matched_total: 60, matched_more: true, has_more: false })
})

test.each<[string, object, string[]]>([
  ["a part of the project", { project: { contains: "WEB" } }, ["alpha/m0"]],
  ["the whole project", { project: { equals: "/work/api" } }, ["beta/m0"]],
  ["a regular expression over the project", { project: { regex: "a.i$" } }, ["beta/m0"]],
  ["a project that nothing has", { project: { contains: "'; drop" } }, []],
  ["a session", { session_id: "beta" }, ["beta/m0"]],
  ["a client", { source_agent: "other-client" }, ["beta/m0"]],
  ["a sub-agent by name", { source_agent: "test-client/explorer" }, ["agent/m0"]],
  ["a role", { role: "user", project: { contains: "web" } }, ["alpha/m0"]],
  ["from a day on", { from_date: "2026-01-15" }, ["beta/m0"]],
  ["up to a day, the day itself inside", { to_date: "2026-01-01" }, ["alpha/m0"]],
])("a search keeps to %s", async (_, filters, want) => {
  using box = await filled()
  // A message is also found by what was said just before it, so neighbours may follow; never from outside the filter.
  const byWords = await ids(box, { query: "migration", filters })
  expect(byWords[0]).toBe(want[0] as string)
  expect(new Set(byWords.map((id) => id.split("/")[0]))).toEqual(new Set(want.map((id) => id.split("/")[0])))
  expect(await ids(box, { query: "migration", mode: "exact", filters })).toEqual(want)
})

test("what agents of an agent said is found when it is asked for, and counts for the session they worked for", async () => {
  using box = await filled()
  expect(await ids(box, { query: "exploring" })).toEqual([])
  const answer = await found(box, { query: "exploring", filters: { include_subagents: true } })
  expect(answer.sessions).toMatchObject([{ session_id: "alpha", matches: [{ session_id: "agent", message_id: "m0" }] }])
  expect((await found(box, { query: "exploring" })).searched.excluded.join()).toContain("sub-agents")
})

test.each<[string, string, object, string[]]>([
  ["two characters of Chinese", "据库", {}, ["beta/m0"]],
  ["one character", "库", {}, ["beta/m0"]],
  ["a part of an identifier", "Stringify", {}, ["alpha/m1"]],
  ["the case as it is", "enoent", {}, []],
  ["tool output", "ENOENT", { scope: "tools" }, ["alpha/m3"]],
  ["tool output with quotes", '"secret plan"', { scope: "tools" }, ["alpha/m3"]],
  ["both", "ENOENT", { scope: "all" }, ["alpha/m3", "alpha/m0"]],
  ["a quote character", "it's", {}, []],
])("to the letter: %s", async (_, query, options, want) => {
  using box = await filled()
  expect(await ids(box, { query, mode: "exact", ...options })).toEqual(want)
})

test("a regular expression finds newest first, and one that cannot be read is told", async () => {
  using box = await filled()
  expect(await ids(box, { query: "migration( of|.failed)", mode: "pattern" })).toEqual(["beta/m0", "alpha/m0"])
  await expect(box.run(search, { query: "(unclosed", mode: "pattern" })).rejects.toMatchObject({
    code: "validation_failed",
  })
})

test("an identifier in plain words is looked for to the letter too", async () => {
  using box = await filled()
  const answer = await found(box, { query: "where is createStringifyOpts used", group: "none" })
  expect(answer.searched.arms).toEqual(["words", "exact"])
  expect(answer.matches?.[0]).toMatchObject({ message_id: "m1" })
})

test("pages do not shift or double when new sessions come", async () => {
  using box = testPond()
  const add = (from: number, to: number) =>
    box.place.sessions.write(
      Array.from({ length: to - from }, (_, index) => ({
        session: session(`s${from + index}`),
        entries: [said(`s${from + index}`, 0, `about apples ${from + index}`, { id: `x${from + index}` })],
      })),
    )
  await add(0, 9)
  const first = await found(box, { query: "apples", limit: 4 })
  await add(9, 30)
  const second = await found(box, { query: "apples", limit: 4, cursor: first.next_cursor })
  const third = await found(box, { query: "apples", limit: 4, cursor: second.next_cursor })
  const shown = [first, second, third].flatMap(({ sessions = [] }) => sessions.map(({ session_id }) => session_id))
  expect(new Set(shown)).toEqual(new Set(Array.from({ length: 9 }, (_, index) => `s${index}`)))
  expect(shown).toHaveLength(9)
  expect(third.has_more).toBe(false)
})

test("an exact search goes on where its page ended, also inside one moment", async () => {
  using box = testPond()
  const entries = Array.from({ length: 250 }, (_, ordinal) => said("s", ordinal, `needle ${ordinal}`))
  await box.place.sessions.write([{ session: session("s"), entries }])
  const shown: string[] = []
  let cursor: string | undefined
  for (let page = 0; page < 20; page++) {
    const answer = await found(box, {
      query: "needle",
      mode: "exact",
      group: "none",
      limit: 40,
      ...(cursor === undefined ? {} : { cursor }),
    })
    shown.push(...(answer.matches ?? []).map(({ message_id }) => message_id))
    cursor = answer.next_cursor
    if (cursor === undefined) break
  }
  expect(new Set(shown).size).toBe(250)
  expect(shown).toHaveLength(250)
})

test("a cursor goes on with the query, the filters and the mode that it came from, and with no other", async () => {
  using box = testPond()
  const entries = Array.from({ length: 30 }, (_, ordinal) => said("s", ordinal, `needle ${ordinal} in the hay`))
  await box.place.sessions.write([{ session: session("s"), entries }])
  const asked = { query: "needle", mode: "exact", group: "none", limit: 5 }
  const { next_cursor: cursor } = await found(box, asked)
  expect(await found(box, { ...asked, cursor, limit: 50 })).toMatchObject({ has_more: false })
  for (const other of [{ query: "hay" }, { mode: "words" }, { filters: { role: "user" } }, { scope: "all" }])
    await expect(box.run(search, { ...asked, ...other, cursor })).rejects.toMatchObject({
      code: "validation_failed",
      message: expect.stringContaining("belongs to another query"),
    })
})

test("an answer fits its budget, however much was found", async () => {
  using box = testPond()
  const long = `the needle is here ${"and here is a lot of other text ".repeat(400)}`
  await box.place.sessions.write(
    Array.from({ length: 60 }, (_, index) => ({
      session: session(`s${index}`),
      entries: [said(`s${index}`, 0, `${long} ${index}`, { id: `x${index}` })],
    })),
  )
  const answer = await found(box, { query: "needle", limit: 60 })
  expect(answer.sessions).toHaveLength(60)
  expect(JSON.stringify(answer).length).toBeLessThan(90_000)
  expect(answer.sessions?.[0]?.matches[0]).toMatchObject({ truncated: true, text: expect.stringContaining("needle") })
})

test("how an answer came about is told when it is asked: each ranking, its weight, its plan, its share of a score", async () => {
  using box = await filled(testPond())
  const query = 'why did the "database migration" fail'
  const answer = await found(box, { query, explain: true, group: "none" })
  const rankings = answer.explanation?.rankings ?? []
  expect(rankings.map(({ name }) => name)).toContainEqual("words: index")
  expect(rankings.map(({ name }) => name)).toContainEqual("exact")
  expect(rankings[0]?.plan).toContain("Rank by BM25")
  expect(answer.matches?.[0]?.shares).toHaveLength(rankings.length)
  expect((await found(box, { query })).explanation).toBeUndefined()
})

test("the plan of a scan is the engine's", async () => {
  using box = testPond()
  await box.place.sessions.write([{ session: session("one"), entries: [said("one", 0, "a migration", { id: "m" })] }])
  const exact = await found(box, { query: "migration", mode: "exact", explain: true })
  expect(exact.explanation?.rankings[0]?.plan).toContain("contains(search_text")
})

test("newest first is what sorting by recency says, whatever ranks higher", async () => {
  using box = await filled()
  const answer = await found(box, { query: "migration", group: "none", sort: "recency" })
  const moments = (answer.matches ?? []).map(({ timestamp }) => timestamp)
  expect(moments.length).toBeGreaterThan(1)
  expect(moments).toEqual(moments.toSorted().toReversed())
})

test("what is like a message shares its words, where there are no embeddings, and that is said", async () => {
  using box = await filled()
  await box.place.sessions.write([
    { session: session("gamma"), entries: [said("gamma", 0, "a database migration that failed", { id: "g0" })] },
  ])
  const answer = await found(box, { similar_to: "g0", group: "none" })
  expect(answer.matches?.[0]).toMatchObject({ session_id: "alpha", message_id: "m0" })
  expect(answer.matches?.map(({ message_id }) => message_id)).not.toContain("g0")
  expect(answer.searched.excluded.join()).toContain("no embeddings")
  expect(answer.searched.excluded.join()).not.toContain("messages like")
  await box.place.sessions.write([
    {
      session: session("beta-twin"),
      entries: [said("beta-twin", 0, "lunch on Friday", { id: "g0", timestamp: "2026-01-03T00:00:00.000Z" })],
    },
  ])
  // An id is unique only within its session: which of several was taken is said, and it is the same one each time.
  const twice = await found(box, { similar_to: "g0", group: "none" })
  expect(twice.searched.excluded.join()).toContain("messages like g0 of gamma; used the one of beta-twin")
  await expect(box.run(search, { similar_to: "nobody" })).rejects.toMatchObject({ code: "not_found" })
})

test.each([
  [
    { source_agent: "test" },
    "no session is from the client test (source_agent: other-client, test-client, test-client/explorer)",
  ],
  [{ session_id: "alp" }, "no session has the id alp (session_id)"],
  [{ project: { contains: "Mobile" } }, "no project contains Mobile (project)"],
  [{ project: { equals: "/work" } }, "no project is /work (project)"],
  [{ project: { regex: "^work" } }, "no project matches ^work (project)"],
])("where nothing is found because no session is %j, that is said", async (filters, reason) => {
  using box = await filled()
  const reasons = async (query: string, more: object) =>
    (await found(box, { query, filters: more })).searched.excluded.filter((each) => each.startsWith("everything: "))
  expect(await reasons("migration", filters)).toEqual([`everything: ${reason}`])
  const right = { source_agent: "test-client", session_id: "alpha", project: { contains: "WEB" } }
  expect(await reasons("xylophone", right)).toEqual([])
})

test("where nothing is stored, that is said", async () => {
  using box = testPond()
  const { searched } = await found(box, { query: "migration" })
  expect(searched.excluded[0]).toStartWith("everything: the store is empty")
})

test("where nothing is found, it is said what was searched and what was left out", async () => {
  using box = await filled()
  const answer = await found(box, { query: "xylophone", filters: { from_date: "2026-01-01" } })
  expect(answer.sessions).toEqual([])
  expect(answer.searched).toMatchObject({ arms: ["words"], scope: "conversation" })
  const left = answer.searched.excluded.join("; ")
  for (const each of ["sub-agents", "tool calls and results", "other dates"]) expect(left).toContain(each)
})

test("a scope that includes tools looks into them for plain words too, and says how", async () => {
  using box = await filled()
  const asked = { query: "No such file", scope: "all" }
  expect(await ids(box, asked)).toContain("alpha/m3")
  const answer = await found(box, asked)
  expect(answer.searched.arms).toEqual(["words", "exact"])
  expect(answer.searched.excluded.join("; ")).toContain("reasoning by words")
  const byWords = await found(box, { ...asked, mode: "words" })
  expect(byWords.searched.excluded.join("; ")).toContain(
    "text that clients inserted, and reasoning (not in the word index: use mode exact)",
  )
})

test("text that clients inserted, reasoning and records are found with scope all, and left out otherwise", async () => {
  using box = await filled()
  const entry = said("inserted", 0, "Please go on.")
  const [part] = entry.parts
  const options = { source: { record: { toolUseResult: { originalFile: 'const marmot = "deep"' } } } }
  const inserted = { ...part, id: "n", provenance: "injected", text: "A task notification about the walrus build." }
  const thought = { ...part, id: "r", type: "reasoning", text: "Perhaps an ocelot." }
  const parts = [...entry.parts, inserted, thought] as Entry["parts"]
  await box.place.sessions.write([
    { session: session("inserted"), entries: [{ message: { ...entry.message, options }, parts } as Entry] },
  ])
  for (const mode of ["auto", "exact"]) {
    for (const query of ["walrus build", "an ocelot"]) {
      expect(await ids(box, { query, mode, scope: "all" })).toEqual(["inserted/m0"])
      expect(await ids(box, { query, mode })).toEqual([])
      expect(await ids(box, { query, mode, scope: "tools" })).toEqual([])
    }
  }
  const record = await found(box, { query: 'const marmot = "deep"', mode: "exact", scope: "all" })
  expect(record.sessions?.[0]?.matches[0]).toMatchObject({ text: expect.stringContaining("marmot") })
  const none = await found(box, { query: "walrus" })
  expect(none.searched.excluded).toContain("text that clients inserted, and reasoning (scope: all)")
})

test("where tools were looked into in part, it is said since when", async () => {
  using box = await crowded()
  const { searched } = await foundInHaste(box, { query: "secret plan", scope: "all" })
  expect(searched.excluded.join("; ")).toMatch(/and reasoning older than 2026-0\S+Z \(mode: exact\)/)
})

/** On so slow a machine that the time for an answer is over before anything was looked at. */
async function foundInHaste(box: TestPond, input: object): Promise<SearchOutput> {
  let nowMs = 0
  const clock = { ...systemClock, monotonicMs: () => (nowMs += 3_000) }
  const pond = { ...box.pond, host: { ...box.pond.host, clock } }
  return (await perform(search, { pond, signal: new AbortController().signal }, input)) as SearchOutput
}

async function crowded(): Promise<TestPond> {
  const box = await filled()
  const entries = Array.from({ length: 200 }, (_, ordinal) => said("many", ordinal, `a herring of number ${ordinal}`))
  const timed = entries.map((entry, hour) => {
    const timestamp = new Date(Date.UTC(2026, 2, 1, hour)).toISOString()
    return { ...entry, message: { ...entry.message, timestamp } } as Entry
  })
  await box.place.sessions.write([{ session: session("many"), entries: timed }])
  return box
}

test("a walk that has found nothing when its time is over says from when on it did not look", async () => {
  using box = await crowded()
  const answer = await foundInHaste(box, { query: "the database", mode: "exact", scope: "all" })
  expect(answer).toMatchObject({ sessions: [], has_more: true })
  const left = answer.searched.excluded.join("; ")
  expect(left).toMatch(/what is older than 2026-0\S+Z \(cursor\)/)
  const transcript = searchTranscript(answer, { query: "the database" })
  expect(transcript).toContain(left)
  expect(transcript).toContain(`cursor: ${answer.next_cursor} `)
  expect(transcript).not.toContain("Try other words")
})

test.each<[string, string]>([
  ["nested repetition", "(a+)+$"],
  ["alternatives that overlap", "(a|aa|aaa)*b"],
  ["a repetition of millions", "(a{1000}){1000}"],
  ["a look behind", "(?<=a)b"],
  ["a back reference", "(a)\\1"],
  ["one of 100 KB", "a?".repeat(50_000)],
])("a regular expression that explodes elsewhere is answered or refused: %s", async (_, query) => {
  using box = await filled()
  await box.place.sessions.write([
    { session: session("aaa"), entries: [said("aaa", 0, "a".repeat(50_000), { id: "aa" })] },
  ])
  const answer = await box.run(search, { query, mode: "pattern" }).catch((error) => error)
  if (answer instanceof Error) expect(answer).toMatchObject({ code: "validation_failed" })
  else expect(answer).toMatchObject({ searched: { arms: ["pattern"] } })
})

test("a word that nobody wrote is taken for the one that it is like", async () => {
  using box = await filled()
  expect((await ids(box, { query: "creatStringifyOpts" }))[0]).toBe("alpha/m1")
  expect((await ids(box, { query: "databse" }))[0]).toBe("alpha/m0")
})

test("a word that stands in longer words alone is found in them", async () => {
  using box = await filled()
  const text = "Die Datenbankmigrationsschritte schlugen fehl"
  await box.place.sessions.write([{ session: session("de"), entries: [said("de", 0, text)] }])
  const answer = await found(box, { query: "Schritte", group: "none" })
  expect(answer).toMatchObject({ matches: [{ session_id: "de" }], searched: { arms: ["words", "exact"] } })
  expect((await found(box, { query: "Nirgendwo" })).searched.arms).toEqual(["words"])
})

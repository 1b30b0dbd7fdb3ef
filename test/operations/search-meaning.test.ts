import { afterAll, beforeAll, expect, test } from "bun:test"
import { mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { writeTinyModel } from "../../build/corpus/tiny-model.ts"
import { type Embedder, openEmbedder } from "../../src/embeddings/embedder.ts"
import { embedStore } from "../../src/operations/machine/embed.ts"
import { perform } from "../../src/operations/operation.ts"
import { search } from "../../src/operations/wire/search.ts"
import type { SearchOutput } from "../../src/operations/wire/search-output.ts"
import { status } from "../../src/operations/wire/status.ts"
import { systemClock } from "../../src/platform/host/clock.ts"
import { embedMissing } from "../../src/search/embed-missing.ts"
import type { Sessions } from "../../src/sessions/store.ts"
import { embeddingsTable } from "../../src/sessions/tables.ts"
import { said, session } from "../sessions/support.ts"
import { memoryPond, type TestPond } from "./support.ts"

const place = mkdtempSync(join(tmpdir(), "pond-meaning-"))
let embedder: Embedder

beforeAll(async () => {
  writeTinyModel(place)
  embedder = await openEmbedder("tiny", place)
})

afterAll(async () => {
  await embedder.close()
  rmSync(place, { recursive: true, force: true })
})

const LONG = `${"qqqq ".repeat(900)}zebra zebra`

async function filled(): Promise<TestPond> {
  const made = memoryPond()
  const box = { ...made, pond: { ...made.pond, embedder: () => Promise.resolve(embedder) } }
  await box.place.sessions.write([
    {
      session: session("alpha", { project: "/work/web" }),
      entries: [
        said("alpha", 0, "zzzz xxxx zzzz xxxx"),
        said("alpha", 1, "zebra zoo", { role: "assistant" }),
        said("alpha", 2, LONG),
      ],
    },
    {
      session: session("beta", { project: "/work/api" }),
      entries: [said("beta", 0, "zzzz xxxx zzzz xxxy", { id: "b0" })],
    },
    {
      session: session("agent", { source_agent: "test-client/explorer", parent_session_id: "alpha" }),
      entries: [said("agent", 0, "zzzz xxxx zzzz xxxz", { id: "g0" })],
    },
  ])
  return { ...made, pond: box.pond, run: made.run }
}

const signal = new AbortController().signal

async function found(box: TestPond, input: object): Promise<SearchOutput> {
  return (await perform(search, { pond: box.pond, signal }, { group: "none", ...input })) as SearchOutput
}

const ids = ({ matches = [] }: SearchOutput) =>
  matches.map(({ session_id, message_id }) => `${session_id}/${message_id}`)

test("every message that says something gets its vectors once; a repetition asks no model", async () => {
  using box = await filled()
  const seen: number[] = []
  const first = await embedStore(box.pond, { signal, onEmbedded: ({ embedded }) => seen.push(embedded) })
  expect(first).toMatchObject({ model: "tiny", embedded: 5, left: 0, interrupted: false })
  expect(seen).toEqual([5])
  const table = box.place.sessions.store.table(embeddingsTable(16))
  const rows = await table.read({ columns: ["session_id", "message_id", "piece", "lane", "vector"] })
  const pieces = rows.filter(({ message_id }) => message_id === "m2").map(({ piece }) => piece)
  expect(pieces.toSorted((left, right) => left - right)).toEqual([0, 1, 2, 3, 4, 5, 6, 7])
  expect(rows[0]?.vector).toHaveLength(16)
  expect(await embedStore(box.pond, { signal })).toMatchObject({ embedded: 0, left: 0 })
  await box.place.sessions.write([
    { session: session("beta", { project: "/work/api" }), entries: [said("beta", 1, "later", { id: "b1" })] },
  ])
  expect(await embedStore(box.pond, { signal })).toMatchObject({ embedded: 1, left: 0 })
})

/** The same store, and how many texts are read of it. */
function countingTexts(sessions: Sessions): { readonly sessions: Sessions; readonly texts: () => number } {
  let texts = 0
  const { messages } = sessions.tables
  const counted = <Row extends object>(rows: Row[]): Row[] => {
    texts += rows.filter((row) => "search_text" in row).length
    return rows
  }
  const own = {
    ...messages,
    read: async (request: Parameters<typeof messages.read>[0]) => counted(await messages.read(request)),
    takeByKey: async (...asked: Parameters<typeof messages.takeByKey>) => counted(await messages.takeByKey(...asked)),
  } as typeof messages
  return { sessions: { ...sessions, tables: { ...sessions.tables, messages: own } }, texts: () => texts }
}

test("of the messages only those without vectors are read", async () => {
  using box = await filled()
  await box.place.sessions.write(
    Array.from({ length: 40 }, (_, index) => ({
      session: session(`s${index}`),
      entries: [said(`s${index}`, 0, `word ${index}`, { id: `x${index}` })],
    })),
  )
  const first = countingTexts(box.place.sessions)
  const context = { clock: systemClock, signal }
  expect(await embedMissing(first.sessions, embedder, context)).toMatchObject({ embedded: 45, left: 0 })
  expect(first.texts()).toBe(45)
  await box.place.sessions.write([
    { session: session("beta", { project: "/work/api" }), entries: [said("beta", 1, "later", { id: "b1" })] },
  ])
  const second = countingTexts(box.place.sessions)
  expect(await embedMissing(second.sessions, embedder, context)).toMatchObject({ embedded: 1, left: 0 })
  expect(second.texts()).toBe(1)
  const third = countingTexts(box.place.sessions)
  expect(await embedMissing(third.sessions, embedder, context)).toMatchObject({ embedded: 0, left: 0 })
  expect(third.texts()).toBe(0)
  // As often as it is asked, also of a store that was maintained in between.
  await box.place.sessions.maintain("all")
  expect(await embedMissing(third.sessions, embedder, context)).toMatchObject({ embedded: 0, left: 0 })
})

test("a model that is configured is opened when there is work for it, and not before", async () => {
  using box = await filled()
  let opened = 0
  const settings = { ...box.pond.host.settings(), values: { ...box.pond.host.settings().values } }
  settings.values.embeddings = { ...settings.values.embeddings, model: "tiny", directory: place }
  const pond = {
    ...box.pond,
    host: { ...box.pond.host, settings: () => settings },
    embedder: () => {
      opened += 1
      return Promise.resolve(embedder)
    },
  }
  expect(await embedStore(pond, { signal })).toMatchObject({ embedded: 5, left: 0 })
  expect(opened).toBe(1)
  expect(await embedStore(pond, { signal })).toMatchObject({ model: "tiny", embedded: 0, left: 0, interrupted: false })
  const vectorsSaid = async () => (await perform(status, { pond, signal }, {})).vectors
  const common = { model: "tiny", searchable_total: 5 }
  expect(await vectorsSaid()).toEqual({ ...common, embedded: 5, embedded_percent: 100, stale_under_other_model: 0 })
  const other = { ...embedder, model: "old", dimension: 8, passages: narrow }
  await embedMissing(box.place.sessions, other, { clock: systemClock, signal })
  expect(await vectorsSaid()).toEqual({ ...common, embedded: 0, embedded_percent: 0, stale_under_other_model: 5 })
  expect(opened).toBe(1)
})

test("an embedding that was stopped goes on where it stopped", async () => {
  using box = await filled()
  await box.place.sessions.write(
    Array.from({ length: 1_100 }, (_, index) => ({
      session: session(`s${index}`),
      entries: [said(`s${index}`, 0, `word ${index}`, { id: `x${index}` })],
    })),
  )
  const stop = new AbortController()
  const first = await embedStore(box.pond, { signal: stop.signal, onEmbedded: () => stop.abort() })
  expect(first).toMatchObject({ embedded: 512, left: 593, interrupted: true })
  const second = await embedStore(box.pond, { signal })
  expect(second).toMatchObject({ embedded: 593, left: 0, interrupted: false })
  const table = box.place.sessions.store.table(embeddingsTable(16))
  const rows = await table.read({ columns: ["session_id", "message_id", "piece"] })
  expect(new Set(rows.map((row) => Object.values(row).join(" "))).size).toBe(rows.length)
})

test("another model of the same dimension takes the place of the first", async () => {
  using box = await filled()
  await embedStore(box.pond, { signal })
  const other = { ...embedder, model: "tiny-2" }
  const pond = { ...box.pond, embedder: () => Promise.resolve(other) }
  expect(await embedStore(pond, { signal })).toMatchObject({ model: "tiny-2", embedded: 5 })
  const rows = await box.place.sessions.store.table(embeddingsTable(16)).read({ columns: ["model"] })
  expect(new Set(rows.map(({ model }) => model))).toEqual(new Set(["tiny-2"]))
})

test("by meaning the nearest comes first, a message of several windows once, sub-agents when asked", async () => {
  using box = await filled()
  await embedStore(box.pond, { signal })
  const answer = await found(box, { query: "zzzz xxxx zzzz xxxx", mode: "meaning" })
  expect(ids(answer).slice(0, 2)).toEqual(["alpha/m0", "beta/b0"])
  expect(new Set(ids(answer)).size).toBe(ids(answer).length)
  expect(ids(answer)).not.toContain("agent/g0")
  expect(answer.searched.arms).toEqual(["meaning"])
  const wide = await found(box, { query: "zzzz xxxx", mode: "meaning", filters: { include_subagents: true } })
  expect(ids(wide)).toContain("agent/g0")
})

test.each<[string, object, string[]]>([
  ["a project", { project: { contains: "api" } }, ["beta/b0"]],
  ["a role", { role: "assistant" }, ["alpha/m1"]],
  ["a session", { session_id: "agent" }, ["agent/g0"]],
  ["a client", { source_agent: "nobody" }, []],
])("by meaning a search keeps to %s, and the filter never shortens what there is", async (_, filters, want) => {
  using box = await filled()
  await embedStore(box.pond, { signal })
  expect(ids(await found(box, { query: "zzzz xxxx zzzz xxxx", mode: "meaning", filters }))).toEqual(want)
})

test("a question is asked for its meaning beside its words; a name is not", async () => {
  using box = await filled()
  await embedStore(box.pond, { signal })
  const question = await found(box, { query: "zzzz xxxx zzzz and more" })
  expect(question.searched.arms).toEqual(["words", "meaning"])
  expect((await found(box, { query: "zebra" })).searched.arms).toEqual(["words"])
})

test("a question in a language that the model was not made for is not asked for its meaning, and that is said", async () => {
  using box = await filled()
  await embedStore(box.pond, { signal })
  const english = { ...embedder, isForeign: async (text: string) => text.includes("xxxx") }
  const asked = { ...box, pond: { ...box.pond, embedder: () => Promise.resolve(english) } }
  const foreign = await found(asked, { query: "zzzz xxxx zzzz and more" })
  expect(foreign.searched.arms).toEqual(["words"])
  expect(foreign.searched.excluded.join()).toContain(
    'meaning (tiny does not know the words of "zzzz xxxx zzzz and more"',
  )
  expect((await found(asked, { query: "zzzz zebra zzzz and more" })).searched.arms).toEqual(["words", "meaning"])
  const name = await found(asked, { query: "zzzz zebra xxxx_yyyy and more" })
  expect(name.searched.arms).toEqual(["words", "exact", "meaning"])
  expect((await found(asked, { query: "zzzz xxxx", mode: "meaning" })).searched.arms).toEqual(["meaning"])
})

test("meaning counts little beside a wording with a typing error, and most where words found next to nothing", async () => {
  using box = await filled()
  const text = "the night train to lisbon was late again"
  await box.place.sessions.write([{ session: session("train", {}), entries: [said("train", 0, text)] }])
  await embedStore(box.pond, { signal })
  const weightOf = async (query: string, asking: TestPond = box) => {
    const { rankings = [] } = (await found(asking, { query, explain: true })).explanation ?? {}
    return rankings.find(({ name }) => name === "meaning")?.weight ?? 0
  }
  const asked = await weightOf("was the train to lisbon late")
  expect(asked).toBeGreaterThan(0)
  expect(await weightOf("the nihgt train to lisbon")).toBeLessThan(asked)
  // A word of the model's own that nobody wrote is spelled as intended.
  const knowing = { ...embedder, isForeign: async () => false }
  const other = { ...box, pond: { ...box.pond, embedder: () => Promise.resolve(knowing) } }
  expect(await weightOf("the nihgt train to lisbon", other)).toBe(asked)
  expect(await weightOf("quick brown foxes jumped again")).toBeGreaterThan(asked)
})

test("pages by meaning keep to what was stored when the answer began", async () => {
  using box = await filled()
  await embedStore(box.pond, { signal })
  const first = await found(box, { query: "zzzz xxxx", mode: "meaning", limit: 2 })
  const second = await found(box, { query: "zzzz xxxx", mode: "meaning", limit: 2, cursor: first.next_cursor })
  expect(new Set([...ids(first), ...ids(second)]).size).toBe(4)
})

test("what is like a message is found by its stored vector, and itself is left out", async () => {
  using box = await filled()
  await embedStore(box.pond, { signal })
  const answer = await found(box, { similar_to: "b0" })
  expect(answer.searched.arms).toEqual(["meaning"])
  expect(ids(answer)[0]).toBe("alpha/m0")
  expect(ids(answer)).not.toContain("beta/b0")
})

test("where there is no model, or nothing was embedded, it is said and words answer", async () => {
  using box = await filled()
  const unfilled = await found(box, { query: "zzzz xxxx zzzz xxxx" })
  expect(unfilled.searched.arms).toEqual(["words"])
  expect(unfilled.searched.excluded.join()).toContain("pond sync --only embed")
  const without = { ...box, pond: { ...box.pond, embedder: () => Promise.resolve(undefined) } }
  expect((await found(without, { query: "zzzz xxxx zzzz xxxx" })).searched.excluded.join()).toContain(
    "no embedding model",
  )
  await expect(found(without, { query: "x", mode: "meaning" })).rejects.toMatchObject({ code: "validation_failed" })
  await expect(found(box, { query: "x", mode: "meaning" })).rejects.toMatchObject({
    message: expect.stringContaining("--only embed"),
  })
  await expect(found(box, { query: "x", mode: "meaning", scope: "tools" })).rejects.toMatchObject({
    code: "validation_failed",
  })
  expect(await embedStore(without.pond, { signal })).toBeNull()
})

test("a model of another dimension drops the vectors of the old one when it is complete", async () => {
  using box = await filled()
  const { sessions } = box.place
  const old = { ...embedder, model: "old", dimension: 8, passages: narrow }
  await embedMissing(sessions, old, { clock: systemClock, signal })
  expect(await sessions.store.table(embeddingsTable(8)).count()).toBeGreaterThan(0)
  expect(await embedMissing(sessions, embedder, { clock: systemClock, signal })).toMatchObject({ embedded: 5 })
  expect(await sessions.store.table(embeddingsTable(8)).count()).toBe(0)
})

async function narrow(texts: readonly string[]): Promise<Float32Array[][]> {
  return (await embedder.passages(texts)).map((windows) => windows.map((vector) => vector.slice(0, 8)))
}

test("a run with a budget stops there, and the next one goes on", async () => {
  using box = await filled()
  const { sessions } = box.place
  let reads = 0
  // Every look at this clock is an hour later.
  const clock = { ...systemClock, monotonicMs: () => 3_600_000 * reads++ }
  const first = await embedMissing(sessions, embedder, { clock, signal, budgetMs: 60_000 })
  expect(first).toMatchObject({ embedded: 0, left: 5, interrupted: false })
  expect(await embedMissing(sessions, embedder, { clock: systemClock, signal })).toMatchObject({ embedded: 5, left: 0 })
})

test("projects that are excluded are never embedded, and the run is complete without them", async () => {
  using box = await filled()
  const { sessions } = box.place
  const seen: string[] = []
  const watching = {
    ...embedder,
    passages: async (texts: readonly string[]) => {
      seen.push(...texts)
      return await embedder.passages(texts)
    },
  }
  const asked = { clock: systemClock, signal, excluded: ["/work/api/"] }
  expect(await embedMissing(sessions, watching, asked)).toMatchObject({ embedded: 4, left: 0 })
  expect(seen).not.toContain("zzzz xxxx zzzz xxxy")
  expect(await embedMissing(sessions, watching, asked)).toMatchObject({ embedded: 0, left: 0 })
  expect(seen).toHaveLength(4)
})

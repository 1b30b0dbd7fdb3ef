/** By which terms a message is found: they are made of the stored messages, whoever makes them, and from wherever on. */
import { expect, test } from "bun:test"
import type { Sessions } from "../../../src/sessions/store.ts"
import { WORD_BLOCKS, WORD_SEGMENTS } from "../../../src/sessions/tables.ts"
import { createSnapshots, type TailShard } from "../../../src/sessions/words/snapshot.ts"
import { compare, queryTerms } from "../../../src/sessions/words/terms/tokenizer.ts"
import { MOMENT, memorySessions, said, session } from "../support.ts"

async function found(sessions: Sessions, query: string): Promise<string[]> {
  const rows = await sessions.words.search({ terms: queryTerms(query), every: true }, { columns: ["id"], limit: 100 })
  return rows.map(({ id }) => id).sort(compare)
}

/** The tail as it is searched, put together so many rows at once. */
async function tail({ store, tables }: Sessions, rowsAtOnce: number): Promise<readonly TailShard[]> {
  const words = { segments: store.table(WORD_SEGMENTS), blocks: store.table(WORD_BLOCKS) }
  return (await createSnapshots({ messages: tables.messages, ...words }, rowsAtOnce).current()).tail
}

/** Of each message, in the order of storing, the terms that it has. */
function termsByRow(parts: readonly TailShard[]): string[][] {
  const rows: string[][] = []
  for (const { from, built } of parts) {
    for (const [index, term] of built.terms.entries()) {
      for (const number of built.numbersOf(index)) {
        const own = rows[from + number] ?? []
        rows[from + number] = own
        own.push(term)
      }
    }
  }
  return rows
}

const TEXTS = ["a long tale of kubernetes", "yes", "größere \ud83d Änderung", "no", "login.ts fails", "ok", "数据库"]

test("a short message is found by what was said before it, wherever that lies by now", async () => {
  using place = memorySessions()
  const { sessions } = place
  await sessions.write([
    { session: session("a"), entries: [said("a", 0, "the harbour of tallinn"), said("a", 1, "yes")] },
  ])
  expect(await found(sessions, "harbour yes")).toEqual(["m1"])
  await sessions.maintain("all")
  await sessions.write([{ session: session("a"), entries: [said("a", 2, "do it")] }])
  expect(await found(sessions, "harbour")).toEqual(["m0", "m1", "m2"])
  await sessions.maintain("all")
  expect(await found(place.open(), "harbour do")).toEqual(["m2"])
  await sessions.write([{ session: session("a"), entries: [said("a", 3, "three"), said("a", 4, "four")] }])
  expect(await found(sessions, "harbour")).toEqual(["m0", "m1", "m2", "m3"])
})

test("what was said hundreds of messages ago is no context, and neither is another session", async () => {
  using place = memorySessions()
  const { sessions } = place
  await sessions.write([
    { session: session("a"), entries: [said("a", 0, "the harbour"), said("a", 256, "near"), said("a", 257, "far")] },
    { session: session("b"), entries: [said("b", 1, "alone", { id: "other" })] },
  ])
  for (const isFolded of [false, true]) {
    if (isFolded) await sessions.maintain("all")
    expect(await found(sessions, "harbour")).toEqual(["m0", "m256"])
    expect(await found(sessions, "near")).toEqual(["m256", "m257"])
  }
  await sessions.write([{ session: session("a"), entries: [said("a", 512, "late"), said("a", 513, "later")] }])
  expect(await found(sessions, "far")).toEqual(["m257", "m512", "m513"])
  expect(await found(sessions, "harbour")).toEqual(["m0", "m256"])
})

test("a message gives its first 300 code units as context, its role among them", async () => {
  using place = memorySessions()
  const { sessions } = place
  const long = `${"x".repeat(300 - "user: ".length - " lanter".length)} lanterns`
  await sessions.write([{ session: session("a"), entries: [said("a", 0, long), said("a", 1, "yes")] }])
  for (const isFolded of [false, true]) {
    if (isFolded) await sessions.maintain("all")
    expect(await found(sessions, "lanter")).toEqual(["m1"])
    expect(await found(sessions, "lanterns")).toEqual(["m0"])
  }
})

test("messages have the same terms from wherever on they are put together", async () => {
  using place = memorySessions()
  const { sessions } = place
  for (let round = 0; round < 3; round++) {
    await sessions.write(
      ["a", "b", "c"].map((id, at) => ({
        session: session(id),
        entries: TEXTS.map((text, index) =>
          said(id, round * 20 + index, `${text} ${round + at}`, { id: `${round}${index}` }),
        ),
      })),
    )
  }
  const wanted = termsByRow(await tail(sessions, 1_000))
  expect(wanted).toHaveLength(3 * 3 * TEXTS.length)
  expect(wanted.every((terms) => terms.includes("user"))).toBe(true)
  for (const rowsAtOnce of [1, 2, 5, 8, 40]) {
    const parts = await tail(sessions, rowsAtOnce)
    expect(parts).toHaveLength(Math.ceil(wanted.length / rowsAtOnce))
    expect(termsByRow(parts)).toEqual(wanted)
  }
})

test("a text too large for its row is found by its beginning, and what is said after it by its own words", async () => {
  using place = memorySessions()
  const { sessions } = place
  const paste = `harbour ${"ship ".repeat(900_000)} tallinn`
  const entries = [said("a", 0, paste), said("a", 1, "and now"), said("a", 2, `quay ${"sea ".repeat(60_000)} riga`)]
  await sessions.write([{ session: session("a"), entries }])
  for (const isFolded of [false, true]) {
    if (isFolded) await sessions.maintain("all")
    expect(await found(sessions, "harbour ship")).toEqual(["m0"])
    expect(await found(sessions, "tallinn")).toEqual([])
    expect(await found(sessions, "quay")).toEqual(["m2"])
    expect(await found(sessions, "riga")).toEqual([])
    expect(await found(sessions, "~cut~")).toEqual([])
    const cut = await sessions.words.search({ terms: ["~cut~"] }, { columns: ["id"], limit: 10 })
    expect(cut.map(({ id }) => id).sort(compare)).toEqual(["m0", "m2"])
  }
})

test("of a store that kept the terms of every message the texts count, as of any other", async () => {
  using place = memorySessions()
  const { sessions } = place
  const { messages } = sessions.tables
  await sessions.write([{ session: session("a"), entries: [said("a", 0, "the harbour")] }])
  const [row] = await messages.read({ columns: ["ordinal", "search_terms"] })
  expect(row).toEqual({ ordinal: 0, search_terms: "" })
  const fields = {
    source_agent: "test-client",
    project: "/p",
    timestamp: 0n,
    lane: "main",
    content: null,
    options: "{}",
  }
  const older = { ...fields, session_id: "a", role: "user", ingested_at: 0n, host: MOMENT }
  await messages.insertAbsent([
    { ...older, id: "m1", ordinal: 1, search_text: "tallinn", search_terms: "user tallinn harbour the" },
  ])
  await sessions.write([{ session: session("a"), entries: [said("a", 2, "yes")] }])
  for (const isFolded of [false, true]) {
    if (isFolded) await sessions.maintain("all")
    expect(await found(sessions, "tallinn")).toEqual(["m1", "m2"])
    expect(await found(sessions, "harbour")).toEqual(["m0", "m1", "m2"])
  }
})

/** The index of words: what it finds is what a look at every message finds, wherever the messages lie by now. */
import { expect, test } from "bun:test"
import { seededRandom } from "../../../src/platform/host/random.ts"
import type { Sessions } from "../../../src/sessions/store.ts"
import { WORD_BLOCKS, WORD_SEGMENTS } from "../../../src/sessions/tables.ts"
import { decompress } from "../../../src/sessions/words/segment/compression.ts"
import { decodePostings, encodePostings } from "../../../src/sessions/words/segment/postings.ts"
import { createSnapshots } from "../../../src/sessions/words/snapshot.ts"
import { queryTerms } from "../../../src/sessions/words/terms/tokenizer.ts"
import { openWordIndex } from "../../../src/sessions/words/word-index.ts"
import { and, eq, isIn, range, startsWith } from "../../../src/substrate/filter.ts"
import { memorySessions, said, session, testSessions } from "../support.ts"
import { agrees, QUERIES, WORDS, write } from "./reference.ts"

test("what is found is what a look at every message finds, before a fold, after it, and after every merge", async () => {
  using place = memorySessions()
  let written = 0
  let compared = 0
  for (const more of [12, 60, 8, 55]) {
    await write(place.sessions, written, written + more)
    written += more
    compared += await agrees(place.sessions, QUERIES.slice(0, 4))
    await place.sessions.maintain("due")
    compared += await agrees(place.open(), QUERIES)
  }
  await place.sessions.maintain("all")
  compared += await agrees(place.sessions, QUERIES)
  expect(compared).toBeGreaterThan(3_000)
  const facts = (await place.sessions.statistics()).find(({ table }) => table === "words")
  expect(facts).toMatchObject({ rows: written * 10, indexes: [{ unindexedRows: 0 }] })
}, 120_000)

test("a server answers from memory where something was said, and says what the table says", async () => {
  using place = memorySessions()
  await write(place.sessions, 0, 60)
  await place.sessions.maintain("due")
  await write(place.sessions, 60, 70)
  const ids = ["s3", "s65", "nobody"]
  expect(await place.sessions.words.findSpoken(ids)).toBeUndefined()
  const server = place.open("server")
  await idsOf(server, "w1")
  const told = await server.words.findSpoken(ids)
  expect(told?.get("nobody")).toEqual([])
  for (const id of ["s3", "s65"]) {
    const rows = await place.sessions.points.places.spoken([id])
    expect(rows).toHaveLength(10)
    expect(told?.get(id)).toEqual(rows.map(({ ordinal }) => ordinal).sort((left, right) => left - right))
  }
})

test("a few new messages wait, many become a segment, and small segments one", async () => {
  using place = memorySessions()
  const words = async () => (await place.sessions.maintain("due")).find(({ table }) => table === "words")?.steps ?? []
  await write(place.sessions, 0, 260)
  expect((await words()).map(({ step }) => step)).toContain("build_index")
  await write(place.sessions, 260, 270)
  expect(await words()).toEqual([])
  await write(place.sessions, 270, 300)
  await write(place.sessions, 300, 311)
  const steps = await words()
  expect(steps.find(({ step }) => step === "build_index")?.why).toStartWith("510 messages")
  expect(steps.find(({ step }) => step === "optimize")).toBeUndefined()
  await write(place.sessions, 311, 412)
  expect((await words()).find(({ step }) => step === "optimize")?.why).toContain("3 segments")
}, 60_000)

async function idsOf(sessions: Sessions, query: string): Promise<string[]> {
  const rows = await sessions.words.search({ terms: queryTerms(query) }, { columns: ["id"], limit: 10_000 })
  return rows.map(({ id }) => id).sort((left, right) => (left < right ? -1 : 1))
}

test("whatever is lost of the index is made again from the messages, and nothing is doubled", async () => {
  using place = memorySessions()
  await write(place.sessions, 0, 60)
  await place.sessions.maintain("due")
  await write(place.sessions, 60, 200)
  await place.sessions.maintain("due")
  const wanted = await idsOf(place.sessions, "w1 w2 w3")
  expect(wanted.length).toBeGreaterThan(1_000)
  const tables = () => {
    const { store } = place.open()
    return { segments: store.table(WORD_SEGMENTS), blocks: store.table(WORD_BLOCKS) }
  }
  // Blocks of a segment that was never finished, and a segment whose last block is gone.
  const [segment] = await tables().segments.read({ columns: ["id", "blocks"] })
  const stray = { segment: "0-9-x", block: 0, first_term: "w1", terms: "w1", lists: new Uint8Array(20) }
  await tables().blocks.insertAbsent([stray])
  expect(await idsOf(place.open(), "w1 w2 w3")).toEqual(wanted)
  const all = await idsOf(place.open(), WORDS.join(" "))
  expect(all.length).toBe(2_000)
  const ofLast = eq("block", (segment?.blocks ?? 0) - 1)
  const [{ first_term: term } = { first_term: "" }] = await tables().blocks.read({
    columns: ["first_term"],
    where: ofLast,
  })
  const having = await idsOf(place.open(), term)
  expect(having.length).toBeGreaterThan(0)
  await tables().blocks.deleteWhere(ofLast)
  expect(await idsOf(place.open(), term)).toEqual(having)
  expect(await idsOf(place.open(), "w1 w2 w3")).toEqual(wanted)
  expect(await idsOf(place.open(), WORDS.join(" "))).toEqual(all)
  expect(await idsOf(place.sessions, "w1 w2 w3")).toEqual(wanted)
  await place.open().maintain("all")
  expect(await idsOf(place.open(), "w1 w2 w3")).toEqual(wanted)
  expect(await tables().blocks.count(eq("segment", "0-9-x"))).toBe(0)
  // The directories, which segments of an earlier pond never had.
  const directories = await tables().blocks.count(eq("block", -1))
  expect(directories).toBeGreaterThan(0)
  expect((await tables().blocks.deleteWhere(eq("block", -1))).deleted).toBe(directories)
  expect(await idsOf(place.open(), WORDS.join(" "))).toEqual(all)
  // All of it.
  await tables().segments.deleteWhere({ op: "and", filters: [] })
  expect(await idsOf(place.sessions, "w1 w2 w3")).toEqual(wanted)
}, 60_000)

test("who asks once reads what it asks for, in one turn for each table: of a segment no block but those of its terms", async () => {
  using place = memorySessions()
  await write(place.sessions, 0, 60)
  await place.sessions.maintain("due")
  const { store, tables } = place.open()
  const [segments, blocks] = [store.table(WORD_SEGMENTS), store.table(WORD_BLOCKS)]
  const asked: string[] = []
  const index = openWordIndex({
    messages: tables.messages,
    segments: {
      ...segments,
      read: (request) => {
        asked.push(`segments: ${request.columns.join(" ")}`)
        return segments.read(request)
      },
    },
    blocks: {
      ...blocks,
      scanByNumber: (request) => {
        asked.push("every block")
        return blocks.scanByNumber(request)
      },
      takeByNumber: (rows, columns) => {
        asked.push(`${rows.length} blocks`)
        return blocks.takeByNumber(rows, columns)
      },
    },
  })
  const where = and(isIn("lane", ["main"]), range("ingested_at", { to: BigInt(Number.MAX_SAFE_INTEGER) }))
  const both = [true, false].map((every) =>
    index.search({ terms: ["w1", "w2"], every }, { columns: [], where, limit: 5 }),
  )
  expect((await Promise.all(both)).map((found) => found.length)).toEqual([5, 5])
  expect(new Set(asked.filter((each) => each.endsWith(" blocks")))).toEqual(new Set(["1 blocks"]))
  expect(asked.filter((each) => !each.endsWith(" blocks"))).toEqual([
    "segments: id from_row to_row last_key count tokens blocks lengths lane",
    "segments: id ingested_at",
  ])
})

test("two processes that fold at once, while a third searches, leave one index", async () => {
  using place = memorySessions()
  await write(place.sessions, 0, 120)
  const wanted = await idsOf(place.sessions, "w1 w2 w3")
  const [one, other, reader] = [place.open(), place.open(), place.open()]
  const folding = Promise.all([one.maintain("due"), other.maintain("all")])
  for (let round = 0; round < 5; round++) expect(await idsOf(reader, "w1 w2 w3")).toEqual(wanted)
  await folding
  expect(await idsOf(reader, "w1 w2 w3")).toEqual(wanted)
  expect(await idsOf(place.open(), "w1 w2 w3")).toEqual(wanted)
}, 60_000)

test("a word is found by words that are spelled almost like it, in a segment and before", async () => {
  using place = memorySessions()
  const entries = ["a kubernetes cluster", "größere Änderung", "the kubernets of others"].map((text, index) =>
    said("a", index, text),
  )
  await place.sessions.write([{ session: session("a"), entries }])
  const like = async (word: string, distance: number) => {
    const rows = await place.sessions.words.search({ terms: [word], distance }, { columns: ["ordinal"], limit: 10 })
    return rows.map(({ ordinal }) => ordinal).sort((left, right) => left - right)
  }
  for (const isFolded of [false, true]) {
    if (isFolded) await place.sessions.maintain("all")
    // The words of the message before count for the next one too.
    expect(await like("kubernetis", 1)).toEqual([0, 1, 2])
    expect(await like("kubrntes", 1)).toEqual([])
    expect(await like("kubrntes", 2)).toContain(0)
    expect(await like("grossero", 1)).toContain(1)
  }
})

test("a list is the same after it was written, whatever share of the messages it names", () => {
  const own = seededRandom(3)
  let lists = 0
  for (const share of [0.001, 0.02, 0.05, 0.5, 1]) {
    const size = 20_000
    const numbers = Uint32Array.from(
      Array.from({ length: size }, (_, number) => number).filter(() => own.next() < share),
    )
    const list = encodePostings(numbers, size)
    expect(list.count).toBe(numbers.length)
    expect(decodePostings(list)).toEqual(numbers)
    lists += Number(list.isBitmap)
  }
  expect(lists).toBeGreaterThan(1)
  expect(lists).toBeLessThan(5)
})

test("for a word that nobody wrote the blocks are read in which one like it could stand, and no others", async () => {
  using place = memorySessions()
  // Words of each letter fill several blocks.
  const letters = [..."abcd"]
  const text = (letter: string) => Array.from({ length: 400 }, (_, at) => letter.repeat(3) + at.toString(36)).join(" ")
  await place.sessions.write(
    letters.map((letter) => ({
      session: session(letter),
      entries: Array.from({ length: 200 }, (_, ordinal) => said(letter, ordinal, text(letter))),
    })),
  )
  await place.sessions.maintain("due")
  const { store, tables } = place.open()
  const blocks = store.table(WORD_BLOCKS)
  const taken: number[] = []
  const index = openWordIndex({
    messages: tables.messages,
    segments: store.table(WORD_SEGMENTS),
    blocks: {
      ...blocks,
      takeByNumber: (rows, columns) => {
        if (!(columns as readonly string[]).includes("lists")) taken.push(rows.length)
        return blocks.takeByNumber(rows, columns)
      },
    },
  })
  const [segment] = await store.table(WORD_SEGMENTS).read({ columns: ["blocks"] })
  expect(segment?.blocks).toBeGreaterThan(4)
  const like = (terms: string[]) => index.search({ terms, distance: 1 }, { columns: [], limit: 5 })
  const first = await like(["xccc1"])
  expect(first).not.toEqual([])
  expect(await like(["xyzxyz"])).toEqual([])
  expect(taken.length).toBe(2)
  for (const blocksRead of taken) expect(blocksRead).toBeLessThan((segment?.blocks ?? 0) * 0.7)
  // What was read for one word is there for the next.
  expect(await like(["xccc1"])).toEqual(first)
  expect(taken.slice(2)).toEqual([0])
})

test("of the messages that no segment holds only the last part is read again when more come", async () => {
  using place = memorySessions()
  const { sessions } = place
  const { store, tables } = sessions
  const view = createSnapshots(
    { messages: tables.messages, segments: store.table(WORD_SEGMENTS), blocks: store.table(WORD_BLOCKS) },
    8,
  )
  await write(sessions, 0, 2)
  const before = (await view.current()).tail
  expect(before.map(({ from, to }) => [from, to])).toEqual([
    [0, 8],
    [8, 16],
    [16, 20],
  ])
  await write(sessions, 2, 3)
  const after = (await view.current()).tail
  expect(after.map(({ from, to }) => [from, to])).toEqual([
    [0, 8],
    [8, 16],
    [16, 24],
    [24, 30],
  ])
  expect(after.slice(0, 2).map((part, index) => part === before[index])).toEqual([true, true])
  expect(after.reduce((sum, { documents }) => sum + documents.count, 0)).toBe(30)
})

test("what an earlier build folded lies as it is there, and is read and merged with what is new", async () => {
  using place = memorySessions()
  await write(place.sessions, 0, 60)
  await place.sessions.maintain("due")
  const wanted = await idsOf(place.sessions, "w1 w2 w3")
  expect(wanted.length).toBeGreaterThan(300)
  const { store } = place.open()
  const [segments, blocks] = [store.table(WORD_SEGMENTS), store.table(WORD_BLOCKS)]
  const columns = Object.keys(WORD_SEGMENTS.columns) as (keyof typeof WORD_SEGMENTS.columns)[]
  const [packed] = await segments.read({ columns })
  const blockColumns = ["segment", "block", "first_term", "terms", "lists"] as const
  const lists = await blocks.read({ columns: blockColumns, where: eq("segment", packed?.id ?? "") })
  if (packed === undefined) throw new Error("a segment was written")
  const id = packed.id.slice(1)
  const unpacked = Object.entries(packed).map(([name, value]) => [
    name,
    value instanceof Uint8Array ? decompress(packed.id, value) : value,
  ])
  await blocks.insertAbsent(lists.map((row) => ({ ...row, segment: id, lists: decompress(row.segment, row.lists) })))
  await segments.insertAbsent([{ ...packed, ...Object.fromEntries(unpacked), id }])
  await segments.deleteWhere(eq("id", packed.id))
  await blocks.deleteWhere(startsWith("segment", packed.id))
  expect(lists[0]?.lists).not.toEqual(decompress(packed.id, lists[0]?.lists ?? new Uint8Array()))
  const reader = place.open()
  expect(await idsOf(reader, "w1 w2 w3")).toEqual(wanted)
  const filtered = await reader.words.search(
    { terms: ["w1"] },
    { columns: ["id"], where: eq("project", "/p1"), limit: 10_000 },
  )
  expect(filtered.length).toBeGreaterThan(10)
  await write(place.sessions, 60, 120)
  await place.open().maintain("due")
  expect(await segments.count()).toBe(1)
  const merged = await idsOf(place.open(), "w1 w2 w3")
  expect(wanted.every((each) => merged.includes(each))).toBe(true)
  expect(merged.length).toBeGreaterThan(wanted.length)
}, 60_000)

test("on a disk the index says how many bytes it takes", async () => {
  using place = testSessions()
  await place.sessions.write([{ session: session("s"), entries: [said("s", 0, "one two three")] }])
  await place.sessions.maintain("all")
  const facts = (await place.sessions.statistics()).find(({ table }) => table === "words")
  expect(facts?.indexes[0]?.bytes).toBeGreaterThan(0)
})

/** Parts of the index of words, made in a thread: they are those that are made without one, whatever the messages hold. */
import { expect, test } from "bun:test"
import { systemClock } from "../../../src/platform/host/clock.ts"
import type { Sessions } from "../../../src/sessions/store.ts"
import { WORD_BLOCKS, WORD_SEGMENTS } from "../../../src/sessions/tables.ts"
import { openWordIndex } from "../../../src/sessions/words/word-index.ts"
import { foldWords } from "../../../src/sessions/words/write/fold.ts"
import { buildShards, type PlacedShard } from "../../../src/sessions/words/write/shards.ts"
import { pickRows } from "../../../src/substrate/columns/slice-columns.ts"
import { eq, not } from "../../../src/substrate/filter.ts"
import { memorySessions, said, session } from "../support.ts"

const TEXTS = ["a long tale of login.ts", "no", "größere \ud83d Änderung 数据库", "pond://blob/is no blob", "C++ -x 👍"]

async function write(sessions: Sessions, rounds: number): Promise<void> {
  for (let round = 0; round < rounds; round++) {
    const entries = (id: string) =>
      TEXTS.map((text, at) => said(id, round * TEXTS.length + at, `${text} ${round}`, { id: `${id}${round}-${at}` }))
    await sessions.write(["a", "b", "c"].map((id) => ({ session: session(id), entries: entries(id) })))
  }
  const large = said("d", 0, `harbour ${"ship ".repeat(900_000)}`, { id: "large" })
  await sessions.write([{ session: session("d"), entries: [large, said("d", 1, "yes", { id: "after" })] }])
}

const wordTables = ({ store, tables }: Sessions) => ({
  messages: tables.messages,
  segments: store.table(WORD_SEGMENTS),
  blocks: store.table(WORD_BLOCKS),
})

async function parts(sessions: Sessions, besideMin: number): Promise<PlacedShard[]> {
  return await Array.fromAsync(buildShards(wordTables(sessions), { from: 0, rows: 10, besideMin }))
}

/** Bytes as bytes, whatever kind of array they came in. */
function plain(part: PlacedShard): unknown {
  const blocks = part.blocks.map((block) => ({ ...block, lists: [...block.lists] }))
  const columns = Object.entries(part.columns).map(([name, bytes]) => [name, [...bytes]])
  return { ...part, blocks, columns }
}

test("what a thread makes of messages is what is made here, part by part and in their order", async () => {
  using place = memorySessions()
  await write(place.sessions, 6)
  const here = await parts(place.sessions, Number.POSITIVE_INFINITY)
  const beside = await parts(place.sessions, 0)
  expect(beside.map(plain)).toEqual(here.map(plain))
  expect(here.map(({ from, to }) => [from, to])).toEqual([
    ...Array.from({ length: 9 }, (_, at) => [at * 10, at * 10 + 10]),
    [90, 92],
  ])
  const terms = here.flatMap(({ blocks }) => blocks.flatMap((block) => block.terms.split("\n")))
  expect(terms).toContain("größere".normalize("NFKD").replaceAll("\u0308", "").replace("ß", "ss"))
  expect(terms).toEqual(expect.arrayContaining(["login.ts", "数据", "c++", "-x", "👍", "~cut~", "harbour"]))
})

/** The same tables; `asked` hears of every stretch of messages that is read, and may ask for another. */
function listening(sessions: Sessions, asked: (request: StretchesRequest) => StretchesRequest) {
  const tables = wordTables(sessions)
  const scanByNumber = (request: StretchesRequest) => tables.messages.scanByNumber(asked(request))
  return { ...tables, messages: { ...tables.messages, scanByNumber: scanByNumber as never } }
}

type StretchesRequest = Parameters<ReturnType<typeof wordTables>["messages"]["scanByNumber"]>[0]

test("however many parts there are, the messages are read once", async () => {
  using place = memorySessions()
  await write(place.sessions, 6)
  const reads: StretchesRequest[] = []
  const tables = listening(place.sessions, (request) => {
    if (request.text !== undefined) reads.push(request)
    return request
  })
  const made = await Array.fromAsync(buildShards(tables, { from: 20, rows: 10, besideMin: 1000 }))
  expect(made.map(({ from }) => from)).toEqual([20, 30, 40, 50, 60, 70, 80, 90])
  expect(reads.map(({ from, to }) => [from, to])).toEqual([[20, undefined]])
})

test("where numbers are left out in that read, the parts from there on are asked for one by one", async () => {
  using place = memorySessions()
  await write(place.sessions, 6)
  const whole = await parts(place.sessions, 1000)
  let bounded = 0
  const tables = listening(place.sessions, (request) => {
    if (request.to !== undefined && request.text !== undefined) bounded++
    const isTheOne = request.from === 0 && request.to === undefined
    return isTheOne ? { ...request, where: not(eq("id", "b3-2")) } : request
  })
  const made = await Array.fromAsync(buildShards(tables, { from: 0, rows: 10, besideMin: 1000 }))
  expect(bounded).toBeGreaterThan(0)
  expect(made.at(-1)?.to).toBe(92)
  expect(made.reduce((sum, { documents }) => sum + documents.size, 0)).toBe(92)
  expect(new Set(made.flatMap(({ blocks }) => blocks.flatMap(({ terms }) => terms.split("\n"))))).toEqual(
    new Set(whole.flatMap(({ blocks }) => blocks.flatMap(({ terms }) => terms.split("\n")))),
  )
})

/** The same tables as a compaction beside other writers may leave them: what was written last comes first. */
function upsideDown(sessions: Sessions) {
  const tables = wordTables(sessions)
  const scanByNumber = async function* (request: StretchesRequest) {
    for (const stretch of (await Array.fromAsync(tables.messages.scanByNumber(request))).reverse()) {
      const [rows, numbers] = [stretch.rows.toReversed(), stretch.numbers.toReversed()]
      const columns = () => pickRows(stretch.columns(), [...numbers.keys()].reverse())
      yield { ...stretch, rows, numbers, columns }
    }
  }
  return { ...tables, messages: { ...tables.messages, scanByNumber: scanByNumber as never } }
}

test("rows that lie in another order than that of their numbers are the same parts", async () => {
  using place = memorySessions()
  for (let ordinal = 0; ordinal < 6; ordinal++) {
    const entries = (id: string) => [said(id, ordinal, `harbour${ordinal}`)]
    await place.sessions.write(["a", "b"].map((id) => ({ session: session(id), entries: entries(id) })))
  }
  const request = { from: 0, rows: 7, besideMin: 1000 }
  const asTheyCame = await Array.fromAsync(buildShards(wordTables(place.sessions), request))
  const sorted = await Array.fromAsync(buildShards(upsideDown(place.sessions), request))
  expect(sorted.map(plain)).toEqual(asTheyCame.map(plain))
})

test("a message that is in no segment yet is found by what was said before it, in whatever order its rows lie", async () => {
  using place = memorySessions()
  for (const [ordinal, text] of ["the harbour", "yes"].entries())
    await place.sessions.write([{ session: session("s"), entries: [said("s", ordinal, text)] }])
  const words = openWordIndex(upsideDown(place.sessions))
  const found = await words.search({ terms: ["harbour"] }, { columns: ["id"], limit: 10 })
  expect(new Set(found.map(({ id }) => id))).toEqual(new Set(["m0", "m1"]))
})

const FILLER = 600

test.each([
  { between: 0, before: 0, looks: 0 },
  { between: 20, before: 300, looks: 0 },
  { between: FILLER, before: 0, looks: 1 },
  { between: FILLER, before: 300, looks: 1 },
  // Near enough for its last message, and not for all that could be meant.
  { between: 400, before: 300, looks: 1 },
])(
  "what was said before is a part of a short message: $between messages of others between, $before of its own before",
  async ({ between, before, looks }) => {
    using place = memorySessions()
    const many = (id: string, count: number) =>
      Array.from({ length: count }, (_, at) => said(id, at, `${id} ${at}`, { id: `${id}${at}` }))
    const own = [...many("s", before), said("s", before, "the harbour", { id: "asked" })]
    await place.sessions.write([{ session: session("s"), entries: own }])
    if (between > 0) await place.sessions.write([{ session: session("f"), entries: many("f", between) }])
    const short = said("s", before + 1, "yes", { id: "answer" })
    await place.sessions.write([{ session: session("s"), entries: [short] }])
    let looked = 0
    const tables = listening(place.sessions, (request) => {
      if (request.where !== undefined) looked++
      return request
    })
    const from = before + 1 + between
    const [part] = await Array.fromAsync(buildShards(tables, { from, rows: 10, besideMin: 1000 }))
    expect(part?.blocks.flatMap(({ terms }) => terms.split("\n"))).toEqual(expect.arrayContaining(["harbour", "yes"]))
    expect(looked).toBe(looks)
  },
)

test("a part that the thread cannot make fails the fold, and the index stays as it was", async () => {
  using place = memorySessions()
  await write(place.sessions, 3)
  await place.sessions.maintain("all")
  const found = async () =>
    (await place.sessions.words.search({ terms: ["tale"] }, { columns: ["id"], limit: 100 })).length
  const entries = TEXTS.map((text, at) => said("e", at, text, { id: `e${at}` }))
  await place.sessions.write([{ session: session("e"), entries }])
  const there = await found()
  const tables = wordTables(place.sessions)
  const scanByNumber = async function* (request: Parameters<typeof tables.messages.scanByNumber>[0]) {
    for await (const stretch of tables.messages.scanByNumber(request)) {
      const { length, columns } = stretch.columns()
      const lane = { data: new Int32Array(length) }
      yield { ...stretch, rows: stretch.rows, columns: () => ({ length, columns: { ...columns, lane } }) }
    }
  }
  const damaged = { ...tables, messages: { ...tables.messages, scanByNumber: scanByNumber as never } }
  const failure = await foldWords(damaged, "all", systemClock, 2).catch((error: unknown) => error)
  expect(String(failure)).toContain("The thread that builds the word index has failed")
  expect(there).toBeGreaterThan(0)
  expect(await found()).toBe(there)
  await place.sessions.maintain("all")
  expect(await found()).toBe(there)
})

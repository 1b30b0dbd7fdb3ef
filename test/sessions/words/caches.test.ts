/** What a process that goes on searching reads once, counted. */
import { expect, test } from "bun:test"
import type { Lifetime } from "../../../src/platform/host/host.ts"
import type { Sessions } from "../../../src/sessions/store.ts"
import { WORD_BLOCKS, WORD_SEGMENTS } from "../../../src/sessions/tables.ts"
import { openDictionary } from "../../../src/sessions/words/query/dictionary.ts"
import { createTextCache } from "../../../src/sessions/words/query/text-cache.ts"
import { createBlockReader } from "../../../src/sessions/words/segment/block-reader.ts"
import { createSnapshots } from "../../../src/sessions/words/snapshot.ts"
import { openWordIndex } from "../../../src/sessions/words/word-index.ts"
import { and, eq, type Filter, stored } from "../../../src/substrate/filter.ts"
import { memorySessions, said, session } from "../support.ts"

const TEXTS = 20

async function write(sessions: Sessions, id: string): Promise<void> {
  const entries = Array.from({ length: TEXTS }, (_, at) => said(id, at, `brown fox ${at} of ${id}`))
  await sessions.write([{ session: session(id), entries }])
}

/** The index of a store's words, and what it has read and looked at. */
function countedIndex({ store, tables: { messages } }: Sessions, lifetime: Lifetime) {
  const counts = { texts: 0, blocks: 0, looks: 0 }
  const blocks = store.table(WORD_BLOCKS)
  const segments = store.table(WORD_SEGMENTS)
  const index = openWordIndex(
    {
      messages: {
        ...messages,
        takeByNumber: (rows, columns) => {
          counts.texts += columns.includes("search_text" as never) ? rows.length : 0
          return messages.takeByNumber(rows, columns)
        },
      },
      segments: {
        ...segments,
        version: () => {
          counts.looks += 1
          return segments.version()
        },
      },
      blocks: {
        ...blocks,
        takeByNumber: (rows, columns) => {
          counts.blocks += rows.length
          return blocks.takeByNumber(rows, columns)
        },
      },
    },
    lifetime,
  )
  return { index, counts }
}

const COLUMNS = ["id", "search_text"] as const

test("a server does not read a text again that one search has scored, and it reads as it did", async () => {
  using place = memorySessions()
  await write(place.sessions, "a")
  await place.sessions.maintain("all")
  const ofCommand = countedIndex(place.sessions, "command")
  for (let time = 1; time <= 2; time++) {
    await ofCommand.index.search({ terms: ["fox"] }, { columns: COLUMNS, limit: 100 })
    expect(ofCommand.counts.texts).toBe(time * TEXTS)
  }
  const { index, counts } = countedIndex(place.sessions, "server")
  const asked = () => index.search({ terms: ["fox"] }, { columns: COLUMNS, limit: 100 })
  const first = await asked()
  expect(counts.texts).toBe(TEXTS)
  expect(await asked()).toEqual(first)
  expect(first.map(({ search_text }) => search_text)).toContain("brown fox 7 of a")
  expect(counts.texts).toBe(TEXTS)

  // Of what came since only that is read.
  await write(place.sessions, "b")
  const both = await index.read([...Array(2 * TEXTS).keys()], COLUMNS)
  expect(new Set(both.map(({ id, search_text }) => `${id} ${search_text}`)).size).toBe(2 * TEXTS)
  const more = await asked()
  expect(new Set(more.map(({ search_text }) => search_text)).size).toBe(2 * TEXTS)
  expect(counts.texts).toBe(2 * TEXTS)
})

test("two questions at once read a block once and look once, and what they found is read without a look", async () => {
  using place = memorySessions()
  await write(place.sessions, "a")
  await place.sessions.maintain("all")
  const { index, counts } = countedIndex(place.sessions, "command")
  const terms = ["brown", "fox"]
  const [some, every] = await Promise.all([
    index.search({ terms }, { columns: [], limit: 100 }),
    index.search({ terms, every: true }, { columns: [], limit: 100 }),
  ])
  expect([some.length, every.length]).toEqual([TEXTS, TEXTS])
  expect(counts).toEqual({ texts: 0, blocks: 1, looks: 1 })
  const read = await index.read(
    some.map(({ _row }) => _row),
    COLUMNS,
  )
  expect(read.length).toBe(TEXTS)
  expect(counts).toEqual({ texts: TEXTS, blocks: 1, looks: 1 })
})

test("texts are kept up to some size, the latest longest, and never for another message under the same number", async () => {
  using place = memorySessions()
  await write(place.sessions, "a")
  const { messages } = place.sessions.tables
  let read: number[] = []
  const texts = createTextCache(
    {
      ...messages,
      takeByNumber: (rows, columns) => {
        read = [...rows]
        return messages.takeByNumber(rows, columns)
      },
    },
    500,
  )
  const take = async (row: number, message = `${row} a`) => {
    read = []
    const found = await texts.take([{ row, message }], COLUMNS)
    expect(found.get(row)?.["search_text"]).toBe(`brown fox ${row} of a`)
    return read
  }
  expect([await take(1), await take(2), await take(3)]).toEqual([[1], [2], [3]])
  expect(await take(1)).toEqual([])
  expect(await take(4)).toEqual([4])
  expect(await take(1)).toEqual([])
  expect(await take(2)).toEqual([2])
  expect(await take(1, "0 of another store")).toEqual([1])
})

test("blocks and terms that were read are not read again, but for a segment of another name under the same numbers", async () => {
  using place = memorySessions()
  await write(place.sessions, "a")
  await place.sessions.maintain("all")
  const { store, tables } = place.sessions
  const blocks = store.table(WORD_BLOCKS)
  let taken = 0
  const wordTables = {
    messages: tables.messages,
    segments: store.table(WORD_SEGMENTS),
    blocks: {
      ...blocks,
      takeByNumber: ((rows, columns) => {
        taken += rows.length
        return blocks.takeByNumber(rows, columns)
      }) as typeof blocks.takeByNumber,
    },
  }
  const { cover } = await createSnapshots(wordTables).current()
  const ofAnotherStore = cover.map((segment) => ({ ...segment, id: `${segment.id}-` }))
  const reader = createBlockReader(wordTables)
  const dictionary = openDictionary(wordTables)
  const questions = [
    async (segments: typeof cover) => (await reader.lists(segments, ["fox"]))[0]?.get("fox")?.count,
    async (segments: typeof cover) => (await dictionary.findSimilar({ cover: segments, tail: [] }, ["fix"], 1))[0],
  ]
  for (const [at, ask] of questions.entries()) {
    const asked = async (segments: typeof cover) => {
      taken = 0
      expect(await ask(segments)).toBe([TEXTS, "fox"][at])
      return taken
    }
    expect([await asked(cover), await asked(cover)]).toEqual([1, 0])
    expect([await asked(ofAnotherStore), await asked(ofAnotherStore)]).toEqual([1, 0])
  }
})

test("a filter is applied to a segment once, though messages come in behind it", async () => {
  using place = memorySessions()
  const { store, tables } = place.sessions
  const words = { segments: store.table(WORD_SEGMENTS), blocks: store.table(WORD_BLOCKS) }
  await write(place.sessions, "a")
  await place.sessions.maintain("all")
  const view = createSnapshots({ messages: tables.messages, ...words })
  const asked = async (where: Filter) => {
    const [segment] = (await view.current()).cover
    return segment && (await view.filterMask(segment, and(where, stored(0, await tables.messages.nextRowNumber()))))
  }
  const [users, others] = [eq("role", "user"), eq("ordinal", 3)]
  const [first, second] = [await asked(users), await asked(others)]
  expect([first?.length, second?.indexOf(1)]).toEqual([TEXTS, 3])
  await write(place.sessions, "b")
  expect(await asked(users)).toBe(first as Uint8Array)
  expect(await asked(others)).toBe(second as Uint8Array)
  expect(await asked(and())).toBeUndefined()
  await place.sessions.maintain("all")
  expect((await asked(users))?.length).toBe(2 * TEXTS)
})

test("what another process has folded meanwhile is asked of its segment, and of nothing that was in memory before", async () => {
  using place = memorySessions()
  const { store, tables } = place.sessions
  const words = { segments: store.table(WORD_SEGMENTS), blocks: store.table(WORD_BLOCKS) }
  const view = createSnapshots({ messages: tables.messages, ...words }, 8)
  const parts = async () => {
    const { cover, tail } = await view.current()
    return { cover: cover.map(({ from, to }) => [from, to]), tail: tail.map(({ from, to }) => [from, to]) }
  }
  await write(place.sessions, "a")
  expect(await parts()).toEqual({
    cover: [],
    tail: [
      [0, 8],
      [8, 16],
      [16, 20],
    ],
  })
  const other = place.open()
  await other.maintain("all")
  await write(other, "b")
  expect(await parts()).toEqual({
    cover: [[0, 20]],
    tail: [
      [20, 28],
      [28, 36],
      [36, 40],
    ],
  })
})

/** The list of all words: what it tells of a part of a word, how it grows, and when it is not believed. */
import { expect, test } from "bun:test"
import { WORD_LISTS } from "../../../src/sessions/tables.ts"
import { createCodeUnits } from "../../../src/sessions/words/terms/code-units.ts"
import { openWordLists } from "../../../src/sessions/words/terms/word-list.ts"
import { createWordSet } from "../../../src/sessions/words/terms/word-set.ts"
import { memorySessions, said, session } from "../support.ts"

/** More than are kept apart. */
const ROUNDS = 15
const ANYWHERE = { isStart: false, isEnd: false }

test("a part of a word leads to the terms of the words that hold it, at the end that is asked", async () => {
  using place = memorySessions()
  const text = `parseConfig reparse_config CONFIGURE config ${"ab".repeat(40)}_config`
  await place.sessions.write([{ session: session("s"), entries: [said("s", 0, text)] }])
  expect(await place.sessions.wordList()).toBeUndefined()
  await place.sessions.maintain("all")
  const list = await place.sessions.wordList()
  const held = (isStart: boolean, isEnd: boolean) => list?.termsHolding("config", { isStart, isEnd }, 10)?.toSorted()
  // Of a word longer than the index keeps, its term is its beginning.
  const long = "ab".repeat(32)
  expect(held(false, false)).toEqual([long, "config", "configure", "parseconfig", "reparseconfig"])
  expect(held(true, false)).toEqual(["config", "configure"])
  expect(held(false, true)).toEqual([long, "config", "parseconfig", "reparseconfig"])
  expect(list?.termsHolding("config", ANYWHERE, 4)).toBeUndefined()
  expect(list?.termsHolding("nobody", ANYWHERE, 4)).toEqual([])
})

test("who tends every table, as an import of an archive does, makes the list too", async () => {
  using place = memorySessions()
  await place.sessions.write([{ session: session("s"), entries: [said("s", 0, "reparse_config")] }])
  for (const table of await place.sessions.written()) await table.maintain("all")
  const list = await place.open().wordList()
  expect(list?.termsHolding("config", ANYWHERE, 4)).toEqual(["reparseconfig"])
})

test("a list that many maintenances made longer is written as one, and holds every word once", async () => {
  using place = memorySessions()
  const { store, tables } = place.sessions
  const lists = openWordLists(store, tables.messages)
  for (let at = 0; at < ROUNDS; at++) {
    await place.sessions.write([{ session: session(`s${at}`), entries: [said(`s${at}`, 0, `word${at} and again`)] }])
    await lists.extend("all")
  }
  const rows = await store.table(WORD_LISTS).read({ columns: ["reach", "words"] })
  expect(rows.length).toBeLessThan(6)
  const words = rows.flatMap((row) => row.words.split("\n")).filter(Boolean)
  expect(words).toHaveLength(ROUNDS + 2)
  expect(new Set(words)).toEqual(new Set(["and", "again", ...Array.from({ length: ROUNDS }, (_, at) => `word${at}`)]))
  // As another process opens it.
  const list = await place.open().wordList()
  expect(list?.reach).toBe(ROUNDS)
  expect(list?.termsHolding("ord7", ANYWHERE, 10)).toEqual(["word7"])
})

test("a list that two make longer at once keeps the words of both, though one of them writes it as one", async () => {
  using place = memorySessions()
  const { store, tables } = place.sessions
  const lists = openWordLists(store, tables.messages)
  const write = (at: number) =>
    place.sessions.write([{ session: session(`s${at}`), entries: [said(`s${at}`, 0, `word${at}`)] }])
  for (let at = 0; at < 12; at++) {
    await write(at)
    await lists.extend("all")
  }
  await write(12)
  const table = store.table(WORD_LISTS)
  const rival = { reach: 13n, piece: 0, spoken: 13, last_session_id: "s12", last_message_id: "m0", words: "word12\n" }
  const insertAbsent: typeof table.insertAbsent = async (rows) => {
    await table.insertAbsent([rival])
    return await table.insertAbsent(rows)
  }
  const beside = { ...store, table: () => ({ ...table, insertAbsent }) } as unknown as typeof store
  await openWordLists(beside, tables.messages).extend("all")
  const list = await place.open().wordList()
  expect(list?.reach).toBe(13)
  for (let at = 0; at < 13; at++)
    expect(list?.termsHolding(`ord${at}`, { isStart: false, isEnd: true }, 10)).toEqual([`word${at}`])
})

test("a list of other messages is not believed, and made again", async () => {
  using place = memorySessions()
  await place.sessions.write([{ session: session("s"), entries: [said("s", 0, "alpha"), said("s", 1, "beta")] }])
  const lists = place.sessions.store.table(WORD_LISTS)
  const other = { piece: 0, spoken: 0, last_session_id: "s", last_message_id: "nobody", words: "wrong\n" }
  await lists.insertAbsent([
    { ...other, reach: 1n },
    { ...other, reach: 9n },
  ])
  expect(await place.sessions.wordList()).toBeUndefined()
  await place.sessions.maintain("all")
  const list = await place.sessions.wordList()
  expect(list?.reach).toBe(2)
  expect(list?.termsHolding("eta", ANYWHERE, 10)).toEqual(["beta"])
  expect(list?.termsHolding("wrong", ANYWHERE, 10)).toEqual([])
})

test("a set of words holds each once, however many there are", () => {
  const set = createWordSet()
  const words = Array.from({ length: 100_000 }, (_, at) => `w${(at * 7_919).toString(36)}`)
  expect(words.filter((word) => set.add(word))).toHaveLength(100_000)
  const fresh: string[] = []
  for (let from = 0; from < words.length; from += 1_000) {
    const text = `${words.slice(from, from + 1_000).join(", ")} naïve𝐀${from} 数据w0`
    const units = createCodeUnits()
    units.begin(text)
    set.addWords(units.units, units.length, (start, end) => fresh.push(text.slice(start, end)))
  }
  expect(fresh).toEqual(Array.from({ length: 100 }, (_, at) => `naïve𝐀${at * 1_000}`))
})

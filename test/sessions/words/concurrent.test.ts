/** The index of words beside others: who folds, who stores and who searches at the same moment. */
import { expect, test } from "bun:test"
import { systemClock } from "../../../src/platform/host/clock.ts"
import type { Sessions } from "../../../src/sessions/store.ts"
import { WORD_BLOCKS, WORD_SEGMENTS } from "../../../src/sessions/tables.ts"
import { scanDirectories } from "../../../src/sessions/words/segment/segments.ts"
import { createSnapshots } from "../../../src/sessions/words/snapshot.ts"
import { createFolding, foldWords } from "../../../src/sessions/words/write/fold.ts"
import { startsWith } from "../../../src/substrate/filter.ts"
import { said, session, testSessions } from "../support.ts"

/** Ten messages in each session. */
async function write(sessions: Sessions, from: number, to: number): Promise<void> {
  await sessions.write(
    Array.from({ length: to - from }, (_, index) => {
      const id = `s${from + index}`
      const entries = Array.from({ length: 10 }, (_each, ordinal) =>
        said(id, ordinal, `common word ${(from + index) * 10 + ordinal}`, { id: `${id}m${ordinal}` }),
      )
      return { session: session(id), entries }
    }),
  )
}

async function countOf(sessions: Sessions): Promise<number> {
  const rows = await sessions.words.search({ terms: ["common"] }, { columns: ["id"], limit: 10_000 })
  return new Set(rows.map(({ id }) => id)).size
}

const wordTables = ({ store, tables }: Sessions) => ({
  messages: tables.messages,
  segments: store.table(WORD_SEGMENTS),
  blocks: store.table(WORD_BLOCKS),
})

test("a fold whose segments another has merged and removed meanwhile merges nothing, and nothing is lost", async () => {
  using place = testSessions()
  await write(place.sessions, 0, 6)
  await place.sessions.maintain("all")
  await write(place.sessions, 6, 12)
  expect(await countOf(place.sessions)).toBe(120)
  const [slow, fast] = [place.open(), place.open()]
  const tables = wordTables(slow)
  let written = 0
  const segments: typeof tables.segments = {
    ...tables.segments,
    insertAbsent: async (rows) => {
      const inserted = await tables.segments.insertAbsent(rows)
      written += 1
      if (written === 2) await fast.maintain("all")
      return inserted
    },
  }
  const report = await foldWords({ ...tables, segments }, "all", systemClock, 40)
  expect(report.isBusy).toBe(true)
  expect(await countOf(place.open())).toBe(120)
  await place.open().maintain("all")
  expect(await countOf(place.open())).toBe(120)
})

test("parts that came at once become one segment, however small the last of them is", async () => {
  using place = testSessions()
  const tables = wordTables(place.sessions)
  await write(place.sessions, 0, 10)
  await write(place.sessions, 10, 11)
  await foldWords(tables, "all", systemClock, 53)
  expect(await tables.segments.read({ columns: ["from_row", "to_row"] })).toEqual([{ from_row: 0n, to_row: 110n }])
  expect(await countOf(place.open())).toBe(110)
})

test("what was folded and not merged, by an import or by who died, is merged though nothing new has come", async () => {
  using place = testSessions()
  const tables = wordTables(place.sessions)
  await write(place.sessions, 0, 11)
  const mortal: typeof tables.segments = {
    ...tables.segments,
    insertAbsent: async (rows) => {
      if (rows.some((row) => row.from_row === 0n && row.to_row === 110n)) throw new Error("died")
      return await tables.segments.insertAbsent(rows)
    },
  }
  await expect(foldWords({ ...tables, segments: mortal }, "all", systemClock, 53)).rejects.toThrow("died")
  expect(await tables.segments.count()).toBe(3)
  expect((await foldWords(tables, "lookups", systemClock, 53)).steps).toEqual([])
  const { steps } = await foldWords(tables, "due", systemClock, 53)
  expect(steps.map(({ why }) => why)).toContain("3 segments are merged")
  expect(await tables.segments.read({ columns: ["from_row", "to_row"] })).toEqual([{ from_row: 0n, to_row: 110n }])
  expect(await countOf(place.open())).toBe(110)
  expect((await foldWords(tables, "due", systemClock, 53)).steps).toEqual([])
})

test("a segment finds its blocks also where another process has put some behind them", async () => {
  using place = testSessions()
  const tables = wordTables(place.sessions)
  const others = wordTables(place.open())
  await write(place.sessions, 0, 3)
  let put = 0
  const stray = { segment: "stray", block: 0, first_term: "a", terms: "a", lists: new Uint8Array() }
  const blocks: typeof tables.blocks = {
    ...tables.blocks,
    insertAbsent: async (rows) => {
      const inserted = await tables.blocks.insertAbsent(rows)
      put += (await others.blocks.insertAbsent([stray])).inserted
      return inserted
    },
  }
  await foldWords({ ...tables, blocks }, "all", systemClock)
  expect(put).toBe(1)
  const [segment] = await tables.segments.read({ columns: ["id"] })
  const { id } = segment ?? { id: "" }
  const written = await tables.blocks.read({ columns: ["segment", "lists"], where: startsWith("segment", id) })
  const directory = written.find((row) => row.segment !== id)
  const places = (await scanDirectories(tables, [id])).get(id)?.rows ?? []
  expect(places.length).toBeGreaterThan(0)
  expect([...new Float64Array(directory?.lists.slice().buffer ?? new ArrayBuffer())]).toEqual([...places])
  expect(await countOf(place.open())).toBe(30)
})

test("between the flushes of an import the segments are read when enough may wait for them, and not before", async () => {
  using place = testSessions()
  const tables = wordTables(place.sessions)
  await write(place.sessions, 0, 3)
  let [reads, more] = [0, 0]
  const fold = createFolding(
    {
      ...tables,
      messages: { ...tables.messages, nextRowNumber: async () => (await tables.messages.nextRowNumber()) + more },
      segments: {
        ...tables.segments,
        read: (request) => {
          reads++
          return tables.segments.read(request)
        },
      },
    },
    systemClock,
  )
  const readFor = async (effort: "lookups" | "due", waiting: number) => {
    ;[reads, more] = [0, waiting]
    await fold(effort)
    return reads
  }
  expect(await readFor("lookups", 0)).toBe(1)
  expect(await readFor("lookups", 150_000)).toBe(0)
  expect(await readFor("due", 0)).toBe(1)
  expect(await readFor("lookups", 199_000)).toBe(0)
  expect(await readFor("lookups", 200_000)).toBeGreaterThan(0)
  expect(await countOf(place.open())).toBe(30)
})

test("who asks while another looks is told of what was stored after that look began", async () => {
  using place = testSessions()
  const { sessions } = place
  await write(sessions, 0, 2)
  const tables = wordTables(sessions)
  let late: Promise<readonly { readonly to: number }[]> | undefined
  const messages: typeof tables.messages = {
    ...tables.messages,
    scanByNumber: async function* (request) {
      yield* tables.messages.scanByNumber(request)
      if (late !== undefined) return
      await write(sessions, 2, 4)
      late = view.current().then(({ tail }) => tail)
    } as typeof tables.messages.scanByNumber,
  }
  const view = createSnapshots({ ...tables, messages })
  expect((await view.current()).tail.at(-1)?.to).toBe(20)
  expect((await late)?.at(-1)?.to).toBe(40)
})

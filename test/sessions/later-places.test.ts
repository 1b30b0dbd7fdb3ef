/** A table of a bucket that two machines made at once: its rows begin behind those that were overwritten. */
import { expect, test } from "bun:test"
import { systemClock } from "../../src/platform/host/clock.ts"
import { scanTimeline } from "../../src/search/exact/timeline.ts"
import type { Sessions } from "../../src/sessions/store.ts"
import { and } from "../../src/substrate/filter.ts"
import { engine } from "../../src/substrate/lance/engine.ts"
import { said, session, testSessions } from "./support.ts"

function batchOf(id: string, count: number) {
  const entries = Array.from({ length: count }, (_, ordinal) =>
    said(id, ordinal, `needle ${id} ${ordinal}`, { id: `${id}:${ordinal}` }),
  )
  return { session: session(id), entries }
}

async function overwrite(path: string, name: string): Promise<void> {
  const connection = await engine().lance.connect(path)
  const schema = await (await connection.openTable(name)).schema()
  await connection.createEmptyTable(name, schema, { mode: "overwrite" })
}

async function found(sessions: Sessions): Promise<{ words: number; exact: number; places: number }> {
  const { hits } = await scanTimeline(sessions, systemClock, {
    needle: { text: "eedle" },
    isCaseBlind: false,
    where: and(),
    whereOfTools: and(),
    scope: "conversation",
    limit: 1_000,
    budgetMs: 60_000,
    signal: new AbortController().signal,
  })
  const words = await sessions.words.search({ terms: ["needle"] }, { columns: ["id"], limit: 1_000 })
  return { words: words.length, exact: hits.length, places: await sessions.tables.messages.nextRowNumber() }
}

test("what is stored behind a gap of places is found like anything else, before a fold and after it", async () => {
  using place = testSessions()
  await place.sessions.write([batchOf("gone", 20)])
  await overwrite(place.path, "messages")
  const sessions = place.open()
  await sessions.write([batchOf("first", 30)])
  expect(await found(sessions)).toEqual({ words: 30, exact: 30, places: 50 })
  await sessions.maintain("all")
  expect(await found(place.open())).toEqual({ words: 30, exact: 30, places: 50 })
  await sessions.write([batchOf("later", 10)])
  expect(await found(sessions)).toEqual({ words: 40, exact: 40, places: 60 })
  expect(await found(place.open())).toEqual({ words: 40, exact: 40, places: 60 })
})

/** What of the index does not belong to the messages that are there is not believed, whatever it says of itself. */
import { expect, test } from "bun:test"
import { cpSync } from "node:fs"
import { join } from "node:path"
import type { Sessions } from "../../../src/sessions/store.ts"
import { WORD_BLOCKS, WORD_SEGMENTS } from "../../../src/sessions/tables.ts"
import { type Filter, range } from "../../../src/substrate/filter.ts"
import { said, session, testSessions } from "../support.ts"

const MINUTE_MS = 60_000
const FROM_MS = Date.UTC(2026, 0, 1)

async function write(sessions: Sessions, id: string, words: readonly string[]): Promise<void> {
  const entries = words.map((word, at) =>
    said(id, at, `common ${word}`, { timestamp: new Date(FROM_MS + at * MINUTE_MS).toISOString() }),
  )
  await sessions.write([{ session: session(id), entries }])
}

async function found({ words }: Sessions, term: string, where?: Filter): Promise<string[]> {
  const rows = await words.search(
    { terms: [term] },
    { columns: ["session_id", "id"], limit: 100, ...(where === undefined ? {} : { where }) },
  )
  return rows.map(({ session_id, id }) => `${session_id}/${id}`).toSorted((left, right) => (left < right ? -1 : 1))
}

test("an index that was made of other messages under the same numbers is not asked", async () => {
  using one = testSessions()
  using other = testSessions()
  await write(one.sessions, "one", ["apple", "pear"])
  await one.sessions.maintain("all")
  await write(other.sessions, "other", ["plum", "pear"])
  for (const { name } of [WORD_SEGMENTS, WORD_BLOCKS])
    cpSync(join(one.path, `${name}.lance`), join(other.path, `${name}.lance`), { recursive: true })
  for (const isFolded of [false, true]) {
    if (isFolded) await other.open().maintain("all")
    const sessions = other.open()
    expect(await found(sessions, "pear")).toEqual(["other/m1"])
    // What was said just before a short message is a part of what it says.
    expect(await found(sessions, "plum")).toEqual(["other/m0", "other/m1"])
    expect(await found(sessions, "apple")).toEqual([])
  }
})

test("each interval of time has the messages of its own, asked one after the other and at once", async () => {
  using place = testSessions()
  await write(place.sessions, "s", ["a", "b", "c", "d"])
  const between = (from: number, to: number) =>
    range("timestamp", {
      from: BigInt(FROM_MS + from * MINUTE_MS) * 1_000n,
      to: BigInt(FROM_MS + to * MINUTE_MS) * 1_000n,
    })
  for (const isFolded of [false, true]) {
    if (isFolded) await place.sessions.maintain("all")
    expect(await found(place.sessions, "common", between(0, 1))).toEqual(["s/m0", "s/m1"])
    expect(await found(place.sessions, "common", between(2, 3))).toEqual(["s/m2", "s/m3"])
    const both = [between(1, 2), between(3, 9)].map((where) => found(place.sessions, "common", where))
    expect(await Promise.all(both)).toEqual([["s/m1", "s/m2"], ["s/m3"]])
  }
})

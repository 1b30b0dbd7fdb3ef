/** A cursor is carried by others: it comes back as it was given, or it is refused before anything is asked of the store. */
import { expect, test } from "bun:test"
import { type CursorState, readCursor, writeCursor } from "../../src/search/answer/cursor.ts"
import type { SearchRequest } from "../../src/search/request.ts"

const REQUEST: SearchRequest = {
  query: "needle",
  filters: { fromMicros: 5n },
  mode: "auto",
  scope: "conversation",
  sort: "relevance",
  group: "session",
  limit: 10,
}
const STATE: CursorState = {
  asOfMicros: 1_767_225_600_000_000n,
  messages: 1_000,
  parts: undefined,
  shown: 10,
  place: { beforeMicros: -5n, skip: 3 },
  walked: 100,
}

test.each<[string, CursorState]>([
  ["of a walk", STATE],
  ["of a ranking", { ...STATE, parts: 0, place: undefined, walked: undefined }],
])("a cursor %s comes back, also where more or fewer are asked for", (_, state) => {
  const cursor = writeCursor(REQUEST, state)
  expect(readCursor({ ...REQUEST, limit: 3, cursor })).toEqual(state)
})

test.each<[string, Partial<SearchRequest>]>([
  ["query", { query: "other" }],
  ["day", { filters: { fromMicros: 6n } }],
  ["order", { sort: "recency" }],
  ["scope", { scope: "all" }],
])("a cursor that came from another %s is told so", (_, other) => {
  const cursor = writeCursor(REQUEST, STATE)
  expect(() => readCursor({ ...REQUEST, ...other, cursor })).toThrow("belongs to another query")
})

const TAMPERED: readonly Readonly<Record<string, unknown>>[] = [
  { v: 1 },
  { a: "9".repeat(19) },
  { a: "1.5" },
  { a: 5 },
  { n: "10" },
  { n: 1.5 },
  { m: -1 },
  { m: null },
  { p: "1" },
  { b: "x" },
  { b: "5", s: -1 },
  { b: "5", s: undefined },
  { w: -1 },
  { q: 7 },
]

test.each(TAMPERED)("a cursor with %j in it is none of pond's", (fields) => {
  const own = JSON.parse(Buffer.from(writeCursor(REQUEST, STATE), "base64url").toString()) as object
  const cursor = Buffer.from(JSON.stringify({ ...own, ...fields })).toString("base64url")
  expect(() => readCursor({ ...REQUEST, cursor })).toThrow("was not made by pond")
})

test("a cursor that is long, or no cursor at all, is none of pond's", () => {
  const long = Buffer.from(`${" ".repeat(2_000)}${Buffer.from(writeCursor(REQUEST, STATE), "base64url")}`)
  for (const cursor of ["", "null", "%%", long.toString("base64url")])
    expect(() => readCursor({ ...REQUEST, cursor })).toThrow("was not made by pond")
})

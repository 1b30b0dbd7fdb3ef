/** What may be asked: it is refused in words, or answered, whatever it is. */
import { expect, test } from "bun:test"
import { search } from "../../src/operations/wire/search.ts"
import { filled, found } from "./search-support.ts"

test.each<[string, object]>([
  ["an empty query", { query: "" }],
  ["nothing but space", { query: " \n\t" }],
  ["a query of more than 100 KB", { query: "x".repeat(100_001) }],
  ["a filter that nobody knows", { query: "x", filters: { colour: "red" } }],
  ["a date that does not exist", { query: "x", filters: { from_date: "2026-02-30" } }],
  ["a date that is none", { query: "x", filters: { to_date: "yesteryear" } }],
  ["two kinds of project filter", { query: "x", filters: { project: { contains: "a", equals: "b" } } }],
  ["a project expression that cannot be read", { query: "x", filters: { project: { regex: "(" } } }],
  ["a project expression that may take for ever", { query: "x", filters: { project: { regex: "^(?=(a+)+$)b" } } }],
  ["a project expression that refers back", { query: "x", filters: { project: { regex: "(a)\\1" } } }],
  ["a cursor of nobody", { query: "x", cursor: "%%%" }],
  [
    "a cursor of another query",
    { query: "x", cursor: Buffer.from('{"v":1,"q":"other","a":"1","n":0}').toString("base64url") },
  ],
  ["meaning without embeddings", { query: "x", mode: "meaning" }],
  ["a limit of none", { query: "x", limit: 0 }],
  ["a pattern of more than 4,000 characters", { query: "a|".repeat(2_001), mode: "pattern" }],
  ["a date of a month that does not exist", { query: "x", filters: { to_date: "2026-13-01T00:00:00Z" } }],
])("%s is refused in words", async (_, input) => {
  using box = await filled()
  await expect(box.run(search, input)).rejects.toMatchObject({ code: "validation_failed" })
})

test.each([
  "?!",
  "a",
  "\u0000",
  "\ud83d",
  '"unbalanced',
  "(((",
  "AND OR NOT",
  "x".repeat(50_000),
  "“".repeat(50_000),
  Array.from({ length: 14_000 }, (_, number) => `w${number}`).join(" "),
  "col:value",
  "*",
  "' OR 1=1 --",
  '"',
  "🚀",
])("the query %j is answered, whatever it finds", async (query) => {
  using box = await filled()
  for (const options of [{ mode: "auto" }, { mode: "exact" }, { mode: "exact", scope: "all" }, { scope: "tools" }]) {
    expect(await found(box, { query, ...options })).toMatchObject({
      sessions: expect.any(Array),
      searched: { arms: expect.any(Array) },
    })
  }
})

import { expect, test } from "bun:test"
import { keptRows } from "../../src/sessions/kept-rows.ts"
import { eq } from "../../src/substrate/filter.ts"
import { said, session, testSessions } from "./support.ts"

const SELDOM = 6

test("who asks seldom is told to read for himself, who goes on gets every row, and what came since", async () => {
  using place = testSessions()
  const { sessions } = place.sessions.tables
  await place.sessions.write([{ session: session("a", { title: "first" }), entries: [] }])
  const kept = keptRows({ table: sessions, columns: ["id", "title"], keyOf: ({ id }) => id })
  for (let asked = 0; asked < SELDOM; asked++) expect(await kept()).toBeUndefined()
  expect([...((await kept())?.values() ?? [])]).toEqual([{ id: "a", title: "first" }])

  await place.sessions.write([
    { session: session("b"), entries: [] },
    { session: session("c"), entries: [] },
  ])
  expect(new Set((await kept())?.keys())).toEqual(new Set(["a", "b", "c"]))
  // Another process writes, and the table is maintained in between.
  await place.open().write([{ session: session("d", { title: "last" }), entries: [] }])
  await place.sessions.maintain("all")
  expect((await kept())?.get("d")).toEqual({ id: "d", title: "last" })
  expect((await kept())?.size).toBe(4)
})

test("only the rows that are asked for are kept, and of those stored since only the same", async () => {
  using place = testSessions()
  const { messages } = place.sessions.tables
  const entries = (id: string) => [said(id, 0, "asked"), said(id, 1, "answered", { role: "assistant" })]
  await place.sessions.write([{ session: session("a"), entries: entries("a") }])
  const kept = keptRows({
    table: messages,
    columns: ["session_id", "id"],
    where: eq("role", "assistant"),
    keyOf: (row) => `${row.session_id}/${row.id}`,
  })
  for (let asked = 0; asked < SELDOM; asked++) await kept()
  expect([...((await kept())?.keys() ?? [])]).toEqual(["a/m1"])
  await place.sessions.write([{ session: session("b"), entries: entries("b") }])
  expect([...((await kept())?.keys() ?? [])]).toEqual(["a/m1", "b/m1"])
})

test("texts of many megabytes are not kept", async () => {
  using place = testSessions()
  const title = "x".repeat(3_000_000)
  await place.sessions.write(
    Array.from({ length: 5 }, (_, at) => ({ session: session(`s${at}`, { title }), entries: [] })),
  )
  const { sessions } = place.sessions.tables
  const ids = keptRows({ table: sessions, columns: ["id"], keyOf: ({ id }) => id })
  const titles = keptRows({ table: sessions, columns: ["id", "title"], keyOf: ({ id }) => id })
  for (let asked = 0; asked < SELDOM; asked++) await Promise.all([ids(), titles()])
  expect((await ids())?.size).toBe(5)
  expect(await titles()).toBeUndefined()
})

import { expect, test } from "bun:test"
import { cacheRows } from "../../src/sessions/read/row-cache.ts"
import { eq } from "../../src/substrate/filter.ts"
import { memorySessions, said, session } from "./support.ts"

test("a command caches nothing; a server gets every row, and what was stored since", async () => {
  using place = memorySessions()
  const { sessions } = place.sessions.tables
  await place.sessions.write([{ session: session("a", { title: "first" }), entries: [] }])
  const kept = cacheRows({ lifetime: "server", table: sessions, columns: ["id", "title"], keyOf: ({ id }) => id })
  const ofCommand = cacheRows({ lifetime: "command", table: sessions, columns: ["id", "title"], keyOf: ({ id }) => id })
  expect(await ofCommand()).toBeUndefined()
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
  using place = memorySessions()
  const { messages } = place.sessions.tables
  const entries = (id: string) => [said(id, 0, "asked"), said(id, 1, "answered", { role: "assistant" })]
  await place.sessions.write([{ session: session("a"), entries: entries("a") }])
  const kept = cacheRows({
    lifetime: "server",
    table: messages,
    columns: ["session_id", "id"],
    where: eq("role", "assistant"),
    keyOf: (row) => `${row.session_id}/${row.id}`,
  })
  expect([...((await kept())?.keys() ?? [])]).toEqual(["a/m1"])
  await place.sessions.write([{ session: session("b"), entries: entries("b") }])
  expect([...((await kept())?.keys() ?? [])]).toEqual(["a/m1", "b/m1"])
})

test("texts of many megabytes are not kept, though they came bit by bit", async () => {
  using place = memorySessions()
  const title = "x".repeat(3_000_000)
  const write = (names: readonly string[]) =>
    place.sessions.write(names.map((id) => ({ session: session(id, { title }), entries: [] })))
  await write(["a", "b", "c"])
  const { sessions } = place.sessions.tables
  const ids = cacheRows({ lifetime: "server", table: sessions, columns: ["id"], keyOf: ({ id }) => id })
  const titles = cacheRows({ lifetime: "server", table: sessions, columns: ["id", "title"], keyOf: ({ id }) => id })
  await ids()
  expect((await titles())?.size).toBe(3)
  await write(["d", "e"])
  expect((await ids())?.size).toBe(5)
  expect(await titles()).toBeUndefined()
})

test("a read that failed is made again by who asks next", async () => {
  using place = memorySessions()
  const { sessions } = place.sessions.tables
  await place.sessions.write([{ session: session("a"), entries: [] }])
  let failures = 1
  const version = () => (failures-- > 0 ? Promise.reject(new Error("away")) : sessions.version())
  const kept = cacheRows({
    lifetime: "server",
    table: { ...sessions, version },
    columns: ["id"],
    keyOf: ({ id }) => id,
  })
  const both = await Promise.allSettled([kept(), kept()])
  expect(both.map(({ status }) => status)).toEqual(["rejected", "fulfilled"])
  expect((await kept())?.size).toBe(1)
})

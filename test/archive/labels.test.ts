/** Labels travel in export files and copies: the last change of both stores counts, and what was changed in both is told. */
import { afterAll, beforeAll, expect, test } from "bun:test"
import { copyStore } from "../../src/archive/copy.ts"
import { importArchive } from "../../src/archive/import.ts"
import type { Sessions } from "../../src/sessions/store.ts"
import type { Label, LabelField } from "../../src/sessions/write/labels.ts"
import { said, session } from "../sessions/support.ts"
import { exported, imported, type Place, place, rewritten, work } from "./support.ts"

let here: Place
beforeAll(() => {
  here = place()
})
afterAll(() => here[Symbol.dispose]())

const set = (field: LabelField, value: string, isSet = true): Label => ({ field, value, isSet })
const labelsOf = async (sessions: Sessions, id: string) => (await sessions.labels.of([id])).get(id)

async function storeWith(name: string, ids: readonly string[]): Promise<Sessions> {
  const sessions = here.open(name)
  await sessions.write(ids.map((id) => ({ session: session(id), entries: [said(id, 0, `said in ${id}`)] })))
  return sessions
}

async function fileOf(sessions: Sessions, name: string, ids?: readonly string[]): Promise<string> {
  const path = here.file(name)
  await exported(sessions, path, ids === undefined ? undefined : { ids })
  return path
}

/** Labels are ordered by the clock, in milliseconds. */
function nextMillisecond(): void {
  const ms = Date.now()
  while (Date.now() === ms);
}

test("an export file carries the labels of its sessions and no others, into an empty store and into one with rows", async () => {
  const laptop = await storeWith("laptop", ["a", "b"])
  await laptop.labels.add("a", [set("name", "Login"), set("tag", "billing"), set("star", "")])
  await laptop.labels.add("a", [set("tag", "billing", false)])
  await laptop.labels.add("b", [set("note", "of another session")])
  const path = await fileOf(laptop, "a.pond", ["a"])
  const empty = here.open("empty")
  expect((await imported(empty, path)).labels).toEqual({ inserted: 4, present: 0, conflicts: [] })
  expect(await labelsOf(empty, "a")).toEqual({ name: "Login", isStarred: true, tags: [] })
  expect(await labelsOf(empty, "b")).toBeUndefined()

  const filled = await storeWith("filled", ["c"])
  const dry = await importArchive(filled, { path, isDryRun: true }, work)
  expect(dry.labels).toEqual({ inserted: 4, present: 0, conflicts: [] })
  expect(await labelsOf(filled, "a")).toBeUndefined()
  await imported(filled, path)
  expect(await labelsOf(filled, "a")).toEqual({ name: "Login", isStarred: true, tags: [] })
  expect((await imported(filled, path)).labels).toEqual({ inserted: 0, present: 4, conflicts: [] })
})

test("what one store alone has changed since is no conflict; what both have changed is told, and the last one counts", async () => {
  const laptop = await storeWith("left", ["a"])
  await laptop.labels.add("a", [set("name", "First"), set("tag", "x")])
  const desktop = here.open("right")
  await imported(desktop, await fileOf(laptop, "first.pond"))

  await laptop.labels.add("a", [set("name", "Second")])
  expect((await imported(desktop, await fileOf(laptop, "second.pond"))).labels.conflicts).toEqual([])
  expect((await labelsOf(desktop, "a"))?.name).toBe("Second")

  await laptop.labels.add("a", [set("name", "Of the laptop"), set("tag", "x", false), set("note", "same")])
  nextMillisecond()
  await desktop.labels.add("a", [set("name", "Of the desktop"), set("tag", "y"), set("note", "same")])
  const { conflicts } = (await imported(desktop, await fileOf(laptop, "third.pond"))).labels
  expect(conflicts).toEqual([{ session_id: "a", field: "name", kept: "Of the desktop", overruled: "Of the laptop" }])
  const both = { name: "Of the desktop", isStarred: false, tags: ["y"], note: "same" }
  expect(await labelsOf(desktop, "a")).toEqual(both)
  // The desktop has heard of both by now, so nothing is left to tell.
  expect((await copyStore(desktop, laptop, { isVerifyOnly: false }, work)).labels.conflicts).toEqual([])
  expect(await labelsOf(laptop, "a")).toEqual(both)
})

test("a copy brings labels, and a comparison says which are missing", async () => {
  const from = await storeWith("from", ["a", "b"])
  const to = here.open("to")
  expect(await copyStore(from, to, { isVerifyOnly: false }, work)).toMatchObject({ ok: true, labels: { inserted: 0 } })
  await from.labels.add("b", [set("star", ""), set("name", "Later")])
  const compared = await copyStore(from, to, { isVerifyOnly: true }, work)
  expect(compared).toMatchObject({ ok: false, labels: { inserted: 2, present: 0 } })
  expect(await labelsOf(to, "b")).toBeUndefined()
  const copied = await copyStore(from, to, { isVerifyOnly: false }, work)
  expect(copied).toMatchObject({ ok: true, labels: { inserted: 2, present: 0 } })
  expect(await labelsOf(to, "b")).toEqual({ name: "Later", isStarred: true, tags: [] })
  expect(await copyStore(from, to, { isVerifyOnly: true }, work)).toMatchObject({ ok: true, labels: { present: 2 } })
})

test("no label comes in of a session that stays out", async () => {
  const from = await storeWith("known", ["a", "b"])
  await from.labels.add("a", [set("name", "Erased over there")])
  await from.labels.add("b", [set("name", "Another over there")])
  const path = await fileOf(from, "both.pond")
  const to = await storeWith("knows", ["a"])
  await to.write([{ session: session("b", { project: "/elsewhere" }), entries: [said("b", 0, "not that one")] }])
  await to.erasure.erase([{ id: "a", because: undefined, why: "asked" }])
  const report = await imported(to, path)
  expect(report).toMatchObject({ refused: ["b"], erased: ["a"], labels: { inserted: 0 } })
  const copied = await copyStore(from, to, { isVerifyOnly: false }, work)
  expect(copied).toMatchObject({ refused: ["b"], erased: ["a"], labels: { inserted: 0 } })
  expect((await to.labels.of()).size).toBe(0)
})

test.each([
  ["of a session that is not in the file", { session_id: "zz" }],
  ["of a kind that there is not", { field: "colour" }],
  ["with a moment that is none", { noted_at: -1 }],
  ["that is longer than any", { value: "x".repeat(100_001) }],
])("a label %s makes the file invalid, and nothing of it is stored", async (what, change) => {
  const from = await storeWith(`made up ${what}`, ["a"])
  await from.labels.add("a", [set("name", "Real")])
  const path = await fileOf(from, `${what}.pond`)
  const changed = await rewritten(path, here.file(`${what} changed.pond`), (_, manifest) => {
    Object.assign(manifest.labels?.[0] ?? {}, change)
  })
  const to = here.open(`into ${what}`)
  await expect(imported(to, changed)).rejects.toMatchObject({ code: "validation_failed" })
  expect(await to.counts()).toMatchObject({ sessions: 0 })
})

test("a file without labels has no word of them, as an older pond wrote it", async () => {
  const from = await storeWith("silent", ["a"])
  const path = await fileOf(from, "silent.pond")
  await rewritten(path, here.file("unused.pond"), (_, manifest) => expect("labels" in manifest).toBe(false))
})

test("a label from the future is one of now: what is said later counts before it", async () => {
  const desk = await storeWith("from-the-future", ["f"])
  const label = { session_id: "f", field: "name", is_set: true, host: "elsewhere" }
  const merge = (id: string, value: string, noted_at: bigint) =>
    desk.labels.merge([{ ...label, id, value, noted_at }], { isDryRun: false })
  await merge("1", "theirs", BigInt(Number.MAX_SAFE_INTEGER))
  expect((await labelsOf(desk, "f"))?.name).toBe("theirs")
  await merge("2", "mine", BigInt(Date.now() + 60_000) * 1000n)
  expect((await labelsOf(desk, "f"))?.name).toBe("mine")
  await desk.labels.add("f", [set("name", "last")])
  expect((await labelsOf(desk, "f"))?.name).toBe("last")
})

/** Labels of sessions: the last word counts, the session stays as it was, and lists and searches find by them. */
import { afterEach, beforeEach, expect, test } from "bun:test"
import { label } from "../../src/operations/wire/label.ts"
import { search } from "../../src/operations/wire/search.ts"
import type { SearchOutput } from "../../src/operations/wire/search-output.ts"
import { type SessionsOutput, sessions } from "../../src/operations/wire/sessions.ts"
import { said, session } from "../sessions/support.ts"
import { memoryPond, type TestPond } from "./support.ts"

let box: TestPond
beforeEach(async () => {
  box = memoryPond()
  await box.place.sessions.write([
    { session: session("aaaaaaaa-1", { title: "As recorded" }), entries: [said("aaaaaaaa-1", 0, "log me in")] },
    { session: session("bbbbbbbb-2"), entries: [said("bbbbbbbb-2", 0, "log me out")] },
  ])
})
afterEach(() => box[Symbol.dispose]())

const set = (input: object) => box.run(label as never, input) as Promise<object>
const list = async (filters: object) => ((await box.run(sessions, { filters })) as SessionsOutput).sessions
const ids = async (filters: object) => (await list(filters)).map((each) => each.session_id)

test("a name, a star, tags and a note are kept, and the last word about each counts", async () => {
  await set({ session_id: "aaaa", name: " Login ", star: true, tags: ["b", "a"], note: "see the end" })
  expect(await set({ session_id: "aaaaaaaa-1" })).toEqual({
    session_id: "aaaaaaaa-1",
    name: "Login",
    starred: true,
    tags: ["a", "b"],
    note: "see the end",
  })
  await set({ session_id: "aaaaaaaa-1", name: "Sign-in", unstar: true, untag: ["b"], tags: ["c"], note: "" })
  const now = { session_id: "aaaaaaaa-1", name: "Sign-in", starred: false, tags: ["a", "c"] }
  expect(await set({ session_id: "aaaaaaaa-1" })).toEqual(now)
  // As another process of this store reads it.
  expect((await box.place.open().labels.of()).get("aaaaaaaa-1")).toEqual({
    name: "Sign-in",
    isStarred: false,
    tags: ["a", "c"],
  })
  await set({ session_id: "aaaaaaaa-1", name: "", untag: ["a", "c"] })
  expect((await box.place.sessions.labels.of()).size).toBe(0)
})

test("the session itself stays what its client wrote", async () => {
  await set({ session_id: "aaaaaaaa-1", name: "Mine" })
  expect((await box.place.sessions.session("aaaaaaaa-1"))?.title).toBe("As recorded")
})

test("lists show names, stars and tags, and filter by them", async () => {
  await set({ session_id: "aaaaaaaa-1", name: "Mine", star: true, tags: ["billing"] })
  await set({ session_id: "bbbbbbbb-2", tags: ["billing", "later"] })
  expect((await list({ starred: true })).map(({ title, starred, tags }) => ({ title, starred, tags }))).toEqual([
    { title: "Mine", starred: true, tags: ["billing"] },
  ])
  expect((await ids({ tag: "billing" })).toSorted()).toEqual(["aaaaaaaa-1", "bbbbbbbb-2"])
  expect(await ids({ tag: "later" })).toEqual(["bbbbbbbb-2"])
  expect(await ids({ tag: "nobody" })).toEqual([])
  expect(await ids({ tag: "billing", starred: true })).toEqual(["aaaaaaaa-1"])
})

test("a search finds among the sessions with a label, and calls them by their names", async () => {
  await set({ session_id: "aaaaaaaa-1", name: "Mine", tags: ["billing"] })
  const found = async (filters: object) =>
    ((await box.run(search, { query: "log", filters, for_reading: true })) as SearchOutput).sessions ?? []
  expect((await found({})).length).toBe(2)
  expect((await found({ tag: "billing" })).map(({ session_id, title }) => [session_id, title])).toEqual([
    ["aaaaaaaa-1", "Mine"],
  ])
  expect(await found({ starred: true })).toEqual([])
})

test("what cannot be is refused", async () => {
  await expect(set({ session_id: "cccc" })).rejects.toMatchObject({ code: "not_found" })
  await expect(set({ session_id: "aaaa", star: true, unstar: true })).rejects.toThrow("either star or unstar")
  await expect(set({ session_id: "aaaa", tags: ["x"], untag: ["x"] })).rejects.toThrow("at once")
})

/** A copy goes between any two backends, appends what is absent, and proves that nothing is missing or different. */
import { afterAll, beforeAll, expect, test } from "bun:test"
import { existsSync, readdirSync, readFileSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { compareStores } from "../../src/archive/compare.ts"
import { copyStore } from "../../src/archive/copy.ts"
import { type CopyNote, copyNoteFrom } from "../../src/archive/copy-note.ts"
import { exportArchive } from "../../src/archive/export.ts"
import type { Work } from "../../src/archive/work.ts"
import { systemClock } from "../../src/platform/host/clock.ts"
import type { Sessions } from "../../src/sessions/store.ts"
import { parseLocation } from "../../src/substrate/location.ts"
import type { Store } from "../../src/substrate/table.ts"
import { said, session, testSessions } from "../sessions/support.ts"
import { noteTombstone } from "../substrate/support.ts"
import { type ObjectServer, startObjectServer, TEST_BUCKET, TEST_KEY } from "../support/object-server.ts"
import { fill, logsOf, type Place, place, stoppedAt, work } from "./support.ts"

let server: ObjectServer
let here: Place
let source: Sessions

beforeAll(async () => {
  server = await startObjectServer()
  here = place()
  source = here.open("source")
  await fill(source, here.file("state"))
})
afterAll(async () => {
  here[Symbol.dispose]()
  await server.stop()
})

const environment = { AWS_ACCESS_KEY_ID: TEST_KEY.accessKeyId, AWS_SECRET_ACCESS_KEY: TEST_KEY.secretAccessKey }
const bucket = (name: string) =>
  here.openAt(parseLocation(`${server.url.replace("http:", "s3+http:")}/${TEST_BUCKET}/${name}`, { environment }))

const copied = (from: Sessions, to: Sessions) => copyStore(from, to, { isVerifyOnly: false }, work)
const compared = (from: Sessions, to: Sessions) => copyStore(from, to, { isVerifyOnly: true }, work)

test("from a disk to a bucket and back to another disk, every session comes through", async () => {
  const remote = bucket("there")
  const counts = { ...(await source.counts()), embeddings: 10 }
  const nothing = { sessions: 0, messages: 0, parts: 0, embeddings: 0, blobs: 0 }
  expect(await copied(source, remote)).toMatchObject({
    ok: true,
    copied: counts,
    present: counts,
    missing: nothing,
    extra: nothing,
  })
  const back = here.open("back")
  expect(await copied(remote, back)).toMatchObject({ ok: true, copied: counts })
  expect(await logsOf(back)).toEqual(await logsOf(source))
  expect(await copied(remote, back)).toMatchObject({ ok: true, copied: nothing, present: counts })
})

test("what is missing is named, and what only the target has is counted", async () => {
  const target = here.open("partial")
  await copied(source, target)
  await target.write([{ session: session("own"), entries: [said("own", 0, "only here")] }])
  await source.write([{ session: session("late"), entries: [said("late", 0, "one"), said("late", 1, "two")] }])
  const report = await compared(source, target)
  expect(report).toMatchObject({
    ok: false,
    missing: { sessions: 1, messages: 2, parts: 2, blobs: 0 },
    extra: { sessions: 1, messages: 1, parts: 1 },
  })
  expect(report.examples).toContainEqual({ table: "messages", key: ["late", "m1"], found: "missing" })
  expect(await copied(source, target)).toMatchObject({ ok: true, copied: { sessions: 1, messages: 2, parts: 2 } })
})

test.each([
  ["as they lie there", false],
  ["by the keys of each session", true],
])("what is said while a copy runs is not missing, compared %s, and is when it is asked for", async (how, isOther) => {
  const [from, to] = [here.open(`spoken ${how}`), here.open(`heard ${how}`)]
  await from.write(["a", "b"].map((id) => spoken(id, 2)))
  let writing: Promise<unknown> | undefined
  const meanwhile: Work = {
    ...work,
    // What is said before the rows are chosen is copied.
    onStage: (stage) => {
      if (stage !== "verify") writing ??= from.write([spoken("a", 3), spoken("c", 1)])
    },
  }
  const index = async () => {
    await writing
    if (isOther) await to.write([spoken("own", 1)])
  }
  const report = await copyStore(from, to, { isVerifyOnly: false, index }, meanwhile)
  expect(report).toMatchObject({
    ...{ ok: true, examples: [] },
    copied: { sessions: 2, messages: 4 },
    missing: { sessions: 0, messages: 0, parts: 0 },
    extra: { sessions: isOther ? 1 : 0 },
  })
  expect(await compared(from, to)).toMatchObject({ ok: false, missing: { sessions: 1, messages: 2 } })
})

test("a copy that was stopped goes on where it was", async () => {
  const target = here.open("stopped")
  const stopped = copyStore(source, target, { isVerifyOnly: false }, stoppedAt(3))
  await expect(stopped).rejects.toMatchObject({ code: "interrupted" })
  expect(await compared(source, target)).toMatchObject({ ok: false })
  expect(await copied(source, target)).toMatchObject({ ok: true })
})

test("sessions that the target has from another project are left out, and what lacks is said", async () => {
  const target = here.open("stranger")
  const [log] = await logsOf(source)
  if (log === undefined) throw new Error("the source is empty")
  await target.write([{ session: { ...log.session, project: "/another" }, entries: [] }])
  const report = await copied(source, target)
  expect(report).toMatchObject({ ok: false, refused: [log.session.id], missing: { messages: log.entries.length } })
})

/** The store, with a count of the reads that ask for the rows of some sessions. */
function watched(store: Store): { readonly store: Store; readonly asked: () => number } {
  let asked = 0
  const table: Store["table"] = (definition) => {
    const own = store.table(definition)
    const read: typeof own.read = (request) => {
      asked += 1
      return own.read(request)
    }
    return { ...own, read }
  }
  return { store: { ...store, table }, asked: () => asked }
}

const spoken = (id: string, count: number) => ({
  session: session(id),
  entries: Array.from({ length: count }, (_, at) => said(id, at, `message ${at} of ${id}`)),
})

const since = (from: Sessions, to: Sessions, note: CopyNote | undefined) =>
  copyStore(from, to, { isVerifyOnly: false, since: note }, work)

test("the next copy reads the sessions that changed, whoever wrote them, and the target is as if it read all", async () => {
  const [from, to] = [here.open("grows"), bucket("follows")]
  await from.write(["a", "b", "c"].map((id) => spoken(id, 2)))
  const first = await since(from, to, undefined)
  expect(first).toMatchObject({ ok: true, compared: "all", copied: { sessions: 3, messages: 6 } })
  const nothing = await since(from, to, first.note)
  expect(nothing).toMatchObject({ ok: true, compared: "changed", copied: { messages: 0 }, present: { messages: 0 } })
  await from.write([spoken("a", 5), spoken("d", 1)])
  const grown = await since(from, to, nothing.note)
  expect(grown).toMatchObject({
    ...{ ok: true, compared: "changed", examples: [] },
    copied: { sessions: 1, messages: 4 },
    present: { sessions: 2, messages: 6 },
  })
  expect(await compared(from, to)).toMatchObject({ ok: true, missing: { messages: 0 }, extra: { messages: 0 } })
  // And out of the bucket again, by a note of its own.
  const back = here.open("back again")
  const out = await since(to, back, undefined)
  await from.write([spoken("b", 3)])
  const { note } = await since(from, to, grown.note)
  expect(note).toBeDefined()
  expect(await since(to, back, out.note)).toMatchObject({ ok: true, compared: "changed", copied: { messages: 1 } })
  expect(await logsOf(back)).toEqual(await logsOf(from))
})

test("a note counts while both stores are those that it speaks of", async () => {
  const [from, to] = [here.open("noted"), here.open("noted there")]
  await from.write(["a", "b", "c"].map((id) => spoken(id, 2)))
  const { note } = await since(from, to, undefined)
  const comparedBy = async (given: CopyNote | undefined, target = to) => (await since(from, target, given)).compared
  expect(await comparedBy(note)).toBe("changed")
  // Another store in its place, which has nothing yet.
  const other = here.open("noted elsewhere")
  expect(await since(from, other, note)).toMatchObject({ ok: true, compared: "all", copied: { sessions: 3 } })
  const behind = JSON.parse(JSON.stringify(note)) as { to: { tables: { messages: { rows: number } } } }
  behind.to.tables.messages.rows += 1
  expect(await comparedBy(behind as unknown as CopyNote)).toBe("all")
  await to.store.beginGeneration()
  expect(await comparedBy(note)).toBe("all")
  const again = (await since(from, to, undefined)).note
  await noteTombstone(from.store, "a", 1)
  expect(await comparedBy(again)).toBe("all")
  expect(copyNoteFrom(JSON.parse(JSON.stringify(again)))).toEqual(again as CopyNote)
  const tables = (value: unknown) => ({ ...again, to: { ...again?.to, tables: { a: value } } })
  for (const wrong of [null, 1, {}, { ...again, format: 2 }, tables({}), tables(1)])
    expect(copyNoteFrom(wrong as never)).toBeUndefined()
})

test("rows in the same order are compared as they lie there, however they were written", async () => {
  const [one, other] = [here.open("at-once"), here.open("by-and-by")]
  const all = ["a", "b", "c"].map((id) => spoken(id, 20))
  await one.write(all)
  for (const each of all) await other.write([each])
  const [left, right] = [watched(one.store), watched(other.store)]
  const counted = { sessions: 3, messages: 60, parts: 60, embeddings: 0, blobs: 0 }
  expect(await compareStores(left.store, right.store, work)).toMatchObject({ present: counted, examples: [] })
  expect([left.asked(), right.asked()]).toEqual([0, 0])
})

test("rows in another order are the same rows, and one that differs is named", async () => {
  const [one, other] = [here.open("forwards"), here.open("backwards")]
  const all = ["a", "b", "c"].map((id) => spoken(id, 20))
  await one.write(all)
  for (const each of all.toReversed()) await other.write([each])
  const nothing = { sessions: 0, messages: 0, parts: 0, embeddings: 0, blobs: 0 }
  const counted = { ...nothing, sessions: 3, messages: 60, parts: 60 }
  expect(await compareStores(one.store, other.store, work)).toMatchObject({
    present: counted,
    missing: nothing,
    extra: nothing,
  })
  // As many rows in the same order, and the last of them another.
  const [left, right] = [here.open("left"), here.open("right")]
  for (const [into, id] of [
    [left, "m"],
    [right, "n"],
  ] as const) {
    const { entries, ...rest } = spoken("a", 20)
    await into.write([{ ...rest, entries: [...entries, said("a", 20, "the last", { id })] }])
  }
  const report = await compareStores(left.store, right.store, work)
  expect(report).toMatchObject({ missing: { sessions: 0, messages: 1, parts: 1 }, extra: { messages: 1, parts: 1 } })
  expect(report.examples).toContainEqual({ table: "messages", key: ["a", "m"], found: "missing" })
  expect(report.present).toMatchObject({ sessions: 1, messages: 20 })
})

test.each([
  ["as they lie there", false],
  ["by the keys of each session", true],
])("a row with other content under the same key is named, compared %s", async (how, isOther) => {
  const [left, right] = [here.open(`same ${how}`), here.open(`other ${how}`)]
  const entries = Array.from({ length: 30 }, (_, at) => said("a", at, `text ${at}`))
  const others = entries.with(17, said("a", 17, "text 71"))
  await left.write([{ session: session("a"), entries }])
  if (isOther) await right.write([spoken("b", 1)])
  await right.write([{ session: session("a"), entries: others }])
  const report = await copyStore(left, right, { isVerifyOnly: true }, work)
  expect(report).toMatchObject({ ok: false, missing: { messages: 0, parts: 0 }, different: { parts: 1, sessions: 0 } })
  const [example] = report.examples.filter(({ table }) => table === "parts")
  expect(example).toMatchObject({ found: "different" })
  expect(example?.key.slice(0, 2)).toEqual(["a", "m17"])
})

test("what is damaged is neither copied nor compared, and chosen sessions are exported beside it", async () => {
  using own = testSessions()
  for (const id of ["a", "b"]) await own.sessions.write([spoken(id, 20)])
  const folder = join(own.path, "parts.lance/data")
  const before = new Set(readdirSync(folder))
  await own.sessions.write([spoken("c", 20)])
  const file = join(folder, readdirSync(folder).find((name) => !before.has(name)) as string)
  const bytes = readFileSync(file)
  bytes[bytes.length >> 1] = (bytes[bytes.length >> 1] as number) ^ 1
  writeFileSync(file, bytes)

  const target = here.open("of damaged")
  for (const isVerifyOnly of [false, true])
    await expect(copyStore(own.open(), target, { isVerifyOnly }, work)).rejects.toThrow("pond repair")
  expect(await target.counts()).toMatchObject({ sessions: 0, parts: 0 })
  const path = join(own.path, "out.pond")
  const exporting = (filter?: { readonly ids: readonly string[] }) =>
    exportArchive(own.open().store, { path, isForced: true, filter }, { ...work, clock: systemClock })
  await expect(exporting()).rejects.toThrow("pond repair")
  await expect(exporting({ ids: ["c"] })).rejects.toThrow("pond repair")
  expect(existsSync(path)).toBe(false)
  expect(await exporting({ ids: ["a"] })).toMatchObject({ sessions: 1, parts: 20 })
  await own.open().store.repair()
  expect(await exporting()).toMatchObject({ sessions: 3, parts: 40 })
})

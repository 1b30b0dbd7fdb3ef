/** A record that its client changes under one id: what is stored grows, and what is restored is the newest. */
import { expect, test } from "bun:test"
import { rmSync } from "node:fs"
import { claudeCode } from "../../src/adapters/claude-code/adapter.ts"
import { nativeFiles } from "../../src/restore/output-files.ts"
import { SESSION, type SyncPlace, sessionId, syncPlace, userLine } from "./support.ts"

/** What the client would find in its log again. */
async function restored({ sessions }: SyncPlace): Promise<string[]> {
  const [file] = nativeFiles(claudeCode, await sessions.log(SESSION))
  const lines = file?.form === "log" ? file.lines : []
  return Array.from(lines, (line) => (JSON.parse(String(line)) as { message: { content: string } }).message.content)
}

test("a record that was changed, changed back and changed again is restored as it is now", async () => {
  using place = syncPlace()
  const last = userLine(SESSION, 2, "behind it")
  for (const text of ["first", "second thought", "first", "second thought", "third"]) {
    place.write(SESSION, [userLine(SESSION, 1, text), last])
    await place.sync()
    expect(await restored(place)).toEqual([text, "behind it"])
    expect((await place.sync()).messages.new).toBe(0)
  }
})

test("when everything is read again, what changed of a record that is stored is stored too", async () => {
  using place = syncPlace()
  const write = (...texts: readonly string[]) =>
    place.write(
      SESSION,
      texts.map((text, number) => userLine(SESSION, number, text)),
    )
  write("first", "behind it")
  await place.sync()
  for (const texts of [
    ["changed", "behind it"],
    ["changed again", "behind it", "and more"],
  ]) {
    write(...texts)
    expect((await place.sync({ isFull: true })).sessions).toMatchObject({ new: 0, rewritten: 1 })
    expect(await restored(place)).toEqual(texts)
  }
  const ordinals = (await place.sessions.entries(SESSION)).map(({ message }) => message.ordinal)
  expect(new Set(ordinals).size).toBe(ordinals.length)
  expect((await place.sync({ isFull: true })).messages.new).toBe(0)
})

const textsOf = (texts: readonly string[], session = SESSION) =>
  texts.map((text, number) => userLine(session, number, text))

/** Where the newest of each record is stored, nothing is twice, and nothing is left to do. */
async function expectStored(place: SyncPlace, texts: readonly string[]): Promise<void> {
  expect(await restored(place)).toEqual([...texts])
  const ordinals = (await place.sessions.entries(SESSION)).map(({ message }) => message.ordinal)
  expect(ordinals).toEqual(ordinals.map((_, index) => index))
  expect((await place.sync({ isFull: true })).messages.new).toBe(0)
}

test("when nothing is remembered of a session that is stored, what changed of it is stored too", async () => {
  using place = syncPlace()
  place.write(SESSION, textsOf(["first", "behind it"]))
  await place.sync()
  place.write(SESSION, textsOf(["second thought", "behind it"]))
  await place.sync()
  rmSync(place.state, { recursive: true })
  const texts = ["third", "behind it", "and more"]
  place.write(SESSION, textsOf(texts))
  expect(await place.sync()).toMatchObject({ sessions: { new: 0, grown: 1 }, messages: { new: 2 } })
  await expectStored(place, texts)
})

test("so it is of a log that was deleted, and is back", async () => {
  using place = syncPlace()
  const path = place.write(SESSION, textsOf(["first", "behind it"]))
  await place.sync()
  place.write(SESSION, textsOf(["changed", "behind it"]))
  await place.sync()
  rmSync(path)
  expect((await place.sync()).sessions.gone).toBe(1)
  const texts = ["changed", "behind it", "gone on with"]
  place.write(SESSION, textsOf(texts))
  expect((await place.sync()).messages.new).toBe(1)
  await expectStored(place, texts)
})

test("so it is where the logs are parsed beside, among others that are new", async () => {
  using place = syncPlace()
  const others = Array.from({ length: 6 }, (_, index) => sessionId(index + 2))
  place.write(SESSION, ["no JSON", ...textsOf(["first", "behind it"])])
  await place.sync()
  place.write(SESSION, ["no JSON", ...textsOf(["changed", "behind it"])])
  await place.sync()
  rmSync(place.state, { recursive: true })
  const long = "so it goes on ".repeat(80_000)
  for (const session of others) place.write(session, textsOf(["beside it", long], session))
  place.write(SESSION, ["no JSON", ...textsOf(["changed again", long])])
  const report = await place.sync()
  expect(report).toMatchObject({ sessions: { new: 6, grown: 1 }, messages: { new: 14 } })
  expect(report.issues).toMatchObject([{ count: 1 }])
  for (const session of others) expect(await place.texts(session)).toEqual(["beside it", long])
  expect((await place.sync({ isFull: true })).messages.new).toBe(0)
})

/** A record that its client changes under one id: what is stored grows, and what is restored is the newest. */
import { expect, test } from "bun:test"
import { claudeCode } from "../../src/adapters/claude-code/adapter.ts"
import { SESSION, type SyncPlace, syncPlace, userLine } from "./support.ts"

/** What the client would find in its log again. */
async function restored({ sessions }: SyncPlace): Promise<string[]> {
  const [file] = claudeCode.serialize.native(await sessions.log(SESSION)).files
  const lines = file?.form === "log" ? file.lines : []
  return lines.map((line) => (JSON.parse(String(line)) as { message: { content: string } }).message.content)
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

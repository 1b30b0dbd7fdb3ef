/** A record that its client changes under one id: what is stored grows, and what is restored is the newest. */
import { expect, test } from "bun:test"
import { claudeCode } from "../../src/adapters/claude-code/adapter.ts"
import { SESSION, syncPlace, userLine } from "./support.ts"

test("a record that was changed, changed back and changed again is restored as it is now", async () => {
  using place = syncPlace()
  const last = userLine(SESSION, 2, "behind it")
  const restored = async () => {
    const [file] = claudeCode.serialize.native(await place.sessions.log(SESSION)).files
    return file?.form === "log"
      ? file.lines.map((line) => (JSON.parse(String(line)) as { message: { content: string } }).message.content)
      : []
  }
  for (const text of ["first", "second thought", "first", "second thought", "third"]) {
    place.write(SESSION, [userLine(SESSION, 1, text), last])
    await place.sync()
    expect(await restored()).toEqual([text, "behind it"])
    expect((await place.sync()).messages.new).toBe(0)
  }
})

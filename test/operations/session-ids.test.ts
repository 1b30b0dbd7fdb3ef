/** Beginnings of ids: four characters are enough, fewer are taken for a whole id. */
import { expect, test } from "bun:test"
import { fullMessageId, fullSessionId } from "../../src/operations/store/session-ids.ts"
import { said, session } from "../sessions/support.ts"
import { memoryPond } from "./support.ts"

test("four characters name a session and a message, three name neither", async () => {
  using box = memoryPond()
  const { sessions } = box.place
  await sessions.write([{ session: session("abcdefgh"), entries: [said("abcdefgh", 0, "hello", { id: "mnopqrst" })] }])
  expect(await fullSessionId(sessions, "abcd")).toBe("abcdefgh")
  expect(await fullSessionId(sessions, "abc")).toBe("abc")
  expect(await fullMessageId(sessions, "mnop")).toBe("mnopqrst")
  expect(await fullMessageId(sessions, "mno")).toBe("mno")
  expect(await fullMessageId(sessions, "mnop", "abcdefgh")).toBe("mnopqrst")
})

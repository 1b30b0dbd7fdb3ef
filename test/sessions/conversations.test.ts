/** Which sessions are one conversation, also where somebody else says so. */
import { expect, test } from "bun:test"
import type { Session } from "../../src/model/session.ts"
import type { Sessions } from "../../src/sessions/store.ts"
import { memorySessions, said, session } from "./support.ts"

const copyOf = (id: string, original: string): Session => ({
  ...session(id),
  options: { pond: { copy_of: original } },
})

async function write(sessions: Sessions, ...all: readonly Session[]): Promise<void> {
  await sessions.write(all.map((each) => ({ session: each, entries: [said(each.id, 0, `what ${each.id} says`)] })))
}

test("what arrives stands for no session of this machine, and what was copied here does", async () => {
  using here = memorySessions()
  const { sessions } = here
  await sessions.origins.note("archive", ["theirs", "their-copy", "posing"])
  await write(sessions, session("mine"), copyOf("my-copy", "mine"), copyOf("restored", "theirs"))
  await write(sessions, session("theirs"), copyOf("their-copy", "theirs"), copyOf("posing", "mine"))
  for (const reader of [here.open("command"), here.open("server")]) {
    for (const _ of ["at first", "again"]) {
      const { rootOf, membersOf } = await reader.conversations()
      expect(membersOf("mine").toSorted()).toEqual(["mine", "my-copy"])
      expect(membersOf("theirs").toSorted()).toEqual(["restored", "their-copy", "theirs"])
      expect(rootOf("posing")).toBe("posing")
    }
  }
})

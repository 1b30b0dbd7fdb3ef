/** Files of a session whose log is gone: they are stored under its id, and the log joins them should it come back. */
import { expect, test } from "bun:test"
import { mkdirSync, utimesSync, writeFileSync } from "node:fs"
import { dirname, join } from "node:path"
import { SESSION, syncPlace, userLine } from "./support.ts"

test("a log that comes back joins what was left of its session, and each goes back to its own file", async () => {
  using place = syncPlace()
  const folder = join(place.root, "projects/-home-someone-work", SESSION)
  const path = join(folder, "tool-results/b1.txt")
  mkdirSync(dirname(path), { recursive: true })
  writeFileSync(path, "it failed\n")
  utimesSync(path, 1, 1)
  expect(await place.sync()).toMatchObject({ sessions: { new: 1, failed: 0 }, messages: { new: 1 }, issues: [] })
  place.write(SESSION, [userLine(SESSION, 1, "why did it fail?")])
  const second = await place.sync()
  expect(second).toMatchObject({ sessions: { failed: 0 }, messages: { new: 1 } })
  expect(second.issues.filter(({ severity }) => severity === "fault")).toEqual([])
  const [session] = await place.sessions.tables.sessions.read({ columns: ["id", "project", "options"] })
  expect(session).toMatchObject({ id: SESSION, project: "-home-someone-work" })
  // What does not name its file goes back to the log, and that is not the saved output.
  expect(session?.options).toContain(`projects/-home-someone-work/${SESSION}.jsonl`)
  expect(await place.sync({ isFull: true })).toMatchObject({ sessions: { failed: 0 }, messages: { new: 0 } })
})

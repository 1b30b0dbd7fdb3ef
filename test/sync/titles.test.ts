/** The last title that a client recorded counts, wherever in the log it stands and in whichever sync it came. */
import { Database } from "bun:sqlite"
import { expect, test } from "bun:test"
import { cpSync, mkdirSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { opencode } from "../../src/adapters/opencode/adapter.ts"
import { pi } from "../../src/adapters/pi/adapter.ts"
import { SESSION, syncPlace, userLine } from "./support.ts"

const titled = (type: "ai-title" | "custom-title", title: string) =>
  JSON.stringify({ type, [type === "ai-title" ? "aiTitle" : "customTitle"]: title, sessionId: SESSION })

for (const store of ["lance", undefined] as const) {
  test(`titles behind the first prompt, of a log that is read at once and one that grows (${store ?? "memory"})`, async () => {
    using place = syncPlace(store === undefined ? {} : { store })
    place.write(SESSION, [
      userLine(SESSION, 1, "one"),
      titled("ai-title", "first"),
      userLine(SESSION, 2, "two"),
      titled("custom-title", "second"),
      titled("custom-title", "second"),
    ])
    await place.sync()
    const { sessions } = place
    expect(await sessions.session(SESSION)).toMatchObject({ title: "second" })
    place.append(SESSION, `${userLine(SESSION, 3, "three")}\n${titled("custom-title", "first")}\n`)
    await place.sync()
    expect(await sessions.session(SESSION)).toMatchObject({ title: "first" })
    expect(await sessions.sessions([SESSION])).toMatchObject([{ title: "first" }])
    expect(await sessions.answers.sessions([SESSION])).toMatchObject([{ title: "first" }])
    const scanned = await Array.fromAsync(sessions.scan("sessions", { columns: ["title"] }))
    expect(scanned.flat()).toMatchObject([{ title: "first" }])
    const lanes = (await sessions.tables.messages.read({ columns: ["lane"] })).map(({ lane }) => lane)
    expect(lanes.filter((lane) => lane === "title")).toHaveLength(3)
  })
}

test("an empty name takes the title away", async () => {
  using place = syncPlace({ store: "lance" })
  const root = join(place.root, "pi")
  mkdirSync(join(root, "sessions", "--work--"), { recursive: true })
  const at = "2026-01-02T03:04:05.000Z"
  const lines = [
    { type: "session", version: 3, id: SESSION, timestamp: at, cwd: "/work" },
    { type: "message", id: "m1", parentId: null, timestamp: at, message: { role: "user", content: "one" } },
    { type: "session_info", id: "m2", parentId: "m1", timestamp: at, name: "a name" },
  ]
  const write = (records: readonly object[]) =>
    writeFileSync(
      join(root, "sessions", "--work--", `2026-01-02T03-04-05-000Z_${SESSION}.jsonl`),
      records.map((record) => `${JSON.stringify(record)}\n`).join(""),
    )
  write(lines)
  const sources = [{ adapter: pi, root }]
  await place.sync({ sources })
  expect((await place.sessions.session(SESSION))?.title).toBe("a name")
  write([...lines, { type: "session_info", id: "m3", parentId: "m2", timestamp: at, name: "" }])
  await place.sync({ sources })
  expect((await place.sessions.session(SESSION))?.title).toBeUndefined()
})

test("a title that its client changed in the row of the session", async () => {
  using place = syncPlace({ store: "lance" })
  const root = join(place.root, "opencode")
  cpSync(join(import.meta.dir, "../../fixtures/opencode/todos/root"), root, { recursive: true })
  const sources = [{ adapter: opencode, root }]
  await place.sync({ sources })
  const database = new Database(join(root, "opencode.db"))
  const { id } = database.query("SELECT id FROM session").get() as { readonly id: string }
  expect((await place.sessions.session(id))?.title).toBeString()
  database.run("UPDATE session SET title = 'renamed', time_updated = time_updated + 1")
  database.close()
  await place.sync({ sources })
  expect((await place.sessions.session(id))?.title).toBe("renamed")
})

import { expect, test } from "bun:test"
import { copyFileSync } from "node:fs"
import { join } from "node:path"
import type { SourceUnit } from "../../../src/adapters/adapter.ts"
import { opencode } from "../../../src/adapters/opencode/adapter.ts"
import { nativeFiles } from "../../../src/restore/output-files.ts"
import {
  answer,
  type ClientDatabase,
  clientDatabase,
  NOW,
  planned,
  read,
  readOnly,
  restoredRows,
  SESSION,
  sourceAt,
  tempRoot,
  texts,
  user,
} from "./support.ts"

/** Two turns: a question and its answer with a tool, a question more and its answer. */
function twoTurns(root: string): ClientDatabase {
  const client = clientDatabase(join(root, "opencode.db"))
  client.session()
  client.message("msg_1", NOW - 60_000, user())
  client.part("prt_1", "msg_1", { type: "text", text: "first question" })
  client.message("msg_2", NOW - 50_000, answer("msg_1"))
  client.part("prt_2", "msg_2", {
    type: "tool",
    callID: "c1",
    tool: "bash",
    state: { status: "completed", input: { command: "ls" }, output: "long output" },
  })
  client.part("prt_3", "msg_2", { type: "text", text: "first answer" })
  client.message("msg_3", NOW - 30_000, user())
  client.part("prt_4", "msg_3", { type: "text", text: "second question" })
  client.message("msg_4", NOW - 20_000, answer("msg_3"))
  client.part("prt_5", "msg_4", { type: "text", text: "second answer" })
  return client
}

test("the mark of a session changes with every row of it, and with no row of another", async () => {
  using temp = tempRoot()
  const client = twoTurns(temp.root)
  const other = "ses_4e0000000ffeBBBBBBBBBBBBBB"
  client.session({ id: other })
  const markOf = async (id: string) => (await planned(temp.root)).units.find(({ row }) => row?.id === id)?.row?.mark
  const changes: readonly (() => void)[] = [
    () => client.set("session", SESSION, { title: "Another title" }),
    () => client.set("session", SESSION, { project_id: "global", time_archived: 5 }),
    () => client.set("project", "global", { name: "A name" }),
    () => client.message("msg_5", NOW - 10_000, user()),
    () => client.part("prt_6", "msg_5", { type: "text", text: "third question" }),
    () => client.set("message", "msg_1", { data: "{}", time_updated: NOW }),
    () => client.database.run(`INSERT INTO todo VALUES ('${SESSION}', 'do it', 'pending', 'low', 0, 1, 1)`),
    () => client.database.run(`UPDATE todo SET status = 'completed', time_updated = 2`),
    () => client.database.run(`INSERT INTO session_message VALUES ('msg_v', '${SESSION}', 'user', 1, 1, 1, '{}')`),
    () => client.database.run(`INSERT INTO event_sequence VALUES ('${SESSION}', 7, NULL)`),
    () => client.database.run(`UPDATE event_sequence SET seq = 8`),
    () => client.database.run("DELETE FROM part WHERE id = 'prt_6'"),
  ]
  const marks = [await markOf(SESSION)]
  const otherMark = await markOf(other)
  for (const change of changes) {
    change()
    marks.push(await markOf(SESSION))
  }
  expect(new Set(marks).size).toBe(changes.length + 1)
  client.set("project", "global", { name: null })
  expect(await markOf(other)).toBe(otherMark as string)
})

test("a part that changes in place changes the mark, where the client does not note changes as events", async () => {
  using temp = tempRoot()
  const client = twoTurns(temp.root)
  client.database.run("DELETE FROM migration WHERE id > '20260511'")
  const mark = async () => (await planned(temp.root)).units[0]?.row?.mark
  const before = await mark()
  client.set("part", "prt_2", { data: "{}", time_updated: NOW })
  expect(await mark()).not.toBe(before as string)
})

test("reading again where nothing changed gives nothing", async () => {
  using temp = tempRoot()
  twoTurns(temp.root)
  const first = await readOnly(temp.root)
  const second = await readOnly(temp.root, first)
  expect(first.entries.length).toBeGreaterThan(6)
  expect(second.entries).toEqual([...first.entries])
  expect(second.raws.filter((raw) => raw.form === "row" && raw.table === "message")).toEqual([])
})

test("what is new comes behind what is stored, and only that is read", async () => {
  using temp = tempRoot()
  const client = twoTurns(temp.root)
  const first = await readOnly(temp.root)
  client.message("msg_5", NOW - 10_000, user())
  client.part("prt_6", "msg_5", { type: "text", text: "third question" })
  const second = await readOnly(temp.root, first)
  expect(texts(second.entries.slice(first.entries.length))).toEqual(["user: third question"])
  expect(second.raws.flatMap((raw) => (raw.form === "row" && raw.table === "message" ? [raw] : [])).length).toBe(1)
})

test("a message that changed is appended as it is now: restored so, told so, and stored as it was", async () => {
  using temp = tempRoot()
  const client = twoTurns(temp.root)
  const first = await readOnly(temp.root)
  const cleared = {
    type: "tool",
    callID: "c1",
    tool: "bash",
    state: {
      status: "completed",
      input: { command: "ls" },
      output: "long output",
      time: { start: 1, end: 2, compacted: 3 },
    },
  }
  client.set("part", "prt_2", { data: JSON.stringify(cleared), time_updated: NOW })
  client.set("session", SESSION, { title: "Named later", time_updated: NOW })
  const second = await readOnly(temp.root, first)
  expect(second.entries.slice(0, first.entries.length)).toEqual([...first.entries])
  const appended = second.entries.slice(first.entries.length).map(({ message }) => message)
  expect(
    appended.map(({ role, options }) => [role, (options["pond"] as Record<string, unknown>)["revision_of"]]),
  ).toEqual([
    ["system", SESSION],
    ["system", "msg_2"],
  ])
  expect(appended[0]?.options["pond"]).toMatchObject({ title: "Named later" })
  const unit = (await planned(temp.root)).units[0]!
  expect(restoredRows(second)).toEqual(restoredRows(await read(unit)))
  expect(texts(opencode.context(second, []))).toContain("result: [Old tool result content cleared]")
  expect(texts(opencode.context(first, []))).toContain("result: long output")
})

test("messages that an undo removed stay stored, and are neither told nor restored", async () => {
  using temp = tempRoot()
  const client = twoTurns(temp.root)
  const first = await readOnly(temp.root)
  client.database.run("PRAGMA foreign_keys = ON")
  client.database.run("DELETE FROM message WHERE id IN ('msg_3', 'msg_4')")
  client.database.run("DELETE FROM part WHERE id = 'prt_3'")
  const second = await readOnly(temp.root, first)
  expect(texts(second.entries)).toContain("user: second question")
  expect(Object.keys(restoredRows(second))).toEqual([
    `session ${SESSION}`,
    "project global",
    "message msg_1",
    "message msg_2",
  ])
  expect(texts(opencode.context(second, []))).toEqual(["user: first question", "result: long output"])
  const third = await readOnly(temp.root, second)
  expect(third.entries.length).toBe(second.entries.length)
})

/** A third question, an answer that is not finished, and a question that waits for it. */
function threeTurns(root: string): ClientDatabase {
  const client = twoTurns(root)
  client.message("msg_5", NOW - 9_000, user(NOW - 9_000))
  client.part("prt_6", "msg_5", { type: "text", text: "third question" }, NOW - 9_000)
  client.message("msg_6", NOW - 8_000, answer("msg_5", undefined as never))
  client.set("message", "msg_6", {
    data: JSON.stringify({ role: "assistant", parentID: "msg_5", time: { created: 1 } }),
  })
  client.part("prt_7", "msg_6", { type: "text", text: "an unfinished ans" }, NOW - 8_000)
  client.message("msg_7", NOW - 7_000, user(NOW - 7_000))
  client.part("prt_8", "msg_7", { type: "text", text: "a question in the queue" }, NOW - 7_000)
  return client
}

test("an answer that is still being written waits, with all that comes after it; an hour later it is taken as it is", async () => {
  using temp = tempRoot()
  threeTurns(temp.root)
  const now = await readOnly(temp.root)
  expect(texts(now.entries).at(-1)).toBe("user: third question")
  const hourLater = sourceAt(NOW + 3_600_000)
  const [before, after] = [(await planned(temp.root)).units[0], (await planned(temp.root, hourLater)).units[0]]
  expect(after?.row?.mark).not.toBe(before?.row?.mark as string)
  const later = await readOnly(temp.root, now, hourLater)
  expect(texts(later.entries).slice(-2)).toEqual(["assistant: an unfinished ans", "user: a question in the queue"])
})

test("an answer that is not finished is taken as it is where nobody has the database open", async () => {
  using temp = tempRoot()
  using after = tempRoot()
  threeTurns(temp.root)
  // What a client leaves that dies, on another disk: its database and its log, and no lock on either.
  for (const name of ["opencode.db", "opencode.db-wal"]) copyFileSync(join(temp.root, name), join(after.root, name))
  const [open, left] = [(await planned(temp.root)).units[0], (await planned(after.root)).units[0]]
  expect(left?.row?.mark).not.toBe(open?.row?.mark as string)
  const died = ["user: third question", "assistant: an unfinished ans", "user: a question in the queue"]
  expect(texts((await readOnly(after.root)).entries).slice(-3)).toEqual(died)
})

test("an answer that a crash left unfinished does not hold back what the client went on with", async () => {
  using temp = tempRoot()
  const client = twoTurns(temp.root)
  client.set("message", "msg_2", {
    data: JSON.stringify({ role: "assistant", parentID: "msg_1", time: { created: 1 } }),
  })
  expect(texts((await readOnly(temp.root)).entries).at(-1)).toBe("assistant: second answer")
})

test("a tool that was running when it was stored is its result later", async () => {
  using temp = tempRoot()
  const client = twoTurns(temp.root)
  const running = { type: "tool", callID: "c1", tool: "bash", state: { status: "running", input: { command: "ls" } } }
  client.set("part", "prt_2", { data: JSON.stringify(running), time_updated: NOW - 1 })
  const first = await readOnly(temp.root)
  expect(texts(opencode.context(first, []))).not.toContain("result: a.txt")
  const done = { ...running, state: { ...running.state, status: "completed", output: "a.txt" } }
  client.set("part", "prt_2", { data: JSON.stringify(done), time_updated: NOW })
  expect(texts(opencode.context(await readOnly(temp.root, first), []))).toContain("result: a.txt")
})

test("events are read on from the last one", async () => {
  using temp = tempRoot()
  const client = twoTurns(temp.root)
  const note = (seq: number) =>
    client.database.run(
      `INSERT INTO event VALUES ('evt_${seq}', '${SESSION}', ${seq}, 'message.updated.1', '{"seq": ${seq}}')`,
    )
  client.database.run(`INSERT INTO event_sequence VALUES ('${SESSION}', 1, NULL)`)
  for (const seq of [0, 1]) note(seq)
  const first = await readOnly(temp.root)
  for (const seq of [2, 3]) note(seq)
  client.database.run("UPDATE event_sequence SET seq = 3")
  const second = await readOnly(temp.root, first)
  const rows = restoredRows(second)
  expect(rows["event evt_0"]).toMatchObject({ seq: 0, event: [{ seq: 1 }] })
  expect(rows["event evt_2"]).toMatchObject({ seq: 2, event: [{ seq: 3, data: '{"seq": 3}' }] })
  expect(rows[`session ${SESSION}`]).toMatchObject({ event_sequence: [{ seq: 3 }] })
})

test("a reader that is handed everything once more writes down nothing twice", async () => {
  using temp = tempRoot()
  twoTurns(temp.root)
  const source = sourceAt()
  const first = await readOnly(temp.root)
  const forgetful = { ...source, rows: (unit: SourceUnit) => source.rows(unit) }
  const second = await readOnly(temp.root, first, forgetful)
  expect(second.raws.length).toBe(first.raws.length)
  expect(second.entries).toEqual([...first.entries])
})

test("an export is given back whole, also where its messages are none that we know", async () => {
  using place = tempRoot()
  const info = { id: SESSION, directory: "/work", time: { created: NOW } }
  const answered = { info: { id: "msg_1", role: "assistant" }, parts: [{ id: "prt_1", type: "text", text: "hello" }] }
  const messages = [{ info: { id: "msg_0", role: "assistant" } }, answered, { ...answered, messages: ["x"] }, null, 7]
  const document = JSON.stringify({ info, messages, parts: [1], message: 2 })
  await Bun.write(join(place.root, "exports", `${SESSION}.json`), document)
  const stored = await readOnly(place.root)
  const [file] = nativeFiles(opencode, stored)
  expect(file?.form === "document" && JSON.parse(file.text)).toEqual(JSON.parse(document))
})

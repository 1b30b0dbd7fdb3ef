import { expect, test } from "bun:test"
import { join } from "node:path"
import { claudeCode } from "../../src/adapters/claude-code/adapter.ts"
import { ERROR_TABLE, PondError } from "../../src/model/errors.ts"
import type { SessionLog } from "../../src/model/session.ts"
import { type ExportOutput, exportSession } from "../../src/operations/wire/export-session.ts"
import { type GetOutput, get } from "../../src/operations/wire/get.ts"
import { ingest } from "../../src/operations/wire/ingest.ts"
import { restorePlan } from "../../src/operations/wire/restore-plan.ts"
import { said, session } from "../sessions/support.ts"
import { sourceFile } from "../source-file.ts"
import { memoryPond } from "./support.ts"

test("the tree of a session names everything below it, however deep, and is no way into a circle", async () => {
  using box = memoryPond()
  const family = [
    session("root", { title: "the whole" }),
    session("second", { parent_session_id: "root", created_at: "2026-02-02T00:00:00.000Z" }),
    session("first", { parent_session_id: "root" }),
    session("below", { parent_session_id: "first" }),
  ]
  await box.place.sessions.write(family.map((each) => ({ session: each, entries: [said(each.id, 0, "hello")] })))
  const { tree, result } = (await box.run(get, { session_id: "root", tree: true })) as GetOutput
  expect(tree?.map(({ session: { id }, depth, messages }) => [id, depth, messages])).toEqual([
    ["root", 0, 1],
    ["first", 1, 1],
    ["below", 2, 1],
    ["second", 1, 1],
  ])
  expect(result).toEqual({ messages: [], messages_remaining: 1 })
  await box.place.sessions.write(
    ["a", "b"].map((id) => ({ session: session(id, { parent_session_id: id === "a" ? "b" : "a" }), entries: [] })),
  )
  expect(((await box.run(get, { session_id: "a", tree: true })) as GetOutput).tree).toHaveLength(2)
})

test("a tree is of a session, and a raw record of a message", async () => {
  using box = memoryPond()
  for (const input of [
    { message_id: "m", tree: true },
    { session_id: "s", raw: true },
  ]) {
    expect(box.run(get, input)).rejects.toMatchObject({ code: "validation_failed" })
  }
})

const LINES = [
  '{"type":"user","uuid":"u1","sessionId":"de300000-0000-4000-8000-0000000000aa","cwd":"/w","timestamp":"2026-01-31T12:00:00.000Z","version":"2.1.0","message":{"role":"user","content":"hello"},"cost":1.5}',
  '{"type":"assistant","uuid":"a1","parentUuid":"u1","sessionId":"de300000-0000-4000-8000-0000000000aa","cwd":"/w","timestamp":"2026-01-31T12:00:01.000Z","version":"2.1.0","message":{"id":"msg_1","role":"assistant","model":"m","content":[{"type":"text","text":"hi"},{"type":"tool_use","id":"t1","name":"Bash","input":{"command":"ls"}}]}}',
  // Two messages of one record: what a tool gave, and what was said with it.
  '{"type":"user","uuid":"u2","parentUuid":"a1","sessionId":"de300000-0000-4000-8000-0000000000aa","cwd":"/w","timestamp":"2026-01-31T12:00:02.000Z","version":"2.1.0","message":{"role":"user","content":[{"type":"tool_result","tool_use_id":"t1","content":"a.txt"},{"type":"text","text":"thanks"}]}}',
]

function parsed(): SessionLog {
  const place = "projects/-w/de300000-0000-4000-8000-0000000000aa.jsonl"
  const file = sourceFile(place, { path: `/root/${place}` })
  const log: { session?: SessionLog["session"]; entries: SessionLog["entries"][number][] } = { entries: [] }
  const parser = claudeCode.parse(
    { key: place, root: "/root", files: [file] },
    {
      session: (each) => {
        log.session = each
      },
      entry: (entry) => log.entries.push(entry),
      issue: () => undefined,
    },
  )
  for (const [line, text] of LINES.entries()) parser.push({ form: "log", file, line, text })
  parser.end(true)
  if (log.session === undefined) throw new Error("there is no session in the lines")
  return { session: log.session, entries: log.entries }
}

test("the raw record of a message is the line that its client wrote", async () => {
  using box = memoryPond()
  const { session: read, entries } = parsed()
  await box.place.sessions.write([{ session: read, entries }])
  const messages = entries.filter(({ message }) => ["user", "assistant"].includes(message.role))
  expect(messages).toHaveLength(3)
  for (const [index, { message }] of messages.entries()) {
    const { record } = (await box.run(get, { message_id: message.id, raw: true })) as GetOutput
    expect(record).toEqual({
      place: "projects/-w/de300000-0000-4000-8000-0000000000aa.jsonl",
      text: LINES[index] ?? "",
    })
  }
})

test("a session leaves by export and enters another pond by ingest, whole, whatever the pages", async () => {
  using from = memoryPond()
  const { session: read, entries } = parsed()
  await from.place.sessions.write([{ session: read, entries }])
  for (const limit of [1, 500]) {
    using to = memoryPond()
    let after: string | undefined
    for (let pages = 0; pages < 10; pages++) {
      const page = (await from.run(exportSession, {
        session_id: read.id,
        limit,
        ...(after === undefined ? {} : { after_id: after }),
      })) as ExportOutput
      expect(await to.run(ingest, { events: page.events })).toMatchObject({ results: [{ session_id: read.id }] })
      after = page.next_after_id
      if (after === undefined) break
    }
    expect(await to.place.sessions.log(read.id)).toEqual(await from.place.sessions.log(read.id))
  }
  expect(from.run(exportSession, { session_id: "nowhere" })).rejects.toMatchObject({ code: "not_found" })
  expect(from.run(exportSession, { session_id: read.id, after_id: "nowhere" })).rejects.toMatchObject({
    code: "not_found",
  })
})

test("the plan of a restore says what would be written and lost, and writes nothing", async () => {
  using box = memoryPond()
  const { session: read, entries } = parsed()
  await box.place.sessions.write([{ session: read, entries }])
  expect(await box.run(restorePlan, { session_id: read.id })).toMatchObject({
    fidelity: "native",
    files: [
      {
        path: "projects/-w/de300000-0000-4000-8000-0000000000aa.jsonl",
        bytes: Buffer.byteLength(LINES.map((line) => `${line}\n`).join("")),
      },
    ],
    losses: [],
    resume: { command: ["claude", "--resume", read.id], cwd: "/w" },
  })
  const foreign = await box.run(restorePlan, { session_id: read.id, to: "codex", cwd: "/elsewhere" })
  expect(foreign).toMatchObject({ fidelity: "foreign", resume: { cwd: "/elsewhere" } })
  expect([...new Bun.Glob("**/*.jsonl").scanSync(join(box.place.path))]).toEqual([])
  const error = await box.run(restorePlan, { session_id: read.id, to: "codx" }).catch((thrown: unknown) => thrown)
  expect(error).toBeInstanceOf(PondError)
  expect(error).toMatchObject({ code: "validation_failed", message: expect.stringContaining("Did you mean codex?") })
  expect(ERROR_TABLE[(error as PondError).code].http).toBe(400)
})

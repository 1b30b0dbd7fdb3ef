/** A client that appends a message again with more in it: both records are stored and restored, readers see the last one. */
import { expect, test } from "bun:test"
import { appendFileSync, mkdirSync, readFileSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import type { Adapter, Parser, ParseSink, ResumePoint, SourceUnit } from "../../src/adapters/adapter.ts"
import { nonEmptyStringAt, sealedOrigin, stringAt, timestampAt, valueAt } from "../../src/adapters/extract.ts"
import { textPart } from "../../src/adapters/parts.ts"
import { pi } from "../../src/adapters/pi/adapter.ts"
import { createSessionWriter, mainFileOf } from "../../src/adapters/session-writer.ts"
import { createNativeSerializer } from "../../src/adapters/shared/native.ts"
import { readJson } from "../../src/adapters/shared/read-json.ts"
import { filesBelow, isIssue } from "../../src/adapters/shared/walk.ts"
import { fromSource } from "../../src/adapters/source-value.ts"
import { supersededBy, withoutSuperseded } from "../../src/model/superseded.ts"
import { type SqlOutput, sql } from "../../src/operations/sql/sql.ts"
import { recentSessions } from "../../src/operations/store/recent-sessions.ts"
import { statsOf } from "../../src/operations/store/session-statistics.ts"
import { type GetOutput, get } from "../../src/operations/wire/get.ts"
import { sessions as list } from "../../src/operations/wire/sessions.ts"
import { foreignFiles, nativeFiles } from "../../src/restore/output-files.ts"
import { parseUnit, unitsOf } from "../contract/fixtures.ts"
import { ids } from "../operations/search-support.ts"
import { memoryPond, type TestPond } from "../operations/support.ts"
import { syncedInto } from "../restore/support.ts"

const SESSION = "again-1"

/** `{open}` begins a session, `{id, who, text}` is a message, and comes again whenever more of it is known. */
const again: Adapter = {
  id: "again",
  title: "Again",
  judged: { by: "source only", from: "1.0.0", to: "1.0.0" },
  source: {
    roots: (_, home) => [join(home, ".again")],
    *plan(root) {
      for (const file of filesBelow(root, { form: "log", depthMax: 0, accepts: (path) => path.endsWith(".jsonl") }))
        yield isIssue(file) ? file : { key: file.relativePath, root, files: [file] }
    },
  },
  parse,
  context: ({ entries }) => entries.filter(({ parts }) => parts.length > 0),
  serialize: {
    native: createNativeSerializer,
    foreign: ({ session }) => ({ sessionId: session.id, losses: [] }),
    resume: (sessionId, cwd) => ({ command: ["again", sessionId], cwd }),
  },
  output: { sessionIds: /^again-\d+$/, relativePaths: [/^[\w-]+\.jsonl$/] },
}

function parse(unit: SourceUnit, sink: ParseSink, resume?: ResumePoint): Parser {
  const writer = createSessionWriter(mainFileOf(unit), sink, resume)
  return {
    push(raw) {
      const record = readJson(raw, writer)
      if (record === undefined) return
      const [open, project, createdAt] = [
        nonEmptyStringAt(record, "open"),
        nonEmptyStringAt(record, "cwd"),
        timestampAt(record, "at"),
      ]
      if (open !== undefined && project !== undefined && createdAt !== undefined)
        writer.begin({ id: open, project, createdAt, sourceAgent: sealedOrigin(again), reappends: true })
      const text = stringAt(record, "text")
      const role = valueAt(record, "who") === "user" ? "user" : "assistant"
      if (text === undefined) return writer.carrier(raw, record)
      const id = nonEmptyStringAt(record, "id")
      return writer.record(raw, record, [
        { role, id, timestamp: createdAt, parts: [textPart({ provenance: "conversational", text })] },
      ])
    },
    end() {
      writer.end()
      return { state: null, clientVersions: [] }
    },
  }
}

function line(second: number, fields: object): string {
  return `${JSON.stringify({ at: `2026-03-01T10:00:0${second}.000Z`, ...fields })}\n`
}

const HEADER = line(0, { open: SESSION, cwd: "/garden" })
const ASKED = line(1, { id: "u1", who: "user", text: "Which tree bears quinces?" })
const BEGUN = line(2, { id: "a1", who: "assistant", text: "The quince tree" })
const MORE = line(3, { id: "a1", who: "assistant", text: "The quince tree bears marmalade fruit" })
const WHOLE = line(4, { id: "a1", who: "assistant", text: "The quince tree bears marmalade fruit in October" })
const THANKS = line(5, { id: "u2", who: "user", text: "Thanks." })

async function expectLastAlone(box: TestPond, path: string): Promise<void> {
  const { sessions } = box.place
  const log = await sessions.log(SESSION)
  expect(log.entries.map(({ message }) => [message.id, supersededBy(message)])).toEqual([
    [expect.any(String), undefined],
    ["u1", undefined],
    ["a1", undefined],
    ["a1#2", "a1"],
    ["a1#3", "a1#2"],
    ["u2", undefined],
  ])
  // Found once, as it was said last, by what all of them say and by what the first said.
  for (const query of ["quince tree bears", "marmalade", '"The quince tree"']) {
    const hits = await ids(box, { query, group: "none" })
    expect({ query, again: hits.filter((id) => id.includes("/a1")) }).toEqual({ query, again: [`${SESSION}/a1#3`] })
  }
  // Counted once.
  const counted = await statsOf(box.pond, { by: "agent" } as never, new AbortController().signal)
  expect(counted).toMatchObject({ sessions: 1, count: 3 })
  // In SQL a column says which is which, also of what is found by words.
  for (const query of [
    "select m.id from messages m where not superseded and role = 'assistant'",
    "select m.id from parts p join messages m on m.id = p.message_id where p.superseded is false and m.role = 'assistant'",
    "select id from fts('messages', 'quince') where role = 'assistant' and not superseded",
  ]) {
    expect({ query, rows: ((await box.run(sql, { sql: query })) as SqlOutput).rows }).toEqual({
      query,
      rows: [{ id: "a1#3" }],
    })
  }
  // Read once.
  for (const response_mode of ["conversational", "complete"] as const) {
    const { result } = (await box.run(get, { session_id: SESSION, response_mode })) as GetOutput
    const shown = "messages" in result ? result.messages.map(({ id }) => id) : []
    expect(shown.filter((id) => /^[au]\d/.test(id))).toEqual(["u1", "a1#3", "u2"])
  }
  // Told once, where it was said first, to another client.
  expect(
    withoutSuperseded(log)
      .entries.map(({ message }) => message.id)
      .slice(1),
  ).toEqual(["u1", "a1#3", "u2"])
  const told = { session: log.session, entries: again.context(withoutSuperseded(log), []), children: [] }
  const [file] = foreignFiles(pi, told, { cwd: "/garden", reasoning: "keep" }).files
  const written = file?.form === "log" ? [...file.lines].map(String).join("\n") : ""
  expect(written.match(/The quince tree/g)).toHaveLength(1)
  expect(written).toContain("in October")
  // Every record comes back.
  const [native] = nativeFiles(again, log)
  const lines = native?.form === "log" ? [...native.lines] : []
  expect(lines.map((each) => `${each}\n`).join("")).toBe(readFileSync(path, "utf8"))
}

function logAt(box: TestPond): { root: string; path: string } {
  const root = join(box.place.path, "again")
  mkdirSync(root)
  return { root, path: join(root, "s.jsonl") }
}

test("a message that is appended again is found, counted, read and told once, and restored as it lay", async () => {
  using box = memoryPond()
  const { root, path } = logAt(box)
  writeFileSync(path, HEADER + ASKED + BEGUN + MORE + WHOLE + THANKS)
  expect(await syncedInto(box, again, root)).toMatchObject({ issues: [], messages: { new: 6 } })
  await expectLastAlone(box, path)
})

test("so it is where a sync saw each state of it", async () => {
  using box = memoryPond()
  const { root, path } = logAt(box)
  writeFileSync(path, HEADER)
  for (const next of [ASKED + BEGUN, MORE, WHOLE, THANKS]) {
    appendFileSync(path, next)
    await syncedInto(box, again, root)
  }
  await expectLastAlone(box, path)
})

test("reading on from anywhere gives what reading at once gives", async () => {
  using box = memoryPond()
  const { root, path } = logAt(box)
  writeFileSync(path, HEADER + ASKED + BEGUN + MORE + WHOLE + THANKS)
  const [{ unit, records } = { unit: undefined, records: [] }] = await unitsOf(again, root)
  if (unit === undefined) throw new Error("no unit")
  const whole = parseUnit(again, unit, records)
  for (let at = 1; at < records.length; at++) {
    const { session, entries, end } = parseUnit(again, unit, records.slice(0, at))
    if (session === undefined) throw new Error("no session")
    const seen = new Set(entries.map(({ message }) => message.id))
    const resume = { session, nextOrdinal: entries.length, seen, state: fromSource(end.state) }
    const rest = parseUnit(again, unit, records.slice(at), { resume })
    expect([...entries, ...rest.entries]).toEqual([...whole.entries])
  }
})

test("a session whose client appends nothing again is handed on as it is", () => {
  const log = { session: { id: "s", options: {} } as never, entries: [] }
  expect(withoutSuperseded(log)).toBe(log)
})

test("a session without a title is called by what its user said last instead of it", async () => {
  using box = memoryPond()
  const { root, path } = logAt(box)
  const more = line(2, { id: "u1", who: "user", text: "Which tree bears quinces, and when?" })
  writeFileSync(path, HEADER + ASKED + more + line(3, { id: "a1", who: "assistant", text: "The quince tree" }))
  await syncedInto(box, again, root)
  const titled = "Which tree bears quinces, and when?"
  expect((await recentSessions(box.pond, 5)).sessions).toMatchObject([{ id: SESSION, title: titled }])
  expect(((await box.run(list, {})) as { sessions: object[] }).sessions).toMatchObject([{ title: titled }])
})

/** Files of sessions, blame and recover over a store: agents, forks, failures, other files of the same name. */
import { afterAll, beforeAll, expect, test } from "bun:test"
import { PondError } from "../../../src/model/errors.ts"
import type { JsonValue } from "../../../src/model/json.ts"
import type { Entry } from "../../../src/model/session.ts"
import { type BlameOutput, blame } from "../../../src/operations/files/blame.ts"
import { type FilesOutput, files } from "../../../src/operations/files/files.ts"
import { type RecoverOutput, recover } from "../../../src/operations/files/recover.ts"
import { said, session } from "../../sessions/support.ts"
import { memoryPond, type TestPond } from "../support.ts"

let box: TestPond

interface Call {
  readonly name: string
  readonly params: JsonValue
  readonly result?: string
  readonly isFailure?: boolean
  /** What the client recorded beside the result. */
  readonly told?: JsonValue
}

const at = (minute: number) => new Date(Date.UTC(2026, 0, 3, 12, minute)).toISOString()

/** A call and its result as Claude Code has them: two messages. */
function called(id: string, ordinal: number, { name, params, result = "ok", isFailure = false, told }: Call): Entry[] {
  const timestamp = at(ordinal)
  const calling = said(id, ordinal, "I do it", { role: "assistant", timestamp })
  const answering = said(id, ordinal + 1, "", { timestamp })
  const callId = `${id}-${ordinal}`
  const of = (message: Entry["message"]) => ({
    session_id: id,
    message_id: message.id,
    provenance: "injected",
    options: {},
  })
  const call = { ...of(calling.message), id: "call", type: "tool_call", call_id: callId, name, params }
  const answer = {
    ...of(answering.message),
    id: "r",
    type: "tool_result",
    call_id: callId,
    is_failure: isFailure,
    result,
  }
  const options = told === undefined ? {} : { source: { record: { toolUseResult: told } } }
  return [
    { message: calling.message, parts: [...calling.parts, { ...call, provider_executed: false }] },
    { message: { ...answering.message, role: "tool", options }, parts: [answer] },
  ] as unknown as Entry[]
}

const write = (file_path: string, content: string, told?: JsonValue): Call => ({
  name: "Write",
  params: { file_path, content },
  result: told === undefined ? `File created successfully at: ${file_path}` : "updated",
  ...(told === undefined ? {} : { told }),
})
const edit = (file_path: string, old_string: string, new_string: string): Call => ({
  name: "Edit",
  params: { file_path, old_string, new_string },
})

const CLAUDE = { source_agent: "claude-code", project: "/home/someone/shop" }
const APP = "/home/someone/shop/src/app.ts"

beforeAll(async () => {
  box = memoryPond()
  await box.place.sessions.write([
    {
      session: session("aaaaaaaa-1", { ...CLAUDE, title: "Make the app" }),
      entries: [
        said("aaaaaaaa-1", 0, "make it", { timestamp: at(0) }),
        ...called("aaaaaaaa-1", 1, write(APP, "the first line\nthe second line\nthe third line\n")),
        ...called("aaaaaaaa-1", 3, { ...edit(APP, "the third line", "a failed line"), isFailure: true }),
        ...called("aaaaaaaa-1", 5, write("/home/someone/other/src/app.ts", "the first line\n")),
        ...called("aaaaaaaa-1", 7, { name: "Read", params: { file_path: "/home/someone/shop/README.md" } }),
      ],
    },
    {
      session: session("aaaaaaaa-1:agent-7", {
        ...CLAUDE,
        source_agent: "claude-code/general",
        parent_session_id: "aaaaaaaa-1",
      }),
      entries: called("aaaaaaaa-1:agent-7", 10, edit(APP, "the second line", "the agent's second line")),
    },
    {
      session: session("bbbbbbbb-2", { ...CLAUDE, parent_session_id: "aaaaaaaa-1" }),
      entries: called("bbbbbbbb-2", 20, write("/home/someone/shop/fork.ts", "of the fork alone\n")),
    },
  ])
})
afterAll(() => box[Symbol.dispose]())

const NOW = "the first line\nthe agent's second line\na person's line\nthe third line\n"

async function blamed(input: object): Promise<BlameOutput> {
  return (await box.run(blame, input)) as BlameOutput
}

test("each line has the message that wrote it, a sub-agent's as well", async () => {
  const { ranges, ...counts } = await blamed({ path: APP, content: NOW })
  expect(counts).toEqual({ path: APP, lines: 4, attributed: 3, changes: 2 })
  expect(ranges.map((each) => [each.from_line, each.to_line, each.session_id, each.message_id, each.title])).toEqual([
    [1, 1, "aaaaaaaa-1", "m1", "Make the app"],
    [2, 2, "aaaaaaaa-1:agent-7", "m10", undefined],
    [4, 4, "aaaaaaaa-1", "m1", "Make the app"],
  ])
})

test("one line of a file, and the same file of a clone", async () => {
  const one = await blamed({ path: "/Users/x/clones/shop/src/app.ts", content: NOW, line: 2 })
  expect(one).toMatchObject({ lines: 1, attributed: 1, ranges: [{ from_line: 2, session_id: "aaaaaaaa-1:agent-7" }] })
  expect(await blamed({ path: APP, content: NOW, line: 3 })).toMatchObject({ lines: 1, attributed: 0, ranges: [] })
})

test("a file that no session names has nobody's lines", async () => {
  const nobody = await blamed({ path: "/home/someone/shop/src/other.ts", content: NOW })
  expect(nobody).toMatchObject({ attributed: 0, changes: 0, ranges: [] })
})

test("the files of a session and of its agents, without those of its forks", async () => {
  const { files: touched } = (await box.run(files, { session_id: "aaaaaaaa-1" })) as FilesOutput
  expect(
    touched.map(({ path, reads, writes, edits, lines_added, lines_removed, last_session_id }) => [
      path,
      [reads, writes, edits],
      [lines_added, lines_removed],
      last_session_id,
    ]),
  ).toEqual([
    ["/home/someone/other/src/app.ts", [0, 1, 0], [1, 0], "aaaaaaaa-1"],
    [APP, [0, 1, 1], [4, 1], "aaaaaaaa-1:agent-7"],
    ["/home/someone/shop/README.md", [1, 0, 0], [0, 0], "aaaaaaaa-1"],
  ])
})

test("a version is brought back whole: the newest, and that of a time", async () => {
  const newest = (await box.run(recover, { path: APP })) as RecoverOutput
  expect(newest.content).toBe("the first line\nthe agent's second line\nthe third line\n")
  expect(newest.versions.map(({ when, lines, session_id }) => [when, lines, session_id])).toEqual([
    ["after", 3, "aaaaaaaa-1"],
    ["after", 3, "aaaaaaaa-1:agent-7"],
  ])
  const then = (await box.run(recover, { path: APP, at: at(5) })) as RecoverOutput
  expect(then).toMatchObject({ chosen: 0, content: "the first line\nthe second line\nthe third line\n" })
})

test("what cannot be brought back says why", async () => {
  const failure = async (input: object) => await box.run(recover, input).catch((error: unknown) => error)
  expect(await failure({ path: "/nowhere/at-all.ts" })).toMatchObject({ code: "not_found" })
  const early = (await failure({ path: APP, at: "2025-01-01" })) as PondError
  expect(early).toBeInstanceOf(PondError)
  expect(early.message).toContain("The oldest version is of 2026-01-03T12:01:00")
  expect(await failure({ path: APP, at: "someday" })).toMatchObject({ code: "validation_failed" })
  const read = (await failure({ path: "/home/someone/shop/README.md" })) as PondError
  expect(read.message).toContain("none of them contains its complete text")
})

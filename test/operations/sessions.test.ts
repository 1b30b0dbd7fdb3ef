/** Lists of sessions: their order, their filters, and pages that neither repeat nor skip one. */
import { afterAll, beforeAll, expect, test } from "bun:test"
import type { Entry } from "../../src/model/session.ts"
import { type SessionsOutput, sessions } from "../../src/operations/wire/sessions.ts"
import { said, session } from "../sessions/support.ts"
import { memoryPond, type TestPond } from "./support.ts"

let box: TestPond
const at = (day: number, hour = 12) => new Date(Date.UTC(2026, 0, day, hour)).toISOString()

beforeAll(async () => {
  box = memoryPond()
  await box.place.sessions.write([
    {
      session: session("aaaaaaaa-1", { title: "Fix the login", project: "/home/someone/shop" }),
      entries: [said("aaaaaaaa-1", 0, "log me in", { timestamp: at(3) }), failing("aaaaaaaa-1", 1, at(3, 13))],
    },
    {
      session: session("aaaaaaaa-2", { project: "/home/someone/shop/web", source_agent: "claude-code" }),
      entries: [onBranch(said("aaaaaaaa-2", 0, "a  new\nfeature, please", { timestamp: at(5) }), "feature")],
    },
    {
      session: session("bbbbbbbb-0000", { project: "/home/someone/shopping", source_agent: "codex" }),
      entries: [
        said("bbbbbbbb-0000", 0, "hello", { timestamp: at(4) }),
        said("bbbbbbbb-0000", 1, "again", { timestamp: at(9) }),
      ],
    },
    {
      session: session("aaaaaaaa-1/agent", { parent_session_id: "aaaaaaaa-1", source_agent: "claude-code/explorer" }),
      entries: [said("aaaaaaaa-1/agent", 0, "explore", { timestamp: at(10) })],
    },
  ])
})
afterAll(() => box[Symbol.dispose]())

function failing(id: string, ordinal: number, timestamp: string): Entry {
  const { message, parts } = said(id, ordinal, "I try", { role: "assistant", timestamp })
  const common = { session_id: id, message_id: message.id, provenance: "conversational", options: {} }
  const call = {
    ...common,
    id: "call",
    type: "tool_call",
    call_id: "c",
    name: "Edit",
    params: { path: 'src/"odd".ts' },
  }
  const result = { ...common, id: "result", type: "tool_result", call_id: "c", is_failure: true, result: "no" }
  return { message, parts: [...parts, call, result] } as unknown as Entry
}

function onBranch({ message, parts }: Entry, gitBranch: string): Entry {
  return { message: { ...message, options: { source: { record: { gitBranch, model: "m-1" } } } }, parts } as Entry
}

async function list(input: object): Promise<SessionsOutput> {
  return (await box.run(sessions, input)) as SessionsOutput
}

async function ids(filters: object): Promise<readonly string[]> {
  return (await list({ filters })).sessions.map((each) => each.session_id)
}

test("newest first, by the last message, without sub-agents", async () => {
  const { sessions: found, has_more } = await list({})
  expect(found.map((each) => each.session_id)).toEqual(["bbbbbbbb-0000", "aaaaaaaa-2", "aaaaaaaa-1"])
  expect(has_more).toBe(false)
  expect(found[0]).toMatchObject({ last_at: "2026-01-09T12:00:00.000Z", messages_count: 2, host: "test" })
})

test("a title is what the client recorded, or the first words of the user on one line", async () => {
  const { sessions: found } = await list({})
  expect(found.map((each) => each.title)).toEqual(["hello", "a new feature, please", "Fix the login"])
})

test("a short id is as long as it must be to mean one session, and its agents begin with it", async () => {
  const { sessions: found } = await list({})
  expect(found.map((each) => each.short_id)).toEqual(["bbbbbbbb", "aaaaaaaa-2", "aaaaaaaa-1"])
})

test.each<[string, object, readonly string[]]>([
  ["a part of the project's path", { project: { contains: "SHOP/" } }, ["aaaaaaaa-2"]],
  ["a directory and those below it", { project: { within: "/home/someone/shop" } }, ["aaaaaaaa-2", "aaaaaaaa-1"]],
  ["the client", { source_agent: "codex" }, ["bbbbbbbb-0000"]],
  ["the machine", { host: "TEST" }, ["bbbbbbbb-0000", "aaaaaaaa-2", "aaaaaaaa-1"]],
  ["another machine", { host: "elsewhere" }, []],
  ["the branch", { branch: "feature" }, ["aaaaaaaa-2"]],
  ["a file that a tool call names", { file: 'src/"odd"' }, ["aaaaaaaa-1"]],
  ["a tool that was called", { tool: "Edit" }, ["aaaaaaaa-1"]],
  ["a tool that nobody called", { tool: "edit" }, []],
  ["the model", { model: "m-1" }, ["aaaaaaaa-2"]],
  ["a part of a model's name", { model: "m" }, []],
  ["failed tool calls", { has_errors: true }, ["aaaaaaaa-1"]],
  ["sub-agents too", { include_subagents: true, project: { contains: "work" } }, ["aaaaaaaa-1/agent"]],
  ["a kind of sub-agent", { source_agent: "claude-code/explorer" }, ["aaaaaaaa-1/agent"]],
  ["days", { from_date: "2026-01-05", to_date: "2026-01-08" }, ["aaaaaaaa-2"]],
])("filtered by %s", async (_, filters, wanted) => expect(await ids(filters)).toEqual([...wanted]))

test("within a range of dates a session stands where its last message in the range stands", async () => {
  const { sessions: found } = await list({ filters: { to_date: "2026-01-04" } })
  expect(found.map(({ session_id, last_at }) => [session_id, last_at])).toEqual([
    ["bbbbbbbb-0000", "2026-01-04T12:00:00.000Z"],
    ["aaaaaaaa-1", "2026-01-03T13:00:00.000Z"],
  ])
})

test("dates are understood in words", async () => {
  expect(await ids({ from_date: "24h" })).toEqual([])
  expect(await ids({ to_date: "yesterday" })).toHaveLength(3)
  expect(list({ filters: { from_date: "soonish" } })).rejects.toThrow('"soonish" is not a date.')
})

test("pages neither repeat nor skip a session, also when one got a message meanwhile", async () => {
  using own = memoryPond()
  const saidOn = (id: string, ordinal: number, day: number) => said(id, ordinal, id, { timestamp: at(day) })
  const write = async (id: string, ...entries: Entry[]) =>
    await own.place.sessions.write([{ session: session(id), entries }])
  for (const [index, id] of ["one", "two", "three", "four"].entries()) await write(id, saidOn(id, 0, 9 - index))
  const shown: string[] = []
  let cursor: string | undefined
  do {
    const page = (await own.run(sessions, { limit: 1, ...(cursor === undefined ? {} : { cursor }) })) as SessionsOutput
    shown.push(...page.sessions.map((each) => each.session_id))
    if (cursor === undefined) await write("three", saidOn("three", 1, 20))
    cursor = page.next_cursor
  } while (cursor !== undefined)
  // The one that got a message moved before the first page.
  expect(shown).toEqual(["one", "two", "four"])
})

test.each([
  ["nonsense", "It was not made by pond."],
  [Buffer.from("{}").toString("base64url"), "It was not made by pond."],
])("a cursor that is none is refused: %s", async (cursor, why) => {
  expect(list({ cursor })).rejects.toThrow(`Invalid cursor. ${why}`)
})

test("a cursor belongs to its filters", async () => {
  const { next_cursor } = await list({ limit: 1 })
  const other = list({ limit: 1, cursor: next_cursor, filters: { source_agent: "codex" } })
  expect(other).rejects.toThrow("It belongs to another list: repeat the same filters.")
})

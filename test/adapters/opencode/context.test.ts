import { expect, test } from "bun:test"
import { readFileSync } from "node:fs"
import { join } from "node:path"
import { opencode } from "../../../src/adapters/opencode/adapter.ts"
import type { Part } from "../../../src/model/session.ts"
import type { WireItem } from "../../contract/fixtures.ts"
import {
  type ClientDatabase,
  clientDatabase,
  fixture,
  NOW,
  planned,
  read,
  readOnly,
  SESSION,
  tempRoot,
  texts,
  user,
} from "./support.ts"

type Build = (
  client: ClientDatabase,
  say: (id: string, role: "user" | "assistant", text: string, more?: object) => void,
) => void

/** The live conversation of a session that is built by hand: each message one millisecond after the one before. */
async function liveOf(build: Build, session: Record<string, unknown> = {}): Promise<string[]> {
  using temp = tempRoot()
  const client = clientDatabase(join(temp.root, "opencode.db"))
  client.session(session)
  let at = NOW - 60_000
  build(client, (id, role, text, more = {}) => {
    at++
    const data = role === "user" ? user(at) : { role, time: { created: at, completed: at } }
    client.message(id, at, { ...data, ...more })
    client.part(`prt_${id}`, id, { type: "text", text })
  })
  return texts(opencode.context(await readOnly(temp.root), []))
}

const summary = (parentID: string) => ({ summary: true, finish: "stop", parentID })

test("a finished compaction: its prompt and its summary, and what came after", async () => {
  const live = await liveOf((client, say) => {
    say("msg_1", "user", "old question")
    say("msg_2", "assistant", "old answer")
    say("msg_3", "user", "")
    client.part("prt_c", "msg_3", { type: "compaction", auto: true })
    say("msg_4", "assistant", "the summary", summary("msg_3"))
    say("msg_5", "user", "new question")
  })
  expect(live).toEqual(["user: What did we do so far?", "assistant: the summary", "user: new question"])
})

test("a compaction that keeps a tail: the summary first, then the tail, though it is older", async () => {
  const live = await liveOf((client, say) => {
    say("msg_1", "user", "old question")
    say("msg_2", "assistant", "old answer")
    say("msg_3", "user", "tail question")
    say("msg_4", "assistant", "tail answer")
    say("msg_5", "user", "")
    client.part("prt_c", "msg_5", { type: "compaction", auto: false, tail_start_id: "msg_3" })
    say("msg_6", "assistant", "the summary", summary("msg_5"))
    say("msg_7", "user", "new question")
  })
  expect(live).toEqual([
    ...["user: What did we do so far?", "assistant: the summary", "user: tail question", "assistant: tail answer"],
    "user: new question",
  ])
})

test("a compaction that did not finish changes nothing", async () => {
  const live = await liveOf((client, say) => {
    say("msg_1", "user", "old question")
    say("msg_2", "user", "")
    client.part("prt_c", "msg_2", { type: "compaction", auto: true })
    say("msg_3", "assistant", "half a summ", { ...summary("msg_2"), error: { name: "APIError", data: {} } })
  })
  expect(live).toEqual(["user: old question", "user: What did we do so far?"])
})

test("an undo hides the message that it names and all after it", async () => {
  const build: Build = (_, say) => {
    say("msg_1", "user", "first")
    say("msg_2", "assistant", "second")
    say("msg_3", "user", "third")
  }
  expect(await liveOf(build, { revert: JSON.stringify({ messageID: "msg_2" }) })).toEqual(["user: first"])
  expect(await liveOf(build, { revert: JSON.stringify({ messageID: "msg_9" }) })).toEqual([
    "user: first",
    "assistant: second",
    "user: third",
  ])
})

test("an undo inside a message keeps what stands before the part", async () => {
  const live = await liveOf(
    (client, say) => {
      say("msg_1", "user", "first")
      say("msg_2", "assistant", "kept")
      client.part("prt_z", "msg_2", { type: "text", text: "undone" })
      say("msg_3", "user", "undone too")
    },
    { revert: JSON.stringify({ messageID: "msg_2", partID: "prt_z" }) },
  )
  expect(live).toEqual(["user: first", "assistant: kept"])
})

test("an answer that failed is not sent; one that was stopped with something in it is", async () => {
  const live = await liveOf((_, say) => {
    say("msg_1", "user", "question")
    say("msg_2", "assistant", "broken", { error: { name: "APIError", data: { message: "no" } } })
    say("msg_3", "assistant", "stopped", { error: { name: "MessageAbortedError", data: {} } })
  })
  expect(live).toEqual(["user: question", "assistant: stopped"])
})

test("messages go by the time at which they were begun, whatever their ids: a fork has new ones", async () => {
  using temp = tempRoot()
  const client = clientDatabase(join(temp.root, "opencode.db"))
  client.session()
  client.message("msg_9", NOW - 60_000, user())
  client.part("prt_1", "msg_9", { type: "text", text: "first" })
  client.message("msg_1", NOW - 50_000, user())
  client.part("prt_2", "msg_1", { type: "text", text: "second" })
  expect(texts(opencode.context(await readOnly(temp.root), []))).toEqual(["user: first", "user: second"])
})

test("a tree is told as its last client would have sent it", async () => {
  const { units } = await planned(fixture("tree"))
  const stored = await read(units.find(({ key }) => key.includes("ses_4f2a11c6"))!)
  const live = opencode.context(stored, [])
  expect(live.map(({ message }) => message.role)).toEqual([
    ...["user", "assistant", "tool", "assistant", "tool", "assistant", "tool", "user", "assistant"],
  ] as never)
  expect(texts(live)).toEqual([
    "user: Look at @notes.md, please. 見て 🌲",
    'user: Called the Read tool with the following input: {"filePath":"/work/alpha/notes.md"}',
    "user: <file>\n00001| # Notes\n</file>",
    "assistant: I list the files first.",
    "assistant: I list the files.",
    "result: notes.md\npic.png\n",
    "result: [image]",
    "result: Error: File not found: /work/alpha/none.md",
    "result: [Old tool result content cleared]",
    "result: Two files.\n\n<task_metadata>\nsession_id: ses_4f2a0f05dffeZyXwVuTsRqPoNm\n</task_metadata>",
    "user: Go on, and use the hologram.",
    "assistant: Done. 完了",
  ])
  const results = live.flatMap(({ parts }) => (parts as readonly Part[]).filter((part) => part.type === "tool_result"))
  expect(results[1]?.result).toMatchObject([
    { text: "Image read successfully" },
    { type: "image", mimeType: "image/png" },
  ])
  const calls = live.flatMap(({ parts }) => (parts as readonly Part[]).filter((part) => part.type === "tool_call"))
  expect(calls.length).toBe(results.length + 1)
})

test("a sub-agent names its parent and what it is", async () => {
  const { units } = await planned(fixture("subagent"))
  const sessions = await Promise.all(units.map(async (unit) => (await read(unit)).session))
  const [parent, child] = sessions.toSorted((left) => (left.parent_session_id === undefined ? -1 : 1))
  expect(parent).toMatchObject({ source_agent: "opencode", project: "/work/alpha" })
  expect(child).toMatchObject({ source_agent: "opencode/general", parent_session_id: parent?.id })
})

test("a session names the message ids, the version and the title that its client gave", async () => {
  using temp = tempRoot()
  const client = clientDatabase(join(temp.root, "opencode.db"))
  client.session({ title: "半分\ud83d" })
  client.message("msg_1", NOW - 60_000, user())
  client.part("prt_1", "msg_1", { type: "text", text: "half \ud83d" })
  const { session, entries } = await readOnly(temp.root)
  expect(session.id).toBe(SESSION)
  expect(entries.at(-1)?.message.id).toBe("msg_1")
  expect(texts(entries)).toEqual(["user: half \ud83d"])
})

test("of a call that failed, the newer kind tells all that its client shows the model", async () => {
  const { entries, session } = await readOnly(fixture("events"))
  const live = opencode.context({ entries, session }, [])
  const results = live.flatMap(({ parts }) => (parts as readonly Part[]).filter((part) => part.type === "tool_result"))
  const wire = JSON.parse(readFileSync(join(fixture("events"), "../expected.json"), "utf8")) as Record<
    string,
    WireItem[]
  >
  const shown = (wire[session.id] ?? []).find(({ text = "" }) => text.includes("Unable to read"))
  const failed = results.find(({ call_id: id }) => id === shown?.id)
  expect(failed?.result as unknown).toBe(shown?.text)
})

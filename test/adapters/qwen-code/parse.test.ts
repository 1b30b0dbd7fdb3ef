import { expect, test } from "bun:test"
import type { RawRecord } from "../../../src/adapters/adapter.ts"
import { qwenCode } from "../../../src/adapters/qwen-code/adapter.ts"
import { keyOfDirectory, movedTo, unarchived } from "../../../src/adapters/qwen-code/project-key.ts"
import type { Entry, Part, Session } from "../../../src/model/session.ts"
import { sourceFile } from "../../source-file.ts"

const ID = "5d1f0a30-0000-4000-8000-000000000001"
const CHAT = `projects/-projects-alpha/chats/${ID}.jsonl`
const AT = "2026-02-03T04:05:07.000Z"

function record(uuid: string, parentUuid: string | null, type: string, more: object): object {
  return { uuid, parentUuid, sessionId: ID, timestamp: AT, type, cwd: "/projects/alpha", version: "0.24.4", ...more }
}

function said(uuid: string, parentUuid: string | null, text: string, more: object = {}): object {
  return record(uuid, parentUuid, "user", { message: { role: "user", parts: [{ text }] }, ...more })
}

function answered(uuid: string, parentUuid: string | null, ...parts: readonly object[]): object {
  return record(uuid, parentUuid, "assistant", { message: { role: "model", parts } })
}

interface Read {
  readonly session: Session | undefined
  readonly entries: readonly Entry[]
}

function read(records: readonly unknown[], place = CHAT): Read {
  const file = sourceFile(place)
  const found = { session: undefined as Session | undefined, entries: [] as Entry[] }
  const parser = qwenCode.parse(
    { key: place, root: "/x", files: [file] },
    {
      session: (session) => {
        found.session = session
      },
      entry: (entry) => found.entries.push(entry),
      issue: () => undefined,
    },
  )
  for (const [index, each] of records.entries())
    parser.push({ form: "log", file, line: index + 1, text: JSON.stringify(each) } satisfies RawRecord)
  parser.end(true)
  return found
}

function live({ session, entries }: Read): string[] {
  if (session === undefined) throw new Error("no session")
  const texts = qwenCode.context({ session, entries }, []).flatMap(({ parts }): readonly Part[] => parts)
  return texts.map((part) => ("text" in part ? part.text : part.type))
}

// --- Provenance -------------------------------------------------------------------------------------------------------

const HOOK = "<qwen:user-prompt-submit-context>x</qwen:user-prompt-submit-context>"
const FILES = "\n--- Content from referenced files ---"
const END = "\n--- End of content ---"

/** What a person or the model wrote, and what the client put in their slot. */
const PROVENANCE: readonly (readonly [what: string, record: object, authored: string[], injected: string[]])[] = [
  ["a prompt", said("m", null, "Fix it."), ["Fix it."], []],
  ["a prompt of a real user", said("m", null, "Fix it.", { provenance: "real_user" }), ["Fix it."], []],
  ["a prompt mid-turn", said("m", null, "Stop.", { subtype: "mid_turn_user_message" }), ["Stop."], []],
  ["the prompt of an agent", said("m", null, "Dig.", { subtype: "agent_launch_prompt" }), ["Dig."], []],
  ["a notification", said("m", null, "It ended.", { subtype: "notification" }), [], ["It ended."]],
  ["a goal", said("m", null, "Go on.", { provenance: "goal_runtime" }), [], ["Go on."]],
  ["words of a hook", said("m", null, `a${HOOK}`), ["a"], [HOOK]],
  [
    "a reminder",
    said("m", null, "<system-reminder>b</system-reminder>\na"),
    ["a"],
    ["<system-reminder>b</system-reminder>\n"],
  ],
  ["a summary", said("m", null, "<state_snapshot>x"), [], ["<state_snapshot>x"]],
  [
    "files that a prompt names",
    record("m", null, "user", { message: { parts: [{ text: "@a" }, { text: FILES }, { text: "A" }, { text: END }] } }),
    ["@a"],
    [FILES, "A", END],
  ],
  ["an answer", answered("m", null, { text: "T", thought: true }, { text: "Done." }), ["T", "Done."], []],
]

test.each(PROVENANCE)("provenance of %s", (_, each, authored, injected) => {
  const parts = read([each]).entries.flatMap(({ parts: own }): readonly Part[] => own)
  const textsOf = (provenance: string) =>
    parts.flatMap((part) => ("text" in part && part.provenance === provenance ? [part.text] : []))
  expect([textsOf("conversational"), textsOf("injected")]).toEqual([authored, injected])
})

// --- The chat ---------------------------------------------------------------------------------------------------------

test("the path from the last record of the conversation is live, over records of the client and rewinds", () => {
  const chat = [
    said("a", null, "One"),
    record("b", "a", "system", { subtype: "ui_telemetry" }),
    answered("c", "b", { text: "Two" }),
    said("d", "c", "taken back"),
    record("e", "c", "system", { subtype: "rewind" }),
    said("f", "e", "Three"),
    record("g", "d", "system", { subtype: "ui_telemetry" }),
  ]
  expect(live(read(chat))).toEqual(["One", "Two", "Three"])
  expect(live(read(chat.slice(0, 5)))).toEqual(["One", "Two"])
})

test("lines with one id are one record, and a parent that is missing ends the path", () => {
  const fragments = [answered("c", "a", { text: "Two" }), answered("c", "a", { text: "and a half" })]
  expect(live(read([said("a", null, "One"), ...fragments]))).toEqual(["One", "Two", "and a half"])
  expect(live(read([said("a", null, "One"), said("b", "gone", "Two")]))).toEqual(["Two"])
})

test("a compression stands for all before it", () => {
  const compressedHistory = [
    { role: "user", parts: [{ text: "<state_snapshot>x" }] },
    { role: "model", parts: [{ text: "Got it." }] },
  ]
  const compression = record("b", "a", "system", { subtype: "chat_compression", systemPayload: { compressedHistory } })
  const chat = read([said("a", null, "One"), compression, said("c", "b", "Two")])
  expect(live(chat)).toEqual(["<state_snapshot>x", "Got it.", "Two"])
})

test("a chat has the id of its file, a fork names its parent, and an agent the call that started it", () => {
  expect(read([{ ...said("a", null, "One"), sessionId: "another" }]).session?.id).toBe(ID)
  const forkedFrom = { sessionId: "before", messageUuid: "a" }
  expect(read([said("a", null, "One", { forkedFrom })]).session?.parent_session_id).toBe("before")
  const agent = { agentId: "digger-call_1", agentName: "digger", isSidechain: true }
  const place = `projects/-projects-alpha/subagents/${ID}/agent-digger-call_1.jsonl`
  expect(read([said("a", null, "Dig.", agent)], place).session).toMatchObject({
    id: `${ID}:agent-digger-call_1`,
    parent_session_id: ID,
    source_agent: "qwen-code/digger",
    options: { pond: { spawned_by: "call_1" } },
  })
})

test("files of a chat lie in the folder of its directory, put away or not", () => {
  expect(keyOfDirectory("/projects/プロジェクト β")).toBe("-projects---------")
  expect(movedTo(CHAT, "/projects/alpha", "/b")).toBe(`projects/-b/chats/${ID}.jsonl`)
  expect(unarchived(CHAT.replace("chats/", "chats/archive/"))).toBe(CHAT)
})

import { expect, test } from "bun:test"
import type { RawRecord } from "../../../src/adapters/adapter.ts"
import { pi } from "../../../src/adapters/pi/adapter.ts"
import type { Issue } from "../../../src/model/report.ts"
import type { Entry, Part, Session } from "../../../src/model/session.ts"
import { sourceFile } from "../../source-file.ts"

const PLACE = "--projects-alpha--/2026-02-03T04-05-06-789Z_5d1f0a30-0000-4000-8000-000000000001.jsonl"
const HEADER = { type: "session", version: 3, id: "s1", timestamp: "2026-02-03T04:05:06.789Z", cwd: "/projects/alpha" }
const AT = { parentId: null, timestamp: "2026-02-03T04:05:07.000Z" }

interface Read {
  readonly session: Session | undefined
  readonly entries: readonly Entry[]
  readonly issues: readonly Issue[]
}

function read(records: readonly unknown[], place = PLACE): Read {
  const file = sourceFile(place)
  const found = { session: undefined as Session | undefined, entries: [] as Entry[], issues: [] as Issue[] }
  const parser = pi.parse(
    { key: place, root: "/x", files: [file] },
    {
      session: (session) => {
        found.session = session
      },
      entry: (entry) => found.entries.push(entry),
      issue: (issue) => found.issues.push(issue),
    },
  )
  for (const [index, record] of records.entries()) {
    const text = typeof record === "string" ? record : JSON.stringify(record)
    parser.push({ form: "log", file, line: index + 1, text } satisfies RawRecord)
  }
  parser.end(true)
  return found
}

function partsOf(...records: readonly unknown[]): readonly Part[] {
  return read([HEADER, ...records]).entries.flatMap(({ parts }): readonly Part[] => parts)
}

function message(body: Record<string, unknown>): Record<string, unknown> {
  return { type: "message", id: "m1", ...AT, message: body }
}

// --- Provenance -------------------------------------------------------------------------------------------------------

/** What a person or the model wrote, and what somebody else put in their slot. */
const PROVENANCE: readonly (readonly [what: string, record: object, authored: string[], injected: string[]])[] = [
  ["a prompt", message({ role: "user", content: "Fix it." }), ["Fix it."], []],
  [
    "a prompt in blocks",
    message({
      role: "user",
      content: [
        { type: "text", text: "Fix" },
        { type: "text", text: "it." },
      ],
    }),
    ["Fix", "it."],
    [],
  ],
  [
    "a prompt that looks like a summary",
    message({ role: "user", content: "<summary>x</summary>" }),
    ["<summary>x</summary>"],
    [],
  ],
  ["an answer", message({ role: "assistant", content: [{ type: "text", text: "Done." }] }), ["Done."], []],
  [
    "an answer that is one text, as other tools write it",
    message({ role: "assistant", content: "Done." }),
    ["Done."],
    [],
  ],
  [
    "a command of a person and its output",
    message({ role: "bashExecution", command: "ls", output: "a\nb", exitCode: 0, cancelled: false, truncated: false }),
    ["ls"],
    ["a\nb"],
  ],
  [
    "words of an extension",
    { type: "custom_message", id: "m1", ...AT, customType: "x", content: "Note.", display: true },
    [],
    ["Note."],
  ],
  [
    "words of an extension as a message",
    message({ role: "custom", customType: "x", content: [{ type: "text", text: "Note." }] }),
    [],
    ["Note."],
  ],
  [
    "words of a hook, as v2 had them",
    message({ role: "hookMessage", customType: "x", content: "Note." }),
    [],
    ["Note."],
  ],
  [
    "a compaction",
    { type: "compaction", id: "m1", ...AT, summary: "So far.", firstKeptEntryId: "m0", tokensBefore: 1 },
    [],
    ["So far."],
  ],
  [
    "a compaction as a message",
    message({ role: "compactionSummary", summary: "So far.", tokensBefore: 1 }),
    [],
    ["So far."],
  ],
  [
    "a branch that was left",
    { type: "branch_summary", id: "m1", ...AT, fromId: "m0", summary: "Tried." },
    [],
    ["Tried."],
  ],
  [
    "a branch that was left, as a message",
    message({ role: "branchSummary", summary: "Tried.", fromId: "m0" }),
    [],
    ["Tried."],
  ],
  [
    "a prompt of v4",
    { kind: "entry", lane: "main", id: "m1", seq: 1, ...message({ role: "user", content: "Fix it." }) },
    ["Fix it."],
    [],
  ],
]

for (const [what, record, authored, injected] of PROVENANCE) {
  test(`${what}: who wrote which text is known`, () => {
    const texts = (provenance: string) =>
      partsOf(record).flatMap((part) => (part.type === "text" && part.provenance === provenance ? [part.text] : []))
    expect([texts("conversational"), texts("injected")]).toEqual([authored, injected])
  })
}

test("what the harness asked of the model is a system message, and its sections stay in the record", () => {
  const { entries } = read([HEADER, message({ role: "system", content: "Be brief.", sections: { cwd: "/x" } })])
  expect(entries[1]).toMatchObject({
    message: {
      ...{ role: "system", content: "Be brief." },
      options: { source: { record: { message: { content: null, sections: { cwd: "/x" } } } } },
    },
    parts: [],
  })
})

// --- Calls, results, files --------------------------------------------------------------------------------------------

test("a call and its result are parts with one id, and the result that is one text is that text", () => {
  const parts = partsOf(
    message({
      role: "assistant",
      content: [{ type: "toolCall", id: "c|fc", name: "bash", arguments: { command: "ls" } }],
    }),
    message({
      role: "toolResult",
      toolCallId: "c|fc",
      toolName: "bash",
      content: [{ type: "text", text: "a" }],
      isError: true,
    }),
  )
  expect(parts).toMatchObject([
    { type: "tool_call", call_id: "c|fc", name: "bash", params: { command: "ls" }, provider_executed: false },
    { type: "tool_result", call_id: "c|fc", name: "bash", result: "a", is_failure: true, provenance: "injected" },
  ])
})

test("a result of several blocks is those blocks, images too", () => {
  const content = [
    { type: "text", text: "a" },
    { type: "image", data: "iVBORw0KGgo=", mimeType: "image/png" },
  ]
  expect(partsOf(message({ role: "toolResult", toolCallId: "c", toolName: "read", content }))).toMatchObject([
    { type: "tool_result", result: content, is_failure: false },
  ])
})

test("an image in a prompt is a file with its bytes", () => {
  const block = { type: "image", data: "iVBORw0KGgo=", mimeType: "image/png" }
  expect(partsOf(message({ role: "user", content: [block] }))).toMatchObject([
    { type: "file", media_type: "image/png", data: { base64: "iVBORw0KGgo=" } },
  ])
})

test("reasoning is kept, also where only its provider can read it", () => {
  const content = [
    { type: "thinking", thinking: "Hm.", thinkingSignature: "c2ln" },
    { type: "thinking", thinking: "", thinkingSignature: "c2VhbGVk", redacted: true },
  ]
  expect(
    partsOf(message({ role: "assistant", content })).map((part) => part.type === "reasoning" && part.text),
  ).toEqual(["Hm.", ""])
})

test("a block of the future stands in its place, named and counted", () => {
  const { entries, issues } = read([
    HEADER,
    message({
      role: "assistant",
      content: [
        { type: "text", text: "a" },
        { type: "hologram", x: 1 },
        { type: "text", text: "b" },
      ],
    }),
  ])
  expect(entries[1]?.parts.map(({ type }) => type)).toEqual(["text", "opaque", "text"])
  expect(issues).toEqual([{ kind: "unknown_part", severity: "note", file: PLACE, record: 2, found: "hologram" }])
})

test("the model of an answer is a fact of its message", () => {
  const { entries } = read([HEADER, message({ role: "assistant", content: [], model: "claude-opus-4-5" })])
  expect(entries[1]?.message.options["pond"]).toEqual({ model: "claude-opus-4-5" })
})

// --- Sessions ---------------------------------------------------------------------------------------------------------

test("a session is what its header says", () => {
  expect(read([HEADER]).session).toMatchObject({
    ...{ id: "s1", source_agent: "pi", project: "/projects/alpha", created_at: "2026-02-03T04:05:06.789Z" },
  })
})

const PARENTS: readonly (readonly [what: string, fields: object, parent: string | undefined])[] = [
  [
    "the file of its parent",
    { parentSession: `/home/user/.pi/agent/sessions/${PLACE}` },
    "5d1f0a30-0000-4000-8000-000000000001",
  ],
  ["the file of its parent on Windows", { parentSession: "C:\\s\\2026-02-03T04-05-06-789Z_abc.def.jsonl" }, "abc.def"],
  ["the file of its parent, as v1 did", { branchedFrom: "/s/2026-02-03T04-05-06-789Z_abc.jsonl" }, "abc"],
  ["a file that is not named by an id", { parentSession: "/s/session.jsonl" }, undefined],
  ["its parent, as v4 does", { parentSessionId: "abc" }, "abc"],
  ["nothing", {}, undefined],
]

for (const [what, fields, parent] of PARENTS) {
  test(`a fork that names ${what} has ${parent === undefined ? "no parent" : "that parent"}`, () => {
    expect(read([{ ...HEADER, ...fields }]).session?.parent_session_id).toBe(parent as string)
  })
}

test("a name that was given is a fact of the record that gives it", () => {
  const names = [
    { type: "session_info", id: "i1", ...AT, name: "One" },
    { kind: "fact", seq: 1, fact: "name", name: "Two" },
    { kind: "value", op: "set", seq: 2, namespace: "pi.session.name", key: "", value: "Three" },
  ]
  const { entries, issues } = read([HEADER, ...names])
  expect(entries.slice(1).map(({ message: { options } }) => options["pond"])).toEqual([
    { title: "One" },
    { title: "Two" },
    { title: "Three" },
  ])
  expect(issues).toEqual([])
})

test("a name that was given in one write with what was said is a fact of the message", () => {
  const said = {
    kind: "entry",
    seq: 1,
    type: "message",
    id: "m1",
    ...AT,
    message: { role: "user", content: "Fix it." },
  }
  const name = (seq: number, value: string) => ({
    kind: "value",
    op: "set",
    seq,
    namespace: "pi.session.name",
    key: "",
    value,
  })
  const { entries } = read([HEADER, [name(0, "One"), said, name(2, "Two")], [name(3, "Three")]])
  expect(entries.slice(1).map(({ message: { role, options } }) => [role, options["pond"]])).toEqual([
    ["user", { title: "Two" }],
    ["system", { title: "Three" }],
  ])
})

test("without a header the name of the file says which session it is, and its directory of what", () => {
  expect(read([message({ role: "user", content: "x" })]).session).toMatchObject({
    ...{ id: "5d1f0a30-0000-4000-8000-000000000001", project: "--projects-alpha--" },
  })
})

test("records that say nothing of a session are not made into one", () => {
  const { session, issues } = read([message({ role: "user", content: "x" })], "notes.jsonl")
  expect(session).toBeUndefined()
  expect(issues).toMatchObject([{ kind: "no_session", severity: "fault" }])
})

test("entries of v1 have ids that are the same wherever they are read", () => {
  const records = [{ type: "message", timestamp: AT.timestamp, message: { role: "user", content: "Go on." } }]
  const ids = () => read([HEADER, ...records, ...records]).entries.map(({ message: { id } }) => id)
  expect(ids()).toEqual(ids())
  expect(new Set(ids()).size).toBe(3)
})

test("a log of a version to come is read, and said aloud", () => {
  expect(read([{ ...HEADER, version: 5 }]).issues).toMatchObject([
    { kind: "unknown_version", found: "a log of version 5" },
  ])
})

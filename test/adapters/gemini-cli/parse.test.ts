import { expect, test } from "bun:test"
import type { RawRecord } from "../../../src/adapters/adapter.ts"
import { geminiCli } from "../../../src/adapters/gemini-cli/adapter.ts"
import type { Issue } from "../../../src/model/report.ts"
import type { Entry, Part, Session } from "../../../src/model/session.ts"
import { withoutSuperseded } from "../../../src/model/superseded.ts"
import { nativeFiles } from "../../../src/restore/output-files.ts"
import { sourceFile } from "../../source-file.ts"

const PLACE = "tmp/alpha/chats/session-2026-02-03T04-05-5d1f0a30.jsonl"
const ID = "5d1f0a30-0000-4000-8000-000000000001"
const AT = "2026-02-03T04:05:07.000Z"
const CONTEXT = "<session_context>\n- **Workspace Directories:**\n  - /projects/alpha\n</session_context>"
const HEADER = { sessionId: ID, projectHash: "00", startTime: AT, lastUpdated: AT, kind: "main" }
const OPENING = [HEADER, { $set: { messages: [said("env", [{ text: CONTEXT }])] } }]

function said(id: string, content: unknown, more: object = {}) {
  return { id, timestamp: AT, type: "user", content, ...more }
}

function answered(id: string, content: unknown, more: object = {}) {
  return { id, timestamp: AT, type: "gemini", content, ...more }
}

function call(id: string, output: string) {
  const result = [{ functionResponse: { id, name: "glob", response: { output } } }]
  return { id, name: "glob", args: { pattern: "*" }, result, status: "success", timestamp: AT }
}

interface Read {
  readonly session: Session | undefined
  readonly entries: readonly Entry[]
  readonly issues: readonly Issue[]
}

function read(records: readonly unknown[], place = PLACE): Read {
  const form = place.endsWith(".json") ? "document" : "log"
  const file = sourceFile(place, { form })
  const found = { session: undefined as Session | undefined, entries: [] as Entry[], issues: [] as Issue[] }
  const parser = geminiCli.parse(
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
    const raw = { form, file, line: index + 1, text: JSON.stringify(record) } as const
    parser.push(raw satisfies RawRecord)
  }
  parser.end(true)
  return found
}

function spoken({ session, entries }: Read): string[] {
  if (session === undefined) throw new Error("no session")
  const live = geminiCli.context(withoutSuperseded({ session, entries }), [])
  return live.flatMap(({ message, parts }) => parts.map((part) => `${message.role}: ${shown(part)}`))
}

function shown(part: Part): string {
  if (part.type === "text" || part.type === "reasoning") return part.text.startsWith("<session") ? "…" : part.text
  if (part.type === "tool_result") return String(part.result)
  return part.type === "tool_call" ? part.name : part.type
}

// --- Provenance -------------------------------------------------------------------------------------------------------

const FILES = "\n--- Content from referenced files ---"
const END = "\n--- End of content ---"
const SHELL = [
  "I ran the following shell command:\n```sh\n",
  "ls",
  "\n```\n\nThis produced the following result:\n```\na\n```",
]

/** What a person or the model wrote, and what the client put in their slot. */
const PROVENANCE: readonly (readonly [what: string, record: object, authored: string[], injected: string[]])[] = [
  ["a prompt", said("m", "Fix it."), ["Fix it."], []],
  ["a prompt in parts", said("m", [{ text: "Fix" }, "it."]), ["Fix", "it."], []],
  ["a prompt that is one part", said("m", { text: "Fix it." }), ["Fix it."], []],
  ["the environment", said("m", CONTEXT), [], [CONTEXT]],
  [
    "files that a prompt names",
    said("m", [{ text: "@a" }, { text: FILES }, { text: "A" }, { text: END }, { text: "more" }]),
    ["@a", "more"],
    [FILES, "A", END],
  ],
  ["files in one text", said("m", `@a${FILES}A${END}`), ["@a"], [`${FILES}A${END}`]],
  ["words of a hook", said("m", "a<hook_context>b</hook_context>c"), ["a", "c"], ["<hook_context>b</hook_context>"]],
  ["a command of a person", said("m", SHELL.join("")), ["ls"], [SHELL[0] ?? "", SHELL[2] ?? ""]],
  ["a summary", said("m", "<state_snapshot>x"), [], ["<state_snapshot>x"]],
  ["more than was typed", said("m", "typed and more", { displayContent: "typed" }), ["typed"], [" and more"]],
  ["a part that was not typed", said("m", [{ text: "a" }, { text: "b" }], { displayContent: "a" }), ["a"], ["b"]],
  ["an answer", answered("m", "Done."), ["Done."], []],
  [
    "the answer to a summary",
    answered("m", "Got it. Thanks for the additional context!"),
    [],
    ["Got it. Thanks for the additional context!"],
  ],
  [
    "a thought beside its answer",
    answered("m", "A", { thoughts: [{ subject: "S", description: "T" }] }),
    ["T", "A"],
    [],
  ],
]

test.each(PROVENANCE)("provenance of %s", (_, record, authored, injected) => {
  const parts = read([...OPENING, record, said("other", "")]).entries.flatMap(
    ({ message, parts: own }): readonly Part[] => (message.id === "m" ? own : []),
  )
  const textsOf = (provenance: string) =>
    parts.flatMap((part) => ("text" in part && part.provenance === provenance ? [part.text] : []))
  expect([textsOf("conversational"), textsOf("injected")]).toEqual([authored, injected])
})

// --- The chat ---------------------------------------------------------------------------------------------------------

test("a message that comes again stands for the one before, and its results are said once", () => {
  const response = { functionResponse: { id: "c1", name: "glob", response: { output: "a.md" } } }
  const chat = read([
    ...OPENING,
    said("m1", "List."),
    answered("m2", "Here:"),
    answered("m2", "Here:", { toolCalls: [call("c1", "a.md")] }),
    said("m3", [response]),
  ])
  expect(spoken(chat)).toEqual(["user: …", "user: List.", "assistant: Here:", "assistant: glob", "tool: a.md"])
  expect(chat.entries.filter(({ parts }) => parts.some(({ type }) => type === "tool_result"))).toHaveLength(1)
})

test("a patch puts its messages in the place of all, and a rewind takes a message and all behind it", () => {
  const before = [...OPENING, said("m1", "One"), answered("m2", "Two", { thoughts: [{ description: "T" }] })]
  const repeated = { $set: { messages: [said("m1", [{ text: "One" }]), answered("m2", [{ text: "Two" }])] } }
  expect(spoken(read([...before, repeated]))).toEqual(["user: One", "assistant: T", "assistant: Two"])
  const summed = { $set: { messages: [said("s1", "<state_snapshot>x"), said("m9", "new")] } }
  expect(spoken(read([...before, summed]))).toEqual(["user: <state_snapshot>x", "user: new"])
  expect(spoken(read([...before, { $rewindTo: "m2" }]))).toEqual(["user: …", "user: One"])
  expect(spoken(read([...before, { $rewindTo: "nobody" }]))).toEqual([])
  expect(spoken(read([...before, said("m3", "/stats"), said("m4", "? help")]))).toHaveLength(4)
})

test("a file in which nobody said anything is no session: it would stand for the chat whose id it has", () => {
  const { session, entries, issues } = read([...OPENING, { $set: { sessionId: ID } }, HEADER])
  expect({ session, entries }).toEqual({ session: undefined, entries: [] })
  expect(issues).toMatchObject([{ kind: "nothing_said", severity: "note" }])
})

test.each([
  ["the environment", [...OPENING, said("m", "x")], "/projects/alpha"],
  ["its directories", [{ ...HEADER, directories: ["/projects/b"] }, said("m", "x")], "/projects/b"],
  ["the folder, for want of more", [HEADER, said("m", "x")], "alpha"],
])("a chat is of the project that %s says", (_, records, project) => {
  expect(read(records).session?.project).toBe(project)
})

test("a directory shows in a path of a call: it is the one that has the hash of the project", () => {
  const projectHash = new Bun.CryptoHasher("sha256").update("/projects/alpha").digest("hex")
  const toolCalls = [{ id: "c", name: "read_file", args: { file_path: "/projects/alpha/src/a.ts" }, status: "success" }]
  const chat = { ...HEADER, projectHash, messages: [answered("m", "", { toolCalls })] }
  expect(read([chat], `tmp/${projectHash}/chats/session-2026-02-03T04-05-5d1f0a30.json`).session?.project).toBe(
    "/projects/alpha",
  )
})

test("a document that went on as a log comes back as that log", () => {
  const place = PLACE.replace(".jsonl", ".json")
  const document = read([{ ...HEADER, messages: [said("m1", "One")] }], place)
  const log = read([...OPENING, said("m2", "Two")])
  if (document.session === undefined) throw new Error("no session")
  const later = log.entries.filter(({ message }) => message.id === "m2")
  const [file] = nativeFiles(geminiCli, { session: document.session, entries: [...document.entries, ...later] })
  expect(file).toMatchObject({ form: "log", relativePath: PLACE })
  const lines = file?.form === "log" ? Array.from(file.lines, (line) => JSON.parse(String(line))) : []
  expect(lines).toEqual([HEADER, said("m1", "One"), said("m2", "Two")])
})

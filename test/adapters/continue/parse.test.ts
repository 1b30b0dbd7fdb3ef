import { afterAll, expect, test } from "bun:test"
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { dirname, join } from "node:path"
import { continueDev } from "../../../src/adapters/continue/adapter.ts"
import { resolve } from "../../../src/adapters/shared/resolve.ts"
import type { Entry, Session } from "../../../src/model/session.ts"

const scratch = mkdtempSync(join(tmpdir(), "pond-continue-"))
afterAll(() => rmSync(scratch, { recursive: true }))

const ID = "0b000000-0000-4000-8000-000000000001"

function laidOut(history: readonly unknown[], index: unknown = []): string {
  const root = mkdtempSync(join(scratch, "root-"))
  const document = { sessionId: ID, title: "Untitled Session", workspaceDirectory: "/projects/alpha", history }
  const files = { [`sessions/${ID}.json`]: document, "sessions/sessions.json": index, "config.json": { apiKey: "sk" } }
  for (const [place, content] of Object.entries(files)) {
    mkdirSync(dirname(join(root, place)), { recursive: true })
    writeFileSync(join(root, place), JSON.stringify(content))
  }
  return root
}

async function read(
  root: string,
): Promise<{ readonly session: Session | undefined; readonly entries: readonly Entry[] }> {
  let session: Session | undefined
  const entries: Entry[] = []
  for await (const unit of continueDev.source.plan(root)) {
    if (!("files" in unit)) throw new Error(unit.kind)
    const sink = {
      session: (begun: Session) => {
        session = begun
      },
      entry: (entry: Entry) => void entries.push(entry),
      issue: () => undefined,
    }
    const parser = continueDev.parse(unit, sink)
    for await (const { records } of resolve(continueDev, unit)) for (const record of records) parser.push(record)
    parser.end(true)
  }
  return { session, entries }
}

const user = (content: unknown, beside: object = {}) => ({
  message: { role: "user", content },
  contextItems: [],
  ...beside,
})

/** What a person or the model wrote, and what somebody else put in their slot. */
const PROVENANCE: readonly (readonly [what: string, item: unknown, authored: string[], injected: string[]])[] = [
  ["a prompt", user("Fix it.", { editorState: "Fix it." }), ["Fix it."], []],
  [
    "a prompt that an editor put a file before",
    user("a file\nFix it.", { editorState: "Fix it." }),
    ["Fix it."],
    ["a file\n"],
  ],
  ["a prompt of an editor's own form", user("Fix it.", { editorState: { type: "doc" } }), ["Fix it."], []],
  [
    "what a prompt names",
    user("Fix it.", { contextItems: [{ content: "in the file" }] }),
    ["Fix it."],
    ["in the file"],
  ],
  ["a summary", { ...user("Fix it."), conversationSummary: "in short" }, ["Fix it."], ["in short"]],
  ["an answer", { message: { role: "assistant", content: "Done." } }, ["Done."], []],
]

test.each(PROVENANCE)("%s", async (_what, item, authored, injected) => {
  const { entries } = await read(laidOut([item]))
  const texts = (provenance: string) =>
    entries.flatMap(({ parts }) =>
      parts.flatMap((part) => (part.type === "text" && part.provenance === provenance ? [part.text] : [])),
    )
  expect([texts("conversational"), texts("injected")]).toEqual([authored, injected])
})

test("prompts that say the same are two, and a result that stands twice is sent once", async () => {
  const call = { id: "c1", type: "function", function: { name: "Bash", arguments: '{"command":"ls"}' } }
  const state = { toolCallId: "c1", toolCall: call, status: "done", output: [{ content: "a.txt" }] }
  const { session, entries } = await read(
    laidOut([
      user("go on"),
      { message: { role: "assistant", content: "", toolCalls: [call] }, toolCallStates: [state] },
      { message: { role: "tool", content: "a.txt", toolCallId: "c1" } },
      user("go on"),
    ]),
  )
  if (session === undefined) throw new Error("no session")
  const sent = continueDev.context({ session, entries }, [])
  expect(sent.map(({ message, parts }) => [message.role, parts.map(({ type }) => type)])).toEqual([
    ["user", ["text"]],
    ["assistant", ["tool_call"]],
    ["tool", ["tool_result"]],
    ["user", ["text"]],
  ])
})

test("a session begins when the list of all sessions says", async () => {
  const { session } = await read(
    laidOut([user("hi")], [{ sessionId: ID, title: "A name", dateCreated: "1795158451000" }]),
  )
  expect(session).toMatchObject({ id: ID, project: "/projects/alpha", created_at: "2026-11-20T07:07:31.000Z" })
})

test("nothing but sessions is looked at", async () => {
  const places: string[] = []
  for await (const unit of continueDev.source.plan(laidOut([]))) if ("files" in unit) places.push(unit.key)
  expect(places).toEqual([`sessions/${ID}.json`])
  expect(continueDev.source.roots({ CONTINUE_GLOBAL_DIR: "/opt/c" }, "/home/user")).toEqual(["/opt/c"])
})

test("a document that was cut off is kept under its name", async () => {
  const root = mkdtempSync(join(scratch, "cut-"))
  mkdirSync(join(root, "sessions"))
  writeFileSync(join(root, `sessions/${ID}.json`), '{"sessionId":"0b')
  const { session, entries } = await read(root)
  expect([session?.id, entries.length]).toEqual([ID, 1])
})

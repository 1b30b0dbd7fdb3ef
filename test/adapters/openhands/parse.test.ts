import { afterAll, expect, test } from "bun:test"
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { dirname, join } from "node:path"
import { openhands } from "../../../src/adapters/openhands/adapter.ts"
import { conversationOf, fixturesOf, logsOf, parseUnit, unitsOf } from "../../contract/fixtures.ts"

const scratch = mkdtempSync(join(tmpdir(), "pond-openhands-"))
afterAll(() => rmSync(scratch, { recursive: true }))

const ID = "0b000000000040008000000000000001"

function laidOut(events: readonly object[], beside: Readonly<Record<string, string>> = {}): string {
  const root = mkdtempSync(join(scratch, "root-"))
  const files: Record<string, string> = { "agent_settings.json": '{"api_key":"sk"}', ...beside }
  for (const [at, event] of events.entries())
    files[`conversations/${ID}/events/event-${String(at + 99_998).padStart(5, "0")}-e${at}.json`] = JSON.stringify({
      id: `e${at}`,
      timestamp: "2026-11-01T10:00:00.000001",
      ...event,
    })
  for (const [place, text] of Object.entries(files)) {
    mkdirSync(dirname(join(root, place)), { recursive: true })
    writeFileSync(join(root, place), text)
  }
  return root
}

const message = (role: string, source: string, text: string, beside: object = {}) => ({
  ...{ kind: "MessageEvent", source, llm_message: { role, content: [{ type: "text", text }] } },
  ...beside,
})

/** What a person or the model wrote, and what the client put in their slot. */
const PROVENANCE: readonly (readonly [what: string, event: object, authored: string[], injected: string[]])[] = [
  ["a prompt", message("user", "user", "Fix it."), ["Fix it."], []],
  [
    "a skill beside a prompt",
    message("user", "user", "Fix it.", { extended_content: [{ type: "text", text: "<EXTRA_INFO>" }] }),
    ["Fix it."],
    ["<EXTRA_INFO>"],
  ],
  ["what the environment says", message("user", "environment", "Go on."), [], ["Go on."]],
  ["a transcript", message("user", "user", "<<RESUMED CONVERSATION>>\nold"), [], ["<<RESUMED CONVERSATION>>\nold"]],
  ["a summary", { kind: "Condensation", summary: "In short.", forgotten_event_ids: [] }, [], ["In short."]],
  ["an answer", message("assistant", "agent", "Done."), ["Done."], []],
]

test.each(PROVENANCE)("%s", async (_what, event, authored, injected) => {
  const [unit] = await unitsOf(openhands, laidOut([event]))
  if (unit === undefined) throw new Error("no unit")
  const { entries } = parseUnit(openhands, unit.unit, unit.records)
  const texts = (provenance: string) =>
    entries.flatMap(({ parts }) =>
      parts.flatMap((part) => (part.type === "text" && part.provenance === provenance ? [part.text] : [])),
    )
  expect([texts("conversational"), texts("injected")]).toEqual([authored, injected])
})

test("events are read by their numbers, and a time without a zone keeps its order", async () => {
  const [unit] = await unitsOf(openhands, laidOut(["one", "two", "three"].map((text) => message("user", "user", text))))
  if (unit === undefined) throw new Error("no unit")
  const { session, entries } = parseUnit(openhands, unit.unit, unit.records)
  expect(session).toMatchObject({ id: ID, created_at: "2026-11-01T10:00:00.000001Z" })
  expect(entries.map(({ parts: [part] }) => part?.type === "text" && part.text)).toEqual(["one", "two", "three"])
})

const live = async (name: string) => {
  const fixture = fixturesOf(openhands).find((each) => each.name === name)
  if (fixture === undefined) throw new Error("no fixture")
  const logs = await logsOf(openhands, fixture.root)
  const [id = ""] = logs.keys()
  return conversationOf(openhands, logs, id).entries.flatMap(({ parts }) =>
    parts.flatMap((part) => {
      if (part.type === "text") return [part.text]
      return part.type === "tool_result" ? [String(part.result)] : []
    }),
  )
}

test("a branch that was left is not sent, and a rejection says that it is one", async () => {
  const said = await live("branches")
  expect(said).not.toContain("a branch that was left")
  expect(said.slice(-2)).toEqual(["Action rejected: not that", "then not"])
})

test("a summary stands in the place of what was summed up", async () => {
  expect(await live("condensed")).toEqual([
    ...["one", "one was answered, two was asked", "answer two", "three", "answer three"],
  ])
})

test("nothing but conversations is looked at", async () => {
  const beside = {
    [`conversations/${ID}/observations/x.json`]: "{}",
    [`conversations/${ID}/events/.eventlog.lock`]: "",
  }
  const units = await unitsOf(openhands, laidOut([message("user", "user", "hi")], beside))
  expect(units.flatMap(({ unit }) => unit.files.map(({ relativePath }) => relativePath))).toEqual([
    `conversations/${ID}/events/event-99998-e0.json`,
  ])
  const environment = { OPENHANDS_PERSISTENCE_DIR: "/opt/o", OPENHANDS_CONVERSATIONS_DIR: "/opt/c" }
  expect(openhands.source.roots(environment, "/home/user")).toEqual(["/opt/o", "/opt/c"])
})

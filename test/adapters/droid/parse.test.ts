import { expect, test } from "bun:test"
import type { SourceFile } from "../../../src/adapters/adapter.ts"
import { droid } from "../../../src/adapters/droid/adapter.ts"
import { keyOfDirectory, movedTo } from "../../../src/adapters/droid/directory-key.ts"
import { source } from "../../../src/adapters/droid/source.ts"
import { fromDisk } from "../../../src/adapters/source-value.ts"
import type { Entry, Part, Session } from "../../../src/model/session.ts"

const ID = "0a0a0a0a-0000-4000-8000-000000000001"
const FILE: SourceFile = fromDisk({
  ...{ path: `/x/sessions/-home-dev-alpha/${ID}.jsonl`, relativePath: `sessions/-home-dev-alpha/${ID}.jsonl` },
  ...{ form: "log", sizeBytes: 1, modifiedMs: 1_770_000_000_000, inode: 1 },
})
const START = { type: "session_start", id: ID, title: "a title", cwd: "/home/dev/alpha", version: 2 }

function read(...records: readonly object[]): { session: Session; entries: readonly Entry[] } {
  const found: { session?: Session; entries: Entry[] } = { entries: [] }
  const parser = droid.parse(
    { key: ID, root: "/x", files: [FILE] },
    {
      session: (begun) => {
        found.session = begun
      },
      entry: (entry) => found.entries.push(entry),
      issue: () => undefined,
    },
  )
  for (const [index, record] of records.entries())
    parser.push({ form: "log", file: FILE, line: index + 1, text: JSON.stringify(record) })
  parser.end(true)
  if (found.session === undefined) throw new Error("no session")
  return { ...found, session: found.session }
}

const said = (content: unknown, more: object = {}, id = "m1") => ({
  ...{ type: "message", id, timestamp: "2026-03-01T10:00:00.000Z", message: { role: "user", content }, ...more },
})
const partsIn = (entries: readonly Entry[]) => entries.flatMap((entry): readonly Part[] => entry.parts)

test.each([
  ["hello", {}, ["hello"]],
  ["<system-reminder>\nbe short\n</system-reminder>\n\nhello", {}, ["hello"]],
  ["<system-notification>\ndone\n</system-notification>", {}, []],
  ["<context_files>a.ts</context_files>\nwhat is this?", {}, ["what is this?"]],
  ["what does <system-reminder> mean?", {}, ["what does <system-reminder> mean?"]],
  ["the surroundings", { visibility: "llm_only" }, []],
  ["a notice", { visibility: "user_only" }, []],
  ["a hook", { message: { role: "user", content: "a hook", hookEventName: "Stop" } }, []],
])("of %j with %j a person said %j", (text, more, own) => {
  const parts = partsIn(read(START, said([{ type: "text", text }], more)).entries)
  const texts = parts.flatMap((part) =>
    part.type === "text" && part.provenance === "conversational" ? [part.text] : [],
  )
  expect(texts).toEqual([...own])
  expect(parts.map((part) => ("text" in part ? part.text : "")).join("")).toBe(text)
})

test("an agent says who started it, and a fork where it left", () => {
  const agent = { ...START, callingSessionId: "parent", callingToolUseId: "call_1", sessionTitle: "worker: count" }
  expect(read(agent).session).toMatchObject({
    ...{ source_agent: "droid/worker", parent_session_id: "parent", title: "worker: count" },
    options: { pond: { spawned_by: "call_1" } },
  })
  const fork = { ...START, parent: "other", forkedAtMessageId: "m7" }
  expect(read(fork).session).toMatchObject({
    ...{ source_agent: "droid", parent_session_id: "other", parent_message_id: "m7" },
  })
})

test("a summary stands for all up to the message that it names; what is only shown is not sent", () => {
  const log = read(
    START,
    said("first", {}, "m1"),
    said("second", {}, "m2"),
    said("third", {}, "m3"),
    { type: "compaction_state", id: "c1", summaryText: "summed up", anchorMessage: { id: "m2", index: 1 } },
    said("shown", { visibility: "user_only" }, "m4"),
    said("fourth", {}, "m5"),
  )
  const texts = partsIn(droid.context(log, [])).map((part) => ("text" in part ? part.text : part.type))
  expect(texts).toEqual(["summed up", "third", "fourth"])
})

test("a session moves with its directory, and lies where a variable says", () => {
  expect(keyOfDirectory("/home/dev/a b")).toBe("-home-dev-a b")
  const moved = "sessions/-home-dev-beta/x.settings.json"
  expect(movedTo("sessions/-home-dev-alpha/x.settings.json", "/home/dev/alpha", "/home/dev/beta")).toBe(moved)
  expect(source.roots({ FACTORY_HOME_OVERRIDE: "/f" }, "/home/dev")).toEqual(["/f/.factory"])
  expect(source.roots({}, "/home/dev")).toEqual(["/home/dev/.factory"])
})

import { Database } from "bun:sqlite"
import { expect, test } from "bun:test"
import { cpSync, mkdirSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import type { ResumePoint, SourceUnit } from "../../../src/adapters/adapter.ts"
import { openclaw } from "../../../src/adapters/pi/openclaw.ts"
import { resolve } from "../../../src/adapters/shared/resolve.ts"
import { stringifyJson } from "../../../src/model/json.ts"
import type { Entry, Part, Session } from "../../../src/model/session.ts"
import { temporaryHome } from "../../support/pond-process.ts"

const FIXTURES = join(import.meta.dir, "../../../fixtures/openclaw")
const MAIN = "0c1a0000-0000-4000-8000-000000000001"
const AGENT = "0c1a0000-0000-4000-8000-000000000002"
const COLD = "0c1a0000-0000-4000-8000-000000000003"

interface Read {
  readonly unit: SourceUnit
  readonly session: Session | undefined
  readonly entries: readonly Entry[]
  readonly state: unknown
}

async function read(unit: SourceUnit, resume?: ResumePoint): Promise<Read> {
  const entries: Entry[] = []
  const sessions: Session[] = []
  const parser = openclaw.parse(
    unit,
    {
      session: (session) => void sessions.push(session),
      entry: (entry) => void entries.push(entry),
      issue: () => undefined,
    },
    resume,
  )
  for await (const { records } of resolve(openclaw, unit)) for (const record of records) parser.push(record)
  return { unit, session: sessions[0], entries, state: parser.end(true).state }
}

async function all(root: string): Promise<Read[]> {
  const found: Read[] = []
  for await (const unit of openclaw.source.plan(root)) if ("files" in unit) found.push(await read(unit))
  return found
}

test("a sub-agent and a job of the scheduler are told apart, and an archive is read", async () => {
  const found = await all(join(FIXTURES, "spawned/root"))
  expect(found.map(({ session }) => [session?.id, session?.source_agent, session?.parent_session_id])).toEqual([
    [MAIN, "openclaw", undefined],
    [AGENT, "openclaw/subagent", MAIN],
    [COLD, "openclaw/cron", undefined],
  ])
  const said = found[2]?.entries.flatMap(({ parts }) => parts.flatMap((part) => ("text" in part ? [part.text] : [])))
  expect(said).toEqual(["[cron:job-1 morning] look at the mail", "no mail"])
})

test("what is sent ends at a reset, goes on where the leaf was moved to, and leaves out what is not for the model", async () => {
  const [main] = await all(join(FIXTURES, "spawned/root"))
  if (main?.session === undefined) throw new Error("no session")
  const sent = openclaw.context({ session: main.session, entries: main.entries }, [])
  const texts = sent.flatMap(({ parts }) => parts.flatMap((part) => ("text" in part ? [part.text] : [])))
  expect(texts.join(" ")).not.toContain("old question")
  expect(texts.join(" ")).not.toContain("wrong way")
  expect(texts.join(" ")).not.toContain("not for the model")
  expect(texts).toContain("nothing")
  expect(texts).toContain("let me ask")
})

/** What of a text in the user's place a person said. */
test.each([
  ["hello", "hello"],
  ["[Tue 2026-05-05 09:44 GMT+5:30] hello", "hello"],
  ["[Telegram Ann id:1 +2m 2026-05-05 09:44 UTC] hello", "hello"],
  ['Conversation info (untrusted metadata):\n```json\n{"a":1}\n```\n\nhello', "hello"],
  [
    "[Chat messages since your last reply - for context]\nBob: no\n\n[Current message - respond to this]\nhello",
    "hello",
  ],
  ["<<<BEGIN_OPENCLAW_INTERNAL_CONTEXT>>>\nx\n<<<END_OPENCLAW_INTERNAL_CONTEXT>>>\nhello", "hello"],
  ["[cron:job-1 morning] look", ""],
  ["[Subagent Context] You are one.\n\n[Subagent Task]: count", ""],
  ["see [the list] of 2026", "see [the list] of 2026"],
])("of %j a person said %j", async (text, said) => {
  using home = temporaryHome()
  const folder = join(home.path, "agents/main/sessions")
  mkdirSync(folder, { recursive: true })
  const header = { type: "session", version: 3, id: MAIN, timestamp: "2026-09-01T10:00:00.000Z", cwd: "/w" }
  const entry = { type: "message", id: "a", parentId: null, message: { role: "user", content: text } }
  writeFileSync(join(folder, `${MAIN}.jsonl`), [header, entry].map((line) => `${stringifyJson(line)}\n`).join(""))
  const [found] = await all(home.path)
  const parts = (found?.entries ?? []).flatMap((each): readonly Part[] => each.parts)
  expect(parts.map((part) => ("text" in part && part.provenance === "conversational" ? part.text : "")).join("")).toBe(
    said,
  )
  expect(parts.map((part) => ("text" in part ? part.text : "")).join("")).toBe(text)
})

test("a second read of a database brings what is new, though every event has another number by then", async () => {
  using home = temporaryHome()
  cpSync(join(FIXTURES, "tools/root"), home.path, { recursive: true })
  const [first] = await all(home.path)
  if (first?.session === undefined) throw new Error("no session")
  const database = new Database(join(home.path, "agents/main/agent/openclaw-agent.sqlite"))
  database.run("PRAGMA foreign_keys = OFF")
  database.run("UPDATE transcript_events SET seq = seq + 1000")
  const event = { type: "message", id: "new", parentId: null, message: { role: "user", content: "one more" } }
  const values = [first.session.id, 5000, stringifyJson(event), 1]
  database.run("INSERT INTO transcript_events (session_id, seq, event_json, created_at) VALUES (?, ?, ?, ?)", values)
  database.close()
  const [unit] = [...(openclaw.source.plan(home.path) as Iterable<SourceUnit>)]
  expect(unit?.row?.mark).not.toBe(first.unit.row?.mark)
  const point: ResumePoint = {
    ...{ session: first.session, nextOrdinal: first.entries.length },
    ...{ seen: new Set(first.entries.map(({ message }) => message.id)), state: first.state as never },
  }
  const again = await read(unit as SourceUnit, point)
  expect(again.entries.map(({ message }) => message.id)).toEqual(["new"])
})

test("an entry of the list goes back with the path of its log, and the key opens it", async () => {
  const found = (await all(join(FIXTURES, "logs/root"))).find(({ session }) => session?.id.endsWith("5"))
  if (found?.session === undefined) throw new Error("no session")
  const texts: string[] = []
  const ignore = () => undefined
  const serializer = openclaw.serialize.native(found.session, {
    line: ignore,
    row: ignore,
    file: (written) => void texts.push("text" in written ? written.text : ""),
  })
  serializer.push(found.entries)
  expect(serializer.end()).toMatchObject({ knownAs: "agent:main:main" })
  expect(texts.map((text) => Object.keys(JSON.parse(text)))).toEqual([["agent:main:main"]])
  const file = { form: "document", relativePath: "agents/main/sessions/sessions.json", text: texts[0] ?? "" } as const
  const placed = openclaw.relocation?.atRoot?.("/new")(file)
  expect(placed).toMatchObject({ text: expect.stringContaining('"/new/agents/main/sessions/0c1a0000') })
})

test("it deletes after thirty days, after what its settings say, or not where it only warns", () => {
  using home = temporaryHome()
  mkdirSync(join(home.path, "agents"))
  const settings = join(home.path, "openclaw.json")
  const after = (maintenance: object) => {
    writeFileSync(settings, stringifyJson({ session: { maintenance } } as never))
    return openclaw.retention?.of(home.path)?.days
  }
  expect(openclaw.retention?.of(home.path)?.days).toBe(30)
  expect(after({ pruneAfter: "48h" })).toBe(2)
  expect(after({ pruneAfter: "2w" })).toBe(14)
  expect(after({ mode: "warn" })).toBeUndefined()
})

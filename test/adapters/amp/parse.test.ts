import { expect, test } from "bun:test"
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import type { SourceUnit } from "../../../src/adapters/adapter.ts"
import { amp } from "../../../src/adapters/amp/adapter.ts"
import { resolve } from "../../../src/adapters/shared/resolve.ts"
import type { Entry, Session } from "../../../src/model/session.ts"

const FIXTURES = join(import.meta.dir, "../../../fixtures/amp")

async function read(fixture: string) {
  return await readRoot(join(FIXTURES, fixture, "root"))
}

async function readRoot(
  root: string,
): Promise<{ readonly sessions: readonly Session[]; readonly entries: readonly Entry[] }> {
  const sessions: Session[] = []
  const entries: Entry[] = []
  const sink = {
    session: (session: Session) => void sessions.push(session),
    entry: (entry: Entry) => void entries.push(entry),
    issue: () => undefined,
  }
  for await (const unit of amp.source.plan(root)) {
    const parser = amp.parse(unit as SourceUnit, sink)
    for await (const { records } of resolve(amp, unit as SourceUnit)) for (const record of records) parser.push(record)
    parser.end(true)
  }
  return { sessions, entries }
}

/** What a person or the model wrote, and what somebody else put in their slot. */
const PROVENANCE: readonly (readonly [fixture: string, authored: string[], injected: string[]])[] = [
  [
    "summed-up",
    ["before the summary", "an answer", "look at it", "ls", "Done. 完了"],
    ["What was said, in short. 要約", "what the file says", "Remember the guidance.", "a.txt\n"],
  ],
]

test.each(PROVENANCE)("%s", async (fixture, authored, injected) => {
  const { entries } = await read(fixture)
  const texts = (provenance: string) =>
    entries.flatMap(({ parts }) =>
      parts.flatMap((part) => (part.type === "text" && part.provenance === provenance ? [part.text] : [])),
    )
  expect([texts("conversational"), texts("injected")]).toEqual([authored, injected])
})

test("nothing before the newest summary is sent, and results are sent as the client says them", async () => {
  const { sessions, entries } = await read("summed-up")
  const [session] = sessions
  if (session === undefined) throw new Error("no session")
  const sent = amp.context({ session, entries }, [])
  expect(sent[0]?.parts).toMatchObject([{ text: "What was said, in short. 要約" }])
  const results = sent.flatMap(({ parts }) =>
    parts.flatMap((part) => (part.type === "tool_result" ? [part.result] : [])),
  )
  expect(results[1]).toBe("<error>It failed.</error>")
  expect(String(results[0])).toStartWith("<absolutePath>/p/a.png</absolutePath>\n<content>")
})

test("a directory is the path in its address, and a thread that another one started is its agent", async () => {
  const { sessions } = await read("agents")
  const told = sessions.map(({ source_agent, parent_session_id, project }) => [
    source_agent,
    parent_session_id,
    project,
  ])
  expect(told).toEqual([
    ["amp", undefined, "/projects/プロ alpha"],
    ["amp/smart", sessions[0]?.id, "/projects/プロ alpha"],
  ])
})

test("messages without numbers that say the same are two", async () => {
  const { entries } = await read("extension")
  expect(entries.filter(({ parts }) => parts.length > 0)).toHaveLength(4)
  expect(amp.source.roots({ XDG_DATA_HOME: "/data" }, "/home/user")).toEqual(["/data/amp"])
})

test("a document that was cut off is kept under its name", async () => {
  const root = mkdtempSync(join(tmpdir(), "pond-amp-"))
  mkdirSync(join(root, "threads"))
  writeFileSync(join(root, "threads/T-1.json"), '{"v":1,"mess')
  const { sessions, entries } = await readRoot(root)
  rmSync(root, { recursive: true })
  expect([sessions.map(({ id }) => id), entries.length]).toEqual([["T-1"], 1])
})

test("an export is a file of any name that begins as a thread; in a folder those that are named after one", async () => {
  const { sessions } = await read("exported")
  expect(sessions.map(({ id }) => id)).toEqual(["T-01a1f7fb-0000-7000-8000-0000000000e1"])
  const root = mkdtempSync(join(tmpdir(), "pond-amp-"))
  for (const [name, text] of [
    ["mine.json", '{"v":1,"id":"T-01a1f7fb-0000-7000-8000-0000000000e2","messages":[]}'],
    ["settings.json", '{"amp.url":""}'],
  ] as const)
    writeFileSync(join(root, name), text)
  const plan = async (path: string) => await Array.fromAsync(amp.source.plan(path))
  const [mine, settings, folder] = [join(root, "mine.json"), join(root, "settings.json"), root]
  const counts = [(await plan(mine)).length, (await plan(settings)).length, (await plan(folder)).length]
  rmSync(root, { recursive: true })
  expect(counts).toEqual([1, 0, 0])
})

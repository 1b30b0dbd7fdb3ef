import { afterAll, expect, test } from "bun:test"
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { dirname, join } from "node:path"
import { ohMyPi } from "../../../src/adapters/pi/adapter.ts"
import { resolve } from "../../../src/adapters/shared/resolve.ts"
import type { Entry, Session } from "../../../src/model/session.ts"

const scratch = mkdtempSync(join(tmpdir(), "pond-omp-"))
afterAll(() => rmSync(scratch, { recursive: true }))

const ID = "01a1f7c8-235a-716d-9a25-2eebd082b769"
const STEM = `sessions/-projects-alpha/2026-11-20T07-07-31-034Z_${ID}`
const HASH = "ab".repeat(32)
const HEADER = { type: "session", version: 3, id: ID, timestamp: "2026-11-20T07:07:31.034Z", cwd: "/projects/alpha" }

function message(body: object): object {
  return { type: "message", id: "b0000001", parentId: null, timestamp: "2026-11-20T07:07:32.000Z", message: body }
}

function laidOut(files: Readonly<Record<string, string | readonly object[]>>): string {
  const root = mkdtempSync(join(scratch, "root-"))
  for (const [place, content] of Object.entries(files)) {
    mkdirSync(dirname(join(root, place)), { recursive: true })
    const text = typeof content === "string" ? content : content.map((record) => `${JSON.stringify(record)}\n`).join("")
    writeFileSync(join(root, place), text)
  }
  return root
}

interface Read {
  readonly sessions: readonly Session[]
  readonly entries: readonly Entry[]
  readonly issues: readonly string[]
}

async function read(root: string): Promise<Read> {
  const sessions: Session[] = []
  const entries: Entry[] = []
  const issues: string[] = []
  for await (const unit of ohMyPi.source.plan(root)) {
    if (!("files" in unit)) throw new Error(unit.kind)
    const parser = ohMyPi.parse(unit, {
      session: (session) => void sessions.push(session),
      entry: (entry) => void entries.push(entry),
      issue: ({ kind }) => void issues.push(kind),
    })
    for await (const { records, issues: more } of resolve(ohMyPi, unit)) {
      for (const record of records) parser.push(record)
      issues.push(...more.map(({ kind }) => kind))
    }
    parser.end(true)
  }
  return { sessions, entries, issues }
}

/** What a person or the model wrote, and what somebody else put in their slot. */
const PROVENANCE: readonly (readonly [what: string, record: object, authored: string[], injected: string[]])[] = [
  ["a prompt", message({ role: "user", content: "Fix it." }), ["Fix it."], []],
  ["a rule of the client", message({ role: "developer", content: "Obey." }), [], ["Obey."]],
  [
    "files that a prompt names",
    message({ role: "fileMention", files: [{ path: "a", content: "in the file" }] }),
    [],
    ["in the file"],
  ],
  ["a script of a person", message({ role: "pythonExecution", code: "print(1)", output: "1" }), ["print(1)"], ["1"]],
]

test.each(PROVENANCE)("%s", async (_what, record, authored, injected) => {
  const { entries } = await read(laidOut({ [`${STEM}.jsonl`]: [HEADER, record] }))
  const texts = (provenance: string) =>
    entries.flatMap(({ parts }) =>
      parts.flatMap((part) => (part.type === "text" && part.provenance === provenance ? [part.text] : [])),
    )
  expect([texts("conversational"), texts("injected")]).toEqual([authored, injected])
})

test("a picture beside the sessions is read once, with the session that names it, and sent", async () => {
  const picture = { type: "image", data: `blob:sha256:${HASH}`, mimeType: "image/png" }
  const prompt = message({ role: "user", content: [picture, picture] })
  const root = laidOut({ [`${STEM}.jsonl`]: [HEADER, prompt], [`blobs/${HASH}`]: "PNG", "blobs/other": "x" })
  const { sessions, entries, issues } = await read(root)
  const [session] = sessions
  if (session === undefined) throw new Error("no session")
  expect([entries.length, issues]).toEqual([3, []])
  const sent = ohMyPi.context({ session, entries }, [])
  const data = sent.flatMap(({ parts }) => parts.flatMap((part) => (part.type === "file" ? [part.data] : [])))
  expect(data).toEqual([{ base64: btoa("PNG") }, { base64: btoa("PNG") }])
})

test("a picture that is gone is said", async () => {
  const prompt = message({ role: "user", content: [{ type: "image", data: `blob:sha256:${HASH}` }] })
  expect((await read(laidOut({ [`${STEM}.jsonl`]: [HEADER, prompt] }))).issues).toEqual(["missing_file"])
})

test("an agent is told by its folder and by what it says of itself, and belongs to the session that started it", async () => {
  const header = { ...HEADER, id: "agent-1", parentSession: `/x/${STEM}.jsonl` }
  const init = { type: "session_init", id: "a1", parentId: null, agent: "scout", systemPrompt: "", task: "", tools: [] }
  const { sessions } = await read(
    laidOut({ [`${STEM}.jsonl`]: [HEADER], [`${STEM}/Counter.jsonl`]: [header, init, message({ role: "user" })] }),
  )
  const told = sessions.map(({ source_agent, parent_session_id }) => [source_agent, parent_session_id])
  expect(told.toSorted()).toEqual([
    ["oh-my-pi", undefined],
    ["oh-my-pi/scout", ID],
  ])
})

test("profiles have roots of their own, and a moved directory counts once it is there", () => {
  const home = mkdtempSync(join(scratch, "home-"))
  mkdirSync(join(home, ".omp/profiles/work"), { recursive: true })
  const own = [join(home, ".omp/agent"), join(home, ".omp/profiles/work/agent")]
  expect(ohMyPi.source.roots({ XDG_DATA_HOME: join(home, "data") }, home)).toEqual(own)
  mkdirSync(join(home, "data/omp"), { recursive: true })
  expect(ohMyPi.source.roots({ XDG_DATA_HOME: join(home, "data") }, home)).toEqual([
    join(home, "data/omp"),
    own[1] ?? "",
  ])
})

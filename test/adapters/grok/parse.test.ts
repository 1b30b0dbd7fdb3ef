import { expect, test } from "bun:test"
import { cpSync, readFileSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import type { ResumePoint, SourceUnit } from "../../../src/adapters/adapter.ts"
import { grok } from "../../../src/adapters/grok/adapter.ts"
import { resolve } from "../../../src/adapters/shared/resolve.ts"
import type { Entry, Part, Session } from "../../../src/model/session.ts"
import { nativeFiles } from "../../../src/restore/output-files.ts"
import { temporaryHome } from "../../support/pond-process.ts"

const FIXTURES = join(import.meta.dir, "../../../fixtures/grok")

interface Read {
  readonly unit: SourceUnit
  readonly session: Session
  readonly entries: readonly Entry[]
  readonly state: unknown
}

async function read(root: string, resume?: ResumePoint): Promise<Read> {
  for await (const unit of grok.source.plan(root)) {
    if (!("files" in unit)) continue
    const entries: Entry[] = []
    let session = resume?.session
    const parser = grok.parse(
      unit,
      {
        session: (begun) => {
          session = begun
        },
        entry: (entry) => void entries.push(entry),
        issue: () => undefined,
      },
      resume,
    )
    for await (const { records } of resolve(grok, unit)) for (const record of records) parser.push(record)
    const { state } = parser.end(true)
    if (session !== undefined) return { unit, session, entries, state }
  }
  throw new Error("no session")
}

const texts = (entries: readonly Entry[]) =>
  entries.flatMap(({ parts }): string[] => parts.flatMap((part) => ("text" in part ? [part.text] : [])))

test("what was rewound is kept and not sent; after a compaction the history says what is", async () => {
  const { session, entries } = await read(join(FIXTURES, "compacted/root"))
  expect(texts(entries)).toContain("a wrong turn")
  expect(texts(grok.context({ session, entries }, []))).toEqual([
    "<summary>what was said before</summary>",
    "and then?",
    "I think",
    "then this",
    "then this",
  ])
  const isCompaction = ({ message }: Entry) => JSON.stringify(message.options).includes("compact")
  const before = entries.slice(0, entries.findIndex(isCompaction))
  const sent = texts(grok.context({ session, entries: before }, []))
  expect(sent).not.toContain("a wrong turn")
  expect(sent).toContain("the second question")
})

test("what the client itself put in the user's place is no person's", async () => {
  const { entries } = await read(join(FIXTURES, "compacted/root"))
  const parts = entries.flatMap(({ parts: own }): readonly Part[] => own)
  const reminder = parts.find((part) => "text" in part && part.text.includes("mind the gap"))
  expect(reminder).toMatchObject({ provenance: "injected" })
})

test("a result is what the model was told, not what a person is shown", async () => {
  const { entries } = await read(join(FIXTURES, "tools/root"))
  const results = entries.flatMap(({ parts }): readonly Part[] => parts).filter(({ type }) => type === "tool_result")
  expect(results).toHaveLength(8)
  expect(results[0]).toMatchObject({ result: expect.stringMatching(/^exit: 0\nout-/), is_failure: false })
  expect(results.find((part) => "is_failure" in part && part.is_failure)).toMatchObject({
    result: expect.stringContaining("does-not-exist.txt"),
  })
})

test("a history that was written anew costs what is new in it, and goes back as it is now", async () => {
  using home = temporaryHome()
  cpSync(join(FIXTURES, "plain/root"), home.path, { recursive: true })
  const first = await read(home.path)
  const place = first.unit.files.find(({ relativePath }) => relativePath.endsWith("chat_history.jsonl"))
  const lines = readFileSync(place?.path ?? "", "utf8").split("\n")
  const anew = [lines[0], '{"type":"user","content":[{"type":"text","text":"summed up"}]}', ...lines.slice(2)].join(
    "\n",
  )
  writeFileSync(place?.path ?? "", anew)
  const point: ResumePoint = {
    ...{ session: first.session, nextOrdinal: first.entries.length },
    ...{ seen: new Set(first.entries.map(({ message }) => message.id)), state: first.state as never },
  }
  const unit = await read(home.path, point)
  const fromHistory = unit.entries.filter(({ message }) => JSON.stringify(message.options).includes("chat_history"))
  expect(fromHistory).toHaveLength(2)
  const whole = { session: first.session, entries: [...first.entries, ...fromHistory] }
  const files = nativeFiles(grok, whole)
  expect(files.find(({ relativePath }) => relativePath.endsWith("chat_history.jsonl"))).toMatchObject({ text: anew })
})

test("its sessions lie where its variable says", () => {
  expect(grok.source.roots({}, "/home/dev")).toEqual(["/home/dev/.grok"])
  expect(grok.source.roots({ GROK_HOME: "/g" }, "/home/dev")).toEqual(["/g"])
})

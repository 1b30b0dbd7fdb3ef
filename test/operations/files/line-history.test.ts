/** Who wrote which line, replayed from what agents did; between two calls anybody may have changed the file. */
import { expect, test } from "bun:test"
import type { FileChange } from "../../../src/operations/files/file-change.ts"
import { type FileEvent, replay } from "../../../src/operations/files/line-history.ts"

type Done = FileChange extends infer Each ? (Each extends FileChange ? Omit<Each, "path"> : never) : never

function event(by: string, change: Done, shown: readonly string[] = [], named: readonly string[] = []): FileEvent {
  return {
    atMicros: 0n,
    sessionId: by,
    messageId: by,
    sourceAgent: "claude-code",
    change: { path: "/w/a.ts", ...change } as FileChange,
    shownBefore: () => Promise.resolve({ lines: new Set(shown), mentions: (name) => named.includes(name) }),
  }
}

const write = (content: string, before?: string | null): Done => ({ kind: "write", content, before })
const edit = (old: string, replacement: string, before?: string): Done => ({
  kind: "edit",
  edits: [{ old, new: replacement, isEvery: false, isLines: false }],
  before,
})

/** Each line with who wrote it in front. */
async function blame(events: readonly FileEvent[], text: string): Promise<readonly string[]> {
  return (await replay(events)).attribute(text).map(({ text: line, by }) => `${by?.sessionId ?? "-"} ${line}`)
}

const LINES = ["first line here", "second line here", "third line here"]
const TEXT = `${LINES.join("\n")}\n`

test("a new file is its writer's, and what a person adds is not", async () => {
  expect(await blame([event("A", write(TEXT, null))], `${LINES[0]}\nby a person\n${LINES[1]}\n${LINES[2]}\n`)).toEqual([
    "A first line here",
    "- by a person",
    "A second line here",
    "A third line here",
  ])
})

test("an edit is its own, and leaves the lines around it their writers", async () => {
  const events = [event("A", write(TEXT, null)), event("B", edit("second line here", "another second line"))]
  expect(await blame(events, "first line here\nanother second line\nthird line here\n")).toEqual([
    "A first line here",
    "B another second line",
    "A third line here",
  ])
})

test("what a person changed between two agents stays the person's, where the second recorded the file before", async () => {
  const changed = "first line here\na person was here\nthird line here\n"
  const events = [event("A", write(TEXT, null)), event("B", write(`${changed}a fourth line\n`, changed))]
  expect(await blame(events, `${changed}a fourth line\n`)).toEqual([
    "A first line here",
    "- a person was here",
    "A third line here",
    "B a fourth line",
  ])
})

test("a file that nobody recorded is new where no tool ever named it, and nobody's otherwise", async () => {
  expect(await blame([event("B", write("written here\n}\n"))], "written here\n}\n")).toEqual(["B written here", "B }"])
  const listed = event("B", write("written here\n}\n"), [], ["a.ts"])
  expect(await blame([listed], "written here\n}\n")).toEqual(["- written here", "- }"])
  const met = [event("A", { kind: "read", whole: undefined }), event("B", write("written here\n"))]
  expect(await blame(met, "written here\n")).toEqual(["- written here"])
})

test("who overwrites what is known owns what is new and was not shown to him", async () => {
  const events = [
    event("A", write(TEXT, null)),
    event("B", write(`${TEXT}shown before\nnever shown\n`), ["shown before"]),
  ]
  expect(await blame(events, `${TEXT}shown before\nnever shown\n`)).toEqual([
    "A first line here",
    "A second line here",
    "A third line here",
    "- shown before",
    "B never shown",
  ])
})

test("an edit that does not apply is found again by its block, and by its telling lines alone", async () => {
  const unknown = [event("B", edit("  old body", "  new body of it\n  second of it"))]
  expect(await blame(unknown, "function a() {\n  new body of it\n  second of it\n}\n")).toEqual([
    "- function a() {",
    "B   new body of it",
    "B   second of it",
    "- }",
  ])
  expect(await blame(unknown, "  second of it\nin between\n  new body of it\n  new body of it\n")).toEqual([
    "B   second of it",
    "- in between",
    "-   new body of it",
    "-   new body of it",
  ])
})

test("of a text that stood twice nobody knows which one is left", async () => {
  const events = [
    event("A", write("same text\nother text\nsame text\n", null)),
    event("B", edit("same text", "changed")),
  ]
  expect(await blame(events, "changed\nother text\nsame text\n")).toEqual(["B changed", "A other text", "- same text"])
})

test("a line that says little belongs to whom the lines around it belong", async () => {
  const events = [event("A", write("function a() {\n  return 1000000\n}\n", null))]
  expect(await blame(events, "function a() {\n  return 1000000\n}\nfunction byPerson() {\n}\n")).toEqual([
    "A function a() {",
    "A   return 1000000",
    "- }",
    "- function byPerson() {",
    "- }",
  ])
})

test("a deleted file begins anew", async () => {
  const events = [event("A", write(TEXT, null)), event("A", { kind: "delete" }), event("B", write(TEXT, null))]
  expect(new Set((await blame(events, TEXT)).map((line) => line[0]))).toEqual(new Set(["B"]))
})

test("versions are the texts that are known whole, in order, each once", async () => {
  const changed = "first line here\na person was here\n"
  const { versions } = await replay([
    event("A", write(TEXT, null)),
    event("A", { kind: "read", whole: TEXT }),
    event("B", edit("a person was here", "and an agent", changed)),
    event("B", edit("not there at all", "lost")),
    event("C", { kind: "delete" }),
  ])
  expect(versions.map(({ event: { sessionId }, when, text }) => [sessionId, when, text])).toEqual([
    ["A", "after", TEXT],
    ["B", "before", changed],
    ["B", "after", "first line here\nand an agent\n"],
    ["C", "after", undefined],
  ])
})

test("line ends of Windows are line ends", async () => {
  expect(
    await blame([event("A", write("one line here\r\ntwo lines here\r\n", null))], "one line here\ntwo lines here\n"),
  ).toEqual(["A one line here", "A two lines here"])
})

test("six letters or digits say enough for a line to be known again, and five do not", async () => {
  const before = "a long line here\n"
  for (const [line, by] of [
    ["abcdef", "B"],
    ["abcde", "-"],
  ] as const) {
    const events = [event("A", write(before, null)), event("B", edit(before, `${before}${line}\n`))]
    const found = await blame(events, `by a person\n${line}\nby another person\n`)
    expect(found[1]).toBe(`${by} ${line}`)
  }
})

import { expect, test } from "bun:test"
import { appendFileSync, cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { aider } from "../../../src/adapters/aider/adapter.ts"
import { documentOf, markdownOf, sessionsIn } from "../../../src/adapters/aider/history.ts"
import { usage } from "../../../src/adapters/aider/usage.ts"
import { realFiles } from "../../../src/platform/files/files.ts"
import { seededRandom } from "../../../src/platform/host/random.ts"
import { applyRestore, isSeenThere } from "../../../src/restore/apply.ts"
import { nativeFiles } from "../../../src/restore/output-files.ts"
import { logsOf } from "../../contract/fixtures.ts"
import { told } from "../told.ts"

const FIXTURES = join(import.meta.dir, "../../../fixtures/aider")

test("prompts and answers are the conversation, and what the program said is not", async () => {
  const [first, second] = await told(aider, "runs")
  expect(first?.filter((item) => !item.startsWith("user, injected"))).toEqual([
    "user: A plain question — 質問です",
    "assistant: An answer こんにちは 🌸. Of two paragraphs.",
  ])
  expect(second).toContain("user: Another one, of three lines")
})

test("what was typed dates the prompts, and the command line writes it down twice", async () => {
  const logs = await logsOf(aider, join(FIXTURES, "restored/root"))
  expect(logs.size).toBe(1)
  const prompts = [...logs.values()].flatMap(({ entries }) =>
    entries.filter(({ parts }) => parts.some(({ provenance }) => provenance === "conversational")),
  )
  expect(prompts.filter(({ message }) => message.role === "user").map(({ message }) => message.timestamp)).toEqual([
    "2026-11-20T15:00:05.100Z",
    "2026-11-20T15:10:03.200Z",
  ])
})

test("a command line of several lines is no answer", async () => {
  const [items] = await told(aider, "llm")
  expect(items?.filter((item) => item.startsWith("assistant"))).toEqual([
    "assistant: ► **THINKING** It is easy. ► **ANSWER** Yes.",
  ])
})

test("a session stays the same when the run goes on, and when others follow", async () => {
  const root = mkdtempSync(join(tmpdir(), "pond-aider-"))
  try {
    cpSync(join(FIXTURES, "runs/root"), root, { recursive: true })
    const before = [...(await logsOf(aider, root)).keys()]
    const file = join(root, ".aider.chat.history.md")
    appendFileSync(
      file,
      "\n#### and more  \n\nmore\n\n\n# aider chat started at 2026-11-21 10:00:00\n\n#### new  \n\nnew\n",
    )
    const after = await logsOf(aider, root)
    expect([...after.keys()].slice(0, 2)).toEqual(before)
    expect(after.size).toBe(3)
  } finally {
    rmSync(root, { recursive: true })
  }
})

test("any text comes back to the byte", () => {
  const pieces = [
    "\n",
    "#### a  \n",
    "#### b\n",
    "> c  \n",
    ">d\n",
    "text\n",
    "  \n",
    "# aider chat started at 2026-01-01 01:01:01\n",
    "# h\r\n",
    "x",
  ]
  const random = seededRandom(7)
  for (let round = 0; round < 500; round++) {
    const text = Array.from({ length: 12 }, () => pieces[Math.floor(random.next() * pieces.length)]).join("")
    expect(markdownOf(documentOf(text))).toBe(text)
    const stretches = sessionsIn(text)
    if (stretches.length > 0) expect(stretches.map(({ from, to }) => text.slice(from, to)).join("")).toBe(text)
  }
})

test("a session is added to the history of its directory, once, and nothing there is replaced", async () => {
  const root = mkdtempSync(join(tmpdir(), "pond-aider-"))
  try {
    mkdirSync(join(root, "project"))
    const file = join(root, "project/.aider.chat.history.md")
    writeFileSync(file, "\n# aider chat started at 2026-01-01 01:01:01\n\n#### mine  \n\ncut off")
    const [log] = (await logsOf(aider, join(FIXTURES, "edits/root"))).values()
    if (log === undefined) throw new Error("no session")
    const output = nativeFiles(aider, log)
    expect(output.map(({ relativePath }) => relativePath)).toEqual([".aider.chat.history.md", ".aider.input.history"])
    const files = { ...realFiles, sync: () => Promise.resolve() }
    const asked = { files, root: join(root, "project"), output, isForced: false, stamp: "s" }
    expect(await isSeenThere(asked)).toBe(false)
    for (let times = 0; times < 2; times++)
      await applyRestore({ ...asked, writeDatabase: () => Promise.reject(new Error("no database")) })
    expect(await isSeenThere(asked)).toBe(true)
    const own = readFileSync(join(FIXTURES, "edits/root/.aider.chat.history.md"), "utf8")
    expect(readFileSync(file, "utf8")).toBe(
      `\n# aider chat started at 2026-01-01 01:01:01\n\n#### mine  \n\ncut off\n${own}`,
    )
  } finally {
    rmSync(root, { recursive: true })
  }
})

test("tokens and dollars, as the program rounds them", () => {
  const report =
    "Tokens: 12k sent, 1.5k cache write, 2k cache hit, 1.2k received. Cost: $0.03 message, $0.10 session.\nApplied edit to a"
  const memory = {}
  usage.read({ record: { told: "Model: m with whole edit format" }, sessionId: "s" }, memory)
  expect(usage.read({ record: { told: report }, sessionId: "s" }, memory)).toEqual([
    expect.objectContaining({
      ...{ key: "s 1", model: "m", input: 8500, output: 1200, cacheRead: 2000, cacheWrite: 1500, costUsd: 0.03 },
    }),
  ])
})

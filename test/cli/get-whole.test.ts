/** What a session reads like: calls in a line each, no empty entries, its title on every page, and all of it in a pipe. */
import { afterAll, beforeAll, expect, test } from "bun:test"
import { existsSync, readFileSync } from "node:fs"
import { join } from "node:path"
import { writeDemo } from "../../build/corpus/demo.ts"
import { createStyle } from "../../src/cli/render/style.ts"
import { headText, messagesText } from "../../src/cli/render/transcript.ts"
import type { MessageView } from "../../src/operations/wire/views.ts"
import { type TemporaryHome, temporaryHome } from "../support/pond-process.ts"
import { runPond } from "../support/warm-pond.ts"

const itself = (text: string) => text
const NOW = new Date(2026, 0, 31, 18, 0, 0).getTime()
const LAYOUT = {
  columns: 80,
  style: createStyle(false),
  nowMs: NOW,
  home: undefined,
  path: itself,
  prose: itself,
}
const message = (ordinal: number, fields: Partial<MessageView>): MessageView => ({
  id: `m${ordinal}`,
  session_id: "s",
  ordinal,
  role: "assistant",
  timestamp: new Date(NOW - 40 * 24 * 3_600_000).toISOString(),
  ...fields,
})
const call = (id: string, note: string) => ({ kind: "tool_call", label: "Bash", note, call_id: id })

test("a tool call is a line with what it was given, and says whether it failed", () => {
  const text = messagesText(
    [
      message(0, {
        text: "I test it.",
        parts_summary: [call("a", "go test ./..."), call("b", `ls ${"long ".repeat(30)}`)],
      }),
      message(1, {
        role: "tool",
        parts_summary: [{ kind: "tool_result", label: "failed", failed: true, call_id: "a" }],
      }),
      message(2, { role: "tool", parts_summary: [{ kind: "tool_result", label: "ok", call_id: "b" }] }),
      message(3, { role: "system", parts_summary: [] }),
      message(4, {
        role: "tool",
        parts_summary: [{ kind: "tool_result", label: "Read failed", failed: true, call_id: "z" }],
      }),
    ],
    LAYOUT,
  )
  expect(text.split("\n").map((line) => line.trimEnd())).toEqual([
    "",
    "assistant  22 Dec 2025 18:00  m0",
    "I test it.",
    "  → Bash  go test ./... (failed)",
    expect.stringMatching(/^ {2}→ Bash {2}ls long .*…$/),
    "",
    "tool  22 Dec 2025 18:00  m4",
    "  ← Read failed",
    "",
  ])
})

test("a page from the middle has the title too", () => {
  const session = { id: "s", source_agent: "pi", project: "/p", created_at: new Date(NOW).toISOString() }
  const answer = { session, title: "What it is about", result: { messages: [], messages_remaining: 0 }, children: [] }
  expect(headText(answer, LAYOUT)).toStartWith("What it is about\npi  /p  started today 18:00\n")
})

let home: TemporaryHome
beforeAll(async () => {
  home = temporaryHome()
  writeDemo(home.path)
  expect(await runPond(["sync", "-q"], home)).toMatchObject({ exitCode: 0 })
})
afterAll(() => home[Symbol.dispose]())

test("-o picks the format by the ending, - is stdout, and others are refused", async () => {
  const [md, txt, json] = [join(home.path, "a.md"), join(home.path, "a.txt"), join(home.path, "a.json")]
  const ran = await Promise.all([
    runPond(["get", "de300000", "-o", md], home),
    runPond(["get", "de300000", "-o", txt], home),
    runPond(["get", "de300000", "-o", "-"], home),
    runPond(["get", "de300000", "--format", "md"], home),
    runPond(["get", "de300000", "-o", join(home.path, "a.html")], home),
    runPond(["get", "de300000"], home),
    runPond(["get", "de300000", "-o", json], home),
    runPond(["get", "de300000", "--json"], home),
    runPond(["get", "de300000", "-o", join(home.path, "a.pdf")], home),
  ])
  const [, , dash, format, , piped, , asJson, pdf] = ran
  expect(ran.map(({ exitCode }) => exitCode)).toEqual([0, 0, 0, 0, 0, 0, 0, 0, 2])
  expect(JSON.parse(readFileSync(json, "utf8"))).toEqual(JSON.parse(asJson?.stdout ?? ""))
  expect(readFileSync(join(home.path, "a.html"), "utf8")).toStartWith("<!doctype html>")
  expect(dash?.stdout).toBe(format?.stdout ?? "")
  expect(readFileSync(md, "utf8")).toBe(format?.stdout ?? "")
  expect(readFileSync(txt, "utf8").replace(/\s+/g, " ")).toBe((piped?.stdout ?? "").replace(/\s+/g, " "))
  expect(pdf?.stderr).toContain(
    "Cannot write .pdf: use a file that ends with .html, .md, .txt, .json, .atif.json, .otlp.json or .jsonl.",
  )
  expect(existsSync("-")).toBe(false)
  expect((await runPond(["get", "de300000", "-o", txt], home)).exitCode).toBe(8)
})

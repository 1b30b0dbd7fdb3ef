import { expect, test } from "bun:test"
import { readFileSync } from "node:fs"
import { join } from "node:path"
import type { SourceUnit } from "../../../src/adapters/adapter.ts"
import { iflow } from "../../../src/adapters/iflow/adapter.ts"
import { keyOfDirectory } from "../../../src/adapters/iflow/project-key.ts"
import { resolve } from "../../../src/adapters/shared/resolve.ts"
import type { Entry } from "../../../src/model/session.ts"

const FIXTURES = join(import.meta.dir, "../../../fixtures/iflow")

async function read(fixture: string): Promise<readonly Entry[]> {
  const entries: Entry[] = []
  const sink = { session: () => undefined, entry: (entry: Entry) => void entries.push(entry), issue: () => undefined }
  for await (const unit of iflow.source.plan(join(FIXTURES, fixture, "root"))) {
    const parser = iflow.parse(unit as SourceUnit, sink)
    for await (const { records } of resolve(iflow, unit as SourceUnit))
      for (const record of records) parser.push(record)
    parser.end(true)
  }
  return entries
}

/** What a person or the model wrote, and what somebody else put in their slot. */
const PROVENANCE: readonly (readonly [fixture: string, authored: string[], injected: string[]])[] = [
  [
    "meta",
    ["go on", "I go on."],
    ["Summary of what was said before.", "<system-reminder>today is a day</system-reminder>"],
  ],
  ["late-text", ["run it", "It failed, so I look.", "There is one file.", "again, please", "Written."], []],
]

test.each(PROVENANCE)("%s", async (fixture, authored, injected) => {
  const entries = await read(fixture)
  const texts = (provenance: string) =>
    entries.flatMap(({ parts }) =>
      parts.flatMap((part) => (part.type === "text" && part.provenance === provenance ? [part.text] : [])),
    )
  expect([texts("conversational"), texts("injected")]).toEqual([authored, injected])
})

test("a call that stands in several records is one call, with its result", async () => {
  const parts = (await read("window")).flatMap(({ parts: own }) => [...own])
  const calls = parts.flatMap((part) => (part.type === "tool_call" ? [part.call_id] : []))
  const results = parts.flatMap((part) => (part.type === "tool_result" ? [part.call_id] : []))
  expect([calls, results]).toEqual([
    ["call_1", "call_2", "call_3", "call_4"],
    ["call_1", "call_2", "call_3", "call_4"],
  ])
})

test("a result is what the tool gave, however it is wrapped, and says whether it failed", async () => {
  const parts = (await read("late-text")).flatMap(({ parts: own }) => [...own])
  const results = parts.flatMap((part) => (part.type === "tool_result" ? [[part.result, part.is_failure]] : []))
  expect(results).toEqual([
    ["Command exited with code: 3", true],
    ["main.py", false],
    ["written", false],
  ])
})

test("a directory is known by the names in it", () => {
  expect(["/Users/x/-Code-/p", "C:\\Users\\x"].map(keyOfDirectory)).toEqual(["-Users-x-Code-p", "-C-Users-x"])
  expect(iflow.source.roots({}, "/home/user")).toEqual(["/home/user/.iflow"])
  expect(readFileSync(join(FIXTURES, "window/fixture.json"), "utf8")).toContain("iflow")
})

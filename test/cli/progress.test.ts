import { expect, test } from "bun:test"
import { createProgress, type ProgressMode } from "../../src/cli/frame/progress.ts"

function drawing(mode: ProgressMode) {
  const written: string[] = []
  let nowMs = 0
  const progress = createProgress({
    mode,
    sink: { write: (text: string) => void written.push(text), isTerminal: true, columns: 200 } as never,
    clock: { monotonicMs: () => nowMs, nowMs: () => nowMs },
  })
  const at = (ms: number, done: number, note?: string) => {
    nowMs = ms
    progress.at(done, note)
    return written.at(-1) ?? ""
  }
  return { progress, at, written }
}

test("a bar says how much is done, how fast, and how long it takes still", () => {
  const { progress, at } = drawing("bar")
  progress.stage("claude-code", "bytes", 200_000_000)
  expect(at(500, 25_000_000)).toEndWith(`${"█".repeat(3)}${"░".repeat(21)} 12%  25 MB of 200 MB`)
  expect(at(2_000, 50_000_000, "a.jsonl")).toEndWith("25%  50 MB of 200 MB  25 MB/s  6 s left  a.jsonl")
  expect(at(100_000, 100_000_000)).toEndWith("50%  100 MB of 200 MB  1.0 MB/s  1:40 min left")
  progress.stage("codex", "sessions", 9_000)
  expect(at(101_500, 3_000)).toEndWith("33%  3,000 of 9,000 sessions  2,000/s  3 s left")
})

test("a stage of which nobody knows the end says no time that is left", () => {
  const { progress, at } = drawing("bar")
  progress.stage("reading", "rows")
  expect(at(2_000, 500)).toEndWith("reading  500 rows  250/s")
})

test("a script reads the same figures as numbers", () => {
  const { progress, at } = drawing("ndjson")
  progress.stage("claude-code", "bytes", 4_000)
  expect(JSON.parse(at(2_000, 1_000, "a.jsonl"))).toEqual({
    event: "progress",
    stage: "claude-code",
    unit: "bytes",
    done: 1_000,
    total: 4_000,
    per_second: 500,
    seconds_left: 6,
    note: "a.jsonl",
  })
})

/** What a hook adds: every line of stored text is quoted and cited, and the whole is within its budget. */
import { expect, test } from "bun:test"
import { notesText, recallText } from "../../src/cli/hooks/hook-text.ts"
import { type RecalledPassage, tokensOf } from "../../src/operations/wire/recall.ts"

const NEAR = "/home/dev/work/shop"

function passage(at: number, text: string, more: Partial<RecalledPassage> = {}): RecalledPassage {
  const id = `a000000${at}-0000-4000-8000-000000000000`
  return {
    ...{ message_id: id, short_id: id.slice(0, 8), session_id: "s", project: NEAR, source_agent: "claude-code" },
    ...{ role: "user", timestamp: "2026-01-02T03:04:05.000000Z", text, truncated: false, score: 3, shared: [] },
    ...more,
  }
}

const PROSE = "We decided to keep amounts in cents as integers, because floats lost money in March. "
const HARD: readonly RecalledPassage[] = [
  passage(1, PROSE.repeat(2)),
  passage(2, "決定：金額は必ず整数で保存する。".repeat(8), {
    title: "題名".repeat(60),
    project: "/home/dev/プロジェクト",
  }),
  passage(3, "one\ntwo\n\u0007three\n".repeat(40), { title: "a title" }),
]

test("all of what a prompt is told is within the budget, whatever frames it", () => {
  const shown = [60, 120, 150, 200, 300, 400, 1_000, 5_000].map((tokens) => {
    const { text, told } = recallText(HARD, NEAR, tokens)
    expect([tokens, tokensOf(text) <= tokens]).toEqual([tokens, true])
    const quoted = text.split("\n").filter((line) => line.startsWith("|"))
    expect(quoted.length > 0).toBe(told.length > 0)
    return told.length
  })
  expect(shown).toEqual(shown.toSorted((left, right) => left - right))
  expect(shown.at(0)).toBe(0)
  expect(shown.at(-1)).toBe(3)
  expect(recallText([], NEAR, 400)).toEqual({ text: "", told: [] })
})

test("only what is shown counts as told, and each passage is cited", () => {
  const { text, told } = recallText(HARD, NEAR, 200)
  expect(told).toEqual([HARD[0]?.message_id ?? ""])
  expect(text).toContain("(message a0000001):\n| We decided")
  expect(text).not.toContain("a0000002")
})

test("decisions and commands that are handed back name their messages", () => {
  const notes = notesText(
    {
      decisions: [{ text: "Never push to main.", short_id: "a0000001" }],
      commands: [{ command: "make ship \\\n  ENV=staging", short_id: "b0000002", times: 2 }],
    },
    "s1",
  )
  expect(notes.split("\n").slice(1)).toEqual([
    "What the person settled:",
    "message a0000001:",
    "| Never push to main.",
    "Commands that worked:",
    "message b0000002:",
    "| make ship \\",
    "|   ENV=staging",
    "All of it: pond_get with session_id s1, or pond_search.",
  ])
  expect(notesText({ decisions: [], commands: [] }, "s1")).toBe("")
})

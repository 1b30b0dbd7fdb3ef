import { expect, test } from "bun:test"
import { vscodeChat } from "../../../src/adapters/vscode-chat/adapter.ts"
import { replay } from "../../../src/adapters/vscode-chat/log.ts"
import { logsOfFixture, told } from "../told.ts"

test("where steps of the model are known they are the answer, and not what was shown of them", async () => {
  expect(await told(vscodeChat, "tools")).toEqual([
    [
      "user: List and read.",
      "user: shows a.md",
      "user: shows Pasted Image with bytes",
      "assistant: thinks First the list.",
      "assistant: I look around.",
      "assistant: calls run_in_terminal as call_1",
      "assistant: calls read_file as call_2",
      "tool: answers call_1",
      "tool: answers call_2",
      "assistant: thinks Now",
      "assistant: thinks the edit.",
      "assistant: calls replace_string_in_file as call_3",
      "tool: answers call_3",
      "assistant: Done: x is y.",
      "user: Right way.",
      "assistant: Going",
      "assistant: right. 🚦",
    ],
  ])
})

test("without steps the screen tells; the folder of a workspace is its project, and a window without one has none", async () => {
  const [early, ...others] = await told(vscodeChat, "documents")
  expect(early).toEqual([
    "user: What is this?",
    "assistant: An early answer.",
    "assistant: a.ts",
    "assistant: says so.",
    "user: Run it.",
    "assistant: thinks Which command?",
    "assistant: thinks In",
    "assistant: thinks pieces",
    "assistant: calls copilot_runInTerminal as call_9",
    "tool: answers call_9, failed",
    "assistant: It failed.",
  ])
  expect(others).toEqual([
    ["user: Old form.", "assistant: Old.", "user: New form.", "assistant: New."],
    ["user: Nowhere.", "assistant: Here."],
  ])
  const logs = await logsOfFixture(vscodeChat, "documents")
  expect(logs.map(({ session }) => session.project)).toEqual([
    ...["/projects/alpha.code-workspace", "/projects/alpha.code-workspace"],
    "vscode-chat",
  ])
})

test("from the last summary on; what was undone is kept and not sent", async () => {
  expect(await told(vscodeChat, "compacted")).toEqual([
    [
      "user, injected: All of it was done.",
      "user, injected: Continue to iterate?",
      "assistant: Going on.",
      "user: And now?",
      "assistant: Now it is done.",
    ],
  ])
})

test("changes amount to the chat; a request that went away is kept beside it, and one that came back is not", () => {
  const ask = (requestId: string, text = "") => ({ requestId, text })
  const log = (...lines: unknown[]) => JSON.parse(replay(lines.map((line) => JSON.stringify(line)).join("\n")))
  const begin = { kind: 0, v: { requests: [ask("a")], o: { x: 1 } } }
  expect(log(begin, { kind: 1, k: ["o", "y"], v: [2] }, { kind: 3, k: ["o", "x"] }).v).toEqual({
    requests: [ask("a")],
    o: { y: [2] },
  })
  const cut = log(
    begin,
    { kind: 2, k: ["requests"], v: [ask("b")] },
    { kind: 2, k: ["requests"], i: 0, v: [ask("b", "!")] },
  )
  expect(cut).toEqual({ kind: 0, v: { requests: [ask("b", "!")], o: { x: 1 } }, "pond:removed": [ask("a")] })
  expect(log(begin, { kind: 0, v: { requests: [] } })["pond:removed"]).toEqual([ask("a")])
  const hostile = log(begin, { kind: 1, k: ["__proto__", "x"], v: 1 }, { kind: 2, k: ["requests", 1e9], v: [1] }, 7)
  expect(hostile["pond:unread"]).toHaveLength(3)
  expect(({} as { x?: number }).x).toBeUndefined()
})

/** What Claude Code prints for programs, as the log that it would have kept. */
import { expect, test } from "bun:test"
import { printedLogs } from "../../src/adapters/claude-code/printed.ts"

const ID = "9d0c7e86-9d0e-4c07-9f8f-4f4f7e1f2a13"
const INIT = `{"type":"system","subtype":"init","session_id":"${ID}","cwd":"/work a","claude_code_version":"2.1.326"}`
const said = (uuid: string, call: string | null = null) =>
  `{"type":"assistant","session_id":"${ID}","uuid":"${uuid}","parent_tool_use_id":${JSON.stringify(call)},"timestamp":"2026-01-02T03:04:05.000Z","message":{"role":"assistant","big":12345678901234567890}}`

test("messages become lines in their order, each with the one before it in its thread; numbers keep their digits", () => {
  const [log, ...others] = printedLogs(
    [INIT, said("a"), said("x", "toolu_1"), said("b"), said("y", "toolu_1")].join("\n"),
  )
  expect(others).toEqual([])
  expect(log?.relativePath).toBe(`projects/-work-a/${ID}.jsonl`)
  expect(log?.text).toContain('"big":12345678901234567890')
  const lines = log?.text
    .trim()
    .split("\n")
    .map((line) => JSON.parse(line))
  expect(lines?.map(({ uuid, parentUuid, isSidechain }) => [uuid, parentUuid, isSidechain])).toEqual([
    ["a", null, false],
    ["x", null, true],
    ["b", "a", false],
    ["y", "x", true],
  ])
  expect(lines?.[0]).toMatchObject({ cwd: "/work a", version: "2.1.326", sessionId: ID })
})

test("a list of the messages is the same, and several sessions are several logs", () => {
  const other = (line: string) => line.replaceAll(ID, ID.replace("9d", "7d"))
  const lines = [INIT, said("a"), other(INIT), other(said("b"))]
  expect(printedLogs(`[${lines.join(",\n")}]`)).toEqual(printedLogs(lines.join("\n")))
  expect(printedLogs(lines.join("\n")).map(({ sessionId }) => sessionId)).toEqual([ID, ID.replace("9d", "7d")])
})

test("what is no such output is no log, and none has a name that leaves its folder", () => {
  for (const output of ["", "[", "done", '[1, "a"]', INIT, said("a"), INIT.replace(ID, "../../x") + said("a")])
    expect(printedLogs(output)).toEqual([])
  const hostile = [INIT.replace("/work a", "/../../etc"), said("a")].join("\n")
  expect(printedLogs(hostile)[0]?.relativePath).toBe(`projects/-------etc/${ID}.jsonl`)
})

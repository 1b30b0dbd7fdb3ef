/** The client writes what a tool gave twice into one record. It is stored once, and comes back twice. */
import { expect, test } from "bun:test"
import { claudeCode } from "../../../src/adapters/claude-code/adapter.ts"
import { nativeFiles } from "../../../src/restore/output-files.ts"
import { SESSION, syncPlace, userLine } from "../../sync/support.ts"

const OUTPUT = "a line of output, with a half of an emoji at its end \ud83d\n".repeat(20)

function resultLine(stdout: string): string {
  const given = [{ tool_use_id: "toolu_1", type: "tool_result", content: OUTPUT, is_error: false }]
  return JSON.stringify({
    ...JSON.parse(userLine(SESSION, 2, "")),
    message: { role: "user", content: given },
    toolUseResult: { stdout, stderr: "", list: [OUTPUT, "short"] },
  })
}

test.each([
  ["equal", OUTPUT, 0],
  ["cut", OUTPUT.slice(0, 700), 1],
])("a copy that is %s", async (_, stdout, kept) => {
  using place = syncPlace()
  const line = resultLine(stdout)
  place.write(SESSION, [userLine(SESSION, 1, "go"), line])
  await place.sync()
  const log = await place.sessions.log(SESSION)
  const [file] = nativeFiles(claudeCode, log)
  expect(file?.form === "log" ? JSON.parse(String([...file.lines][1])) : undefined).toEqual(JSON.parse(line))
  const beside = log.entries.map(({ message }) => JSON.stringify(message.options)).join("")
  expect(beside.split("a line of output").length > 1).toBe(kept === 1)
})

/** A forked agent says which message of its parent was the last that it knows. */
import { expect, test } from "bun:test"
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { claudeCode } from "../../../src/adapters/claude-code/adapter.ts"
import { parseUnit, unitsOf } from "../../contract/fixtures.ts"

const PARENT = "0a1b2c3d-0000-4000-8000-000000000001"

test("the cut of a forked agent is the message that its first record names", async () => {
  const root = mkdtempSync(join(tmpdir(), "pond-forked-"))
  try {
    const folder = join(root, "projects/-work", PARENT, "subagents")
    mkdirSync(folder, { recursive: true })
    const at = { timestamp: "2026-06-01T10:00:00.000Z", cwd: "/work", sessionId: PARENT, isSidechain: true }
    const lines = [
      { type: "fork-context-ref", agentId: "a1", parentSessionId: PARENT, parentLastUuid: "u-last" },
      { type: "user", uuid: "u1", parentUuid: null, ...at, message: { role: "user", content: "go" } },
    ]
    writeFileSync(join(folder, "agent-a1.jsonl"), lines.map((line) => `${JSON.stringify(line)}\n`).join(""))
    const [found] = await unitsOf(claudeCode, root)
    if (found === undefined) throw new Error("no unit was found")
    const { session, issues } = parseUnit(claudeCode, found.unit, found.records)
    expect(session).toMatchObject({ parent_session_id: PARENT, parent_message_id: "u-last" })
    expect(issues).toEqual([])
  } finally {
    rmSync(root, { recursive: true, force: true })
  }
})

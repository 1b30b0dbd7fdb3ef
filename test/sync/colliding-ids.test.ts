/** Tools that remove secrets write one word over ids: whatever an id became, every part is stored and comes back. */
import { expect, test } from "bun:test"
import { cpSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { opencode } from "../../src/adapters/opencode/adapter.ts"
import type { Entry } from "../../src/model/session.ts"
import { verify } from "../../src/restore/verify.ts"
import { takenKeyIssues } from "../../src/sessions/write/prepare.ts"
import { said } from "../sessions/support.ts"
import { syncPlace } from "./support.ts"

const EXPORTS = join(import.meta.dir, "../../fixtures/opencode/handed-over/root/exports")

test("parts of one message whose ids are one word are all stored, and verify agrees", async () => {
  const root = mkdtempSync(join(tmpdir(), "pond-redacted-"))
  try {
    cpSync(EXPORTS, root, { recursive: true })
    const [name = ""] = readdirSync(root)
    const text = readFileSync(join(root, name), "utf8")
    writeFileSync(join(root, name), text.replaceAll(/"prt_[^"]*"/g, '"REDACTED"'))
    using place = syncPlace({ store: "lance" })
    const sources = [{ adapter: opencode, root }]
    const report = await place.sync({ sources })
    expect(report.issues.filter(({ severity }) => severity === "fault")).toEqual([])
    const id = name.replace(".json", "")
    const { entries } = await place.sessions.log(id)
    const parts = entries.flatMap((entry: Entry) => entry.parts.map((part) => part.id))
    expect(parts).toHaveLength(report.parts.new)
    expect(parts).toContain("REDACTED#2")
    const context = { clock: place.context.clock, signal: place.context.signal }
    const [verified] = await verify({ sources }, context)
    expect(verified?.mismatches).toEqual([])
  } finally {
    rmSync(root, { recursive: true, force: true })
  }
})

test("a row whose key an earlier row of its stretch has is a fault that names it", () => {
  const [one, same] = [said("s", 0, "one"), said("s", 0, "two")]
  const [part] = one.parts
  const doubled = { ...one, parts: [part, part] } as Entry
  const unit = { key: "unit", root: "/r", files: [] }
  expect(takenKeyIssues(unit, [one, said("s", 1, "three")])).toEqual([])
  expect(takenKeyIssues(unit, [doubled, same])).toMatchObject([
    { kind: "taken_key", severity: "fault", found: `the part ${part?.id} of the message ${one.message.id}` },
    { kind: "taken_key", severity: "fault", found: `the message ${one.message.id}` },
  ])
})

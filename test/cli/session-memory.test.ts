/** What hooks remember between two calls: nothing of a session that they do not know, whatever lies in its place. */
import { afterAll, expect, test } from "bun:test"
import { mkdtempSync, readdirSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { readMemory, writeMemory } from "../../src/cli/hooks/session-memory.ts"

const state = mkdtempSync(join(tmpdir(), "pond-memory-"))
afterAll(() => rmSync(state, { recursive: true }))
const NOTHING = { told: [], isCompacted: false }

test("what was written is remembered, up to five hundred messages, and nothing where a file is damaged", () => {
  expect(readMemory(state, "../s")).toEqual(NOTHING)
  writeMemory(state, "../s", { told: ["a"], isCompacted: true }, 0)
  expect(readMemory(state, "../s")).toEqual({ told: ["a"], isCompacted: true })
  const told = Array.from({ length: 501 }, (_, at) => `m${at}`)
  writeMemory(state, "../s", { told, isCompacted: false }, 0)
  expect(readMemory(state, "../s")).toEqual({ told: told.slice(1), isCompacted: false })
  const [name = ""] = readdirSync(join(state, "hooks"))
  for (const content of ["", "[]", "{", '{"told":5,"is_compacted":"yes"}']) {
    writeFileSync(join(state, "hooks", name), content)
    expect(readMemory(state, "../s")).toEqual(NOTHING)
  }
})

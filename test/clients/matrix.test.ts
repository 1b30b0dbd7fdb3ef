import { expect, test } from "bun:test"
import { readFileSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { ADAPTERS } from "../../src/adapters/registry.ts"
import { CLIENTS } from "./clients.ts"
import { readMatrix, renderMatrix } from "./matrix.ts"
import { NOT_STARTED } from "./not-started.ts"

const TABLE = join(import.meta.dir, "MATRIX.md")

/** `UPDATE_GOLDEN=1` writes it anew, where a client is new and nothing was run. */
test("the table of pairs is what was recorded of them, and nothing that a hand wrote", () => {
  if (process.env["UPDATE_GOLDEN"] === "1") writeFileSync(TABLE, renderMatrix(readMatrix()))
  expect(readFileSync(TABLE, "utf8")).toBe(renderMatrix(readMatrix()))
})

test("a pair that was not run is shown as not run, one that was has its date, versions and losses", () => {
  const pair = { date: "2026-01-02", versions: ["1", "2"], scenarios: ["plain"], ok: 2, cannot: 1, failed: 1 } as const
  const table = renderMatrix({ "claude -> codex": { ...pair, losses: { attachment: 3 } } })
  const plain = table.replaceAll(/ +/g, " ")
  expect(plain).toContain("| claude | not run | 2 of 3 (1) | not run |")
  expect(plain).toContain("| claude -> codex | 2026-01-02 | 1 to 2 | plain | attachment 3 |")
})

test("of each client that cannot be started the table says why, and of no other", () => {
  const started = new Set(CLIENTS.map(({ adapter }) => adapter))
  const others = ADAPTERS.map(({ id }) => id).filter((id) => !started.has(id))
  expect(new Set(Object.keys(NOT_STARTED))).toEqual(new Set(others))
})

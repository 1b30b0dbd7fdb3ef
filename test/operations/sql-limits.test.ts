/** A query has the memory and the time that it may have, whatever it calls: `bun run attack sql` asks all of the bombs. */
import { afterAll, beforeAll, expect, test } from "bun:test"
import { readdirSync, readFileSync } from "node:fs"
import { join } from "node:path"
import { PondError } from "../../src/model/errors.ts"
import { perform } from "../../src/operations/operation.ts"
import { type SqlOutput, sql } from "../../src/operations/sql/sql.ts"
import { childrenOf } from "../support/processes.ts"
import { SQL_BOMBS } from "../support/sql-bombs.ts"
import { type TestPond, testPond } from "./support.ts"

const ENDLESS = "with recursive r(i) as (select 1 union all select 1 from r) select count(*) from r"
const SECRET = "hunter2-of-the-caller"

let box: TestPond
beforeAll(() => {
  box = testPond()
  process.env["POND_TEST_SECRET"] = SECRET
})
afterAll(() => {
  delete process.env["POND_TEST_SECRET"]
  box[Symbol.dispose]()
})

test("there are more bombs than anybody would try by hand", () => {
  expect(new Set(SQL_BOMBS).size).toBeGreaterThanOrEqual(85)
})

// One of each kind: a text, a list, an aggregate, a recursion, and work that nothing interrupts.
const SOME = [4, 7, 38, 53, 57, 62, 70]

test.each(SOME.map((index) => [SQL_BOMBS[index] ?? ""]))(
  "%s is refused, and what it made is not left in this process",
  async (bomb) => {
    const before = process.memoryUsage.rss()
    const outcome = await box.run(sql, { sql: bomb, timeout_ms: 1000 }).then(
      () => undefined,
      (error: unknown) => error,
    )
    expect(outcome === undefined || outcome instanceof PondError).toBe(true)
    if (outcome instanceof PondError) {
      expect(outcome.code).toBe("validation_failed")
      expect(outcome.message).toMatch(/timed out after 1 s|needs too much memory|cannot run/)
    }
    expect(process.memoryUsage.rss() - before).toBeLessThan(100e6)
  },
)

test("a query that outgrows its memory or its process is told to read less", async () => {
  const error = await box.run(sql, { sql: "select len(string_split(repeat('a', 20000000), ''))" }).catch(String)
  expect(error).toContain("The query needs too much memory. Narrow it with WHERE")
})

test("an answer that the engine works out while it plans is no plan of hundreds of megabytes", async () => {
  const answer = (await box.run(sql, { sql: "select length(repeat('ab', 20000000)) n" })) as SqlOutput
  expect(answer.rows).toEqual([{ n: 40_000_000 }])
})

test.skipIf(process.platform !== "linux")(
  "its process has limits of the kernel and no credential of the caller, and is gone when the caller leaves",
  async () => {
    const others = new Set(childrenOf(process.pid))
    const leaves = new AbortController()
    const asked = perform(sql, { pond: box.pond, signal: leaves.signal }, { sql: ENDLESS, timeout_ms: 60_000 }).catch(
      (error: unknown) => error,
    )
    const busy = await eventually(() => childrenOf(process.pid).find((pid) => !others.has(pid) && isBounded(pid)))
    expect(readFileSync(`/proc/${busy}/environ`, "utf8")).not.toContain(SECRET)
    expect(readFileSync(`/proc/${busy}/limits`, "utf8")).toMatch(/Max cpu time +121 +121/)
    leaves.abort()
    expect(await asked).toMatchObject({ code: "interrupted" })
    expect(childrenOf(process.pid)).not.toContain(busy)
    expect(readdirSync(join(box.pond.host.path("cache"), "scratch"))).toEqual([])
  },
)

test("six at once are answered or refused, and leave no process", async () => {
  const others = new Set(childrenOf(process.pid))
  const asked = Array.from({ length: 6 }, () => box.run(sql, { sql: ENDLESS, timeout_ms: 500 }).catch(String))
  for (const said of await Promise.all(asked)) expect(said).toContain("The query timed out after 0.5 s")
  expect(childrenOf(process.pid).filter((pid) => !others.has(pid))).toEqual([])
})

function isBounded(pid: number): boolean {
  return /Max address space +\d/.test(readFileSync(`/proc/${pid}/limits`, "utf8"))
}

async function eventually<T>(look: () => T | undefined): Promise<T> {
  for (;;) {
    const found = look()
    if (found !== undefined) return found
    await new Promise((resolve) => setImmediate(resolve))
  }
}

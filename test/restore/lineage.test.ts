import { expect, test } from "bun:test"
import { adapterById } from "../../src/adapters/registry.ts"
import { PondError } from "../../src/model/errors.ts"
import type { SessionLog } from "../../src/model/session.ts"
import { planRestore, type RestoreRequest } from "../../src/restore/plan.ts"
import { fixture, threadsBelow } from "../adapters/codex/support.ts"
import { storedLog } from "./support.ts"

/** A thread of Codex that goes on from another, and holds nothing of it. */
async function request(to: string, isParentStored: boolean): Promise<RestoreRequest> {
  const [parent, fork] = [...(await threadsBelow(fixture("forked"))).values()]
  const target = adapterById(to)
  if (parent === undefined || fork === undefined || target === undefined) throw new Error("no fixture")
  const stored: SessionLog[] = isParentStored ? [parent] : []
  return {
    tree: { ...storedLog(fork), children: [] },
    ancestors: async () => stored,
    log: (id) => {
      const log = stored.find(({ session }) => session.id === id)
      return log === undefined
        ? Promise.reject(new PondError("not_found", `No session ${id}.`))
        : Promise.resolve(storedLog(log))
    },
    target,
    cwd: undefined,
    reasoning: "text",
  }
}

test("a fork is restored with what it goes on from", async () => {
  const plan = await planRestore(await request("codex", true))
  expect(plan.sessions.map(({ id }) => id)).toEqual([
    "01a1ee88-3615-7e13-a5ef-b1a4d4659584",
    "01a1ee88-2559-7172-a0a1-aa289d08e484",
  ])
  expect(plan.files).toHaveLength(2)
})

test("a fork whose base is nowhere is not written where it could not be opened, and the message names the base", async () => {
  const missing = planRestore(await request("codex", false))
  await expect(missing).rejects.toMatchObject({
    code: "not_found",
    details: { needs: "01a1ee88-2559-7172-a0a1-aa289d08e484" },
    message: expect.stringContaining("--to"),
  })
})

test("in another client it goes on with what is there, and what is missing is named", async () => {
  const whole = await planRestore(await request("pi", true))
  const part = await planRestore(await request("pi", false))
  const kinds = [whole, part].map(({ losses }) => losses.filter(({ kind }) => kind === "missing_history").length)
  expect(kinds).toEqual([0, 1])
  const lines = [whole, part].map(({ files: [file] }) => (file?.form === "log" ? file.lines.length : 0))
  expect(lines[0]).toBeGreaterThan(lines[1] ?? 0)
})

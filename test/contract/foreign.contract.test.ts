/**
 * Law 4 over every pair: a session of one client, written for another and read back there, tells the same conversation
 * but for its losses. Each piece that is missing must be named: no more pieces are missing than losses of its message say.
 */
import { expect, test } from "bun:test"
import { ADAPTERS } from "../../src/adapters/registry.ts"
import { foreignFiles } from "../../src/restore/output-files.ts"
import { expectToComeThrough } from "./comes-through.ts"
import { conversationOf, fixturesOf, foreignTargets, logsOf } from "./fixtures.ts"

const CWD = "/projects/elsewhere"

for (const source of ADAPTERS)
  for (const target of foreignTargets())
    for (const fixture of fixturesOf(source))
      for (const reasoning of ["keep", "text", "drop"] as const)
        test(`${source.id} to ${target.id}, reasoning ${reasoning}: ${fixture.name}`, async () => {
          const logs = await logsOf(source, fixture.root)
          expect(logs.size).toBeGreaterThan(0)
          for (const id of logs.keys())
            await expectToComeThrough(conversationOf(source, logs, id), target, { cwd: CWD, reasoning })
        })

test("a session that goes on in several clients is another one in each: one store holds them all", async () => {
  for (const source of ADAPTERS) {
    for (const fixture of fixturesOf(source)) {
      const logs = await logsOf(source, fixture.root)
      for (const id of logs.keys()) {
        const conversation = conversationOf(source, logs, id)
        const ids = foreignTargets().map(
          (target) => foreignFiles(target, conversation, { cwd: CWD, reasoning: "text" }).sessionId,
        )
        expect({ source: source.id, ids: new Set([id, ...ids]).size }).toEqual({
          source: source.id,
          ids: ids.length + 1,
        })
      }
    }
  }
})

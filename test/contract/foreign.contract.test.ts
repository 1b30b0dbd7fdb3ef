/** Law 4: see `foreign-law.ts`. And of all pairs at once, what holds of their ids. */
import { expect, test } from "bun:test"
import { ADAPTERS } from "../../src/adapters/registry.ts"
import { foreignFiles } from "../../src/restore/output-files.ts"
import { fixturesOf, foreignTargets } from "./fixtures.ts"
import { CWD, conversationsOf, testForeign } from "./foreign-law.ts"

testForeign(0)

test("a session that goes on in several clients is another one in each: one store holds them all", async () => {
  for (const source of ADAPTERS) {
    for (const fixture of fixturesOf(source)) {
      for (const conversation of await conversationsOf(source, fixture.root)) {
        const { id } = conversation.session
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

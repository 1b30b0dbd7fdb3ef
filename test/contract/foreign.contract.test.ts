/**
 * Law 4 over every pair: a session of one client, written for another and read back there, tells the same conversation
 * but for its losses. Each piece that is missing must be named: no more pieces are missing than losses of its message say.
 */
import { expect, test } from "bun:test"
import type { Adapter, Conversation } from "../../src/adapters/adapter.ts"
import { ADAPTERS } from "../../src/adapters/registry.ts"
import { foreignFiles } from "../../src/restore/output-files.ts"
import { expectToComeThrough, type ReadItems } from "./comes-through.ts"
import { conversationOf, fixtureLogs, fixturesOf, foreignTargets, targetsOf } from "./fixtures.ts"
import { frozen } from "./purity.ts"

const CWD = "/projects/elsewhere"

/** Each fixture is told to every target in three ways, and read once: whoever writes a conversation leaves it as it was. */
const read = new Map<string, Promise<readonly Conversation[]>>()

function conversationsOf(source: Adapter, root: string): Promise<readonly Conversation[]> {
  const known =
    read.get(root) ??
    fixtureLogs(source, root).then((logs) => [...logs.keys()].map((id) => frozenTold(conversationOf(source, logs, id))))
  read.set(root, known)
  return known
}

/** Where nobody reasoned, three ways write one thing, which is read back once. */
const readItems: ReadItems = new Map()

/** Deeply, but for its origin, which is an adapter. */
function frozenTold(conversation: Conversation): Conversation {
  for (const each of [conversation.session, conversation.entries]) frozen(each)
  for (const child of conversation.children) frozenTold(child)
  return conversation
}

for (const source of ADAPTERS)
  for (const target of targetsOf(source))
    for (const fixture of fixturesOf(source))
      for (const reasoning of ["keep", "text", "drop"] as const)
        test(`${source.id} to ${target.id}, reasoning ${reasoning}: ${fixture.name}`, async () => {
          const told = await conversationsOf(source, fixture.root)
          expect(told.length).toBeGreaterThan(0)
          for (const each of told) await expectToComeThrough(each, target, { cwd: CWD, reasoning }, readItems)
        })

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

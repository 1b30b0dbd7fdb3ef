/**
 * Law 4 over every pair: a session of one client, written for another and read back there, tells the same conversation
 * but for its losses. Each piece that is missing must be named: no more pieces are missing than losses of its message say.
 * 17,000 tests, in three files: as one they end up on one processor while the other has nothing left to do.
 */
import { expect, test } from "bun:test"
import type { Adapter, Conversation } from "../../src/adapters/adapter.ts"
import { ADAPTERS } from "../../src/adapters/registry.ts"
import { expectToComeThrough, type ReadItems } from "./comes-through.ts"
import { conversationOf, fixtureLogs, fixturesOf, targetsOf } from "./fixtures.ts"
import { frozen } from "./purity.ts"

export const CWD = "/projects/elsewhere"

/** Each fixture is told to every target in three ways, and read once: whoever writes a conversation leaves it as it was. */
const read = new Map<string, Promise<readonly Conversation[]>>()

export function conversationsOf(source: Adapter, root: string): Promise<readonly Conversation[]> {
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

/** Of every third client, from this one on. */
export function testForeign(first: 0 | 1 | 2): void {
  for (const source of ADAPTERS.filter((_, index) => index % 3 === first))
    for (const target of targetsOf(source))
      for (const fixture of fixturesOf(source))
        for (const reasoning of ["keep", "text", "drop"] as const)
          test(`${source.id} to ${target.id}, reasoning ${reasoning}: ${fixture.name}`, async () => {
            const told = await conversationsOf(source, fixture.root)
            expect(told.length).toBeGreaterThan(0)
            for (const each of told) await expectToComeThrough(each, target, { cwd: CWD, reasoning }, readItems)
          })
}

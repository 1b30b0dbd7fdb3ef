/** The live conversation of a session that is read a piece after the other is that of the whole one, or none is said. */
import { expect, test } from "bun:test"
import { join } from "node:path"
import { opencode } from "../../../src/adapters/opencode/adapter.ts"
import type { Entry, SessionLog } from "../../../src/model/session.ts"
import { fixturesOf, logsOf } from "../../contract/fixtures.ts"
import { type ClientDatabase, clientDatabase, NOW, readOnly, tempRoot, texts, user } from "./support.ts"

/** Each record is a piece; nothing where one of them does not tell alone. */
function byPieces({ session, entries }: SessionLog): Entry[] | undefined {
  const contextOf = opencode.database?.contextOfPieces?.()
  const pieces: Entry[][] = []
  for (const entry of entries) {
    const { of } = entry.message.options["source"] as { of?: string }
    if (of === undefined) pieces.push([entry])
    else pieces.at(-1)?.push(entry)
  }
  const said: Entry[] = []
  for (const piece of pieces) {
    const added = contextOf?.({ session, entries: piece })
    if (added === undefined) return undefined
    said.push(...added)
  }
  return said
}

async function sessionOf(build: (client: ClientDatabase) => void, session = {}): Promise<SessionLog> {
  using temp = tempRoot()
  const client = clientDatabase(join(temp.root, "opencode.db"))
  client.session(session)
  for (const [index, id] of ["msg_1", "msg_2", "msg_3"].entries()) {
    const at = NOW - 60_000 + index
    const data = index % 2 === 0 ? user(at) : { role: "assistant", time: { created: at, completed: at } }
    client.message(id, at, data)
    client.part(`prt_${id}`, id, { type: "text", text: `text of ${id}` })
  }
  build(client)
  return await readOnly(temp.root)
}

test("a session without anything undone tells piece by piece", async () => {
  const log = await sessionOf(() => undefined)
  expect(texts(byPieces(log) ?? [])).toEqual(texts(opencode.context(log, [])))
  expect(texts(byPieces(log) ?? [])).toHaveLength(3)
})

test("a compaction and an undo are told by the whole alone", async () => {
  const compacted = await sessionOf((client) => client.part("prt_z", "msg_3", { type: "compaction", auto: true }))
  expect(byPieces(compacted)).toBeUndefined()
  const reverted = await sessionOf(() => undefined, { revert: JSON.stringify({ messageID: "msg_3" }) })
  expect(texts(opencode.context(reverted, []))).toHaveLength(2)
  expect(byPieces(reverted)).toBeUndefined()
})

test("every session of every generation tells the same, or nothing", async () => {
  const told: boolean[] = []
  for (const { root } of fixturesOf(opencode)) {
    for (const log of (await logsOf(opencode, root)).values()) {
      const said = byPieces(log)
      told.push(said !== undefined)
      const parts = (entries: readonly Entry[]) => entries.map((entry) => [entry.message.role, entry.parts])
      if (said !== undefined) expect(parts(said)).toEqual(parts(opencode.context(log, [])))
    }
  }
  expect(new Set(told)).toEqual(new Set([true, false]))
})

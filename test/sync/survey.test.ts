/** What is said of the sources between two syncs. */
import { expect, test } from "bun:test"
import { cpSync, existsSync, readdirSync, rmSync, utimesSync } from "node:fs"
import { join } from "node:path"
import { claudeCode } from "../../src/adapters/claude-code/adapter.ts"
import { qwenCode } from "../../src/adapters/qwen-code/adapter.ts"
import { surveySources } from "../../src/sync/plan/survey.ts"
import { sessionId, syncPlace, userLine } from "./support.ts"

/** One of them comes from another version of the client than the other. */
const strange = (session: string, number: number) =>
  JSON.stringify({
    ...{ type: "hologram", uuid: `h${number}`, sessionId: session },
    version: session === sessionId(1) ? "2.1.0" : "2.1.1",
  })

test("records of an unknown kind are said of the root that has them, by session, for as long as it lies there", async () => {
  using place = syncPlace()
  for (const number of [1, 2]) {
    const session = sessionId(number)
    place.write(session, [userLine(session, 1, "one"), strange(session, 1), strange(session, 2), "{ no JSON"])
  }
  place.write(sessionId(3), [userLine(sessionId(3), 1, "three")])
  const other = join(place.root, "..", "other")
  const sources = [place.root, other].map((root) => ({ adapter: claudeCode, root }))
  // The same client at another place, of which one session is as it should be.
  cpSync(
    join(place.root, "projects", "-home-someone-work", `${sessionId(3)}.jsonl`),
    join(other, "projects/-w/a.jsonl"),
  )
  await place.sync({ sources })
  place.append(sessionId(3), `${userLine(sessionId(3), 2, "four")}\n`)
  const [first, second] = await surveySources(sources, place.context)
  expect(first).toMatchObject({
    sessions: 3,
    pending: { new: 0, grown: 1, rewritten: 0, gone: 0 },
    unknown_records: [{ kind: expect.stringContaining("hologram"), sessions: 2 }],
  })
  expect(second).toMatchObject({ sessions: 1, unknown_records: [] })
  // A second sync reads what is new, and what was met before is still there.
  for (const number of [1, 2]) place.append(sessionId(number), `${userLine(sessionId(number), 3, "more")}\n`)
  await place.sync({ sources })
  expect((await surveySources(sources, place.context))[0]?.unknown_records).toEqual(first?.unknown_records as never)
  rmSync(join(place.root, "projects", "-home-someone-work", `${sessionId(2)}.jsonl`))
  await place.sync({ sources })
  expect((await surveySources(sources, place.context))[0]?.unknown_records).toMatchObject([{ sessions: 1 }])
})

test("a survey of a machine that never synced leaves no state behind", async () => {
  using place = syncPlace()
  place.write(sessionId(1), [userLine(sessionId(1), 1, "one")])
  const [found] = await surveySources([{ adapter: claudeCode, root: place.root }], place.context)
  expect(found?.pending.new).toBe(1)
  expect(existsSync(place.context.stateDirectory)).toBe(false)
})

test("of a client that deletes what its agents did, and no chat, the agents' sessions alone are due", async () => {
  using place = syncPlace()
  const root = join(place.root, "..", "qwen")
  cpSync(join(import.meta.dir, "../../fixtures/qwen-code/subagent/root"), root, { recursive: true })
  const units = [...(qwenCode.source.plan(root) as Iterable<object>)].filter((found) => "files" in found)
  const agents = readdirSync(root, { recursive: true, encoding: "utf8" }).filter((name) =>
    /subagents\/.*\.jsonl$/.test(name),
  )
  expect([agents.length > 0, units.length > agents.length]).toEqual([true, true])
  for (const name of readdirSync(root, { recursive: true, encoding: "utf8" })) utimesSync(join(root, name), 1, 1)
  const [survey] = await surveySources([{ adapter: qwenCode, root }], place.context)
  expect(survey?.retention).toEqual({
    ...{ days: 30, setting: "general.cleanupPeriodDays", file: join(root, "settings.json"), due: agents.length },
  })
})

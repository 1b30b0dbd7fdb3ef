/** What a sync finds to do, where a part of a root cannot be seen and where many sessions lie in one file. */
import { expect, test } from "bun:test"
import { join } from "node:path"
import type { Adapter } from "../../src/adapters/adapter.ts"
import { claudeCode } from "../../src/adapters/claude-code/adapter.ts"
import { opencode } from "../../src/adapters/opencode/adapter.ts"
import { answer, clientDatabase, NOW, tempRoot, user } from "../adapters/opencode/support.ts"
import { SESSION, sessionId, syncPlace, userLine } from "./support.ts"

test("of a root that could not be listed whole nothing is taken for gone, and of one that was stopped neither", async () => {
  using place = syncPlace()
  for (const session of [SESSION, sessionId(2)]) place.write(session, [userLine(session, 1, "one")])
  await place.sync()
  const plan: Adapter["source"]["plan"] = async function* () {
    await Promise.resolve()
    yield { kind: "unreadable_directory", severity: "fault", file: "projects", found: "EACCES" }
  }
  const half: Adapter = { ...claudeCode, source: { ...claudeCode.source, plan } }
  const report = await place.sync({ sources: [{ adapter: half, root: place.root }] })
  expect(report).toMatchObject({ sessions: { seen: 0, gone: 0 }, issues: [{ kind: "unreadable_directory" }] })
  const stop = new AbortController()
  const first: Adapter["source"]["plan"] = async function* (root) {
    for await (const unit of claudeCode.source.plan(root)) {
      stop.abort()
      yield unit
    }
  }
  const stopped: Adapter = { ...claudeCode, source: { ...claudeCode.source, plan: first } }
  const sources = [{ adapter: stopped, root: place.root }]
  expect((await place.sync({ sources }, { signal: stop.signal })).sessions).toMatchObject({ seen: 1, gone: 0 })
  expect((await place.sync()).sessions).toMatchObject({ seen: 2, unchanged: 2, gone: 0 })
})

test("of many sessions in one database the one that changed is read, and no other", async () => {
  using place = syncPlace()
  using temp = tempRoot()
  const client = clientDatabase(join(temp.root, "opencode.db"))
  const other = { id: "ses_4f0000000ffeBBBBBBBBBBBBBB", title: "Another" }
  client.session()
  client.session(other)
  client.message("msg_1", NOW - 60_000, user())
  client.part("prt_1", "msg_1", { type: "text", text: "question" })
  const sync = () => place.sync({ sources: [{ adapter: opencode, root: temp.root }] })
  expect((await sync()).sessions).toMatchObject({ seen: 2, new: 2 })
  client.message("msg_2", NOW - 50_000, answer("msg_1"))
  client.part("prt_2", "msg_2", { type: "text", text: "answer" })
  client.set("session", "ses_4f0000000ffeAAAAAAAAAAAAAA", { time_updated: NOW - 30_000 })
  const planned: string[] = []
  const report = await place.sync(
    { sources: [{ adapter: opencode, root: temp.root }] },
    { onPlan: ({ units }) => void planned.push(...units.map(({ unit }) => unit.row?.id ?? "")) },
  )
  expect(planned).toEqual(["ses_4f0000000ffeAAAAAAAAAAAAAA"])
  expect(report.sessions).toMatchObject({ grown: 1, unchanged: 1 })
  expect(await place.texts("ses_4f0000000ffeAAAAAAAAAAAAAA")).toEqual(["question", "answer"])
  expect((await sync()).sessions).toMatchObject({ unchanged: 2 })
  client.database.close()
})

/** Several paths of one folder, which links make: its sessions are told under one of them, and that says nothing of the others. */
import { expect, test } from "bun:test"
import { mkdirSync, renameSync, symlinkSync } from "node:fs"
import { dirname, join } from "node:path"
import type { Adapter } from "../../src/adapters/adapter.ts"
import { claudeCode } from "../../src/adapters/claude-code/adapter.ts"
import { SESSION, type SyncPlace, sessionId, syncPlace, userLine } from "./support.ts"

const REAL = "projects/-home-someone-work"

/** As builds did that followed every link: each session once for each way. */
function followingAll(place: SyncPlace, links: readonly string[]): Adapter {
  const plan: Adapter["source"]["plan"] = async function* (root) {
    for await (const found of claudeCode.source.plan(root)) {
      yield found
      if (!("files" in found)) continue
      const elsewhere = (link: string, at: string) => at.replace(REAL, link)
      for (const link of links) {
        const files = found.files.map((file) => ({
          ...file,
          path: join(place.root, elsewhere(link, file.relativePath)),
          relativePath: elsewhere(link, file.relativePath),
        }))
        yield { ...found, key: elsewhere(link, found.key), files }
      }
    }
  }
  return { ...claudeCode, source: { ...claudeCode.source, plan } }
}

function addLink(place: SyncPlace, name: string, target: string): string {
  const at = join(place.root, "projects", name)
  mkdirSync(dirname(at), { recursive: true })
  symlinkSync(target, at)
  return `projects/${name}`
}

test("what was told under every path, and is told under one now, is not gone", async () => {
  using place = syncPlace()
  for (const session of [SESSION, sessionId(2)]) place.write(session, [userLine(session, 1, "one")])
  const links = ["-a", "-z"].map((name) => addLink(place, name, join(place.root, REAL)))
  const before = await place.sync({ sources: [{ adapter: followingAll(place, links), root: place.root }] })
  expect(before.sessions).toMatchObject({ seen: 6, new: 2 })
  const nothing = { new: 0, grown: 0, rewritten: 0, gone: 0 }
  const after = await place.sync()
  expect(after.sessions).toMatchObject({ ...nothing, seen: 2, unchanged: 2 })
  expect(after).toMatchObject({ bytes_read: 0, issues: [] })
  // The link is not what lies behind it: a file that went is gone under its own name.
  place.write(sessionId(3), [userLine(sessionId(3), 1, "one")])
  await place.sync()
  renameSync(join(place.root, REAL, `${sessionId(3)}.jsonl`), join(place.root, "elsewhere"))
  expect((await place.sync()).sessions).toMatchObject({ ...nothing, gone: 1 })
})

test("sessions that lie elsewhere are the same ones under a link that comes before", async () => {
  using place = syncPlace()
  place.write(SESSION, [userLine(SESSION, 1, "one")])
  const elsewhere = join(dirname(place.root), "elsewhere")
  renameSync(join(place.root, REAL), elsewhere)
  addLink(place, "-m", elsewhere)
  expect((await place.sync()).sessions).toMatchObject({ seen: 1, new: 1 })
  addLink(place, "-a", elsewhere)
  const report = await place.sync()
  expect(report).toMatchObject({ sessions: { seen: 1, new: 0, gone: 0 }, messages: { new: 0 }, issues: [] })
  expect(await place.sync()).toMatchObject({ sessions: { seen: 1, unchanged: 1, gone: 0 }, bytes_read: 0 })
})

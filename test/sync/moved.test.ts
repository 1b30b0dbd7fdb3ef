import { expect, test } from "bun:test"
import { mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs"
import { dirname, join } from "node:path"
import { codex } from "../../src/adapters/codex/adapter.ts"
import { syncPlace } from "./support.ts"

/** Codex keeps a thread under its id wherever its rollout lies, and its title in an index of all threads. */
const THREAD = "019c0000-0000-7000-8000-000000000001"
const LIVE = `sessions/2026/02/01/rollout-2026-02-01T10-00-00-${THREAD}.jsonl`
const MOMENT = "2026-02-01T10:00:00.000Z"

const header = { id: THREAD, timestamp: MOMENT, cwd: "/projects/alpha", cli_version: "0.128.0", source: "cli" }
const prompt = (text: string) => ({ type: "message", role: "user", content: [{ type: "input_text", text }] })
const line = (type: string, payload: unknown) => `${JSON.stringify({ timestamp: MOMENT, type, payload })}\n`
const LOG = [line("session_meta", header), line("response_item", prompt("one")), line("response_item", prompt("two"))]

function codexPlace() {
  const place = syncPlace()
  const root = join(place.root, "..", "codex")
  const write = (at: string, content: string | Uint8Array) => {
    mkdirSync(dirname(join(root, at)), { recursive: true })
    writeFileSync(join(root, at), content)
  }
  const sync = () => place.sync({ sources: [{ adapter: codex, root }] })
  return { place, root, write, sync }
}

test("a thread that was archived, and then compressed, is stored once", async () => {
  const { place, root, write, sync } = codexPlace()
  using _ = place
  write(LIVE, LOG.join(""))
  expect(await sync()).toMatchObject({ sessions: { new: 1 }, messages: { new: 3 } })
  const archived = LIVE.replace("sessions/2026/02/01", "archived_sessions")
  mkdirSync(join(root, "archived_sessions"))
  renameSync(join(root, LIVE), join(root, archived))
  expect(await sync()).toMatchObject({ messages: { new: 0 }, issues: [] })
  write(`${archived}.zst`, Bun.zstdCompressSync(readFileSync(join(root, archived))))
  rmSync(join(root, archived))
  expect(await sync()).toMatchObject({ messages: { new: 0 }, issues: [] })
  expect(await place.texts(THREAD)).toEqual(["one", "two"])
})

test("a title that is given later is a change, though no rollout changed", async () => {
  const { place, write, sync } = codexPlace()
  using _ = place
  const title = (name: string) => `${JSON.stringify({ id: THREAD, thread_name: name, updated_at: MOMENT })}\n`
  write(LIVE, LOG.join(""))
  write("session_index.jsonl", title("first"))
  expect(await sync()).toMatchObject({ messages: { new: 4 } })
  expect(await sync()).toMatchObject({ sessions: { unchanged: 1 }, messages: { new: 0 } })
  write("session_index.jsonl", title("first") + title("second"))
  expect(await sync()).toMatchObject({ sessions: { grown: 1 }, messages: { new: 1 } })
  const entries = await place.sessions.entries(THREAD)
  expect(entries.at(-1)?.message.options["pond"]).toEqual({ title: "second" })
})

test("a thread that was reverted goes on in a second rollout, and both are stored", async () => {
  const { place, write, sync } = codexPlace()
  using _ = place
  write(LIVE, LOG.join(""))
  await sync()
  const again = LIVE.replace(".jsonl", "_019c0000-0000-7000-8000-000000000002.jsonl")
  write(again, line("session_meta", header) + line("response_item", prompt("three")))
  expect(await sync()).toMatchObject({ sessions: { grown: 1 }, messages: { new: 2 } })
  expect(await place.texts(THREAD)).toEqual(["one", "two", "three"])
})

/** Where a fork left its parent: `parent_message_id`, by what each client says of it. */
import { expect, test } from "bun:test"
import { cpSync, mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { adapterById } from "../../src/adapters/registry.ts"
import { syncPlace } from "./support.ts"

const FIXTURES = join(import.meta.dir, "../../fixtures")

async function forks(client: string, fixture: string) {
  const adapter = adapterById(client)
  if (adapter === undefined) throw new Error(`no adapter ${client}`)
  const root = mkdtempSync(join(tmpdir(), "pond-forks-"))
  try {
    cpSync(join(FIXTURES, client, fixture, "root"), root, { recursive: true })
    using place = syncPlace({ store: "lance" })
    await place.sync({ sources: [{ adapter, root }] })
    const rows = await place.sessions.tables.sessions.read({
      columns: ["id", "parent_session_id", "parent_message_id"],
    })
    const found = rows.filter(({ parent_session_id: parent }) => parent !== null)
    return await Promise.all(
      found.map(async ({ id, parent_session_id: parent, parent_message_id: at }) => {
        const entries = await place.sessions.entries(parent ?? "")
        const own = await place.sessions.entries(id)
        return { at, entries, own }
      }),
    )
  } finally {
    rmSync(root, { recursive: true, force: true })
  }
}

test("codex: the last record of the parent that the fork continues", async () => {
  const [fork] = await forks("codex", "forked")
  const cut = fork?.entries.find(({ message }) => message.id === fork.at)
  const record = (cut?.message.options["source"] as { record?: { ordinal?: number } } | undefined)?.record
  expect(record?.ordinal).toBe(27)
})

test("pi: the last message that the fork has of its parent", async () => {
  const all = await forks("pi", "forked")
  expect(all.length).toBeGreaterThan(0)
  for (const { at, entries, own } of all) {
    const there = new Set(entries.map(({ message }) => message.id))
    const common = own.filter(
      ({ message, parts }) => there.has(message.id) && parts.some(({ type }) => type === "text"),
    )
    expect(at).toBe(common.at(-1)?.message.id ?? "")
  }
})

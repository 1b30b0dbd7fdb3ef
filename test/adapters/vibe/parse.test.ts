import { afterAll, expect, test } from "bun:test"
import { cpSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { dirname, join } from "node:path"
import { vibe } from "../../../src/adapters/vibe/adapter.ts"
import { canonicalText, isHashed } from "../../../src/adapters/vibe/records.ts"
import { parseJson } from "../../../src/model/json.ts"
import { nativeFiles } from "../../../src/restore/output-files.ts"
import { parseUnit, unitsOf } from "../../contract/fixtures.ts"

const FIXTURES = join(import.meta.dir, "../../../fixtures/vibe")
const scratch = mkdtempSync(join(tmpdir(), "pond-vibe-"))
afterAll(() => rmSync(scratch, { recursive: true }))

function laidOut(files: Readonly<Record<string, string>>): string {
  const root = mkdtempSync(join(scratch, "root-"))
  for (const [place, text] of Object.entries(files)) {
    mkdirSync(dirname(join(root, place)), { recursive: true })
    writeFileSync(join(root, place), text)
  }
  return root
}

async function readAll(root: string) {
  const all = (await unitsOf(vibe, root)).map(({ unit, records }) => ({
    unit,
    ...parseUnit(vibe, unit, records, { isSettled: true }),
  }))
  return all
}

const FACTS = JSON.stringify({ session_id: "s1", start_time: "2026-03-01T10:11:12+00:00" })

/** What a person or the model wrote, and what the client put in their slot. */
const PROVENANCE: readonly (readonly [what: string, message: object, authored: string[], injected: string[]])[] = [
  ["a prompt", { role: "user", content: "Fix it." }, ["Fix it."], []],
  ["a prompt in parts", { role: "user", content: [{ type: "text", text: "Fix it." }] }, ["Fix it."], []],
  ["what the harness says", { role: "user", content: "In short.", injected: true }, [], ["In short."]],
  ["a summary", { role: "user", content: "In short.", context_boundary: "compaction" }, [], ["In short."]],
  ["a warning", { role: "user", content: "<vibe_warning>w</vibe_warning>" }, [], ["<vibe_warning>w</vibe_warning>"]],
  ["an answer", { role: "assistant", content: "Done." }, ["Done."], []],
]

test.each(PROVENANCE)("%s", async (_what, message, authored, injected) => {
  const log = { "session_1/meta.json": FACTS, "session_1/messages.jsonl": `${JSON.stringify(message)}\n` }
  const [read] = await readAll(laidOut(log))
  const texts = (provenance: string) =>
    (read?.entries ?? []).flatMap(({ parts }) =>
      parts.flatMap((part) => (part.type === "text" && part.provenance === provenance ? [part.text] : [])),
    )
  expect([texts("conversational"), texts("injected")]).toEqual([authored, injected])
})

test.each(["tools", "damaged"])(
  "files of the store come back with the bytes that their hashes are of: %s",
  async (name) => {
    const root = join(FIXTURES, name, "root")
    const stored = (await readAll(root)).find(({ unit }) => unit.key.startsWith("unified/"))
    if (stored?.session === undefined) throw new Error("no session of the store")
    const files = nativeFiles(vibe, { session: stored.session, entries: stored.entries })
    const hashed = files.flatMap((file) => (file.form === "document" && isHashed(file.relativePath) ? [file] : []))
    expect(hashed.length).toBeGreaterThan(5)
    for (const { relativePath, text } of hashed) {
      const before = readFileSync(join(root, relativePath), "utf8")
      if (parseJson(before).ok) expect(text).toBe(before)
    }
  },
)

test("keys that are numbers stand in the order of texts", () => {
  expect(canonicalText({ b: 1, "9": [], "10": { é: "a\n" } })).toBe('{"10":{"é":"a\\n"},"9":[],"b":1}')
})

test("a journal that somebody writes is not read, one that was left is", async () => {
  const root = mkdtempSync(join(scratch, "held-"))
  cpSync(join(FIXTURES, "killed/root"), root, { recursive: true })
  const [id = ""] = readdirSync(join(root, "unified"))
  const journals = async () =>
    (await unitsOf(vibe, root)).flatMap(({ unit }) => unit.files.filter(({ form }) => form === "log").length)
  expect(await journals()).toEqual([1])
  mkdirSync(join(root, "active"))
  writeFileSync(join(root, `active/${id}.lock.json`), JSON.stringify({ process_id: process.pid }))
  expect(await journals()).toEqual([0])
})

test("the session of a taken over log says which one it was, and an agent is one", async () => {
  const reads = await readAll(join(FIXTURES, "damaged/root"))
  expect(reads.map(({ session }) => [session?.source_agent, session?.parent_session_id])).toEqual([
    ["vibe", undefined],
    ["vibe/explore", "0a0a0a0a-0000-4000-8000-0000000000d0"],
  ])
})

test("nothing but sessions is looked at", async () => {
  const root = laidOut({
    ".session_index.json": "{}",
    "plugins/packages/aa/messages.jsonl": "",
    "session_1/messages.jsonl": "",
    "session_2.json": "{}",
    "other.json": "{}",
  })
  const places = (await unitsOf(vibe, root)).map(({ unit }) => unit.key)
  expect(places).toEqual(["session_1/messages.jsonl", "session_2.json"])
  expect(vibe.source.roots({ VIBE_HOME: "/opt/v" }, "/home/user")).toEqual(["/opt/v/logs/session"])
})

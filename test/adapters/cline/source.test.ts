import { expect, test } from "bun:test"
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { dirname, join } from "node:path"
import { cline, kiloLegacy, rooCode, zooCode } from "../../../src/adapters/cline/adapter.ts"
import { concerns, lastModel } from "../../../src/adapters/cline/source.ts"

function rootWith(files: readonly string[], text = "{}"): { readonly root: string } & Disposable {
  const root = mkdtempSync(join(tmpdir(), "pond-cline-"))
  for (const place of files) {
    mkdirSync(dirname(join(root, place)), { recursive: true })
    writeFileSync(join(root, place), text)
  }
  return { root, [Symbol.dispose]: () => rmSync(root, { recursive: true, force: true }) }
}

async function planned(root: string): Promise<string[][]> {
  const units: string[][] = []
  for await (const unit of cline.source.plan(root))
    if ("files" in unit) units.push(unit.files.map(({ relativePath }) => relativePath))
  return units
}

const ID = "1784094124598_rruoq"
const SESSION = `sessions/${ID}`

test("a session and its agents are units, each with what describes them; keys and telemetry are none", async () => {
  using place = rootWith([
    ...[`${SESSION}/${ID}.json`, `${SESSION}/${ID}.messages.json`, `${SESSION}/${ID}.compaction.json`],
    ...[`${SESSION}/agent_1_a.messages.json`, `${SESSION}/hooks.jsonl`, "settings/providers.json", "secrets.json"],
    ...["db/sessions.db", "sessions/sessions.index.json"],
  ])
  expect(await planned(place.root)).toEqual([
    [`${SESSION}/${ID}.json`, `${SESSION}/${ID}.messages.json`, `${SESSION}/${ID}.compaction.json`],
    [`${SESSION}/${ID}.json`, `${SESSION}/agent_1_a.messages.json`],
  ])
})

test("a task is its history, with what is said of it first and what was shown behind; settings of it are not read", async () => {
  const names = [
    "ui_messages.json",
    "history_item.json",
    "api_conversation_history.json",
    "settings.json",
    "task_metadata.json",
  ]
  using place = rootWith([
    ...names.map((name) => `tasks/1719491234567/${name}`),
    "tasks/_staging_x/ui_messages.json",
    "tasks/_index.json",
  ])
  const wanted = ["history_item.json", "api_conversation_history.json", "ui_messages.json", "task_metadata.json"]
  expect(await planned(place.root)).toEqual([wanted.map((name) => `tasks/1719491234567/${name}`)])
})

test("each extension has roots of its own: the usual one, and those that were ever used", () => {
  const used = ["Cursor/User/globalStorage/saoudrizwan.claude-dev/x", "Code/User/globalStorage/roovscode.roo-code/x"]
  using home = rootWith(used.map((place) => `.config/${place}`))
  const storage = (editor: string, extension: string) =>
    join(home.root, ".config", editor, "User/globalStorage", extension)
  expect(cline.source.roots({}, home.root)).toEqual([
    join(home.root, ".cline/data"),
    ...["Code", "Cursor"].map((editor) => storage(editor, "saoudrizwan.claude-dev")),
  ])
  expect(zooCode.source.roots({}, home.root)).toEqual([storage("Code", "zoocodeorganization.zoo-code")])
  expect(rooCode.source.roots({}, home.root)).toEqual([
    ...[storage("Code", "rooveterinaryinc.roo-cline"), storage("Code", "roovscode.roo-code")],
  ])
  expect(kiloLegacy.source.roots({}, home.root)).toEqual([storage("Code", "kilocode.kilo-code")])
  expect(cline.source.roots({ CLINE_DIR: "/c" }, home.root)[0]).toBe("/c/data")
  expect(cline.source.roots({ CLINE_DIR: "/c", CLINE_DATA_DIR: "/d" }, home.root)[0]).toBe("/d")
})

test("what is written beside sessions and tasks is no change of one", () => {
  using place = rootWith([`${SESSION}/${ID}.messages.json`])
  expect(
    ["logs/x.log", "db/sessions.db-wal", "settings/providers.json"].filter((each) => concerns(place.root, each)),
  ).toEqual([])
  expect(concerns(place.root, `${SESSION}/${ID}.messages.json`)).toBe(true)
})

test("the model is the one that a session names", () => {
  using place = rootWith(
    [`${SESSION}/${ID}.json`, `${SESSION}/${ID}.messages.json`],
    '{"provider":"anthropic","model":"claude-opus"}',
  )
  expect(lastModel(place.root)).toBe("anthropic/claude-opus")
})

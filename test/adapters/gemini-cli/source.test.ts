import { afterAll, beforeAll, expect, test } from "bun:test"
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { dirname, join } from "node:path"
import { geminiCli } from "../../../src/adapters/gemini-cli/adapter.ts"
import { movedTo, slugOf } from "../../../src/adapters/gemini-cli/project-folder.ts"

const HASH = "ab".repeat(32)
const AGENT = "5d1f0a30-0000-4000-8000-000000000001"
const CHATS = [
  `tmp/${HASH}/chats/session-2026-01-01T10-00-aaaaaaaa.json`,
  `tmp/${HASH}/chats/session-2026-01-02T10-00-bbbbbbbb.json`,
  "tmp/alpha/chats/session-2026-01-02T10-00-bbbbbbbb.json",
  "tmp/alpha/chats/session-2026-01-02T10-00-bbbbbbbb.jsonl",
  "tmp/alpha/chats/session-2026-01-03T10-00-cccccccc.jsonl",
  "tmp/beta/chats/session-2026-01-03T10-00-cccccccc.jsonl",
  `tmp/alpha/chats/${AGENT}/agent.jsonl`,
  "tmp/alpha/tool-outputs/session-cccccccc-0000-4000-8000-000000000001/out.txt",
]
/** What lies beside them, some of it secret. */
const OTHERS = [
  "oauth_creds.json",
  "settings.json",
  "tmp/alpha/logs.json",
  "tmp/alpha/checkpoint-mine.json",
  "tmp/alpha/chats/notes.jsonl",
  "tmp/alpha/chats/.session-x.jsonl",
  "tmp/alpha/chats/folder/a.jsonl",
  "tmp/alpha/.project_root",
  "history/alpha/session-1-a.json",
]

let root: string

beforeAll(() => {
  root = mkdtempSync(join(tmpdir(), "pond-gemini-"))
  for (const place of [...CHATS, ...OTHERS]) {
    mkdirSync(join(root, dirname(place)), { recursive: true })
    writeFileSync(join(root, place), "{}")
  }
})
afterAll(() => rmSync(root, { recursive: true }))

async function planned(folder: string) {
  const found: { units: string[][]; issues: string[] } = { units: [], issues: [] }
  for await (const each of geminiCli.source.plan(folder)) {
    if ("files" in each) found.units.push(each.files.map(({ relativePath, form }) => `${form} ${relativePath}`))
    else found.issues.push(`${each.kind} ${each.file}`)
  }
  return found
}

test("chats, their agents and their outputs are found, and nothing else; of copies the one that goes on is read", async () => {
  const { units, issues } = await planned(root)
  expect(new Set(units.map((files) => files.join(" + ")))).toEqual(
    new Set([
      `document ${CHATS[0]}`,
      `log ${CHATS[3]}`,
      `log ${CHATS[4]} + text ${CHATS[7]}`,
      `log ${CHATS[5]}`,
      `log ${CHATS[6]}`,
    ]),
  )
  expect(new Set(issues)).toEqual(new Set([`second_copy ${CHATS[1]}`, `second_copy ${CHATS[2]}`]))
})

test("of a folder that somebody points at, what has the name of a chat is read", async () => {
  const { units } = await planned(join(root, "tmp/alpha/chats"))
  expect(units).toHaveLength(4)
})

test.each([
  ["/projects/Alpha Beta", "alpha-beta"],
  ["/projects/プロジェクト β space/", "space"],
  ["C:\\work\\My.App", "my-app"],
  ["/", "project"],
])("the folder of %s is %s", (cwd, slug) => {
  expect(slugOf(cwd)).toBe(slug)
  expect(movedTo(`tmp/${HASH}/chats/x.jsonl`, "/a", cwd)).toBe(`tmp/${slug}/chats/x.jsonl`)
})

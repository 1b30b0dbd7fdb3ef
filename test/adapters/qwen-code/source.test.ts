import { expect, test } from "bun:test"
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { dirname, join } from "node:path"
import { qwenCode } from "../../../src/adapters/qwen-code/adapter.ts"

const ID = "5d1f0a30-0000-4000-8000-000000000001"
const PROJECT = "projects/-projects-alpha"
const FOUND = [
  `${PROJECT}/chats/${ID}.jsonl`,
  `${PROJECT}/chats/archive/5d1f0a30000040008000000000000002.jsonl`,
  `${PROJECT}/subagents/${ID}/agent-digger-call_1.jsonl`,
  `${PROJECT}/subagents/${ID}/agent-digger-call_1.meta.json`,
]
/** What lies beside them, some of it secret. */
const OTHERS = [
  "oauth_creds.json",
  "settings.json",
  "usage_record.jsonl",
  `${PROJECT}/chats/${ID}.ledger.jsonl`,
  `${PROJECT}/chats/${ID}.worktree.json`,
  `${PROJECT}/chats/notes.jsonl`,
  `${PROJECT}/subagents/${ID}/other.jsonl`,
  `file-history/${ID}/agent-a.jsonl`,
]

async function planned(root: string): Promise<string[][]> {
  const units: string[][] = []
  for await (const each of qwenCode.source.plan(root))
    if ("files" in each) units.push(each.files.map(({ relativePath }) => relativePath))
  return units
}

test("chats and agents are found, and nothing else", async () => {
  const root = mkdtempSync(join(tmpdir(), "pond-qwen-"))
  try {
    for (const place of [...FOUND, ...OTHERS]) {
      mkdirSync(join(root, dirname(place)), { recursive: true })
      writeFileSync(join(root, place), "{}\n")
    }
    const [chat = "", archived = "", agent = "", meta = ""] = FOUND
    expect(await planned(root)).toEqual([[chat], [archived], [agent, meta]])
    expect(await planned(join(root, PROJECT, "chats"))).toHaveLength(2)
  } finally {
    rmSync(root, { recursive: true })
  }
})

test("its variables move it", () => {
  const roots = (environment: Record<string, string>) => qwenCode.source.roots(environment, "/home/user")
  expect(roots({})).toEqual(["/home/user/.qwen"])
  expect(roots({ QWEN_HOME: "~/q" })).toEqual(["/home/user/q"])
  expect(roots({ QWEN_RUNTIME_DIR: "/run/q" })).toEqual(["/run/q", "/home/user/.qwen"])
})

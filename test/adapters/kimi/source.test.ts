import { expect, test } from "bun:test"
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { dirname, join } from "node:path"
import { concerns, lastModel, source } from "../../../src/adapters/kimi/source.ts"

function rootWith(files: readonly string[], text = "{}\n"): { readonly root: string } & Disposable {
  const root = mkdtempSync(join(tmpdir(), "pond-kimi-"))
  for (const place of files) {
    mkdirSync(dirname(join(root, place)), { recursive: true })
    writeFileSync(join(root, place), text)
  }
  return { root, [Symbol.dispose]: () => rmSync(root, { recursive: true, force: true }) }
}

async function planned(root: string): Promise<string[][]> {
  const units: string[][] = []
  for await (const unit of source.plan(root))
    if ("files" in unit) units.push(unit.files.map(({ relativePath }) => relativePath))
  return units
}

const SESSION = "sessions/wd_alpha_0/session_1"
const HASH = "a".repeat(64)

test("a session is its document, its log and what lies in files of its own; agents are units; credentials are none", async () => {
  using place = rootWith([
    ...[`${SESSION}/state.json`, `${SESSION}/agents/main/wire.jsonl`, `${SESSION}/agents/main/blobs/${HASH}`],
    ...[`${SESSION}/agents/main/plans/p.md`, `${SESSION}/agents/agent-0/wire.jsonl`, `${SESSION}/notify/state.json`],
    ...[
      `${SESSION}/agents/main/file-history/${HASH}@v1`,
      `${SESSION}/logs/kimi-code.log`,
      "sessions/.index-cache/scan.json",
    ],
    ...["config.toml", "mcp.json", "server.token", "credentials/kimi.json", "session_index.jsonl"],
  ])
  expect(await planned(place.root)).toEqual([
    [`${SESSION}/agents/agent-0/wire.jsonl`],
    [
      ...[`${SESSION}/state.json`, `${SESSION}/agents/main/wire.jsonl`],
      ...[`${SESSION}/agents/main/blobs/${HASH}`, `${SESSION}/agents/main/plans/p.md`],
    ],
  ])
})

test("of kimi-cli what was shown comes first, then what is sent, then what was", async () => {
  const folder = "sessions/480ae69fa9f1c5ee5fd43225a7587afb/5d1f0a30"
  using place = rootWith([
    ...["context_2.jsonl", "context.jsonl", "context_1.jsonl", "wire.jsonl", "state.json"].map(
      (name) => `${folder}/${name}`,
    ),
    ...[`${folder}/subagents/a/context.jsonl`, `${folder}/subagents/a/prompt.txt`, `${folder}-flat.jsonl`, "kimi.json"],
  ])
  expect(await planned(place.root)).toEqual([
    ["wire.jsonl", "context.jsonl", "context_1.jsonl", "context_2.jsonl", "state.json"].map(
      (name) => `${folder}/${name}`,
    ),
    [`${folder}/subagents/a/context.jsonl`],
    [`${folder}-flat.jsonl`],
  ])
})

test("a folder that somebody points at is looked through", async () => {
  using place = rootWith(["backup/2026/one/agents/main/wire.jsonl", "backup/2026/one/state.json"])
  expect(await planned(place.root)).toEqual([["backup/2026/one/state.json", "backup/2026/one/agents/main/wire.jsonl"]])
})

test("roots are those of both clients, by their own variables", () => {
  expect(source.roots({}, "/h")).toEqual(["/h/.kimi-code", "/h/.kimi"])
  expect(source.roots({ KIMI_CODE_HOME: "/k", KIMI_SHARE_DIR: "/s" }, "/h")).toEqual(["/k", "/s"])
})

test("what the client writes beside its sessions all the time is no change of one", () => {
  using place = rootWith([`${SESSION}/agents/main/wire.jsonl`])
  const beside = [
    `${SESSION}/logs/kimi-code.log`,
    "sessions/.index-dirty/x",
    `${SESSION}/notify/state.json`,
    "device_id",
  ]
  expect(beside.filter((each) => concerns(place.root, each))).toEqual([])
  expect(concerns(place.root, `${SESSION}/agents/main/wire.jsonl`)).toBe(true)
})

test("the model is the one that a session names, not one of the settings", () => {
  using place = rootWith([`${SESSION}/agents/main/wire.jsonl`], '{"type":"profile.bind","modelAlias":"kimi-k3"}\n')
  expect(lastModel(place.root)).toBe("kimi-k3")
  using empty = rootWith([`${SESSION}/agents/main/wire.jsonl`])
  expect(lastModel(empty.root)).toBeUndefined()
})

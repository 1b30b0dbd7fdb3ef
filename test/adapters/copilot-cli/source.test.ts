import { expect, test } from "bun:test"
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { dirname, join } from "node:path"
import type { SourceUnit } from "../../../src/adapters/adapter.ts"
import { copilotCli } from "../../../src/adapters/copilot-cli/adapter.ts"

test("a session is its log and its notes, by name; what lies beside is left alone", () => {
  const root = mkdtempSync(join(tmpdir(), "pond-copilot-"))
  try {
    const places = [
      ...["config.json", "mcp-config.json", "mcp-oauth-config/token.json", "logs/process.log", "session-store.db"],
      ...["session-state/a.jsonl", "session-state/b/events.jsonl", "session-state/b/workspace.yaml"],
      ...["session-state/b/plan.md", "session-state/b/checkpoints/index.md", "session-state/b/inuse.12.lock"],
      ...["session-state/b/session.db", "session-state/b/files/secret.txt", "session-state/c/workspace.yaml"],
      ...["session-state/b/rewind-file-snapshots/index.json", "session-state/b/rewind-file-snapshots/backups/x"],
      ...["history-session-state/session_d_1.json", "history-session-state/notes.txt"],
    ]
    for (const place of places) {
      mkdirSync(dirname(join(root, place)), { recursive: true })
      writeFileSync(join(root, place), "{}")
    }
    const units = [...(copilotCli.source.plan(root) as Iterable<SourceUnit>)]
    expect(units.map(({ files }) => files.map(({ relativePath }) => relativePath))).toEqual([
      ["session-state/a.jsonl"],
      [
        ...["session-state/b/events.jsonl", "session-state/b/checkpoints/index.md", "session-state/b/plan.md"],
        ...["session-state/b/rewind-file-snapshots/index.json", "session-state/b/workspace.yaml"],
      ],
      ["history-session-state/session_d_1.json"],
    ])
    const { watching } = copilotCli
    const concerned = places.filter((place) => watching?.concerns(root, place) === true)
    expect(concerned).toEqual([
      ...["session-state/a.jsonl", "session-state/b/events.jsonl", "session-state/b/workspace.yaml"],
      ...["session-state/b/plan.md", "session-state/b/checkpoints/index.md", "session-state/c/workspace.yaml"],
      ...["session-state/b/rewind-file-snapshots/index.json", "history-session-state/session_d_1.json"],
    ])
  } finally {
    rmSync(root, { recursive: true })
  }
})

test("its own variable comes first, the places of early versions last", () => {
  const environment = { COPILOT_HOME: "/c", XDG_STATE_HOME: "/state", XDG_CONFIG_HOME: "/config" }
  expect(copilotCli.source.roots(environment, "/home/dev")).toEqual([
    ...["/c", "/home/dev/.copilot", "/state/.copilot", "/config/.copilot"],
  ])
  expect(copilotCli.source.roots({}, "/home/dev")).toEqual(["/home/dev/.copilot"])
})

/** Somebody may point pond at any folder. Settings, keys and lists that lie in one are taken for sessions by no adapter. */
import { expect, test } from "bun:test"
import { mkdirSync, writeFileSync } from "node:fs"
import { dirname, join } from "node:path"
import { ADAPTERS } from "../../src/adapters/registry.ts"
import { temporaryHome } from "../support/pond-process.ts"

const NAMES = [
  "settings",
  "config",
  "auth",
  "index",
  "sessions",
  "state",
  "package",
  "mcp",
  "credentials",
  "history",
  "data",
]
const FOLDERS = [
  ...[
    "",
    "documents",
    "conversations",
    "sessions",
    "chats",
    "tabs",
    "composers",
    "threads",
    "transcripts",
    "projects/alpha",
  ],
  ...["projects", "workspace-sessions/alpha", "sessions/cli", "cli", "devin-sessions", "logs", "brain", "chatSessions"],
]

/** In the folder that is named for sessions these take logs of any name, because people name and copy them there. */
const OF_ANY_NAME = new Set([
  "claude-code",
  "xcode-claude",
  "qoder",
  "droid",
  "kimi",
  "pi",
  "oh-my-pi",
  "continue",
  "goose",
])

test.each(ADAPTERS.map(({ id }) => id))("%s", async (id) => {
  const adapter = ADAPTERS.find((each) => each.id === id)
  using home = temporaryHome()
  for (const folder of FOLDERS)
    for (const name of NAMES)
      for (const ending of ["json", "jsonl", "db", "yaml"]) {
        const path = join(home.path, folder, `${name}.${ending}`)
        mkdirSync(dirname(path), { recursive: true })
        writeFileSync(path, ending === "db" ? "" : '{"apiKey":"of nobody"}\n')
      }
  const found = await Array.fromAsync(adapter?.source.plan(home.path) ?? [])
  const units = found.flatMap((each) => ("files" in each ? each.files.map(({ relativePath }) => relativePath) : []))
  if (!OF_ANY_NAME.has(id)) expect(units).toEqual([])
  // Keys and settings are documents, and those they never take.
  expect(units.filter((place) => !place.endsWith("l") && id !== "continue")).toEqual([])
})

/** Adding a client is one folder and one line: every folder has the same files, and no shared file names a client. */
import { expect, test } from "bun:test"
import { existsSync, readdirSync, readFileSync } from "node:fs"
import { join } from "node:path"
import { ADAPTERS } from "../../src/adapters/registry.ts"
import { unreadClients } from "../../src/adapters/unread-clients.ts"

const ROOT = join(import.meta.dir, "../../src/adapters")
const FILES = ["FORMAT.md", "adapter.ts", "source.ts", "parse.ts", "context.ts", "serialize.ts"]
/** Products that open nothing which is written for them say nothing of tools and money. */
const FILES_OF_CLIENTS = [...FILES, "foreign.ts", "vocabulary.ts", "usage.ts"]
/** In the order of the contract. */
const MEMBERS = [
  ...[
    "id",
    "title",
    "judged",
    "source",
    "parse",
    "context",
    "serialize",
    "output",
    "vocabulary",
    "models",
    "usage",
    "branch",
    "files",
    "database",
    "assemble",
  ],
  ...[
    "contentIds",
    "attachments",
    "lineage",
    "relocation",
    "upgrade",
    "retention",
    "watching",
    "registration",
    "hooks",
    "printedLogs",
  ],
]

/** Clients that have the format of another one: its codec is theirs, with other names and places. */
const CODEC_OF: Readonly<Record<string, string>> = {
  kilo: "opencode",
  "roo-code": "cline",
  "zoo-code": "cline",
  "kilo-legacy": "cline",
  "oh-my-pi": "pi",
  openclaw: "pi",
  "xcode-claude": "claude-code",
  qoder: "claude-code",
  "trae-cli": "codex",
  nanoclaw: "claude-code",
  "kiro-ide": "kiro",
  "claude-desktop": "claude-code",
  "claude-stream": "claude-code",
  entire: "claude-code",
  "claude-prompts": "prompts",
  "codex-prompts": "prompts",
}

test.each(ADAPTERS.map(({ id, serialize }) => [CODEC_OF[id] ?? id, serialize.foreign !== undefined] as const))(
  "the folder of %s has the files that every client has",
  (id, isClient) => {
    expect((isClient ? FILES_OF_CLIENTS : FILES).filter((name) => !existsSync(join(ROOT, id, name)))).toEqual([])
  },
)

test.each(ADAPTERS.map((adapter) => [adapter.id, adapter] as const))(
  "the members of %s stand in the order of the contract",
  (_, adapter) => {
    const members = Object.keys(adapter)
    expect(members).toEqual(MEMBERS.filter((name) => members.includes(name)))
  },
)

test.each(ADAPTERS.map((adapter) => [adapter.id, adapter] as const))(
  "%s is listed under the id that its codec has",
  (id, { ...loaded }) => {
    expect(loaded.id).toBe(id)
    expect(Object.keys(loaded)).toContain("parse")
  },
)

test("no file that clients share names one of them", () => {
  const ids = ADAPTERS.map(({ id }) => `"${id}"`)
  const shared = readdirSync(join(ROOT, "shared")).map((name) => join("shared", name))
  const files = [...shared, "adapter.ts", "extract.ts", "parts.ts", "session-writer.ts", "lift.ts", "spot.ts"]
  const found = files.flatMap((name) => {
    const text = readFileSync(join(ROOT, name), "utf8")
    return ids.filter((id) => text.includes(id)).map((id) => `${name}: ${id}`)
  })
  expect(found).toEqual([])
})

test("a client that an adapter reads is none of those that pond cannot read", () => {
  const watched = unreadClients([]).map(({ id }) => id)
  const read = watched.map((id) => ({ id }))
  expect(unreadClients(read)).toEqual([])
  const ids = new Set(ADAPTERS.map(({ id }) => id))
  expect(unreadClients(ADAPTERS).filter(({ id }) => ids.has(id))).toEqual([])
})

test("a product that opens nothing says what goes on with its sessions, and needs no file for other clients' sessions", () => {
  // Their programs open their own logs: only what would be written for them of other clients was not tried.
  const own = new Set(["qoder", "trae-cli"])
  const read = ADAPTERS.filter(({ id, serialize }) => serialize.foreign === undefined && !own.has(id))
  expect(read.length).toBeGreaterThan(5)
  for (const { serialize, title } of read) {
    const { command, note } = serialize.resume("id", "/projects/alpha")
    expect(command).toEqual([])
    expect(note).toStartWith(`${title} cannot open what pond writes.`)
    expect(note).toContain("pond resume ID --to CLIENT")
  }
})

/** Several eras, stores or agents each. */
const LARGE = new Set([
  ...["claude-code", "codex", "opencode", "pi", "kimi", "gemini-cli", "cline", "vibe", "copilot-cli"],
])
const LINES_MAX = 900

test("a client costs at most 900 lines of code, but for those with many forms", () => {
  const folders = readdirSync(ROOT, { withFileTypes: true }).filter((entry) => entry.isDirectory())
  const sizes = folders.filter(({ name }) => name !== "shared").map(({ name }) => [name, codeLines(name)] as const)
  expect(sizes.filter(([name, lines]) => lines > LINES_MAX && !LARGE.has(name))).toEqual([])
  expect(sizes.filter(([name, lines]) => lines <= LINES_MAX && LARGE.has(name))).toEqual([])
})

/** Without blank lines and comments. */
function codeLines(folder: string): number {
  const files = readdirSync(join(ROOT, folder)).filter((name) => name.endsWith(".ts"))
  const lines = files.flatMap((name) => readFileSync(join(ROOT, folder, name), "utf8").split("\n"))
  return lines.filter((line) => !/^\s*(?:$|\/\/|\/?\*)/.test(line)).length
}

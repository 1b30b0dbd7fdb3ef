/**
 * A home with a credential in every place where the four clients and their editors keep one. Everything pond does with
 * sessions is done there, in processes as people run them, and no credential is in what comes of it.
 */
import { Database } from "bun:sqlite"
import { afterAll, beforeAll, expect, test } from "bun:test"
import { cpSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs"
import { dirname, join } from "node:path"
import { type Ran, runPond, temporaryHome } from "../support/pond-process.ts"

const FIXTURES = join(import.meta.dir, "../../fixtures")
const home = temporaryHome()
afterAll(() => home[Symbol.dispose]())

/** No other text of the home has it. Each place has one of its own, so that a leak says where it came from. */
const MARK = "pond-canary"

function secret(place: string): string {
  return `${MARK}-${place.replace(/[^a-z0-9]+/gi, "-")}`
}

/** A file of a home that holds a credential: what stands around it is as the client writes it. */
const FILES: Readonly<Record<string, (token: string) => string>> = {
  ".claude/.credentials.json": (token) => json({ claudeAiOauth: { accessToken: token, refreshToken: token } }),
  ".claude/settings.json": (token) => json({ cleanupPeriodDays: 90, env: { ANTHROPIC_API_KEY: token } }),
  ".claude/settings.local.json": (token) => json({ env: { ANTHROPIC_AUTH_TOKEN: token }, apiKeyHelper: token }),
  ".claude/history.jsonl": (token) => json({ display: `my key is ${token}`, project: "/work/alpha" }),
  ".claude/remote-settings.json": (token) => json({ token }),
  ".claude/shell-snapshots/snapshot-bash-1.sh": (token) => `export GITHUB_TOKEN=${token}\n`,
  ".claude/session-env/0a0fb0f6-d949-4c88-a1ca-9484aeb8c9f8/env.sh": (token) => `export KEY=${token}\n`,
  ".claude/ide/4711.lock": (token) => json({ pid: 1, authToken: token }),
  ".claude/file-history/0a0fb0f6-d949-4c88-a1ca-9484aeb8c9f8/abc@v1": (token) => `API_KEY=${token}\n`,
  ".claude/debug/latest.txt": (token) => `Authorization: Bearer ${token}\n`,
  ".claude/plugins/config.json": (token) => json({ token }),
  ".claude/projects/.credentials.json": (token) => json({ accessToken: token }),
  ".claude/projects/-work-alpha/memory/keys.md": (token) => `the key is ${token}\n`,
  ".claude/projects/-work-alpha/settings.local.json": (token) => json({ env: { KEY: token } }),
  ".claude.json": (token) =>
    json({ oauthAccount: { token }, primaryApiKey: token, mcpServers: { a: { env: { token } } } }),
  ".claude.json.backup": (token) => json({ primaryApiKey: token }),
  ".codex/auth.json": (token) => json({ OPENAI_API_KEY: token, tokens: { id_token: token, access_token: token } }),
  ".codex/.env": (token) => `OPENAI_API_KEY=${token}\n`,
  ".codex/.credentials.json": (token) => json({ server: { access_token: token } }),
  ".codex/config.toml": (token) => `[mcp_servers.a]\nbearer_token = "${token}"\n`,
  ".codex/history.jsonl": (token) => json({ session_id: "x", ts: 1, text: `my key is ${token}` }),
  ".codex/log/codex-tui.log": (token) => `Authorization: Bearer ${token}\n`,
  ".codex/shell_snapshots/1.sh": (token) => `export OPENAI_API_KEY=${token}\n`,
  ".codex/sessions/auth.json": (token) => json({ OPENAI_API_KEY: token }),
  ".local/share/opencode/auth.json": (token) => json({ anthropic: { type: "oauth", refresh: token, access: token } }),
  ".local/share/opencode/mcp-auth.json": (token) => json({ server: { tokens: { accessToken: token } } }),
  ".local/share/opencode/account.json": (token) => json({ accounts: [{ token }] }),
  ".local/share/opencode/log/2026-01-01.log": (token) => `token=${token}\n`,
  ".local/share/opencode/storage/share/ses_4f2a11c6fffeAbCdEfGhIjKlMn.json": (token) => json({ secret: token }),
  ".local/share/opencode/storage/session_share/ses_4f2a11c6fffeAbCdEfGhIjKlMn.json": (token) => json({ secret: token }),
  ".config/opencode/opencode.json": (token) => json({ provider: { anthropic: { options: { apiKey: token } } } }),
  ".local/state/opencode/kv.json": (token) => json({ token }),
  ".pi/agent/auth.json": (token) => json({ anthropic: { type: "api_key", key: token } }),
  ".pi/agent/settings.json": (token) => json({ apiKey: token }),
  ".pi/agent/models.json": (token) => json({ providers: { own: { apiKey: token } } }),
  ".pi/agent/sessions/auth.json": (token) => json({ anthropic: { key: token } }),
  ".pi/agent/oauth.json": (token) => json({ token }),
  ".config/Code/User/settings.json": (token) => json({ "claude-code.environmentVariables": [{ value: token }] }),
  ".config/Code/User/globalStorage/storage.json": (token) => json({ token }),
  ".config/Code/User/globalStorage/anthropic.claude-code/session.json": (token) => json({ token }),
  ".vscode-server/data/User/globalStorage/openai.chatgpt/auth.json": (token) => json({ token }),
  ".config/github-copilot/apps.json": (token) => json({ "github.com": { oauth_token: token } }),
  ".netrc": (token) => `machine api.example.com password ${token}\n`,
  ".aws/credentials": (token) => `[default]\naws_secret_access_key = ${token}\n`,
}

/** A table that holds credentials in a database, some of them in the very one that the sessions are read from. */
const TABLES: readonly (readonly [file: string, table: string, columns: string])[] = [
  [
    ".local/share/opencode/opencode.db",
    "account",
    "id, email, url, access_token, refresh_token, time_created, time_updated",
  ],
  [
    ".local/share/opencode/opencode.db",
    "control_account",
    "email, url, access_token, refresh_token, active, time_created, time_updated",
  ],
  [".local/share/opencode/opencode.db", "credential", "id, integration_id, label, value, time_created, time_updated"],
  [".codex/state_5.sqlite", "account_tokens", "id, token"],
  [".config/Code/User/globalStorage/state.vscdb", "ItemTable", "key, value"],
  [".config/Cursor/User/globalStorage/state.vscdb", "ItemTable", "key, value"],
]

/** Of variables that clients and stores read their credentials from. */
const VARIABLES = [
  "ANTHROPIC_API_KEY",
  "ANTHROPIC_AUTH_TOKEN",
  "CLAUDE_CODE_OAUTH_TOKEN",
  "OPENAI_API_KEY",
  "GITHUB_TOKEN",
]

const SESSIONS: readonly (readonly [fixture: string, root: string])[] = [
  ["claude-code/tools", ".claude"],
  ["codex/tools", ".codex"],
  ["opencode/events", ".local/share/opencode"],
  ["opencode/tree", ".local/share/opencode"],
  ["pi/tools", ".pi/agent/sessions"],
]

const CLIENTS = ["claude-code", "codex", "opencode", "pi"]
const PAIRS = CLIENTS.flatMap((from) => CLIENTS.filter((to) => to !== from).map((to) => [from, to] as const))

interface Counted {
  readonly sessions: { readonly new: number }
}

function json(value: unknown): string {
  return JSON.stringify(value)
}

function write(place: string, text: string): void {
  const path = join(home.path, place)
  mkdirSync(dirname(path), { recursive: true })
  writeFileSync(path, text)
}

/** Each column holds the credential: which one a client reads it from makes no difference. */
function addRow(file: string, table: string, columns: string): void {
  const path = join(home.path, file)
  mkdirSync(dirname(path), { recursive: true })
  using database = new Database(path, { create: true })
  database.run(`create table if not exists "${table}" (${columns})`)
  const names = columns.split(", ")
  const values = names.map((name) => (name.startsWith("time_") || name === "active" ? 1 : secret(`${file} ${table}`)))
  database.run(`insert into "${table}" (${columns}) values (${names.map(() => "?").join(", ")})`, values)
}

const store = join(home.path, "store")
const ran: Ran[] = []

async function pond(...args: readonly string[]): Promise<Ran> {
  const env = Object.fromEntries(VARIABLES.map((name) => [name, secret(name)]))
  const result = await runPond([...args, "--store", store, "-v"], { env: { ...home.env, ...env } })
  ran.push(result)
  return result
}

beforeAll(() => {
  for (const [fixture, root] of SESSIONS)
    cpSync(join(FIXTURES, fixture, "root"), join(home.path, root), { recursive: true })
  for (const [place, text] of Object.entries(FILES)) write(place, text(secret(place)))
  for (const [file, table, columns] of TABLES) addRow(file, table, columns)
})

/** Every file below a folder that holds a text, as UTF-8 or as UTF-16. */
function filesWith(folder: string, text: string): string[] {
  const needles = [Buffer.from(text), Buffer.from(text, "utf16le")]
  return readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name))
    .filter((path) => needles.some((needle) => readFileSync(path).includes(needle)))
}

test("no credential of a home comes into the store, out of a restore, or into what is said", async () => {
  const synced = await pond("sync", "--only", "import")
  // One of the fixtures has a part that is no JSON, and a sync says so in its exit code.
  expect([0, 4], synced.stderr).toContain(synced.exitCode)
  const listed = await pond("sql", "select id, source_agent from sessions order by id", "--format", "json")
  const sessions = JSON.parse(listed.stdout) as { id: string; source_agent: string }[]
  const firsts = new Map(sessions.map(({ id, source_agent: agent }) => [agent.split("/")[0] ?? "", id]))
  expect(new Set(firsts.keys())).toEqual(new Set(CLIENTS))

  // What is restored and selected is whole and not compressed: nothing of the store can hide there from the search below.
  const out = join(home.path, "out")
  await Promise.all([
    ...sessions.map(({ id }) => pond("restore", id, "--root", join(out, id), "--cwd", "/work/alpha")),
    ...["sessions", "messages", "parts"].map((table) =>
      pond("sql", `select * from ${table}`, "-o", join(home.path, `${table}.ndjson`)),
    ),
  ])
  await Promise.all(
    [
      ...[
        ["verify", "--json"],
        ["verify", "--through-store"],
        ["status", "--json"],
        ["doctor", "--json"],
      ],
      ["adapters", "discover", "--json"],
    ].map((words) => pond(...words)),
  )

  // Into the clients' own homes, where the credentials lie, and from there into the store again. A session is a file, but of
  // opencode a row of its database; a title of Codex stands in its index.
  const written: string[] = []
  for (const [from, to] of PAIRS) {
    const { stdout } = await pond("restore", firsts.get(from) ?? "", "--to", to, "--cwd", "/work/alpha", "--json")
    const { fidelity, files } = JSON.parse(stdout)
    expect({ from, to, fidelity }).toEqual({ from, to, fidelity: "foreign" })
    written.push(...files.map(({ path }: { path: string }) => path))
  }
  const again = JSON.parse((await pond("sync", "--only", "import", "--json")).stdout)
  const added = again.adapters.reduce((sum: number, { sessions: { new: count } }: Counted) => sum + count, 0)
  expect({ added, files: new Set(written).size }).toEqual({ added: PAIRS.length, files: 11 })

  const failed = ran.filter(({ exitCode }) => exitCode !== 0 && exitCode !== 4)
  expect(failed.map(({ exitCode, stderr }) => [exitCode, stderr])).toEqual([])
  expect(filesWith(out, "tool_use").length).toBeGreaterThan(0)
  expect(readFileSync(join(home.path, "parts.ndjson"), "utf8").length).toBeGreaterThan(10_000)
  expect(filesWith(out, MARK)).toEqual([])
  expect(filesWith(store, MARK)).toEqual([])
  expect(ran.filter(({ stdout, stderr }) => `${stdout}${stderr}`.includes(MARK))).toEqual([])
  // Logs, state, caches: whatever pond writes into a home.
  rmSync(out, { recursive: true })
  const planted = new Set(
    [...Object.keys(FILES), ...TABLES.map(([file]) => file)].map((place) => join(home.path, place)),
  )
  const found = filesWith(home.path, MARK)
  expect(found.length).toBeGreaterThan(40)
  expect(found.filter((path) => !planted.has(path) && !/-(?:wal|shm)$/.test(path))).toEqual([])
}, 300_000)

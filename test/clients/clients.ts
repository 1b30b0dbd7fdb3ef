/**
 * The real clients: which versions, what makes them talk to the scripted model, how a session is begun, resumed and forked,
 * and where it lies. Each runs in a home of its own (see `isolated.sh`), so nothing here may name a person's home.
 */
import { Database } from "bun:sqlite"
import {
  copyFileSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from "node:fs"
import { tmpdir } from "node:os"
import { basename, dirname, join } from "node:path"
import type { Step } from "./drive.ts"

export interface StoredSession {
  readonly id: string
  readonly file: string
  readonly isAgent: boolean
}

export interface Options {
  /** A picture that goes with the first prompt. */
  readonly image?: string
  readonly args?: readonly string[]
  readonly model?: string
  /** Of pi: which of the scripted model's ways it talks. Of Codex: what a thread calls its provider. */
  readonly provider?: string
}

export interface Client {
  readonly name: string
  readonly version: string
  readonly packages: readonly string[]
  /** The words that start it, where it is installed. */
  program(installed: string, node: string): readonly string[]
  /** pond's adapter of it, and the directory that this one calls its root. */
  readonly adapter: string
  readonly folder: string
  readonly environment: Readonly<Record<string, string>>
  configure(home: string, options: Options): void
  begin(prompt: string, options: Options): readonly string[]
  resume(session: string, prompt: string, options: Options): readonly string[]
  fork(session: string, prompt: string): readonly string[]
  /** Over its server, which goes on with sessions that its command line shows nothing of. */
  served?(session: string, prompt: string): readonly string[]
  /** What a session that it has put away wants first. */
  broughtBack?(home: string, session: string): readonly string[] | undefined
  /** What of a home belongs to its sessions. */
  readonly keeps: readonly string[]
  sessions(home: string): readonly StoredSession[]
}

const MODEL_URL = "http://127.0.0.1:8484"

function write(path: string, text: string): void {
  mkdirSync(dirname(path), { recursive: true })
  writeFileSync(path, text)
}

/** In the order of their names. */
function filesBelow(folder: string): string[] {
  if (!existsSync(folder)) return []
  return readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name))
    .sort((left, right) => (left < right ? -1 : 1))
}

/** The records of a log. A line that is none, or two, is left out: damage is for others to find. */
function recordsOf<T>(file: string): T[] {
  return readFileSync(file, "utf8")
    .split("\n")
    .flatMap((line): T[] => {
      try {
        const record: unknown = JSON.parse(line)
        return typeof record === "object" && record !== null && !Array.isArray(record) ? [record as T] : []
      } catch {
        return []
      }
    })
}

// --- Claude Code -------------------------------------------------------------------------------------------------------

const claude: Client = {
  name: "claude",
  version: "2.1.326",
  packages: ["@anthropic-ai/claude-code@2.1.326", "@anthropic-ai/claude-code-linux-x64@2.1.326"],
  program: (installed) => [join(installed, "@anthropic-ai/claude-code-linux-x64/claude")],
  adapter: "claude-code",
  folder: ".claude",
  environment: {
    ANTHROPIC_BASE_URL: MODEL_URL,
    ANTHROPIC_API_KEY: "none",
    DISABLE_AUTOUPDATER: "1",
    CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: "1",
    DISABLE_TELEMETRY: "1",
    DISABLE_ERROR_REPORTING: "1",
    // It refuses to skip its questions for root, but in a sandbox.
    IS_SANDBOX: "1",
  },
  configure: () => undefined,
  begin(prompt, { image, args = [] }) {
    if (image === undefined) return [...CLAUDE, ...args, prompt]
    const source = { type: "base64", media_type: "image/png", data: readFileSync(image).toString("base64") }
    const content = [
      { type: "image", source },
      { type: "text", text: prompt },
    ]
    const said = JSON.stringify({ type: "user", message: { role: "user", content } })
    const streams = "--verbose --input-format stream-json --output-format stream-json"
    return ["bash", "-c", `printf '%s\\n' "$0" | ${CLAUDE.join(" ")} ${streams}`, said]
  },
  resume: (session, prompt, { args = [] }) => [...CLAUDE, ...args, "--resume", session, prompt],
  fork: (session, prompt) => [...CLAUDE, "--resume", session, "--fork-session", prompt],
  keeps: [".claude/projects", ".claude/history.jsonl", ".claude/todos", ".claude/tasks", ".claude/file-history"],
  sessions: (home) =>
    filesBelow(join(home, ".claude/projects"))
      .filter((file) => /\/projects\/[^/]+\/[0-9a-f-]{36}\.jsonl$/.test(file))
      .map((file) => ({ id: basename(file, ".jsonl"), file, isAgent: false })),
}
const CLAUDE = ["claude", "-p", "--dangerously-skip-permissions"]

// --- Codex -------------------------------------------------------------------------------------------------------------

interface RolloutHeader {
  readonly type: string
  readonly payload?: {
    readonly id?: string
    readonly thread_source?: string
    readonly source?: unknown
    readonly model_provider?: string
  }
}

const codex: Client = {
  name: "codex",
  version: "0.169.0",
  packages: ["@openai/codex@0.169.0"],
  program: (installed) => [join(installed, "@openai/codex-linux-x64/vendor/x86_64-unknown-linux-musl/bin/codex")],
  adapter: "codex",
  folder: ".codex",
  // It does not run its own tools where its home lies in the directory for temporary files.
  environment: { MODEL_KEY: "none", CODEX_API_KEY: "none", TMPDIR: "/var/tmp" },
  configure(home, { model = "gpt-5.5", provider = "mock" }) {
    // OpenAI itself may not be described anew, only put elsewhere.
    const described = [
      ...[`[model_providers.${provider}]`, `name = "${provider}"`, `base_url = "${MODEL_URL}/v1"`],
      ...['wire_api = "responses"', 'env_key = "MODEL_KEY"', "request_max_retries = 0", "stream_max_retries = 0"],
      "supports_websockets = false",
    ]
    const isOpenai = provider === "openai"
    const lines = [
      ...[`model = "${model}"`, `model_provider = "${provider}"`, 'model_reasoning_summary = "auto"'],
      ...['approval_policy = "never"', 'sandbox_mode = "danger-full-access"', "check_for_update_on_startup = false"],
      ...(isOpenai ? [`openai_base_url = "${MODEL_URL}/v1"`] : described),
      ...["[analytics]", "enabled = false", "[otel]", 'exporter = "none"', ""],
    ]
    write(join(home, ".codex/config.toml"), lines.join("\n"))
  },
  begin: (prompt, { image, args = [] }) => [
    ...[...CODEX, ...args, "--skip-git-repo-check", prompt],
    ...(image === undefined ? [] : ["-i", image]),
  ],
  resume: (session, prompt, { args = [] }) => [...CODEX, ...args, "--skip-git-repo-check", "resume", session, prompt],
  fork: (session, prompt) => [...CODEX, "--skip-git-repo-check", "fork", session, prompt],
  broughtBack: (home, session) =>
    codex.sessions(home).some(({ id, file }) => id === session && file.includes("/archived_sessions/"))
      ? ["codex", "unarchive", session]
      : undefined,
  keeps: [".codex/sessions", ".codex/archived_sessions", ".codex/session_index.jsonl", ".codex/history.jsonl"],
  sessions: (home) =>
    filesBelow(join(home, ".codex"))
      .filter((file) => /\/rollout-[^/]*\.jsonl$/.test(file))
      .map((file) => {
        const [header] = headersOf(file)
        const isAgent = header?.thread_source === "subagent" || typeof header?.source === "object"
        return { id: header?.id ?? "", file, isAgent }
      }),
}
const CODEX = ["codex", "exec"]

/** Its own, and those of threads that it copies. */
function headersOf(file: string): RolloutHeader["payload"][] {
  return recordsOf<RolloutHeader>(file).flatMap(({ type, payload }) => (type === "session_meta" ? [payload] : []))
}

// --- opencode ----------------------------------------------------------------------------------------------------------

const OPENCODE_MODEL = {
  ...{ name: "Scripted", reasoning: true, tool_call: true, attachment: true },
  ...{ cost: { input: 3, output: 15 }, limit: { context: 200_000, output: 32_000 } },
  modalities: { input: ["text", "image"], output: ["text"] },
}

const opencode: Client = {
  name: "opencode",
  version: "1.18.33",
  packages: ["opencode-ai@1.18.33", "opencode-linux-x64@1.18.33"],
  program: (installed) => [join(installed, "opencode-linux-x64/bin/opencode")],
  adapter: "opencode",
  folder: ".local/share/opencode",
  environment: {
    OPENCODE_DISABLE_AUTOUPDATE: "1",
    OPENCODE_DISABLE_MODELS_FETCH: "1",
    OPENCODE_DISABLE_LSP_DOWNLOAD: "1",
    OPENCODE_DISABLE_DEFAULT_PLUGINS: "1",
  },
  configure(home) {
    const scripted = {
      ...{ npm: "@ai-sdk/openai-compatible", name: "Scripted" },
      options: { baseURL: `${MODEL_URL}/v1`, apiKey: "none" },
      models: { "mock-model": OPENCODE_MODEL },
    }
    const config = {
      ...{ autoupdate: false, share: "disabled", permission: "allow" },
      ...{ model: "mock/mock-model", small_model: "mock/mock-model", provider: { mock: scripted } },
    }
    write(join(home, ".config/opencode/opencode.json"), JSON.stringify(config))
  },
  begin: (prompt, { image, args = [] }) => [
    ...["opencode", "run", prompt],
    ...(image === undefined ? [] : ["-f", image]),
    ...args,
  ],
  resume: (session, prompt) => ["opencode", "run", "-s", session, prompt],
  fork: (session, prompt) => ["opencode", "run", "-s", session, "--fork", prompt],
  served(session, prompt) {
    const path = `/api/session/${session}`
    const steps: Step[] = [
      { ask: "/api/model", until: "mock-model" },
      { ask: `${path}/prompt`, params: { prompt: { text: prompt } } },
      { ask: `${path}/context`, until: "CHECK-OK" },
    ]
    return [process.execPath, join(import.meta.dir, "drive.ts"), "opencode", JSON.stringify(steps)]
  },
  keeps: [
    ".local/share/opencode/opencode.db",
    ".local/share/opencode/opencode.db-wal",
    ".local/share/opencode/opencode.db-shm",
    ".local/share/opencode/storage",
    ".local/share/opencode/tool-output",
  ],
  sessions(home) {
    const file = join(home, ".local/share/opencode/opencode.db")
    if (!existsSync(file)) return []
    // Opening it where it lies would take in and drop the -wal file that the client has left.
    const folder = mkdtempSync(join(tmpdir(), "pond-clients-db-"))
    try {
      for (const end of ["", "-wal"])
        if (existsSync(file + end)) copyFileSync(file + end, join(folder, `copy.db${end}`))
      using database = new Database(join(folder, "copy.db"))
      const rows = database.query("select id, parent_id from session order by time_created, id").all()
      return (rows as { id: string; parent_id: string | null }[]).map(({ id, parent_id }) => ({
        ...{ id, file, isAgent: parent_id !== null },
      }))
    } finally {
      rmSync(folder, { recursive: true, force: true })
    }
  },
}

// --- pi, under its two names -------------------------------------------------------------------------------------------

function pi(name: string, version: string, packageName: string, entry: string): Client {
  const base = [name, "-p", "--thinking", "medium", "--provider"]
  const providers: Readonly<Record<string, readonly string[]>> = {
    mock: [...base, "mock", "--model", "mock-model"],
    mockoai: [...base, "mockoai", "--model", "mock-oai"],
  }
  const words = (provider = "mock") => providers[provider] ?? [...base, "mock", "--model", "mock-model"]
  return {
    name,
    version,
    packages: [`${packageName}@${version}`],
    program: (installed, node) => [node, join(installed, packageName, entry)],
    adapter: "pi",
    folder: ".pi/agent/sessions",
    environment: { PI_OFFLINE: "1", PI_SKIP_VERSION_CHECK: "1", PI_TELEMETRY: "0" },
    configure: (home) => write(join(home, ".pi/agent/models.json"), JSON.stringify({ providers: PI_PROVIDERS })),
    begin: (prompt, { provider, image }) => [...words(provider), ...(image === undefined ? [] : [`@${image}`]), prompt],
    resume: (session, prompt, { provider }) => [...words(provider), "--session", session, prompt],
    fork: (session, prompt) => [...words(), "--fork", session, prompt],
    keeps: [".pi/agent/sessions"],
    sessions: (home) =>
      filesBelow(join(home, ".pi/agent/sessions"))
        .filter((file) => file.endsWith(".jsonl"))
        .map((file) => ({ id: recordsOf<{ id?: string }>(file)[0]?.id ?? "", file, isAgent: false })),
  }
}

const PI_MODEL = {
  ...{ reasoning: true, input: ["text", "image"], contextWindow: 200_000, maxTokens: 32_000 },
  cost: { input: 3, output: 15, cacheRead: 0.3, cacheWrite: 3.75 },
}
const PI_PROVIDERS = {
  mock: {
    ...{ baseUrl: MODEL_URL, api: "anthropic-messages", apiKey: "none" },
    models: [{ id: "mock-model", name: "Scripted", ...PI_MODEL }],
  },
  mockoai: {
    ...{ baseUrl: `${MODEL_URL}/v1`, api: "openai-responses", apiKey: "none" },
    models: [{ id: "mock-oai", name: "Scripted", ...PI_MODEL }],
  },
}

export const CLIENTS: readonly Client[] = [
  claude,
  codex,
  opencode,
  pi("pi", "0.87.1", "@earendil-works/pi-coding-agent", "dist/bundle/cli.js"),
  pi("pi-old", "0.73.1", "@mariozechner/pi-coding-agent", "dist/cli.js"),
]

export function clientNamed(name: string): Client {
  const client = CLIENTS.find((each) => each.name === name)
  if (client !== undefined) return client
  throw new Error(`There is no client "${name}". There are: ${CLIENTS.map((each) => each.name).join(", ")}.`)
}

/** The provider that a session of pi was last led by, and the one of a thread of Codex, which may have no other. */
export function providerOf(client: Client, home: string, session: string): string | undefined {
  if (client.name === "codex") return headerOf(client, home, session)?.model_provider
  if (client.adapter !== "pi") return undefined
  const file = client.sessions(home).find(({ id }) => id === session)?.file
  const changes = file === undefined ? [] : recordsOf<{ type?: string; provider?: string }>(file)
  return changes.findLast(({ type }) => type === "model_change")?.provider
}

function headerOf(client: Client, home: string, session: string): RolloutHeader["payload"] {
  const file = client.sessions(home).find(({ id }) => id === session)?.file
  return file === undefined ? undefined : headersOf(file)[0]
}

/** The model that a thread of Codex was last led by: with another one, Codex sums it up before it goes on. */
export function modelOf(client: Client, home: string, session: string): string | undefined {
  if (client.name !== "codex") return undefined
  const file = client.sessions(home).findLast(({ id }) => id === session)?.file
  const records = file === undefined ? [] : recordsOf<{ type?: string; payload?: { model?: string } }>(file)
  const model = records.findLast(({ type }) => type === "turn_context")?.payload?.model
  return model?.startsWith("gpt-") ? model : undefined
}

/**
 * The real clients: which versions, what makes them talk to the scripted model, how a session is begun, resumed and forked,
 * and where it lies. Each runs in a separate home (see `isolated.sh`), so nothing here may name a person's home.
 */
import { readFileSync } from "node:fs"
import { basename, join } from "node:path"
import { aider } from "./aider-client.ts"
import { amp } from "./amp-client.ts"
import { type Client, filesBelow, MODEL_URL, recordsOf, write } from "./client.ts"
import { cline } from "./cline-client.ts"
import { continued } from "./continue-client.ts"
import { copilot } from "./copilot-client.ts"
import { droid } from "./droid-client.ts"
import { gemini, qwen } from "./gemini-clients.ts"
import { goose } from "./goose-client.ts"
import { grok } from "./grok-client.ts"
import { hermes } from "./hermes-client.ts"
import { kimi } from "./kimi-client.ts"
import { omp } from "./omp-client.ts"
import { openclaw } from "./openclaw-client.ts"
import { kilo, opencode } from "./opencode-clients.ts"
import { openhands } from "./openhands-client.ts"
import { oldVibe, vibe } from "./vibe-clients.ts"

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
  latest: (prompt) => [...CLAUDE, "--continue", prompt],
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
  kilo,
  kimi,
  cline,
  omp,
  hermes,
  droid,
  goose,
  openclaw,
  grok,
  continued,
  amp,
  vibe,
  oldVibe,
  openhands,
  aider,
  gemini,
  qwen,
  copilot,
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

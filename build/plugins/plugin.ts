/**
 * The plugin folder of pond: a skill, the MCP server and hooks, with the manifests by which Claude Code, Codex, Cursor,
 * Gemini CLI, Copilot and opencode each find them. All are written from the description of a release, so that none tells
 * another story. The folder holds no executable: it starts the `pond` that is on the PATH.
 */
import { readFileSync } from "node:fs"
import { join } from "node:path"
import { SKILL } from "../../src/cli/help/skill-text.ts"
import type { Release } from "../release/description.ts"
import { ROOT } from "../release/packages.ts"
import { hookFileOf, hooksOf } from "./hooks.ts"

const SERVER = { command: "pond", args: ["mcp"] }
const KEYWORDS = ["sessions", "history", "search", "memory", "mcp"]

export interface PluginFile {
  readonly path: string
  readonly text: string
}

/** The registry refuses a longer description. */
const REGISTRY_UNITS_MAX = 100

function json(value: unknown): string {
  return `${JSON.stringify(value, null, 2)}\n`
}

/** Paths below the folder, and what each holds. */
export function pluginFiles(release: Release): readonly PluginFile[] {
  const { name, version, summary, license, homepage, maintainer } = release
  const author = { name: maintainer.replace(/\s*<.*$/, "") }
  const about = {
    ...{ name, version, description: summary, author, license, keywords: KEYWORDS },
    ...(homepage === undefined ? {} : { homepage, repository: homepage }),
  }
  const files: Readonly<Record<string, string>> = {
    "README.md": readmeText(release),
    LICENSE: readFileSync(join(ROOT, "LICENSE"), "utf8"),
    "skills/pond/SKILL.md": SKILL,
    // Agent Plugins 1.0: VS Code, Copilot, Cursor, Kiro.
    "plugin.json": json({ name, version, description: summary, author, license }),
    "mcp.json": json({ mcpServers: { pond: SERVER } }),
    // Claude Code, and the marketplace that this folder is.
    ".claude-plugin/plugin.json": json(about),
    ".claude-plugin/marketplace.json": json({
      name,
      owner: author,
      metadata: { description: summary },
      plugins: [{ name, source: "./", description: summary, version, category: "productivity" }],
    }),
    ".mcp.json": json({ mcpServers: { pond: SERVER } }),
    "hooks/hooks.json": json({ description: summary, ...hooksOf("claude-code") }),
    // Codex.
    ".codex-plugin/plugin.json": json({
      ...about,
      skills: "./skills/",
      mcpServers: "./.mcp.json",
      hooks: "./codex/hooks.json",
    }),
    "codex/hooks.json": json(hooksOf("codex")),
    // Cursor.
    ".cursor-plugin/plugin.json": json(about),
    // Gemini CLI, in a separate folder: it would read the hooks of Claude Code, and mean other times by them.
    "gemini/gemini-extension.json": json({ name, version, description: summary, mcpServers: { pond: SERVER } }),
    "gemini/hooks/hooks.json": json(hooksOf("gemini-cli")),
    // Qwen Code and Copilot CLI.
    "qwen/hooks.json": json(hooksOf("qwen-code")),
    "copilot/hooks.json": hookFileOf("copilot-cli"),
    "opencode/pond.js": hookFileOf("opencode"),
  }
  return Object.entries(files).map(([path, text]) => ({ path, text }))
}

function readmeText({ version }: Release): string {
  return `# pond ${version} for agents

A skill, an MCP server and hooks. They need the \`pond\` command on the PATH.

| client      | install                                                                                      |
| ----------- | -------------------------------------------------------------------------------------------- |
| Claude Code | \`claude plugin marketplace add DIR\`, then \`claude plugin install pond@pond\`                  |
| Codex       | \`codex plugin\`, or \`codex mcp add pond -- pond mcp\` and \`codex/hooks.json\` as ~/.codex/hooks.json |
| Gemini CLI  | \`gemini extensions install DIR/gemini\`                                                       |
| Qwen Code   | \`qwen mcp add pond pond mcp\`; the hooks of \`qwen/hooks.json\` go into ~/.qwen/settings.json   |
| Copilot CLI | \`copilot/hooks.json\` as ~/.copilot/hooks/pond.json                                           |
| opencode    | \`opencode/pond.js\` into ~/.config/opencode/plugins                                           |

\`pond help recall\` says what the hooks add to a prompt, and how to turn them off. \`pond init\` tells clients of the MCP
server alone.
`
}

/** The name of the server in the registry of MCP servers, which follows from the owner of the page. */
export function registryName({ homepage }: Release): string | undefined {
  const [, owner, repository] = /^https:\/\/github\.com\/([\w.-]+)\/([\w.-]+)$/.exec(homepage ?? "") ?? []
  return owner === undefined || repository === undefined ? undefined : `io.github.${owner}/${repository}`
}

/** What the registry is told: pond as the package of npm, whose launcher starts it. */
export function registryEntry(release: Release): string | undefined {
  const { name, version, summary, homepage } = release
  const listed = registryName(release)
  if (listed === undefined) return undefined
  return json({
    $schema: "https://static.modelcontextprotocol.io/schemas/2025-12-11/server.schema.json",
    name: listed,
    title: name,
    description: summary.slice(0, REGISTRY_UNITS_MAX),
    version,
    repository: { url: homepage, source: "github" },
    packages: [
      {
        registryType: "npm",
        identifier: name,
        version,
        transport: { type: "stdio" },
        packageArguments: [{ type: "positional", value: "mcp" }],
      },
    ],
  })
}

/** The description of a bundle for MCPB: one for each machine, with its executable in it. */
export function bundleManifest(release: Release, platform: "linux" | "darwin"): string {
  const { name, version, summary, description, license, homepage, maintainer } = release
  return json({
    manifest_version: "0.3",
    ...{ name, display_name: name, version, description: summary, long_description: description, license },
    author: { name: maintainer.replace(/\s*<.*$/, "") },
    ...(homepage === undefined ? {} : { homepage, repository: { type: "git", url: homepage } }),
    server: {
      type: "binary",
      entry_point: "server/pond",
      // biome-ignore lint/suspicious/noTemplateCurlyInString: the host of the bundle fills it in.
      mcp_config: { command: "${__dirname}/server/pond", args: ["mcp"], env: {} },
    },
    tools_generated: true,
    keywords: KEYWORDS,
    compatibility: { platforms: [platform] },
  })
}

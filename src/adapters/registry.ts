/**
 * Every adapter, in the order in which people read them. Adding one is one folder and one line here, with the import of its
 * roots: where a client keeps its sessions is known at once, and its codec is loaded when a session of it is met.
 */
import type { Adapter } from "./adapter.ts"
import { roots as aiderRoots, isIn as hasAider } from "./aider/roots.ts"
import { roots as ampRoots } from "./amp/roots.ts"
import { roots as antigravityRoots } from "./antigravity/roots.ts"
import {
  roots as claudeCodeRoots,
  desktopRoots as claudeDesktopRoots,
  qoderRoots,
  xcodeRoots as xcodeClaudeRoots,
} from "./claude-code/roots.ts"
import { roots as clineRoots, kiloLegacyRoots, rooCodeRoots, zooCodeRoots } from "./cline/roots.ts"
import { roots as codexRoots, traeRoots as traeCliRoots } from "./codex/roots.ts"
import { roots as continueDevRoots } from "./continue/roots.ts"
import { roots as copilotCliRoots } from "./copilot-cli/roots.ts"
import { roots as crushRoots } from "./crush/roots.ts"
import { roots as cursorRoots } from "./cursor/roots.ts"
import { roots as devinRoots } from "./devin/roots.ts"
import { roots as droidRoots } from "./droid/roots.ts"
import { roots as geminiCliRoots } from "./gemini-cli/roots.ts"
import { roots as gooseRoots } from "./goose/roots.ts"
import { roots as gptmeRoots } from "./gptme/roots.ts"
import { roots as grokRoots } from "./grok/roots.ts"
import { roots as hermesRoots } from "./hermes/roots.ts"
import { roots as iflowRoots } from "./iflow/roots.ts"
import { roots as junieRoots } from "./junie/roots.ts"
import { roots as kimiRoots } from "./kimi/roots.ts"
import { ideRoots as kiroIdeRoots, roots as kiroRoots } from "./kiro/roots.ts"
import { roots as lettaRoots } from "./letta/roots.ts"
import { listed } from "./listed.ts"
import { kiloRoots, roots as opencodeRoots } from "./opencode/roots.ts"
import { roots as openhandsRoots } from "./openhands/roots.ts"
import { ohMyPiRoots, openclawRoots, roots as piRoots } from "./pi/roots.ts"
import { roots as qwenCodeRoots } from "./qwen-code/roots.ts"
import { roots as traeRoots } from "./trae/roots.ts"
import { roots as vibeRoots } from "./vibe/roots.ts"
import { roots as vscodeChatRoots } from "./vscode-chat/roots.ts"
import { roots as warpRoots } from "./warp/roots.ts"
import { roots as windsurfRoots } from "./windsurf/roots.ts"
import { roots as yoiRoots } from "./yoi/roots.ts"
import { roots as zedRoots } from "./zed/roots.ts"

/** Sessions that are only read where somebody names them: the export of an account, a file of an exchange format. */
const NOWHERE = () => []

export const ADAPTERS: readonly Adapter[] = [
  listed("claude-code", claudeCodeRoots, () => require("./claude-code/adapter.ts").claudeCode),
  listed("codex", codexRoots, () => require("./codex/adapter.ts").codex),
  listed("opencode", opencodeRoots, () => require("./opencode/adapter.ts").opencode),
  listed("pi", piRoots, () => require("./pi/adapter.ts").pi),
  listed("gemini-cli", geminiCliRoots, () => require("./gemini-cli/adapter.ts").geminiCli),
  listed("qwen-code", qwenCodeRoots, () => require("./qwen-code/adapter.ts").qwenCode),
  listed("copilot-cli", copilotCliRoots, () => require("./copilot-cli/adapter.ts").copilotCli),
  listed("kilo", kiloRoots, () => require("./opencode/adapter.ts").kilo),
  listed("kimi", kimiRoots, () => require("./kimi/adapter.ts").kimi),
  listed("cline", clineRoots, () => require("./cline/adapter.ts").cline),
  listed("oh-my-pi", ohMyPiRoots, () => require("./pi/adapter.ts").ohMyPi),
  listed("hermes", hermesRoots, () => require("./hermes/adapter.ts").hermes),
  listed("droid", droidRoots, () => require("./droid/adapter.ts").droid),
  listed("goose", gooseRoots, () => require("./goose/adapter.ts").goose),
  listed("openclaw", openclawRoots, () => require("./pi/openclaw.ts").openclaw),
  listed("grok", grokRoots, () => require("./grok/adapter.ts").grok),
  listed("continue", continueDevRoots, () => require("./continue/adapter.ts").continueDev),
  listed("vibe", vibeRoots, () => require("./vibe/adapter.ts").vibe),
  listed("openhands", openhandsRoots, () => require("./openhands/adapter.ts").openhands),
  listed("aider", aiderRoots, () => require("./aider/adapter.ts").aider, hasAider),
  listed("iflow", iflowRoots, () => require("./iflow/adapter.ts").iflow),
  listed("amp", ampRoots, () => require("./amp/adapter.ts").amp),
  listed("xcode-claude", xcodeClaudeRoots, () => require("./claude-code/adapter.ts").xcodeClaude),
  listed("claude-desktop", claudeDesktopRoots, () => require("./claude-code/adapter.ts").claudeDesktop),
  listed("roo-code", rooCodeRoots, () => require("./cline/adapter.ts").rooCode),
  listed("zoo-code", zooCodeRoots, () => require("./cline/adapter.ts").zooCode),
  listed("kilo-legacy", kiloLegacyRoots, () => require("./cline/adapter.ts").kiloLegacy),
  listed("vscode-chat", vscodeChatRoots, () => require("./vscode-chat/adapter.ts").vscodeChat),
  listed("cursor", cursorRoots, () => require("./cursor/adapter.ts").cursor),
  listed("zed", zedRoots, () => require("./zed/adapter.ts").zed),
  listed("crush", crushRoots, () => require("./crush/adapter.ts").crush),
  listed("kiro", kiroRoots, () => require("./kiro/adapter.ts").kiro),
  listed("kiro-ide", kiroIdeRoots, () => require("./kiro/ide.ts").kiroIde),
  listed("junie", junieRoots, () => require("./junie/adapter.ts").junie),
  listed("windsurf", windsurfRoots, () => require("./windsurf/adapter.ts").windsurf),
  listed("trae", traeRoots, () => require("./trae/adapter.ts").trae),
  listed("trae-cli", traeCliRoots, () => require("./codex/adapter.ts").traeCli),
  listed("warp", warpRoots, () => require("./warp/adapter.ts").warp),
  listed("antigravity", antigravityRoots, () => require("./antigravity/adapter.ts").antigravity),
  listed("devin", devinRoots, () => require("./devin/adapter.ts").devin),
  listed("qoder", qoderRoots, () => require("./claude-code/adapter.ts").qoder),
  listed("nanoclaw", NOWHERE, () => require("./claude-code/adapter.ts").nanoclaw),
  listed("letta", lettaRoots, () => require("./letta/adapter.ts").letta),
  listed("yoi", yoiRoots, () => require("./yoi/adapter.ts").yoi),
  listed("gptme", gptmeRoots, () => require("./gptme/adapter.ts").gptme),
  listed("chatgpt", NOWHERE, () => require("./chatgpt/adapter.ts").chatgpt),
  listed("claude-ai", NOWHERE, () => require("./claude-ai/adapter.ts").claudeAi),
  listed("gemini-app", NOWHERE, () => require("./gemini-app/adapter.ts").geminiApp),
  listed("atif", NOWHERE, () => require("./atif/adapter.ts").atif),
  listed("claude-stream", NOWHERE, () => require("./claude-code/adapter.ts").claudeStream),
  listed("codex-exec", NOWHERE, () => require("./codex-exec/adapter.ts").codexExec),
  listed("entire", NOWHERE, () => require("./claude-code/adapter.ts").entire),
  listed("specstory", NOWHERE, () => require("./specstory/adapter.ts").specstory),
  listed("managed-agents", NOWHERE, () => require("./managed-agents/adapter.ts").managedAgents),
  listed("claude-prompts", NOWHERE, () => require("./prompts/adapter.ts").claudePrompts),
  listed("codex-prompts", NOWHERE, () => require("./prompts/adapter.ts").codexPrompts),
  listed("oh-my-opencode", NOWHERE, () => require("./oh-my-opencode/adapter.ts").ohMyOpencode),
]

export function adapterById(id: string): Adapter | undefined {
  return ADAPTERS.find((adapter) => adapter.id === id)
}

/** The adapter that reads and writes a session natively: sub-agents carry their type behind the brand. */
export function originOf(sourceAgent: string): Adapter | undefined {
  return adapterById(sourceAgent.split("/")[0] ?? sourceAgent)
}

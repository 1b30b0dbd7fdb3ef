/** Every adapter, in the order in which people read them. Adding one is one folder and one line here. */
import type { Adapter } from "./adapter.ts"
import { amp } from "./amp/adapter.ts"
import { atif } from "./atif/adapter.ts"
import { chatgpt } from "./chatgpt/adapter.ts"
import { claudeAi } from "./claude-ai/adapter.ts"
import { claudeCode, claudeDesktop, xcodeClaude } from "./claude-code/adapter.ts"
import { cline, kiloLegacy, rooCode, zooCode } from "./cline/adapter.ts"
import { codex } from "./codex/adapter.ts"
import { continueDev } from "./continue/adapter.ts"
import { copilotCli } from "./copilot-cli/adapter.ts"
import { crush } from "./crush/adapter.ts"
import { cursor } from "./cursor/adapter.ts"
import { droid } from "./droid/adapter.ts"
import { geminiApp } from "./gemini-app/adapter.ts"
import { geminiCli } from "./gemini-cli/adapter.ts"
import { goose } from "./goose/adapter.ts"
import { gptme } from "./gptme/adapter.ts"
import { grok } from "./grok/adapter.ts"
import { hermes } from "./hermes/adapter.ts"
import { iflow } from "./iflow/adapter.ts"
import { kimi } from "./kimi/adapter.ts"
import { kiro } from "./kiro/adapter.ts"
import { kilo, opencode } from "./opencode/adapter.ts"
import { openhands } from "./openhands/adapter.ts"
import { ohMyPi, pi } from "./pi/adapter.ts"
import { openclaw } from "./pi/openclaw.ts"
import { qwenCode } from "./qwen-code/adapter.ts"
import { vibe } from "./vibe/adapter.ts"
import { vscodeChat } from "./vscode-chat/adapter.ts"
import { zed } from "./zed/adapter.ts"

export const ADAPTERS: readonly Adapter[] = [
  claudeCode,
  codex,
  opencode,
  pi,
  geminiCli,
  qwenCode,
  copilotCli,
  kilo,
  kimi,
  cline,
  ohMyPi,
  hermes,
  droid,
  goose,
  openclaw,
  grok,
  continueDev,
  vibe,
  openhands,
  iflow,
  amp,
  xcodeClaude,
  claudeDesktop,
  rooCode,
  zooCode,
  kiloLegacy,
  vscodeChat,
  cursor,
  zed,
  crush,
  kiro,
  gptme,
  chatgpt,
  claudeAi,
  geminiApp,
  atif,
]

export function adapterById(id: string): Adapter | undefined {
  return ADAPTERS.find((adapter) => adapter.id === id)
}

/** The adapter that reads and writes a session natively: sub-agents carry their type behind the brand. */
export function originOf(sourceAgent: string): Adapter | undefined {
  return adapterById(sourceAgent.split("/")[0] ?? sourceAgent)
}

/** Why the harness cannot start a client that pond has an adapter for: what the table says beside each. */

const EDITOR = "an editor with a window, or an extension of one"
const RECORD = "a file that somebody downloaded or another tool wrote: nothing to start"
const SIGNED_IN = "wants a login with its maker before it opens a session"
const NO_PACKAGE = "no registry of packages has the program"

export const NOT_STARTED: Readonly<Record<string, string>> = {
  iflow: "shut down by its maker, and its package is gone from npm",
  "xcode-claude": "runs on macOS alone; the Claude Code inside it is judged",
  "claude-desktop": "an application for macOS and Windows; the Claude Code inside it is judged",
  "roo-code": "shut down; an extension of an editor with a window",
  "zoo-code": EDITOR,
  "kilo-legacy": "an extension of an editor, which Kilo Code 7 replaced",
  "vscode-chat": EDITOR,
  cursor: EDITOR,
  zed: EDITOR,
  crush: "its npm package downloads the program from elsewhere",
  kiro: SIGNED_IN,
  "kiro-ide": EDITOR,
  junie: SIGNED_IN,
  windsurf: EDITOR,
  trae: EDITOR,
  "trae-cli": NO_PACKAGE,
  warp: "a terminal with a window",
  antigravity: EDITOR,
  devin: SIGNED_IN,
  qoder: SIGNED_IN,
  nanoclaw: "an assistant over chats of messengers; the Claude Code inside it is judged",
  letta: "its packages do not install without what npm does not have",
  yoi: NO_PACKAGE,
  gptme: "this harness does not drive it yet",
  chatgpt: RECORD,
  "claude-ai": RECORD,
  "gemini-app": RECORD,
  atif: RECORD,
  "claude-stream": "what Claude Code printed: a record, which its client does not open",
  "codex-exec": "what Codex printed: a record, which its client does not open",
  entire: RECORD,
  specstory: RECORD,
  "managed-agents": "an agent on its maker's servers",
  "claude-prompts": "a list of prompts, which no client opens",
  "codex-prompts": "a list of prompts, which no client opens",
  "oh-my-opencode": "copies that a plugin left, which no client opens",
}

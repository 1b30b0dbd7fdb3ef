/** Records of prompts that clients keep beside their sessions, and of which sessions. */

export interface Brand {
  readonly id: string
  readonly title: string
  /** The client whose sessions they were typed into. */
  readonly client: string
  readonly folders: readonly string[]
  /** The variable that names another folder. */
  readonly variable: string
  /** The keys of a line. */
  readonly session: string
  readonly text: string
  /** The folder below the root in which the client keeps its sessions, and the sessions that a name in it is of. */
  readonly sessions: string
  readonly sessionOf: RegExp
  /** The folder of long pasted texts, where the client has one. */
  readonly pastes?: string
}

const UUID = "[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}"

export const CLAUDE: Brand = {
  id: "claude-prompts",
  title: "Claude prompts",
  client: "claude-code",
  folders: [".claude"],
  variable: "CLAUDE_CONFIG_DIR",
  session: "sessionId",
  text: "display",
  sessions: "projects",
  sessionOf: new RegExp(`^(${UUID})(?:\\.jsonl)?$`),
  pastes: "paste-cache",
}

export const CODEX: Brand = {
  id: "codex-prompts",
  title: "Codex prompts",
  client: "codex",
  folders: [".codex"],
  variable: "CODEX_HOME",
  session: "session_id",
  text: "text",
  sessions: "sessions",
  sessionOf: new RegExp(`^rollout-.*?(${UUID})(?:_${UUID})?\\.jsonl(?:\\.zst)?$`),
}

export const PLAIN_ID = new RegExp(`^${UUID}$`)

/** Names the document in place of a session: a day of a project. */
export const DAY = "day"

/** The list of prompts in the document that is made of the lines of a session or a day. */
export const LIST = "prompts"

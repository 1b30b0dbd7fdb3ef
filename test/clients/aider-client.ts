/** aider: no sessions of its own but the runs of a history, which it takes up whole; and no tools that its model could call. */
import { existsSync, readdirSync, readFileSync } from "node:fs"
import { join } from "node:path"
import { IDENTITY, sessionsIn } from "../../src/adapters/aider/history.ts"
import { textFingerprint } from "../../src/adapters/decode.ts"
import { type Client, MODEL_URL, type StoredSession } from "./client.ts"

const FOLDER = "chats"
const HISTORY = ".aider.chat.history"

export const aider: Client = {
  name: "aider",
  version: "0.86.2",
  packages: ["aider-chat==0.86.2"],
  isPython: true,
  program: (installed) => [join(installed, "bin/python"), "-m", "aider"],
  adapter: "aider",
  folder: FOLDER,
  environment: {
    OPENAI_API_KEY: "none",
    OPENAI_API_BASE: `${MODEL_URL}/v1`,
    LITELLM_LOCAL_MODEL_COST_MAP: "True",
    AIDER_ANALYTICS_DISABLE: "true",
    PYTHONDONTWRITEBYTECODE: "1",
  },
  configure: () => undefined,
  begin: (prompt) => run(prompt, `${HISTORY}.md`),
  resume: (session, prompt) => run(prompt, `${HISTORY}.${session}.md`, "--restore-chat-history"),
  fork: () => [],
  isOwn: ({ role, text }) => role === "assistant" && text === "Ok.",
  isApart: true,
  hasNoTools: true,
  hasNoList: true,
  keeps: [FOLDER],
  sessions: (home) => {
    const folder = join(home, FOLDER)
    const names = existsSync(folder) ? readdirSync(folder).filter((name) => name.startsWith(HISTORY)) : []
    return names.flatMap((name) => sessionsOf(join(folder, name)))
  },
}

function sessionsOf(file: string): StoredSession[] {
  const text = readFileSync(file, "utf8")
  return sessionsIn(text).map(({ from, to }) => {
    const [, identity = ""] = IDENTITY.exec(text.slice(from, to)) ?? []
    return { id: textFingerprint(identity), file, isAgent: false }
  })
}

const WORDS = [
  ...["aider", "--model", "openai/mock-model", "--edit-format", "ask", "--no-git", "--yes-always", "--no-pretty"],
  ...["--no-stream", "--map-tokens", "0", "--max-chat-history-tokens", "1000000", "--no-check-update"],
  ...["--no-show-release-notes", "--no-show-model-warnings", "--no-detect-urls", "--no-gitignore"],
]

/** In a file for the session alone, where it has one. */
function run(prompt: string, file: string, ...more: readonly string[]): readonly string[] {
  const place = `"$HOME/${FOLDER}`
  const script = [
    `f=${place}/${file}"; [ -e "$f" ] || f=${place}/${HISTORY}.md"`,
    `exec "$@" --chat-history-file "$f" --input-history-file ${place}/.aider.input.history" --message "$0"`,
  ]
  return ["bash", "-c", script.join("; "), prompt, ...WORDS, ...more]
}

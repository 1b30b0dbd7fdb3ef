/**
 * Where the records of a client name the git branch, as keys below the record: the first that is there. Apart from the
 * adapters, because a list of sessions shows branches and would load every codec for it.
 */
type Places = readonly (readonly string[])[]

const CLAUDE: Places = [["gitBranch"]]

const CODEX: Places = [
  ["payload", "git", "branch"],
  ["git", "branch"],
]

const PLACES: Readonly<Record<string, Places>> = {
  "claude-code": CLAUDE,
  "claude-desktop": CLAUDE,
  "xcode-claude": CLAUDE,
  qoder: CLAUDE,
  codex: CODEX,
  "trae-cli": CODEX,
  "qwen-code": [["gitBranch"]],
  hermes: [["git_branch"]],
}

/** Of a client, or of its sub-agents, which carry their type behind its name. */
export function branchPlaces(sourceAgent: string): Places {
  return PLACES[sourceAgent.split("/")[0] ?? sourceAgent] ?? []
}

/** The last key of every place. */
export const BRANCH_KEYS: readonly string[] = [
  ...new Set(Object.values(PLACES).flatMap((places) => places.map((path) => path.at(-1) ?? ""))),
]

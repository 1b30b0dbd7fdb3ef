/**
 * What people type who come from other tools. A synonym of a verb either runs that verb or leads to the one that does the
 * job; a synonym of a flag is that flag where the verb has it. A verb or flag of that name always comes first.
 */
import type { Flags } from "./flags.ts"

interface VerbSynonym {
  /** Runs this verb with the rest of the command line. */
  readonly runs?: string
  /** Which command does it, where the rest of the line would not fit. */
  readonly hint?: string
}

const LIST: VerbSynonym = { runs: "list" }
const COST: VerbSynonym = { runs: "cost" }
const DELETE: VerbSynonym = { runs: "erase" }
const CLEAN: VerbSynonym = { runs: "optimize" }
const UPDATE: VerbSynonym = { runs: "upgrade" }
const MARKDOWN: VerbSynonym = {
  hint: "`pond get SESSION -o session.html` writes a session as a page, -o session.md as Markdown.",
}
const ANNOTATE: VerbSynonym = {
  hint: "`pond label SESSION` takes --name, --star, --tag and --note. `pond list --tag TAG` finds it again.",
}
const COPY: VerbSynonym = {
  hint: "`pond copy --to URL` copies to another store, `pond export -o FILE.pond` to a file.",
}
const LOGIN: VerbSynonym = { hint: "There are no accounts. `pond help storage` explains the credentials of a bucket." }

export const VERB_SYNONYMS: Readonly<Record<string, VerbSynonym>> = {
  ls: LIST,
  sessions: LIST,
  log: LIST,
  history: LIST,
  recent: LIST,
  last: LIST,
  find: { runs: "search" },
  grep: { runs: "search" },
  query: { runs: "search" },
  show: { runs: "get" },
  view: { runs: "get" },
  cat: { runs: "get" },
  read: { runs: "get" },
  tail: { hint: "`pond get SESSION --from end` shows the last messages." },
  continue: { runs: "resume" },
  info: { runs: "status" },
  setup: { runs: "init" },
  costs: COST,
  tokens: COST,
  usage: COST,
  spend: COST,
  rm: DELETE,
  remove: DELETE,
  delete: DELETE,
  forget: DELETE,
  prune: CLEAN,
  gc: CLEAN,
  clean: CLEAN,
  compact: CLEAN,
  ui: { runs: "browse" },
  tui: { runs: "browse" },
  pick: { runs: "browse" },
  web: { runs: "open" },
  dashboard: { runs: "open" },
  update: UPDATE,
  "self-update": UPDATE,
  publish: { runs: "share" },
  gist: { hint: "Share with `pond share SESSION --to gist`." },
  html: MARKDOWN,
  tag: ANNOTATE,
  note: ANNOTATE,
  star: ANNOTATE,
  rename: ANNOTATE,
  annotate: ANNOTATE,
  labels: { runs: "label" },
  backup: COPY,
  push: COPY,
  pull: { hint: "`pond copy --from URL --to URL` copies between stores, `pond import FILE` reads an export file." },
  merge: { runs: "import" },
  projects: { hint: "`pond stats --by project` lists the projects." },
  clients: { runs: "adapters list" },
  agents: { runs: "adapters list" },
  discover: { runs: "adapters discover" },
  logs: { runs: "schedule logs" },
  health: { runs: "doctor" },
  login: LOGIN,
  logout: LOGIN,
}

/** By what was typed: the flags that it can mean, the first that the verb has. */
const FLAG_SYNONYMS: Readonly<Record<string, readonly string[]>> = {
  since: ["from"],
  after: ["from"],
  until: ["to"],
  before: ["to"],
  client: ["agent"],
  adapter: ["agent"],
  max: ["limit"],
  count: ["limit"],
  n: ["limit"],
  p: ["project"],
  out: ["output"],
  file: ["output"],
  dry: ["dry-run"],
  "no-act": ["dry-run"],
  overwrite: ["force"],
  target: ["to"],
  dir: ["cwd", "path"],
  directory: ["cwd", "path"],
}

/** What to type instead of a flag that is a value, or several, of another. */
export const FLAG_HINTS: Readonly<Record<string, string>> = {
  days: "Use --from, for example --from 7d.",
  here: "Use --project with a dot: --project .",
  exact: "Use --mode exact.",
  regexp: "Use --mode pattern.",
  regex: "Use --mode pattern.",
  tools: "Use --scope tools.",
  all: "Use --scope all, or leave out the filters.",
  html: "Use -o session.html.",
  md: "Use -o session.md.",
  markdown: "Use -o session.md.",
  format: "`pond get SESSION -o session.html` writes a page, -o session.md Markdown, -o session.json JSON.",
  cost: "`pond cost` shows tokens and cost.",
  tokens: "`pond cost` shows tokens and cost.",
  last: "`pond resume --last` resumes the session that was active last.",
}

/** The same command line with the flag names of this verb. */
export function replaceFlagSynonyms(argv: readonly string[], flags: Flags): readonly string[] {
  const shorts = new Set(Object.values(flags).map(({ short }) => short))
  const end = argv.indexOf("--")
  return argv.map((word, index) => {
    const [, dashes = "", name = "", value = ""] = /^(--?)([a-z][a-z-]*)(=.*)?$/.exec(word) ?? []
    const isKnown = Object.hasOwn(flags, name) || (dashes === "-" && shorts.has(name))
    if (name === "" || isKnown || (end !== -1 && index > end)) return word
    const meant = meaningOf(FLAG_SYNONYMS, name)?.find((each) => Object.hasOwn(flags, each))
    const isAlike = dashes === "--" ? name.length > 1 : name.length === 1
    return meant === undefined || !isAlike ? word : `--${meant}${value}`
  })
}

/** What a table has for a word that somebody typed. Every object also answers to `constructor` and the like. */
export function meaningOf<T>(table: Readonly<Record<string, T>>, word: string): T | undefined {
  return Object.hasOwn(table, word) ? table[word] : undefined
}

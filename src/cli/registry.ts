/**
 * The table of verbs. Help, completions, suggestions and the README's test derive from it and from the verbs it loads.
 *
 * To add a verb:
 *   1. `src/cli/verbs/<verb>.ts` exports one `defineVerb({ flags, positionals, examples, run })`. Flags and words that the
 *      operation takes derive from its input: `argumentsFor` in `operation-arguments.ts`. `run` calls the operation with
 *      `context.pond` and returns `{ document, render }`; a failure is a thrown `PondError`.
 *   2. One line here. A verb of two words (`adapters list`) is a separate line under its full name. citty dispatches to
 *      it: `frame/command-tree.ts`.
 * The file is loaded when its verb is typed, so it may import its operation; this table must stay light, because
 * `pond --help` reads all of it.
 */
import type { VerbRow } from "./verb.ts"

export const VERBS: readonly VerbRow[] = [
  {
    name: "init",
    group: "archive",
    summary: "Set up pond: clients, settings, MCP, a schedule, a first sync.",
    load: async () => (await import("./verbs/init.ts")).init,
  },
  {
    name: "sync",
    group: "archive",
    summary: "Store what your coding agents wrote since the last sync.",
    load: async () => (await import("./verbs/sync.ts")).sync,
  },
  {
    name: "watch",
    group: "archive",
    summary: "Keep running and store every change within two seconds.",
    load: async () => (await import("./verbs/sync.ts")).watch,
  },
  {
    name: "completions",
    group: "care",
    summary: "Print a shell completion script.",
    load: async () => (await import("./verbs/completions.ts")).completions,
  },
  {
    name: "search",
    group: "archive",
    summary: "Search the sessions of all clients.",
    load: async () => (await import("./verbs/search.ts")).search,
  },
  {
    name: "list",
    group: "archive",
    summary: "List sessions, newest first.",
    load: async () => (await import("./verbs/list.ts")).list,
  },
  {
    name: "browse",
    group: "archive",
    summary: "Browse sessions on the terminal: filter, read, search, resume.",
    load: async () => (await import("./verbs/browse.ts")).browse,
  },
  {
    name: "label",
    group: "archive",
    summary: "Name, star, tag or annotate a session.",
    load: async () => (await import("./verbs/label.ts")).label,
  },
  {
    name: "get",
    group: "archive",
    summary: "Show a session, or a message in context.",
    load: async () => (await import("./verbs/get.ts")).get,
  },
  {
    name: "files",
    group: "archive",
    summary: "List the files that a session read and changed.",
    load: async () => (await import("./verbs/files.ts")).files,
  },
  {
    name: "blame",
    group: "archive",
    summary: "Show which session and message wrote each line of a file.",
    load: async () => (await import("./verbs/blame.ts")).blame,
  },
  {
    name: "recover",
    group: "archive",
    summary: "Bring back a version of a file that an agent read or wrote.",
    load: async () => (await import("./verbs/recover.ts")).recover,
  },
  {
    name: "sql",
    group: "archive",
    summary: "Run one SELECT query over the stored sessions.",
    load: async () => (await import("./verbs/sql.ts")).sql,
  },
  {
    name: "restore",
    group: "carry",
    summary: "Write a session into its own client or another one.",
    load: async () => (await import("./verbs/restore.ts")).restore,
  },
  {
    name: "resume",
    group: "carry",
    summary: "Restore a session and reopen it in a client.",
    load: async () => (await import("./verbs/resume.ts")).resume,
  },
  {
    name: "rescue",
    group: "carry",
    summary: "Write every session of one client into another.",
    load: async () => (await import("./verbs/rescue.ts")).rescue,
  },
  {
    name: "export",
    group: "carry",
    summary: "Export sessions (default: all) to a single file.",
    load: async () => (await import("./verbs/archive.ts")).exportVerb,
  },
  {
    name: "import",
    group: "carry",
    summary: "Import sessions from an export file; existing ones are skipped.",
    load: async () => (await import("./verbs/archive.ts")).importVerb,
  },
  {
    name: "copy",
    group: "carry",
    summary: "Copy a store to another one and verify that nothing is missing.",
    load: async () => (await import("./verbs/archive.ts")).copy,
  },
  {
    name: "share",
    group: "carry",
    summary: "Publish sessions as pages in storage that you own, and print the link.",
    load: async () => (await import("./verbs/share.ts")).share,
  },
  {
    name: "unshare",
    group: "carry",
    summary: "Delete what was shared from this machine.",
    load: async () => (await import("./verbs/share.ts")).unshare,
  },
  {
    name: "open",
    group: "serve",
    summary: "Browse, search and read sessions in the browser.",
    load: async () => (await import("./verbs/open.ts")).open,
  },
  {
    name: "serve",
    group: "serve",
    summary: "Serve the HTTP API and MCP on this machine.",
    load: async () => (await import("./verbs/serve.ts")).serve,
  },
  {
    name: "mcp",
    group: "serve",
    summary: "Serve MCP to an agent over stdin and stdout.",
    load: async () => (await import("./verbs/mcp.ts")).mcp,
  },
  {
    name: "hook",
    group: "serve",
    summary: "Answer a client's hook: recall before prompts, store at the end.",
    load: async () => (await import("./verbs/hook.ts")).hook,
  },
  {
    name: "capture",
    group: "serve",
    summary: "Run a client in a CI job, and store its sessions.",
    load: async () => (await import("./verbs/capture.ts")).capture,
  },
  {
    name: "status",
    group: "care",
    summary: "Show the state of the store, index, clients and schedule.",
    load: async () => (await import("./verbs/status.ts")).status,
  },
  {
    name: "stats",
    group: "archive",
    summary: "Count sessions and messages by day, project, client, tool or model.",
    load: async () => (await import("./verbs/stats.ts")).stats,
  },
  {
    name: "cost",
    group: "archive",
    summary: "Show tokens and cost by model, day, project, session or sub-agent.",
    load: async () => (await import("./verbs/cost.ts")).cost,
  },
  {
    name: "erase",
    group: "care",
    summary: "Erase sessions, and keep them from being stored again.",
    load: async () => (await import("./verbs/erase.ts")).erase,
  },
  {
    name: "exclude list",
    group: "care",
    summary: "List the excluded projects.",
    load: async () => (await import("./verbs/exclude.ts")).list,
  },
  {
    name: "exclude add",
    group: "care",
    summary: "Keep projects out of the store from now on.",
    load: async () => (await import("./verbs/exclude.ts")).add,
  },
  {
    name: "exclude remove",
    group: "care",
    summary: "Stop excluding projects.",
    load: async () => (await import("./verbs/exclude.ts")).remove,
  },
  {
    name: "secrets",
    group: "care",
    summary: "List where sessions contain credentials, without printing them.",
    load: async () => (await import("./verbs/secrets.ts")).secrets,
  },
  {
    name: "adapters list",
    group: "care",
    summary: "List the clients that pond supports.",
    load: async () => (await import("./verbs/adapters.ts")).list,
  },
  {
    name: "adapters discover",
    group: "care",
    summary: "Show which clients have sessions on this machine.",
    load: async () => (await import("./verbs/adapters.ts")).discover,
  },
  {
    name: "adapters enable",
    group: "care",
    summary: "Read a disabled client again.",
    load: async () => (await import("./verbs/adapters.ts")).enable,
  },
  {
    name: "adapters disable",
    group: "care",
    summary: "Stop reading a client (unless you name it explicitly).",
    load: async () => (await import("./verbs/adapters.ts")).disable,
  },
  {
    name: "embeddings list",
    group: "care",
    summary: "List the embedding models that pond knows.",
    load: async () => (await import("./verbs/embeddings.ts")).list,
  },
  {
    name: "embeddings use",
    group: "care",
    summary: "Turn on search by meaning with a model.",
    load: async () => (await import("./verbs/embeddings.ts")).use,
  },
  {
    name: "embeddings off",
    group: "care",
    summary: "Turn off search by meaning.",
    load: async () => (await import("./verbs/embeddings.ts")).off,
  },
  {
    name: "embeddings status",
    group: "care",
    summary: "Show the model in use and how many messages have vectors.",
    load: async () => (await import("./verbs/embeddings.ts")).status,
  },
  {
    name: "schedule start",
    group: "care",
    summary: "Sync automatically on a schedule.",
    load: async () => (await import("./verbs/schedule.ts")).start,
  },
  {
    name: "schedule stop",
    group: "care",
    summary: "Stop automatic syncing.",
    load: async () => (await import("./verbs/schedule.ts")).stop,
  },
  {
    name: "schedule status",
    group: "care",
    summary: "Show whether automatic sync is on, and the result of the last one.",
    load: async () => (await import("./verbs/schedule.ts")).status,
  },
  {
    name: "schedule logs",
    group: "care",
    summary: "List recent syncs and their results.",
    load: async () => (await import("./verbs/schedule.ts")).logs,
  },
  {
    name: "skill",
    group: "serve",
    summary: "Print the skill that teaches an agent to use pond.",
    load: async () => (await import("./verbs/skill.ts")).skill,
  },
  {
    name: "optimize",
    group: "care",
    summary: "Make the store smaller and faster to read.",
    load: async () => (await import("./verbs/optimize.ts")).optimize,
  },
  {
    name: "check",
    group: "care",
    summary: "Check the store for damage.",
    load: async () => (await import("./verbs/check.ts")).check,
  },
  {
    name: "repair",
    group: "care",
    summary: "Remove damaged data from the store and recover what is intact.",
    load: async () => (await import("./verbs/check.ts")).repair,
  },
  {
    name: "storage check",
    group: "care",
    summary: "Test that a store can be written, read and listed.",
    load: async () => (await import("./verbs/storage.ts")).storageCheck,
  },
  {
    name: "namespace list",
    group: "care",
    summary: "List the namespaces of a shared store.",
    load: async () => (await import("./verbs/namespace.ts")).namespaceList,
  },
  {
    name: "namespace create",
    group: "care",
    summary: "Create a namespace with its own data in a shared store.",
    load: async () => (await import("./verbs/namespace.ts")).namespaceCreate,
  },
  {
    name: "config",
    group: "care",
    summary: "Show every setting, its value and where it comes from.",
    load: async () => (await import("./verbs/config.ts")).config,
  },
  {
    name: "config set",
    group: "care",
    summary: "Set a setting in the config file.",
    load: async () => (await import("./verbs/config.ts")).configSet,
  },
  {
    name: "config unset",
    group: "care",
    summary: "Remove a setting from the config file to use its default.",
    load: async () => (await import("./verbs/config.ts")).configUnset,
  },
  {
    name: "doctor",
    group: "care",
    summary: "Check that pond works here, and show how to fix what does not.",
    load: async () => (await import("./verbs/doctor.ts")).doctor,
  },
  {
    name: "verify",
    group: "care",
    summary: "Verify that every session can be restored without loss.",
    load: async () => (await import("./verbs/verify.ts")).verify,
  },
  {
    name: "man",
    group: "care",
    summary: "Print the manual page.",
    load: async () => (await import("./verbs/man.ts")).man,
  },
  {
    name: "upgrade",
    group: "care",
    summary: "Check for a newer release, and show how to install it.",
    load: async () => (await import("./verbs/upgrade.ts")).upgrade,
  },
  {
    name: "uninstall",
    group: "care",
    summary: "Remove what pond has set up on this machine.",
    load: async () => (await import("./verbs/uninstall.ts")).uninstall,
  },
]

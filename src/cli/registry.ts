/**
 * The table of verbs. Help, completions, suggestions and the README's test derive from it and from the verbs it loads.
 *
 * To add a verb:
 *   1. `src/cli/verbs/<verb>.ts` exports one `defineVerb({ flags, positionals, examples, run })`. `run` calls an
 *      operation with `context.pond` and returns `{ document, render }`; a failure is a thrown `PondError`.
 *   2. One line here. A verb of two words (`adapters list`) is a line of its own under its full name.
 * The file is loaded when its verb is typed, so it may import its operation; this table must stay light, because
 * `pond --help` reads all of it.
 */
import type { VerbRow } from "./verb.ts"

export const VERBS: readonly VerbRow[] = [
  {
    name: "init",
    group: "archive",
    summary: "Set pond up here: clients, settings, MCP, a schedule, a first sync.",
    load: async () => (await import("./verbs/init.ts")).init,
  },
  {
    name: "sync",
    group: "archive",
    summary: "Store what your coding agents have written since the last time.",
    load: async () => (await import("./verbs/sync.ts")).sync,
  },
  {
    name: "watch",
    group: "archive",
    summary: "Store each change within two seconds, until Ctrl-C (exit code 0).",
    load: async () => (await import("./verbs/sync.ts")).watch,
  },
  {
    name: "completions",
    group: "care",
    summary: "Print the completion script of a shell.",
    load: async () => (await import("./verbs/completions.ts")).completions,
  },
  {
    name: "search",
    group: "archive",
    summary: "Find what was said, in any session of any client.",
    load: async () => (await import("./verbs/search.ts")).search,
  },
  {
    name: "get",
    group: "archive",
    summary: "Read a session, or a message with its neighbours.",
    load: async () => (await import("./verbs/get.ts")).get,
  },
  {
    name: "sql",
    group: "archive",
    summary: "Answer one SELECT over what is stored.",
    load: async () => (await import("./verbs/sql.ts")).sql,
  },
  {
    name: "restore",
    group: "carry",
    summary: "Write a session into a client, its own or another.",
    load: async () => (await import("./verbs/restore.ts")).restore,
  },
  {
    name: "resume",
    group: "carry",
    summary: "Restore a session, and start its client where it goes on.",
    load: async () => (await import("./verbs/restore.ts")).resume,
  },
  {
    name: "export",
    group: "carry",
    summary: "Write sessions, or all there are, into one archive file.",
    load: async () => (await import("./verbs/archive.ts")).exportVerb,
  },
  {
    name: "import",
    group: "carry",
    summary: "Store what an archive file holds and the store does not.",
    load: async () => (await import("./verbs/archive.ts")).importVerb,
  },
  {
    name: "copy",
    group: "carry",
    summary: "Copy a store into another, and prove that nothing is missing.",
    load: async () => (await import("./verbs/archive.ts")).copy,
  },
  {
    name: "serve",
    group: "serve",
    summary: "Serve HTTP and MCP on this machine.",
    load: async () => (await import("./verbs/serve.ts")).serve,
  },
  {
    name: "mcp",
    group: "serve",
    summary: "Serve MCP to an agent, over stdin and stdout.",
    load: async () => (await import("./verbs/mcp.ts")).mcp,
  },
  {
    name: "status",
    group: "care",
    summary: "Say how things stand: archive, index, sources, schedule.",
    load: async () => (await import("./verbs/status.ts")).status,
  },
  {
    name: "stats",
    group: "archive",
    summary: "Count sessions and messages by day, project, client, tool or model.",
    load: async () => (await import("./verbs/stats.ts")).stats,
  },
  {
    name: "adapters list",
    group: "care",
    summary: "List the clients that pond reads and writes.",
    load: async () => (await import("./verbs/adapters.ts")).list,
  },
  {
    name: "adapters discover",
    group: "care",
    summary: "Say what of each client is on this machine.",
    load: async () => (await import("./verbs/adapters.ts")).discover,
  },
  {
    name: "adapters enable",
    group: "care",
    summary: "Read a client again that was disabled.",
    load: async () => (await import("./verbs/adapters.ts")).enable,
  },
  {
    name: "adapters disable",
    group: "care",
    summary: "Leave a client alone, unless it is named.",
    load: async () => (await import("./verbs/adapters.ts")).disable,
  },
  {
    name: "schedule start",
    group: "care",
    summary: "Sync by itself, every so often.",
    load: async () => (await import("./verbs/schedule.ts")).start,
  },
  {
    name: "schedule stop",
    group: "care",
    summary: "Sync no more by itself.",
    load: async () => (await import("./verbs/schedule.ts")).stop,
  },
  {
    name: "schedule status",
    group: "care",
    summary: "Say whether pond syncs by itself, and how it went.",
    load: async () => (await import("./verbs/schedule.ts")).status,
  },
  {
    name: "schedule logs",
    group: "care",
    summary: "List the last syncs and what became of them.",
    load: async () => (await import("./verbs/schedule.ts")).logs,
  },
  {
    name: "skill",
    group: "serve",
    summary: "Print what an agent should know to use pond.",
    load: async () => (await import("./verbs/skill.ts")).skill,
  },
  {
    name: "optimize",
    group: "care",
    summary: "Make the store smaller and faster to read.",
    load: async () => (await import("./verbs/optimize.ts")).optimize,
  },
  {
    name: "storage check",
    group: "care",
    summary: "Prove that a store holds what is written to it.",
    load: async () => (await import("./verbs/storage.ts")).storageCheck,
  },
  {
    name: "namespace list",
    group: "care",
    summary: "List the tenants of a store that serves several.",
    load: async () => (await import("./verbs/namespace.ts")).namespaceList,
  },
  {
    name: "namespace create",
    group: "care",
    summary: "Make a tenant of a store, with an archive of its own.",
    load: async () => (await import("./verbs/namespace.ts")).namespaceCreate,
  },
  {
    name: "config",
    group: "care",
    summary: "Show every setting, its value, and where the value comes from.",
    load: async () => (await import("./verbs/config.ts")).config,
  },
  {
    name: "doctor",
    group: "care",
    summary: "Check that pond can work here, and say what to do where it cannot.",
    load: async () => (await import("./verbs/doctor.ts")).doctor,
  },
  {
    name: "verify",
    group: "care",
    summary: "Prove that nothing of your sessions would be lost.",
    load: async () => (await import("./verbs/verify.ts")).verify,
  },
]

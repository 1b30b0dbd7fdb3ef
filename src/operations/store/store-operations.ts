/**
 * What the owner of a store asks of it on the command line. Each loads its work when it runs, so that the whole list is
 * cheap to publish and a verb pays only for itself.
 */
import { type TSchema, Type } from "typebox"
import type { Work } from "../../archive/work.ts"
import { nullable, oneOf, onOff, text, texts } from "../fields.ts"
import { closedObject, defineLocalOperation, type RunContext } from "../operation.ts"

/** One value for each kind of row that an export file holds. */
function byKind<const S extends TSchema>(each: S) {
  return { sessions: each, messages: each, parts: each, embeddings: each, blobs: each }
}

const Tally = closedObject(byKind(Type.Integer()))
const Refused = Type.Array(Type.String(), {
  description: "Sessions left out: the store holds another session of the same id.",
})

const Diverging = Type.Array(Type.String(), {
  description: "Sessions left out: the store has other messages of them, or from another source.",
})

const LeftErased = Type.Array(Type.String(), { description: "Sessions left out: they are erased in the store." })

export const secrets = defineLocalOperation({
  name: "secrets",
  summary: "List where stored sessions contain credentials, without printing them.",
  input: closedObject({
    session_id: text("Only this session."),
    project: text("Only projects whose path contains TEXT."),
  }),
  output: closedObject({
    findings: Type.Array(
      closedObject({
        kind: Type.String({ description: "What it looks like: GitHub token, private key, password in a URL." }),
        secret: Type.Integer({ description: "The same number wherever the same credential stands, in this answer." }),
        session_id: Type.String(),
        message_id: nullable(Type.String(), { description: "Null for what is known of the session itself." }),
        project: Type.String(),
        source_agent: Type.String(),
        timestamp: Type.String(),
        columns: Type.Array(Type.String(), { description: "Where it stands, such as parts.text." }),
      }),
      { description: "Newest first." },
    ),
    kinds: Type.Array(closedObject({ kind: Type.String(), secrets: Type.Integer(), findings: Type.Integer() })),
    secrets: Type.Integer({ description: "Different credentials." }),
    sessions: Type.Integer({ description: "Sessions that contain one." }),
    not_searched: Type.Integer({ description: "Values of more than 4 MiB, which are stored apart." }),
  }),
  errors: ["interrupted"],
  surfaces: { local: true, cli: "secrets" },
  read: true,
  run: async ({ pond, signal }: RunContext, request) =>
    await (await import("./secrets.ts")).findSecrets(pond, request, signal),
})

export const recent = defineLocalOperation({
  name: "recent",
  summary: "List the sessions that were continued last.",
  input: closedObject({
    limit: Type.Optional(
      Type.Integer({ minimum: 1, maximum: 1000, default: 20, description: "Maximum number of sessions." }),
    ),
    id_prefix: text("Only sessions whose id begins with this."),
  }),
  output: closedObject({
    sessions: Type.Array(
      closedObject({
        id: Type.String(),
        source_agent: Type.String(),
        project: Type.String(),
        title: Type.String({
          description: "The name a person gave it, the recorded title, or the user's first words.",
        }),
        last_at: Type.String(),
        starred: Type.Optional(Type.Boolean()),
        tags: Type.Optional(Type.Array(Type.String())),
      }),
    ),
    isAll: Type.Boolean({ description: "Whether these are all there are." }),
  }),
  errors: [],
  surfaces: { local: true, cli: "resume" },
  read: true,
  run: async ({ pond }: RunContext, { limit = 20, id_prefix = "" }) =>
    await (await import("./recent-sessions.ts")).recentSessions(pond, limit, id_prefix),
})

// --- Export, import, copy ---------------------------------------------------------------------------------------------

type Hooks = Omit<Work, "signal">

const MergedLabels = {
  labels: closedObject({
    new: Type.Integer({ description: "Names, stars, tags and notes; with verify_only, missing in the target." }),
    present: Type.Integer(),
  }),
  label_conflicts: Type.Array(
    closedObject({
      session_id: Type.String(),
      field: Type.String({ description: "name, star, tag or note." }),
      kept: nullable(Type.String(), { description: "What was set last. Null if it was removed." }),
      overruled: nullable(Type.String()),
    }),
    { description: "Labels that were changed on both sides: the last change counts." },
  ),
}

export const exportFile = defineLocalOperation({
  name: "export_file",
  summary: "Write sessions, or the whole store, into one export file.",
  input: closedObject({
    output: Type.String({ minLength: 1, description: "The file to write." }),
    session: texts("Only this session and its sub-agents."),
    project: text("Only projects whose path contains TEXT."),
    agent: text("Only this client or kind of sub-agent."),
    from: text("Only sessions with messages on or after this day."),
    to: text("Only sessions with messages on or before this day."),
    force: onOff("Overwrite an existing file."),
  }),
  output: closedObject({
    ...byKind(Type.Integer()),
    labels: Type.Integer({ description: "Names, stars, tags and notes, with their history." }),
    path: Type.String(),
    bytes: Type.Integer(),
    raw_bytes: Type.Integer({ description: "What the tables hold before compression." }),
    sha256: Type.String({ description: "Of the whole file." }),
  }),
  errors: ["not_found", "would_overwrite", "interrupted"],
  surfaces: { local: true, cli: "export" },
  read: false,
  run: async ({ pond, ...work }: RunContext & Hooks, { output: path, session = [], force = false, ...filters }) => {
    const [{ exportPond }, { fullSessionId }] = await Promise.all([import("./archive.ts"), import("./session-ids.ts")])
    const sessions = await pond.sessions()
    const sessionIds = await Promise.all(session.map((id) => fullSessionId(sessions, id)))
    return await exportPond(pond, { ...filters, path, sessionIds, isForced: force }, work)
  },
})

export const importFile = defineLocalOperation({
  name: "import_file",
  summary: "Store the sessions of an export file that the store does not hold.",
  input: closedObject({
    file: Type.String({ minLength: 1, description: "The export file to read." }),
    dry_run: onOff("Check the file and show what is new, without storing it."),
  }),
  output: closedObject({
    ...byKind(closedObject({ new: Type.Integer(), present: Type.Integer() })),
    ...MergedLabels,
    refused: Refused,
    diverging: Diverging,
    erased: LeftErased,
    excluded: Type.Array(Type.String(), { description: "Sessions left out: their project is excluded." }),
    bytes: Type.Integer(),
    dry_run: Type.Boolean(),
    ms: Type.Integer({ description: "Until everything was stored." }),
    index_ms: Type.Integer({ description: "For the indexes after that." }),
  }),
  errors: ["not_found", "interrupted"],
  surfaces: { local: true, cli: "import" },
  read: false,
  run: async ({ pond, ...work }: RunContext & Hooks, { file, dry_run: isDryRun = false }) =>
    await (await import("./archive.ts")).importPond(pond, { path: file, isDryRun }, work),
})

export const copy = defineLocalOperation({
  name: "copy",
  summary: "Copy a store to another one and verify that nothing is missing or different.",
  input: closedObject({
    from: text("The store to copy (default: the configured one)."),
    to: Type.String({ minLength: 1, description: "The store to copy to." }),
    verify_only: onOff("Compare both stores without copying."),
    full: onOff("Compare everything again, including what the last copy verified."),
  }),
  output: closedObject({
    copied: Tally,
    present: closedObject(byKind(Type.Integer({ description: "Rows in both stores." }))),
    missing: closedObject(byKind(Type.Integer({ description: "Rows of the source that the target lacks." }))),
    extra: closedObject(byKind(Type.Integer({ description: "Rows that only the target has." }))),
    different: closedObject(byKind(Type.Integer({ description: "Rows in both stores, with other content." }))),
    examples: Type.Array(
      closedObject({
        table: Type.String(),
        key: Type.Array(Type.String()),
        found: oneOf(["missing", "different"]),
      }),
      { description: "A few of the rows that are missing or different." },
    ),
    ...MergedLabels,
    refused: Refused,
    diverging: Diverging,
    erased: LeftErased,
    ok: Type.Boolean({
      description: "Whether the target holds everything that the source held at the start, with the same content.",
    }),
    compared: oneOf(["all", "changed"], {
      description: "All rows, or those of sessions that changed since the last copy.",
    }),
  }),
  errors: ["not_found", "interrupted"],
  surfaces: { local: true, cli: "copy" },
  read: false,
  run: async (
    { pond, ...work }: RunContext & Hooks,
    { from, to, verify_only: isVerifyOnly = false, full: isFull = false },
  ) => await (await import("./archive.ts")).copyPond(pond, { from, to, isVerifyOnly, isFull }, work),
})

// --- Maintenance ------------------------------------------------------------------------------------------------------

const TableShape = closedObject({
  bytes: nullable(closedObject({ live: Type.Integer(), dead: Type.Integer() }), {
    description: "What the newest version needs, and what only older ones need. Null in a bucket that keeps no notes.",
  }),
  pieces: Type.Integer(),
  waiting: Type.Integer({ description: "Rows that the index does not hold yet." }),
})

/** What maintenance did to one table. */
export const MaintainedTable = {
  table: Type.String(),
  isBusy: Type.Boolean({ description: "Another process was at it: nothing was done here." }),
  steps: Type.Array(closedObject({ step: Type.String(), why: Type.String(), ms: Type.Integer() })),
}

export const optimize = defineLocalOperation({
  name: "optimize",
  summary: "Make the store as small and as fast to read as it can be.",
  input: closedObject({}),
  output: closedObject({
    tables: Type.Array(
      closedObject({ ...MaintainedTable, rows: Type.Integer(), before: TableShape, after: TableShape }),
    ),
    ms: Type.Integer(),
  }),
  errors: ["interrupted"],
  surfaces: { local: true, cli: "optimize" },
  read: false,
  run: async ({ pond, signal, onTable }: RunContext & { readonly onTable: (name: string) => void }) =>
    await (await import("./optimize.ts")).optimizeStore(pond, { signal, onTable }),
})

const NamedSessions = Type.Array(Type.String(), { description: "Sessions with rows in what is damaged." })

export const checkStore = defineLocalOperation({
  name: "check",
  summary: "Check the store for damage.",
  input: closedObject({
    read_data: onOff("Read every file and compare it with its checksum."),
    percent: Type.Optional(
      Type.Integer({ minimum: 1, maximum: 100, default: 100, description: "Which share of the files to read." }),
    ),
  }),
  output: closedObject({
    store: Type.String(),
    ok: Type.Boolean({ description: "Whether nothing is damaged." }),
    is_covered: Type.Boolean({ description: "Whether every file has a checksum." }),
    tables: Type.Array(
      closedObject({
        namespace: Type.String(),
        table: Type.String(),
        rows: Type.Integer(),
        lost_rows: Type.Integer({ description: "Rows that cannot be read." }),
        files: Type.Integer({ description: "Files with a checksum." }),
        not_covered: Type.Integer({ description: "Files that no checksum covers yet." }),
        bytes_read: Type.Integer(),
        damaged: Type.Array(
          closedObject({
            file: Type.String({ description: "Below the store." }),
            found: oneOf(["missing", "changed"]),
            sessions: nullable(Type.Array(Type.String()), { description: "Null where it is not known." }),
          }),
        ),
      }),
    ),
    sessions: NamedSessions,
    ms: Type.Integer(),
  }),
  errors: ["interrupted"],
  surfaces: { local: true, cli: "check" },
  read: true,
  run: async (
    { pond, ...hooks }: RunContext & { readonly onTable: (name: string) => void },
    { read_data: isDeep = false, percent },
  ) => await (await import("./integrity.ts")).checkIntegrity(pond, { isDeep, percent }, hooks),
})

export const repairStore = defineLocalOperation({
  name: "repair",
  summary: "Take what is damaged out of the store, and take back what is intact.",
  input: closedObject({}),
  output: closedObject({
    store: Type.String(),
    tables: Type.Array(
      closedObject({
        namespace: Type.String(),
        table: Type.String(),
        lost_rows: Type.Integer(),
        sessions: nullable(Type.Array(Type.String()), { description: "Null where it is not known." }),
        returned: Type.Array(Type.String(), { description: "Files that came back from the quarantine." }),
        quarantined: Type.Array(Type.String(), { description: "Files that went there." }),
        quarantine: nullable(Type.String()),
      }),
      { description: "Those that were not intact." },
    ),
    sessions: NamedSessions,
    lost_rows: Type.Integer(),
  }),
  errors: [],
  surfaces: { local: true, cli: "repair" },
  read: false,
  run: async ({ pond }: RunContext) => await (await import("./integrity.ts")).repairIntegrity(pond),
})

export const storageCheck = defineLocalOperation({
  name: "storage_check",
  summary: "Prove that a storage location can keep a store.",
  input: closedObject({ url: text("A storage URL (default: the configured store).") }),
  output: closedObject({
    url: Type.String({ description: "Without credentials." }),
    ok: Type.Boolean(),
    steps: Type.Array(
      closedObject({
        step: Type.String(),
        ok: Type.Boolean(),
        ms: Type.Integer(),
        error: Type.Optional(closedObject({ code: Type.String(), message: Type.String() })),
      }),
      { description: "In order. After the first failure, only the cleaning up follows." },
    ),
  }),
  errors: [],
  surfaces: { local: true, cli: "storage check" },
  read: false,
  run: async ({ pond }: RunContext, { url }) => await (await import("./storage.ts")).checkStore(pond, url),
})

// --- Namespaces -------------------------------------------------------------------------------------------------------

export const namespaceList = defineLocalOperation({
  name: "namespace_list",
  summary: "List the namespaces of the store.",
  input: closedObject({}),
  output: closedObject({
    namespaces: Type.Array(
      closedObject({
        namespace: Type.String(),
        created_at: Type.Optional(Type.String({ description: "Absent for the store's own namespace." })),
      }),
    ),
  }),
  errors: [],
  surfaces: { local: true, cli: "namespace list" },
  read: true,
  run: async ({ pond }: RunContext) => await (await import("./namespaces.ts")).listNamespaces(pond),
})

export const namespaceCreate = defineLocalOperation({
  name: "namespace_create",
  summary: "Create a namespace in the store.",
  input: closedObject({ name: Type.String({ description: "The name of the namespace; any text." }) }),
  output: closedObject({
    namespace: Type.String(),
    created: Type.Boolean({ description: "False if it existed already." }),
  }),
  errors: [],
  surfaces: { local: true, cli: "namespace create" },
  read: false,
  run: async ({ pond }: RunContext, { name }) => await (await import("./namespaces.ts")).createNamespace(pond, name),
})

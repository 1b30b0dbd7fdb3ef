/** Shapes that the documents of several operations of this folder have in common. */
import { Type } from "typebox"
import { nullable, oneOf, text, texts } from "../fields.ts"
import { closedObject } from "../operation.ts"
import { MaintainedTable } from "../store/store-operations.ts"

export const Count = Type.Integer()
export const Texts = Type.Array(Type.String())

export const Adapters = texts("The clients to read (default: all).")
export const Path = text("Read this directory instead of the client's usual one.")

export const IssueGroups = Type.Array(
  closedObject({
    kind: Type.String(),
    severity: oneOf(["note", "fault"]),
    count: Count,
    example: closedObject({
      kind: Type.String(),
      severity: oneOf(["note", "fault"]),
      file: Type.String(),
      record: Type.Optional(Count),
      found: Type.String(),
    }),
  }),
  { description: "What was not understood or is broken, by kind, with one example each." },
)
const AGE = { days: Count, setting: Type.String(), file: Type.String() }
/** Of a client that keeps the newest sessions, how many. */
const RETENTION = {
  days: Type.Optional(Count),
  setting: Type.Optional(Type.String()),
  file: Type.Optional(Type.String()),
  sessions: Type.Optional(Count),
}
const Retention = nullable(closedObject(RETENTION), {
  description: "When the client deletes sessions: after so many days, or those beyond the newest so many.",
})
const DUE = { due: Type.Integer({ description: "Sessions that the client deletes within a week." }) }
const AgeDue = closedObject({ ...AGE, ...DUE })
export const RetentionDue = closedObject({ ...RETENTION, ...DUE })
export const UnreadClients = Type.Array(
  closedObject({
    client: Type.String(),
    title: Type.String(),
    path: Type.String(),
    sessions: Count,
    retention: AgeDue,
  }),
  { description: "Clients that pond cannot read yet and that are about to delete sessions." },
)

/** What a sync, or its dry run, counts of the sessions of a source. */
export const SeenSessions = {
  seen: Count,
  new: Count,
  grown: Count,
  rewritten: Count,
  unchanged: Count,
  gone: Count,
}

export const SyncReportShape = {
  adapters: Type.Array(
    closedObject({
      adapter: Type.String(),
      path: Type.String(),
      sessions: closedObject({
        ...SeenSessions,
        failed: Count,
        erased: Type.Integer({ description: "Read, and left out because they are erased." }),
        excluded: Type.Integer({ description: "Read, and left out because their project is excluded." }),
        nameless: Type.Integer({ description: "Read, but not yet saying which session they are." }),
      }),
      messages: closedObject({ new: Count }),
      parts: closedObject({ new: Count }),
      bytes_read: Count,
      issues: IssueGroups,
      unverified_versions: Texts,
      retention: Retention,
      ms: Count,
    }),
  ),
  embed: nullable(
    closedObject({ model: Type.String(), embedded: Count, left: Count, ms: Count, interrupted: Type.Boolean() }),
  ),
  index: nullable(closedObject({ tables: Type.Array(closedObject(MaintainedTable)) })),
  ms: Count,
  interrupted: Type.Boolean(),
}

export const SyncRecordShape = {
  at: Type.String(),
  ms: Count,
  store: Type.String(),
  exit_code: Count,
  sessions: Count,
  messages: Count,
  error: nullable(Type.String()),
}
export const LastSync = nullable(closedObject(SyncRecordShape), { description: "The last sync from this machine." })

export const CLIENT = {
  adapter: Type.String(),
  title: Type.String(),
  enabled: Type.Boolean(),
  program: nullable(Type.String(), { description: "Where the client's program is." }),
  installed_version: nullable(Type.String(), {
    description:
      "What its package manager wrote beside the program. null: the program came as a file that must be run to say it.",
  }),
  roots: Type.Array(closedObject({ path: Type.String(), exists: Type.Boolean() })),
  found: Type.Boolean(),
  verified_versions: closedObject({ from: Type.String(), to: Type.String() }),
  judged_by: Type.String({
    description:
      "client: it resumed what pond wrote. samples: real sessions came back whole. source only: its code was read.",
  }),
  judged_on: Type.String({ description: "The day on which its newest version was judged." }),
  converts: Type.Boolean({ description: "Whether sessions of other clients can be converted into it." }),
  mcp: Type.Boolean(),
}
export const Discovered = closedObject({
  ...CLIENT,
  sessions: Count,
  bytes: Count,
  newest: nullable(Type.String()),
  faults: Count,
})

export const SCHEDULERS = ["systemd", "launchd", "cron"] as const
export const MINUTES_DEFAULT = 15

export const SCHEDULE = {
  scheduled: Type.Boolean(),
  scheduler: nullable(oneOf(SCHEDULERS)),
  active: Type.Boolean({ description: "Whether the scheduler itself says that it runs." }),
  every_minutes: nullable(Type.Number()),
  command: Texts,
  files: Texts,
  trouble: nullable(Type.String(), { description: "What keeps it from doing its work." }),
}
export const PLANNED_SCHEDULE = {
  scheduler: oneOf(SCHEDULERS),
  every_minutes: Type.Number(),
  command: Texts,
  files: Type.Array(closedObject({ path: Type.String(), text: Type.String() })),
}

export const SyncReportOutput = closedObject({ ...SyncReportShape, unread: Type.Optional(UnreadClients) })

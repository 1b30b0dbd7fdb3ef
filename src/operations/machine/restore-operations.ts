/** Restoring, all that a client left too, and the proof that nothing is lost by it. Each loads its work when it runs. */
import { Type } from "typebox"
import { choice, nullable, oneOf, onOff, text } from "../fields.ts"
import { closedObject, defineLocalOperation, type RunContext } from "../operation.ts"
import type { RescueHooks } from "./rescue.ts"
import type { planRestoreOf } from "./restore.ts"
import { Adapters, Count, IssueGroups, Path, Texts } from "./shapes.ts"
import type { VerifyHooks } from "./verify.ts"

export const verify = defineLocalOperation({
  name: "verify",
  summary: "Prove that a restore would give back every record, equal by value.",
  input: closedObject({
    adapters: Adapters,
    path: Path,
    session: text("Only this session."),
    through_store: onOff("Also write everything to a temporary store and read it back."),
    against_store: onOff("Compare with the store, for example after a sync or an import."),
  }),
  output: closedObject({
    adapters: Type.Array(
      closedObject({
        adapter: Type.String(),
        path: Type.String(),
        sessions: Count,
        files: Count,
        records: Count,
        bytes: Count,
        mismatches: Type.Array(
          closedObject({
            session: Type.String(),
            file: Type.String(),
            record: Type.Integer({ description: "Counted from 1 in its file or table." }),
            pointer: Type.String({ description: "JSON Pointer of the first difference. Empty: the whole record." }),
            expected: nullable(Type.String()),
            got: nullable(Type.String()),
          }),
        ),
        missing: Type.Array(Type.String(), { description: "Sessions that the store does not hold." }),
        issues: IssueGroups,
        verified_client_versions: closedObject({ from: Type.String(), to: Type.String() }),
        client_versions: Texts,
        unknown_records: Type.Array(closedObject({ found: Type.String(), count: Count })),
        ms: Count,
      }),
    ),
    ok: Type.Boolean(),
  }),
  errors: ["not_found", "interrupted"],
  surfaces: { local: true, cli: "verify" },
  read: true,
  run: async ({ pond, ...hooks }: RunContext & VerifyHooks, input) => {
    const { adapters = [], path, session: sessionId, through_store = false, against_store = false } = input
    const options = { adapters, path, sessionId, throughStore: through_store, againstStore: against_store }
    return await (await import("./verify.ts")).verifyPond(pond, options, hooks)
  },
})

const Losses = Type.Array(closedObject({ kind: Type.String(), count: Count, example: Type.String() }))

const RESTORE_INPUT = {
  session: Type.String({ minLength: 1, description: "The id of the session." }),
  to: text("The client to restore into (default: the session's own)."),
  root: text("The client's data directory, if not the usual one. The client is started with it."),
  cwd: text("The directory to resume the session in."),
  anew: onOff("Write a new session in the client's current format, even when restoring into its original client."),
  force: onOff("Replace existing files, keeping backups next to them."),
  reasoning: choice(["keep", "text", "drop"], "What to do with reasoning the target cannot verify.", "text"),
}

export const restore = defineLocalOperation({
  name: "restore",
  summary: "Write a session into its own client or another one.",
  input: closedObject({ ...RESTORE_INPUT, dry_run: onOff("Show what would be written and what would be lost.") }),
  output: closedObject({
    fidelity: oneOf(["native", "foreign"]),
    outdated: Type.Boolean({ description: "Today's client does not open sessions of this form." }),
    session_id: Type.String({ description: "The id under which the client knows it." }),
    sessions: Type.Array(closedObject({ id: Type.String(), from: Type.String() })),
    files: Type.Array(closedObject({ path: Type.String(), bytes: Count })),
    backups: Texts,
    losses: Losses,
    rewritten_paths: Count,
    resume: closedObject({
      command: Texts,
      cwd: Type.String(),
      environment: Type.Optional(Type.Record(Type.String(), Type.String())),
      note: Type.Optional(Type.String()),
      before: Type.Optional(Type.Array(Type.String(), { description: "To run first." })),
    }),
    written: Type.Boolean({ description: "False for a dry run." }),
  }),
  errors: ["not_found", "would_overwrite", "conflict"],
  surfaces: { local: true, cli: "restore" },
  read: false,
  run: async ({ pond, onPlan }: RunContext & RestoreHooks, { dry_run, session, force = false, ...rest }) => {
    const [{ planRestoreOf: plan, reportOf, restore: write, rootOf }, { withFullSessionId }] = await Promise.all([
      import("./restore.ts"),
      import("../store/session-ids.ts"),
    ])
    const { to, root, cwd, anew: isAnew, reasoning = "text" } = rest
    const options = { sessionId: session, to, root, cwd, reasoning, isForced: force, isAnew }
    using made = await withFullSessionId(pond, session, (sessionId) => plan(pond, { ...options, sessionId }))
    await onPlan?.(made)
    if (dry_run === true) return reportOf(made, root ?? rootOf(pond, made.target, made.resume.cwd))
    return await write(pond, made, options)
  },
})

export interface RestoreHooks {
  /** Before anything is written, while stopping still costs nothing. */
  readonly onPlan?: (plan: Awaited<ReturnType<typeof planRestoreOf>>) => void | Promise<void>
}

export const rescue = defineLocalOperation({
  name: "rescue",
  summary: "Write every session of one client into another.",
  input: closedObject({
    client: Type.String({ minLength: 1, description: "The client whose sessions to convert." }),
    to: Type.String({ minLength: 1, description: "The client to write them into." }),
    path: text("Read the client's sessions from this directory, such as a backup."),
    root: RESTORE_INPUT.root,
    cwd: text("The directory to resume all of them in (default: the one that each ran in)."),
    reasoning: RESTORE_INPUT.reasoning,
    dry_run: onOff("Show what would be written of what is stored, and what would be lost."),
  }),
  output: closedObject({
    client: Type.String(),
    to: Type.String(),
    sessions: Type.Array(
      closedObject({
        session_id: Type.String(),
        title: nullable(Type.String()),
        project: nullable(Type.String()),
        state: oneOf(["written", "planned", "present", "refused"], {
          description: "present: an earlier run wrote it. planned: a dry run.",
        }),
        written_id: nullable(Type.String(), { description: "The id under which the other client knows it." }),
        reason: nullable(Type.String(), { description: "Why it was refused." }),
      }),
    ),
    losses: Losses,
    dry_run: Type.Boolean(),
  }),
  errors: ["not_found", "would_overwrite", "conflict", "interrupted"],
  surfaces: { local: true, cli: "rescue" },
  read: false,
  run: async ({ pond, signal, ...hooks }: RunContext & RescueHooks, { dry_run: isDry = false, ...rest }) => {
    const { rescueSessions } = await import("./rescue.ts")
    return await rescueSessions(
      { pond, signal, ...hooks },
      { root: undefined, cwd: undefined, reasoning: "text", ...rest, isDry },
    )
  },
})

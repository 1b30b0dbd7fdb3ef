/** What a restore would write and lose, for clients over HTTP. Only the machine's owner can write it: `pond restore`. */
import { Type } from "typebox"
import { planRestoreOf, reportOf } from "../machine/restore.ts"
import { closedObject, defineOperation } from "../operation.ts"
import { withFullSessionId } from "../store/session-ids.ts"

const RestorePlanInput = closedObject({
  session_id: Type.String({ minLength: 1, description: "The session." }),
  to: Type.Optional(
    Type.String({ minLength: 1, description: "The client to restore into (default: the session's own)." }),
  ),
  cwd: Type.Optional(Type.String({ minLength: 1, description: "The directory to resume the session in." })),
  reasoning: Type.Optional(
    Type.Union([Type.Literal("keep"), Type.Literal("text"), Type.Literal("drop")], {
      default: "text",
      description: "What to do with reasoning that the target cannot verify (default: text).",
    }),
  ),
  anew: Type.Optional(
    Type.Boolean({ description: "Write a new session in the client's current format, even for its original client." }),
  ),
})

const RestorePlanOutput = closedObject({
  fidelity: Type.Union([Type.Literal("native"), Type.Literal("foreign")]),
  /** Today's client cannot open a session in the form of this one. Written with `anew`, it can. */
  outdated: Type.Boolean(),
  /** The id under which the client would know it. */
  session_id: Type.String(),
  sessions: Type.Array(closedObject({ id: Type.String(), from: Type.String() })),
  /** Below the directory of the client's sessions. */
  files: Type.Array(closedObject({ path: Type.String(), bytes: Type.Integer() })),
  losses: Type.Array(closedObject({ kind: Type.String(), count: Type.Integer(), example: Type.String() })),
  rewritten_paths: Type.Integer(),
  /** `before` is run first, where the client has put the session away. */
  resume: closedObject({
    before: Type.Optional(Type.Array(Type.String())),
    command: Type.Array(Type.String()),
    cwd: Type.String(),
  }),
})

export const restorePlan = defineOperation({
  name: "restore_plan",
  summary: "Show what restoring a session into a client would write and what would be lost.",
  input: RestorePlanInput,
  output: RestorePlanOutput,
  errors: ["not_found"],
  surfaces: { http: true },
  read: true,
  run: async ({ pond }, { session_id: given, to, cwd, reasoning = "text", anew }) => {
    using plan = await withFullSessionId(pond, given, (sessionId) =>
      planRestoreOf(pond, { sessionId, to, cwd, reasoning, isForced: false, isAnew: anew }),
    )
    const { fidelity, outdated, session_id, sessions, files, losses, rewritten_paths, resume } = reportOf(plan, "")
    return {
      fidelity,
      outdated,
      session_id,
      sessions: sessions.map((each) => ({ ...each })),
      files: files.map((each) => ({ ...each })),
      losses: losses.map((each) => ({ ...each })),
      rewritten_paths,
      resume: {
        ...(resume.before === undefined ? {} : { before: [...resume.before] }),
        ...{ command: [...resume.command], cwd: resume.cwd },
      },
    }
  },
})

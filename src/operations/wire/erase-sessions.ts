/**
 * Erasing for whoever asks over a wire: sessions that are named, and never a purge, so that it can be taken back. What
 * removes bytes for good belongs to the owner of the machine: `pond erase --purge`.
 */
import { Type } from "typebox"
import { onOff } from "../fields.ts"
import { closedObject, defineOperation } from "../operation.ts"
import { EraseOutput } from "../store/erase-shapes.ts"

const SESSIONS_MAX = 1000

export const eraseSessions = defineOperation({
  name: "erase_sessions",
  summary: "Erase sessions with their sub-agents, forks and copies, without a purge, or take that back.",
  input: closedObject({
    session_ids: Type.Array(Type.String({ minLength: 1 }), {
      minItems: 1,
      maxItems: SESSIONS_MAX,
      description: "The sessions.",
    }),
    dry_run: onOff("Show what would be erased without erasing it."),
    undo: onOff("Take an erasure back."),
  }),
  output: EraseOutput,
  errors: ["not_found", "conflict", "interrupted"],
  surfaces: { http: true, needsToken: true },
  read: false,
  run: async (context, { session_ids: session, dry_run, undo }) => {
    const { eraseSessions: perform } = await import("../store/erase.ts")
    return await perform(context, { session, ...(undo === true ? { undo } : {}), dry_run: dry_run === true, yes: true })
  },
})

/** What an erasure is asked for, and what it answers. */
import { type Static, Type } from "typebox"
import { nullable, oneOf, onOff, texts } from "../fields.ts"
import { closedObject } from "../operation.ts"
import { SessionFilters } from "../wire/session-filters.ts"

export const EraseInput = closedObject({
  session: texts("Sessions to erase: ids, or the beginnings of ids."),
  filters: Type.Optional(SessionFilters),
  secrets: onOff("Every session in which `pond secrets` finds a credential (with filters: only matching ones)."),
  purge: onOff("Also remove the bytes of everything erased from the files of the store, permanently."),
  list: onOff("List what was erased."),
  undo: onOff("Undo an erasure: bring back what was not purged, and let it be stored again."),
  dry_run: onOff("Show what would be erased without erasing it."),
  yes: onOff("Erase without asking."),
})
export type EraseInput = Static<typeof EraseInput>

const ErasedSession = closedObject({
  session_id: Type.String(),
  why: oneOf(["asked", "child", "copy"], {
    description:
      "Whether it was asked for, belongs to one that is erased (a sub-agent, a fork), or holds copies of it.",
  }),
  because: nullable(Type.String(), { description: "The session that it goes with." }),
  state: oneOf(["stored", "erased", "purging", "purged"], {
    description: "purging: a purge was interrupted, and the next one finishes it.",
  }),
  title: nullable(Type.String(), { description: "Null for what was already erased." }),
  source_agent: nullable(Type.String()),
  project: nullable(Type.String()),
  created_at: nullable(Type.String()),
  erased_at: nullable(Type.String()),
  host: nullable(Type.String(), { description: "The machine that erased it." }),
})

export const EraseOutput = closedObject({
  action: oneOf(["plan", "erase", "undo", "list"], { description: "plan: nothing was changed." }),
  sessions: Type.Array(ErasedSession),
  messages: Type.Integer(),
  parts: Type.Integer(),
  vectors: Type.Integer(),
  attachments: Type.Integer({ description: "Values that these sessions store apart from their tables." }),
  shared_attachments: nullable(Type.Integer(), {
    description: "Those that other sessions use too, and that stay. Null where it was not asked for: a purge asks.",
  }),
  waiting: Type.Integer({ description: "Sessions erased earlier, whose bytes this purge removes too." }),
  purged: nullable(
    closedObject({
      sessions: Type.Integer(),
      removed: Type.Record(Type.String(), Type.Integer(), { description: "Rows, by table." }),
      ms: Type.Integer(),
    }),
  ),
})
export type EraseOutput = Static<typeof EraseOutput>

export interface EraseHooks {
  readonly confirm?: (plan: ErasePlanned) => Promise<boolean>
  readonly onTable?: (name: string) => void
}

/** The document, as far as it is known before anything is done. */
export interface ErasePlanned {
  readonly sessions: readonly { readonly session_id: string; readonly title: string | null }[]
  readonly messages: number
  readonly waiting: number
  readonly is_purge: boolean
}

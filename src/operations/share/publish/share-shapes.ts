/** What sharing and taking back are asked for, and what they answer. */
import { type Static, Type } from "typebox"
import { nullable, oneOf, onOff, text, texts } from "../../fields.ts"
import { closedObject } from "../../operation.ts"
import { SessionFilters } from "../../wire/session-filters.ts"

const SECONDS_MIN = 60
/** No signature lasts longer (AWS Signature Version 4). */
const SECONDS_MAX = 7 * 86_400

export const ShareInput = closedObject({
  session: texts("Sessions to share: ids, or the beginnings of ids."),
  filters: Type.Optional(SessionFilters),
  to: text("Where to publish: s3://bucket/folder, a directory, or gist (on GitHub, with gh)."),
  expires_seconds: Type.Optional(
    Type.Integer({
      minimum: SECONDS_MIN,
      maximum: SECONDS_MAX,
      description: "How long a link into a bucket works, from 1m to 7d (default: 7d).",
    }),
  ),
  public: onOff("Print a link without a signature, for a bucket that anyone can read."),
  conversation_only: onOff("Leave out reasoning, tool calls and what the client inserted."),
  list: onOff("List what was shared from this machine."),
  yes: onOff("Share without asking."),
})
export type ShareInput = Static<typeof ShareInput>

export const Shared = closedObject({
  id: Type.String({ description: "What `pond unshare` takes." }),
  kind: oneOf(["bucket", "directory", "gist"]),
  to: Type.String(),
  link: Type.String({ description: "Of a list, without the signature: that is known to those who have the link." }),
  files: Type.Array(Type.String(), { description: "What was written there." }),
  session_ids: Type.Array(Type.String()),
  title: Type.String(),
  created_at: Type.String(),
  expires_at: nullable(Type.String(), { description: "When the link ends. The files stay until they are unshared." }),
})
export type Shared = Static<typeof Shared>

export const ShareOutput = closedObject({
  action: oneOf(["plan", "share", "list"], { description: "plan: nothing was shared." }),
  shares: Type.Array(Shared),
  session_ids: Type.Array(Type.String()),
  messages: Type.Integer(),
  bytes: Type.Integer(),
  replaced: Type.Array(closedObject({ kind: Type.String(), count: Type.Integer() }), {
    description: "Credentials and home directories that were replaced.",
  }),
})
export type ShareOutput = Static<typeof ShareOutput>

export const UnshareInput = closedObject({
  share: texts("What to delete: the id of a share, a session, or a link."),
  expired: onOff("Everything whose link has expired."),
})
export type UnshareInput = Static<typeof UnshareInput>

export const UnshareOutput = closedObject({ removed: Type.Array(Shared) })
export type UnshareOutput = Static<typeof UnshareOutput>

/** What is asked about before anything leaves the machine. */
export type SharePlanned = Pick<ShareOutput, "session_ids" | "messages" | "bytes" | "replaced"> & {
  readonly to: string
}

export interface ShareHooks {
  readonly confirm?: (plan: SharePlanned) => Promise<boolean>
}

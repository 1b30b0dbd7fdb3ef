/** The record that a message was read from, as its client wrote it, not as pond reads it. */
import { type Static, Type } from "typebox"
import type { NativeRecord } from "../../adapters/shared/native.ts"
import type * as Spelling from "../../adapters/shared/spelling.ts"
import { PondError } from "../../model/errors.ts"
import type { Entry, Session } from "../../model/session.ts"
import type { Sessions } from "../../sessions/store.ts"
import { closedObject } from "../operation.ts"

export const RecordView = closedObject({
  /** The file, below the directory of the client's sessions. */
  place: Type.String(),
  /** Of a database. */
  table: Type.Optional(Type.String()),
  text: Type.Optional(Type.String()),
  /** Where it is no text. */
  base64: Type.Optional(Type.String()),
})
export type RecordView = Static<typeof RecordView>

/** One record becomes a few messages, and they stand together. */
const NEIGHBOURS = 64

export async function rawRecord(sessions: Sessions, session: Session, target: Entry): Promise<RecordView> {
  // Few ask for it, and every `pond get` would load the codecs with it.
  const [{ entriesByRecord, nativeRecords, sourceOf }, { spelled }] = await Promise.all([
    import("../../adapters/shared/native.ts"),
    import("../../adapters/shared/spelling.ts"),
  ])
  const { id, ordinal } = target.message
  const first = sourceOf(target.message)["of"]
  const entries =
    first === undefined
      ? await sessions.entries(session.id, { from: ordinal, to: ordinal + NEIGHBOURS })
      : await sessions.entries(session.id, { from: Math.max(0, ordinal - NEIGHBOURS), to: ordinal + NEIGHBOURS })
  for (const { entries: group } of entriesByRecord({ session, entries })) {
    if (!group.some(({ message }) => message.id === id)) continue
    const [record] = nativeRecords({ session, entries: group })
    if (record !== undefined) return viewOf(record, spelled)
  }
  throw new PondError(
    "not_found",
    `Message ${id} has no original record: it was not read from a client's files, or it is a revision.`,
    { details: { message_id: id, session_id: session.id } },
  )
}

function viewOf({ relativePath: place, table, content }: NativeRecord, spell: typeof Spelling.spelled): RecordView {
  const of = { place, ...(table === undefined ? {} : { table }) }
  if ("text" in content) return { ...of, text: content.text }
  if ("base64" in content) return { ...of, base64: content.base64 }
  const line = spell(content.json, content.spelling)
  return typeof line === "string" ? { ...of, text: line } : { ...of, base64: Buffer.from(line).toString("base64") }
}

/**
 * The message at which a fork left its parent (`parent_message_id`), where only the store can tell. A client that copies the
 * history says it by the last message that both have; one that continues its parent's log says how far, by the number of a
 * record there (`options.pond.forked_at`).
 */
import { isJsonObject, parseOwnJson } from "../../model/json.ts"
import type { Session } from "../../model/session.ts"
import { and, contains, eq } from "../../substrate/filter.ts"
import type { Table } from "../../substrate/table.ts"
import type { MESSAGES } from "../tables.ts"
import { textsIn } from "./mark-replays.ts"
import type { PreparedBatch } from "./prepare.ts"

/** Such a parent must be stored, or be among the batches. */
export async function withForkPoint(
  messages: Table<(typeof MESSAGES)["columns"]>,
  session: Session,
  batches: readonly PreparedBatch[],
): Promise<Session> {
  const { parent_session_id: parent, parent_message_id: known, options } = session
  if (parent === undefined || known !== undefined) return session
  const copied = batches.find((batch) => batch.session.id === session.id)?.copiedTo
  const pond = options["pond"] as { readonly forked_at?: unknown } | undefined
  const at = pond?.forked_at
  const found = copied ?? (typeof at === "number" ? await messageAt(messages, parent, at - 1, batches) : undefined)
  return found === undefined ? session : { ...session, parent_message_id: found }
}

/** The message of the record with that number, of a client that numbers its records. */
async function messageAt(
  messages: Table<(typeof MESSAGES)["columns"]>,
  sessionId: string,
  ordinal: number,
  batches: readonly PreparedBatch[],
): Promise<string | undefined> {
  const said = `"ordinal":${ordinal}`
  for (const batch of batches.filter(({ session }) => session.id === sessionId)) {
    const [ids, options] = [textsIn(batch.messages, "id"), textsIn(batch.messages, "options")]
    const place = options.findIndex((text) => text?.includes(said) === true && isOrdinal(text, ordinal))
    if (place >= 0) return ids[place] ?? undefined
  }
  const where = and(eq("session_id", sessionId), contains("options", said))
  const rows = await messages.read({ columns: ["id", "options"], where })
  return rows.find(({ options }) => isOrdinal(options, ordinal))?.id
}

function isOrdinal(options: string, ordinal: number): boolean {
  const parsed = parseOwnJson(options)
  const source = parsed.ok && isJsonObject(parsed.value) ? parsed.value["source"] : undefined
  const record = isJsonObject(source) ? source["record"] : undefined
  return isJsonObject(record) && record["ordinal"] === ordinal
}

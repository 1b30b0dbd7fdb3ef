/**
 * A forked or resumed session holds copies of its parent's messages, often without a word of where they came from
 * (Claude Code 2.1 copies every line with its uuid and names no parent). It is stored whole, because it must restore
 * alone; each copy is marked `options.pond.replay_of`, so that search and statistics count it once.
 */
import { isJsonObject, type JsonObject, parseOwnJson, stringifyJson } from "../model/json.ts"
import { isIn } from "../substrate/filter.ts"
import type { Table } from "../substrate/table.ts"
import { columnOfText, createBlobSink, textOfColumn } from "./oversized.ts"
import type { PreparedBatch } from "./prepare.ts"
import type { MESSAGES, MessageRow } from "./tables.ts"

type MessagesTable = Table<(typeof MESSAGES)["columns"]>

/** A copy starts with the history that it copies, so a few of the first messages tell whether there is one. */
const PROBES = 4

/** Only sessions that are not stored yet are looked at: a session that goes on copies nothing. */
export async function markReplays(
  messages: MessagesTable,
  batches: readonly PreparedBatch[],
  stored: ReadonlyMap<string, unknown>,
): Promise<PreparedBatch[]> {
  const fresh = batches.filter(({ session }) => !stored.has(session.id))
  if (fresh.length === 0) return [...batches]
  const owners = new Map<string, string>()
  for (const batch of batches) {
    for (const row of batch.messages) {
      if (isSpoken(row) && !owners.has(keyOf(row))) owners.set(keyOf(row), batch.session.id)
    }
  }
  const probes = new Map(fresh.map((batch) => [batch, batch.messages.filter(isSpoken).slice(0, PROBES)]))
  await addStoredOwners(messages, owners, [...probes.values()].flat())
  const suspects = new Set(
    fresh.filter((batch) => probes.get(batch)?.some((row) => owners.get(keyOf(row)) !== batch.session.id)),
  )
  await addStoredOwners(
    messages,
    owners,
    [...suspects].flatMap((batch) => batch.messages.filter(isSpoken).slice(PROBES)),
  )
  return batches.map((batch) => (suspects.has(batch) ? marked(batch, owners) : batch))
}

function marked(batch: PreparedBatch, owners: ReadonlyMap<string, string>): PreparedBatch {
  const blobs = createBlobSink()
  const known = new Map(batch.blobs.map((row) => [row.sha256, row.bytes]))
  const copies = new Set<string>()
  const messages = batch.messages.map((row): MessageRow => {
    const owner = owners.get(keyOf(row))
    if (owner === undefined || owner === batch.session.id || !isSpoken(row)) return row
    copies.add(row.id)
    const parsed = parseOwnJson(textOfColumn(row.options, known))
    const options: JsonObject = parsed.ok && isJsonObject(parsed.value) ? parsed.value : {}
    const pond = { ...(options["pond"] as JsonObject | undefined), replay_of: owner }
    return { ...row, lane: "replay", options: columnOfText(stringifyJson({ ...options, pond }), blobs) }
  })
  const parts = batch.parts.map((row) => (copies.has(row.message_id) ? { ...row, lane: "replay" } : row))
  return { ...batch, messages, parts, blobs: [...batch.blobs, ...blobs.take()] }
}

/** Carriers repeat across sessions without being copies: only what was said counts. */
function isSpoken(row: MessageRow): boolean {
  return row.search_text !== null
}

/** Ids are unique only within a session, so the moment must be the same too. */
function keyOf({ timestamp, id }: Pick<MessageRow, "timestamp" | "id">): string {
  return `${timestamp} ${id}`
}

async function addStoredOwners(
  messages: MessagesTable,
  owners: Map<string, string>,
  rows: readonly MessageRow[],
): Promise<void> {
  if (rows.length === 0) return
  const asked = new Set(rows.map(keyOf))
  const ids = [...new Set(rows.map(({ id }) => id))]
  const found = await messages.read({ columns: ["session_id", "id", "timestamp", "lane"], where: isIn("id", ids) })
  for (const row of found) if (asked.has(keyOf(row)) && row.lane !== "replay") owners.set(keyOf(row), row.session_id)
}

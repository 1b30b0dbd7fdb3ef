/**
 * A forked or resumed session holds copies of its parent's messages, often without a word of where they came from
 * (Claude Code 2.1 copies every line with its uuid and names no parent). It is stored whole, because it must restore
 * alone; each copy is marked `options.pond.replay_of`, so that search and statistics count it once.
 */
import { isJsonObject, type JsonObject, parseOwnJson, stringifyJson } from "../../model/json.ts"
import { type ColumnBatch, type ColumnValues, replaceColumns, textsOf } from "../../substrate/columns/column-batch.ts"
import { isIn } from "../../substrate/filter.ts"
import type { Table } from "../../substrate/table.ts"
import { unpackBlobs } from "../rows/blob-packing.ts"
import { columnOfText, createBlobSink, textOfColumn } from "../rows/oversized.ts"
import { blobsOfRow } from "../rows/row-codecs.ts"
import { type Lane, MESSAGES, PARTS } from "../tables.ts"
import { idOfMoment, momentKey, type PreparedBatch } from "./prepare.ts"

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
  for (const { session, spoken } of batches) {
    for (const key of spoken.keys) if (!owners.has(key)) owners.set(key, session.id)
  }
  const probes = new Map(fresh.map((batch) => [batch, batch.spoken.keys.slice(0, PROBES)]))
  await addStoredOwners(messages, owners, [...probes.values()].flat())
  const suspects = new Set(
    fresh.filter((batch) => probes.get(batch)?.some((key) => owners.get(key) !== batch.session.id)),
  )
  await addStoredOwners(
    messages,
    owners,
    [...suspects].flatMap((batch) => batch.spoken.keys.slice(PROBES)),
  )
  return batches.map((batch) => (suspects.has(batch) ? markForkedHistory(batch, owners) : batch))
}

function markForkedHistory(batch: PreparedBatch, owners: ReadonlyMap<string, string>): PreparedBatch {
  const { session, spoken } = batch
  const ofPlaces = new Map<number, string>()
  for (const [index, key] of spoken.keys.entries()) {
    const owner = owners.get(key)
    const place = spoken.places[index]
    if (owner !== undefined && owner !== session.id && place !== undefined) ofPlaces.set(place, owner)
  }
  const marked = markReplayed(batch, ofPlaces)
  const ofParent = [...ofPlaces].filter(([, owner]) => owner === session.parent_session_id)
  const last = ofParent.at(-1)?.[0]
  return last === undefined ? marked : { ...marked, copiedTo: textsIn(batch.messages, "id")[last] ?? undefined }
}

/** Marks messages as replays of those sessions, by their places in the batch. */
export function markReplayed(batch: PreparedBatch, owners: ReadonlyMap<number, string>): PreparedBatch {
  const { messages, parts } = batch
  const blobs = createBlobSink()
  const [ids, lanes, options] = [textsIn(messages, "id"), textsIn(messages, "lane"), textsIn(messages, "options")]
  const needed = new Set(blobsOfRow(options))
  const known = unpackBlobs(batch.blobs.filter(({ sha256 }) => needed.has(sha256)))
  for (const [place, owner] of owners) {
    const parsed = parseOwnJson(textOfColumn(options[place] ?? "", known))
    const own: JsonObject = parsed.ok && isJsonObject(parsed.value) ? parsed.value : {}
    const pond = { ...(own["pond"] as JsonObject | undefined), replay_of: owner }
    lanes[place] = "replay" satisfies Lane
    options[place] = columnOfText(stringifyJson({ ...own, pond }), blobs)
  }
  const copies = new Set([...owners.keys()].map((place) => ids[place] ?? ""))
  const partLanes = textsIn(parts, "lane")
  const ofMessages = textsIn(parts, "message_id")
  return {
    ...batch,
    messages: replaceColumns(MESSAGES, messages, { lane: lanes, options }),
    parts: replaceColumns(PARTS, parts, {
      lane: partLanes.map((lane, place) => (copies.has(ofMessages[place] ?? "") ? "replay" : lane)),
    }),
    blobs: [...batch.blobs, ...blobs.take()],
  }
}

export function textsIn({ columns }: ColumnBatch, name: string): (string | null)[] {
  return textsOf(columns[name] as ColumnValues)
}

async function addStoredOwners(
  messages: MessagesTable,
  owners: Map<string, string>,
  keys: readonly string[],
): Promise<void> {
  if (keys.length === 0) return
  const asked = new Set(keys)
  const ids = await messages.perhapsThere("id", [...new Set(keys.map(idOfMoment))])
  if (ids.length === 0) return
  const found = await messages.read({
    columns: ["session_id", "id", "timestamp", "lane", "search_text"],
    where: isIn("id", ids),
  })
  // What is a replay itself owns nothing, unless it is the only one: pond wrote it into a client, which forked that.
  const isReplay = ({ lane }: { readonly lane: string }) => lane === ("replay" satisfies Lane)
  for (const row of found.toSorted((left, right) => Number(isReplay(right)) - Number(isReplay(left)))) {
    const key = momentKey(row)
    if (asked.has(key)) owners.set(key, row.session_id)
  }
}

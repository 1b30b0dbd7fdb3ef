/**
 * A forked or resumed session holds copies of its parent's messages, often without a word of where they came from
 * (Claude Code 2.1 copies every line with its uuid and names no parent). It is stored whole, because it must restore
 * alone; each copy is marked `options.pond.replay_of`, so that search and statistics count it once.
 */
import type { Entry, Session } from "../model/session.ts"
import { microsOfText } from "../model/timestamp.ts"
import { isIn } from "../substrate/filter.ts"
import type { Table } from "../substrate/table.ts"
import { searchText } from "./search-text.ts"
import type { MESSAGES } from "./tables.ts"

type MessagesTable = Table<(typeof MESSAGES)["columns"]>

interface Batch {
  readonly session: Session
  readonly entries: readonly Entry[]
}

/** A copy starts with the history that it copies, so a few of the first messages tell whether there is one. */
const PROBES = 4

/** Only sessions that are not stored yet are looked at: a session that goes on copies nothing. */
export async function markReplays<B extends Batch>(
  messages: MessagesTable,
  batches: readonly B[],
  stored: ReadonlyMap<string, unknown>,
): Promise<B[]> {
  const fresh = batches.filter(({ session }) => !stored.has(session.id))
  if (fresh.length === 0) return [...batches]
  const owners = new Map<string, string>()
  for (const { session, entries } of batches) {
    for (const entry of spoken(entries)) if (!owners.has(keyOf(entry))) owners.set(keyOf(entry), session.id)
  }
  await addStoredOwners(
    messages,
    owners,
    fresh.flatMap(({ entries }) => spoken(entries).slice(0, PROBES)),
  )
  const suspects = fresh.filter(({ session, entries }) =>
    spoken(entries)
      .slice(0, PROBES)
      .some((entry) => owners.get(keyOf(entry)) !== session.id),
  )
  await addStoredOwners(
    messages,
    owners,
    suspects.flatMap(({ entries }) => spoken(entries).slice(PROBES)),
  )
  const isSuspect = new Set(suspects.map(({ session }) => session.id))
  return batches.map((batch) => (isSuspect.has(batch.session.id) ? marked(batch, owners) : batch))
}

function marked<B extends Batch>(batch: B, owners: ReadonlyMap<string, string>): B {
  const entries = batch.entries.map((entry) => {
    const owner = owners.get(keyOf(entry))
    if (owner === undefined || owner === batch.session.id || searchText(entry) === null) return entry
    const pond = { ...(entry.message.options["pond"] as object | undefined), replay_of: owner }
    return { ...entry, message: { ...entry.message, options: { ...entry.message.options, pond } } } as Entry
  })
  return { ...batch, entries }
}

/** Carriers repeat across sessions without being copies: only what was said counts. */
function spoken(entries: readonly Entry[]): Entry[] {
  return entries.filter((entry) => searchText(entry) !== null)
}

/** Ids are unique only within a session, so the moment must be the same too. */
function keyOf({ message }: Entry): string {
  return `${message.timestamp} ${message.id}`
}

async function addStoredOwners(
  messages: MessagesTable,
  owners: Map<string, string>,
  entries: readonly Entry[],
): Promise<void> {
  if (entries.length === 0) return
  const byKey = new Map(
    entries.map((entry) => [`${microsOfText(entry.message.timestamp)} ${entry.message.id}`, keyOf(entry)]),
  )
  const ids = [...new Set(entries.map(({ message }) => message.id))]
  const rows = await messages.read({ columns: ["session_id", "id", "timestamp", "lane"], where: isIn("id", ids) })
  for (const row of rows) {
    const key = byKey.get(`${row.timestamp} ${row.id}`)
    if (key !== undefined && row.lane !== "replay") owners.set(key, row.session_id)
  }
}

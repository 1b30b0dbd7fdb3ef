/**
 * Sessions that pond wrote as copies: a restore into another client, or anew into the same one, begins a session there that
 * repeats what another session holds. The next sync reads it as any other. What pond itself wrote of it is marked as a
 * replay, as the history of a fork is, so that search, statistics and lists count the conversation once; what its client
 * went on with is its own.
 *
 * The messages of a copy are remembered by id and text, in a separate table, when the copy is written.
 */
import type { JsonObject } from "../../model/json.ts"
import type { Entry, Session } from "../../model/session.ts"
import type { Clock } from "../../platform/host/clock.ts"
import { isIn } from "../../substrate/filter.ts"
import type { Store, Table } from "../../substrate/table.ts"
import { columnOfText, createBlobSink } from "../rows/oversized.ts"
import { searchText } from "../rows/search-text.ts"
import { COPIES, type Lane } from "../tables.ts"
import { markReplayed, textsIn } from "./mark-replays.ts"
import type { PreparedBatch } from "./prepare.ts"

/** A session as pond wrote it into a client. */
export interface Copy {
  readonly sessionId: string
  readonly copyOf: string
  /** Of each message, see `messageOfCopy`. */
  readonly messages: readonly string[]
}

export interface Copies {
  /** Called before the copy is written: a crash between leaves a note without a copy, and never the reverse. */
  note(copies: readonly Copy[]): Promise<void>
}

/** Keeps a row far below the largest value of a column. */
const MESSAGES_PER_ROW = 20_000

export function openCopies(store: Store, clock: Clock): Copies {
  const table = store.table(COPIES)
  return {
    note: async (copies) => {
      const noted_at = BigInt(Math.trunc(clock.nowMs())) * 1000n
      const rows = copies.flatMap(({ sessionId: session_id, copyOf: copy_of, messages }) =>
        splitMessages(messages).map((text) => ({
          session_id,
          copy_of,
          noted_at,
          piece: Bun.hash.xxHash64(text).toString(16),
          messages: text,
        })),
      )
      await table.insertAbsent(rows)
    },
  }
}

function splitMessages(messages: readonly string[]): string[] {
  const pieces: string[] = []
  for (let from = 0; from < messages.length; from += MESSAGES_PER_ROW)
    pieces.push(JSON.stringify(messages.slice(from, from + MESSAGES_PER_ROW)))
  return pieces
}

/** The id of a message and a hash of what it says: one that its client changed since is no copy. */
export function messageOfCopy(entry: Entry): string {
  const text = searchText(entry)
  return copyKey(entry.message.id, text === null ? null : columnOfText(text, createBlobSink()))
}

function copyKey(id: string, searchedText: string | null): string {
  return `${searchedText === null ? "" : Bun.hash.xxHash64(searchedText).toString(36)} ${id}`
}

// --- Marking ----------------------------------------------------------------------------------------------------------

interface KnownCopy {
  readonly copyOf: string
  readonly messages: ReadonlySet<string>
}

/** `maybe`: the sessions of these batches that may be copies. */
export async function markCopies(
  copies: Table<(typeof COPIES)["columns"]>,
  batches: readonly PreparedBatch[],
  maybe: ReadonlySet<string>,
): Promise<readonly PreparedBatch[]> {
  if (maybe.size === 0) return batches
  const known = await knownCopies(copies, [...maybe])
  if (known.size === 0) return batches
  return batches.map((batch) => {
    const copy = known.get(batch.session.id)
    return copy === undefined ? batch : markCopy(batch, copy)
  })
}

async function knownCopies(
  table: Table<(typeof COPIES)["columns"]>,
  ids: readonly string[],
): Promise<ReadonlyMap<string, KnownCopy>> {
  const known = new Map<string, { copyOf: string; messages: Set<string> }>()
  const columns = ["session_id", "copy_of", "messages"] as const
  for (const { session_id: id, copy_of: copyOf, messages } of await table.read({
    columns,
    where: isIn("session_id", ids),
  })) {
    const copy = known.get(id) ?? { copyOf, messages: new Set() }
    known.set(id, copy)
    for (const message of JSON.parse(messages) as readonly string[]) copy.messages.add(message)
  }
  return known
}

function markCopy(batch: PreparedBatch, { copyOf, messages }: KnownCopy): PreparedBatch {
  const [ids, texts, lanes] = [
    textsIn(batch.messages, "id"),
    textsIn(batch.messages, "search_text"),
    textsIn(batch.messages, "lane"),
  ]
  const owners = new Map<number, string>()
  for (const [place, id] of ids.entries()) {
    // A title stays a title: the copy has its own name.
    const isOwn = lanes[place] === ("title" satisfies Lane)
    if (!isOwn && messages.has(copyKey(unrevised(id ?? ""), texts[place] ?? null))) owners.set(place, copyOf)
  }
  const marked = markReplayed({ ...batch, session: ofCopy(batch.session, copyOf) }, owners)
  return { ...marked, spoken: spokenBeside(batch, owners) }
}

/** A client that wrote the record of a message again, saying the same, has said nothing new. */
function unrevised(id: string): string {
  return id.replace(/@[0-9a-f]{16}(?:\.\d+)?$/, "")
}

function ofCopy(session: Session, copyOf: string): Session {
  const pond = { ...(session.options["pond"] as JsonObject | undefined), copy_of: copyOf }
  return { ...session, options: { ...session.options, pond } }
}

function spokenBeside({ spoken: { places, keys } }: PreparedBatch, owners: ReadonlyMap<number, string>) {
  const own = places.flatMap((place, index) => (owners.has(place) ? [] : [index]))
  return { places: own.map((index) => places[index] as number), keys: own.map((index) => keys[index] as string) }
}

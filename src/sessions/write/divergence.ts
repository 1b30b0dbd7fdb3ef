/**
 * Whether rows that arrive from elsewhere (an export file, another store, the wire) go with what is stored of their
 * session. Anybody may continue it. Only its source, which is where its stored rows came from, may also fill a hole that
 * damage has left. Nobody may say something else at a position that is taken, nor add a part to a message that has its
 * parts: such a session is another one under the same id, and none of its rows is stored. A client's own log is not
 * asked: sync stores what changed in it as revisions. To be asked under the write lock of the store.
 */
import { FingerprintSet } from "../../platform/fingerprint-set.ts"
import { and, eq, isIn } from "../../substrate/filter.ts"
import type { SessionBatch } from "./prepare.ts"
import type { SessionTables } from "./write-sessions.ts"

/** A row of the table of sessions says when and on which machine it was stored first, and copies of it say the same. */
export interface FirstStored {
  readonly id: string
  readonly ingested_at: bigint
  readonly host: string
}

export function isSameSource(stored: FirstStored | undefined, given: FirstStored | undefined): boolean {
  return stored !== undefined && stored.ingested_at === given?.ingested_at && stored.host === given.host
}

export interface DivergenceCheck {
  message(row: MessageKey & { readonly ordinal: number }): void
  part(row: PartKey): void
  /** The sessions that say something else than what is stored of them. */
  readonly diverging: ReadonlySet<string>
  /** The sessions of which something is not stored. */
  readonly changed: ReadonlySet<string>
}

export type Compared = Pick<DivergenceCheck, "diverging" | "changed">

interface MessageKey {
  readonly session_id: string
  readonly id: string
}

interface PartKey {
  readonly session_id: string
  readonly message_id: string
  readonly id: string
}

type IsSource = (sessionId: string) => boolean

const SESSIONS_AT_ONCE = 500

/** For many rows of sessions that are stored: 11 bytes for each stored key, whatever arrives. */
export async function openDivergenceCheck(
  tables: SessionTables,
  ids: readonly string[],
  isSource: IsSource,
): Promise<DivergenceCheck> {
  const stored = new StoredKeys(isSource)
  for (let from = 0; from < ids.length; from += SESSIONS_AT_ONCE) {
    const where = isIn("session_id", ids.slice(from, from + SESSIONS_AT_ONCE))
    for await (const rows of tables.messages.batches({ columns: ["session_id", "id", "ordinal"], where }))
      for (const row of rows) stored.addMessage(row)
    for await (const rows of tables.parts.batches({ columns: ["session_id", "message_id", "id"], where }))
      for (const row of rows) stored.addPart(row)
  }
  return stored.check()
}

const VALUES_MAX = 1_000

/** For a few batches: only what is stored at their positions, and the last position of each session, is read. */
export async function compareStored(
  tables: SessionTables,
  batches: readonly SessionBatch[],
  sourcesAmong: (ids: readonly string[]) => Promise<ReadonlySet<string>>,
): Promise<Compared> {
  const all = new Set(batches.map(({ session }) => session.id))
  const asked = await tables.sessions.perhapsThere("id", [...all])
  if (asked.length === 0) return { diverging: new Set(), changed: all }
  const found = await tables.sessions.read({ columns: ["id"], where: isIn("id", asked) })
  const known = new Set(found.map(({ id }) => id))
  const arriving = batches.filter(({ session }) => known.has(session.id))
  if (arriving.length === 0) return { diverging: new Set(), changed: all }
  const messages = arriving.flatMap(({ entries }) => entries.map(({ message }) => message))
  const sources = await sourcesAmong([...known])
  const stored = new StoredKeys((id) => sources.has(id))
  const ofSessions = isIn("session_id", [...known])
  const columns = ["session_id", "id", "ordinal"] as const
  for (const last of await lastMessages(tables, [...known.difference(sources)])) stored.addMessage(last)
  const present: string[] = []
  const arrivingIds = new Set(messages.map(({ id }) => id))
  for (const ordinals of inGroups([...new Set(messages.map(({ ordinal }) => ordinal))]))
    for (const row of await tables.messages.read({ columns, where: and(ofSessions, isIn("ordinal", ordinals)) }))
      stored.addMessage(row)
  for (const ids of inGroups([...arrivingIds]))
    for (const row of await tables.messages.read({ columns, where: and(ofSessions, isIn("id", ids)) })) {
      stored.addMessage(row)
      present.push(row.id)
    }
  for (const ids of inGroups(present)) {
    const where = and(ofSessions, isIn("message_id", ids))
    for (const row of await tables.parts.read({ columns: ["session_id", "message_id", "id"], where }))
      stored.addPart(row)
  }
  const check = stored.check()
  for (const { entries } of arriving) {
    for (const { message, parts } of entries) {
      check.message(message)
      for (const part of parts) check.part(part)
    }
  }
  const fresh = [...all].filter((id) => !known.has(id))
  return { diverging: check.diverging, changed: new Set([...fresh, ...check.changed]) }
}

async function lastMessages(tables: SessionTables, ids: readonly string[]) {
  const columns = ["session_id", "id", "ordinal"] as const
  const orderBy = [{ column: "ordinal", descending: true }] as const
  const last = (id: string) => tables.messages.read({ columns, where: eq("session_id", id), orderBy, limit: 1 })
  return (await Promise.all(ids.map(last))).flat()
}

function* inGroups<T>(values: readonly T[]): Generator<readonly T[]> {
  for (let from = 0; from < values.length; from += VALUES_MAX) yield values.slice(from, from + VALUES_MAX)
}

class StoredKeys {
  readonly #messages = new FingerprintSet()
  readonly #positions = new FingerprintSet()
  readonly #parts = new FingerprintSet()
  readonly #withParts = new FingerprintSet()
  readonly #last = new Map<string, number>()
  readonly #isSource: IsSource

  constructor(isSource: IsSource) {
    this.#isSource = isSource
  }

  addMessage({ session_id, id, ordinal }: MessageKey & { readonly ordinal: number }): void {
    this.#last.set(session_id, Math.max(ordinal, this.#last.get(session_id) ?? -1))
    this.#messages.add(`${session_id}\0${id}`)
    this.#positions.add(`${session_id}\0${ordinal}`)
  }

  addPart({ session_id, message_id, id }: PartKey): void {
    this.#withParts.add(`${session_id}\0${message_id}`)
    this.#parts.add(`${session_id}\0${message_id}\0${id}`)
  }

  check(): DivergenceCheck {
    const diverging = new Set<string>()
    const changed = new Set<string>()
    return {
      message: ({ session_id, id, ordinal }) => {
        const isStored = this.#messages.mayHave(`${session_id}\0${id}`)
        if (isStored) return
        changed.add(session_id)
        const isTaken = this.#positions.mayHave(`${session_id}\0${ordinal}`)
        const isNext = ordinal > (this.#last.get(session_id) ?? -1)
        if (isTaken || !(isNext || this.#isSource(session_id))) diverging.add(session_id)
      },
      part: ({ session_id, message_id, id }) => {
        const isStored = this.#parts.mayHave(`${session_id}\0${message_id}\0${id}`)
        if (isStored) return
        changed.add(session_id)
        const isOfStored = this.#messages.mayHave(`${session_id}\0${message_id}`)
        const isTaken = this.#withParts.mayHave(`${session_id}\0${message_id}`)
        if (isTaken || (isOfStored && !this.#isSource(session_id))) diverging.add(session_id)
      },
      diverging,
      changed,
    }
  }
}

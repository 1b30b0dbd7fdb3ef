/** What a list of sessions asks about those that it shows, all of them at once: see `operations/wire/sessions.ts`. */
import { and, contains, type Filter, isIn, or, range } from "../../substrate/filter.ts"
import type { MessageRow, PartRow } from "../tables.ts"
import type { SessionTables } from "../write/write-sessions.ts"

export interface FirstRecord {
  readonly sessionId: string
  readonly sourceAgent: string
  readonly ordinal: number
  /** JSON, as it is stored. */
  readonly options: string
}

export interface IdOfPrefix {
  readonly id: string
  /** Of a session its parent, of a message its session. */
  readonly owner: string | null
}

export interface ListingReads {
  /** Which of these sessions have a message that passes. */
  withMessages(ids: readonly string[], where: Filter): Promise<ReadonlySet<string>>
  /** The moments of their messages that pass. */
  momentsOf(ids: readonly string[], where: Filter): Promise<readonly Pick<MessageRow, "session_id" | "timestamp">[]>
  /** Which of these sessions have a part that passes. */
  withParts(ids: readonly string[], where: Filter): Promise<ReadonlySet<string>>
  /**
   * The parts that pass, all at once: for filters that few pass. The engine gives a scan a batch for each thousand rows that
   * it looked at, empty ones too, which of two million parts costs 300 ms instead of 190.
   */
  fewParts(where: Filter): Promise<readonly Pick<PartRow, (typeof CALL_COLUMNS)[number]>[]>
  /** The records of the first messages of these sessions whose JSON contains one of the texts. */
  firstRecords(ids: readonly string[], texts: readonly string[]): Promise<readonly FirstRecord[]>
  /** The machine that stored each session. */
  hostsOf(ids: readonly string[]): Promise<ReadonlyMap<string, string>>
  /** The ids of all sessions, or messages, that start with one of the prefixes. */
  idsWithPrefixes(
    of: "sessions" | "messages",
    prefixes: readonly string[],
    limit?: number,
  ): Promise<readonly IdOfPrefix[]>
}

const CALL_COLUMNS = ["session_id", "message_ordinal", "type", "lane", "tool_name", "call_id", "source_agent"] as const
/** Records that describe the whole session stand at its beginning. */
const DESCRIBING_ORDINALS = 12
/** Comes after every text that starts with a prefix. */
const LAST_CHARACTER = "\u{10ffff}"

export function openListingReads({ sessions, messages, parts }: SessionTables): ListingReads {
  return {
    withMessages: async (ids, where) => {
      const rows = await messages.read({ columns: ["session_id"], where: and(isIn("session_id", ids), where) })
      return new Set(rows.map((row) => row.session_id))
    },
    momentsOf: async (ids, where) =>
      ids.length === 0
        ? []
        : await messages.read({ columns: ["session_id", "timestamp"], where: and(isIn("session_id", ids), where) }),
    withParts: async (ids, where) => {
      const rows = await parts.read({ columns: ["session_id"], where: and(isIn("session_id", ids), where) })
      return new Set(rows.map((row) => row.session_id))
    },
    fewParts: (where) => parts.read({ columns: CALL_COLUMNS, where }),
    firstRecords: async (ids, texts) => {
      if (ids.length === 0 || texts.length === 0) return []
      const where = and(
        isIn("session_id", ids),
        range("ordinal", { to: DESCRIBING_ORDINALS }),
        or(...texts.map((text) => contains("options", text))),
      )
      const rows = await messages.read({ columns: ["session_id", "source_agent", "ordinal", "options"], where })
      return rows
        .toSorted((left, right) => left.ordinal - right.ordinal)
        .map((row) => ({
          sessionId: row.session_id,
          sourceAgent: row.source_agent,
          ordinal: row.ordinal,
          options: row.options,
        }))
    },
    hostsOf: async (ids) => {
      const rows = await sessions.read({ columns: ["id", "host"], where: isIn("id", ids) })
      return new Map(rows.map(({ id, host }) => [id, host]))
    },
    idsWithPrefixes: async (of, prefixes, limit) => {
      if (prefixes.length === 0) return []
      // A range is answered by the index of ids; the engine scans the table for a prefix.
      const where = or(...prefixes.map((prefix) => range("id", { from: prefix, to: `${prefix}${LAST_CHARACTER}` })))
      const most = limit === undefined ? {} : { limit }
      if (of === "sessions") {
        const rows = await sessions.read({ columns: ["id", "parent_session_id"], where, ...most })
        return rows.map((row) => ({ id: row.id, owner: row.parent_session_id }))
      }
      const rows = await messages.read({ columns: ["id", "session_id"], where, ...most })
      return rows.map((row) => ({ id: row.id, owner: row.session_id }))
    },
  }
}

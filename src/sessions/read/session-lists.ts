/**
 * What the layers above ask about many sessions at once: which were active last, what the user said first, whose an id is.
 * SQL and statistics scan three tables and the vectors by columns. Nobody above but `search` holds a table itself.
 */
import { and, eq, type Filter, isIn, isNull, not, range, startsWith } from "../../substrate/filter.ts"
import type { Picked, ReadRequest, Store, Table } from "../../substrate/table.ts"
import type { Columns, ScannedName } from "../../substrate/table-definition.ts"
import {
  type embeddingsTable,
  embeddingsTableNamed,
  type MESSAGES,
  type PARTS,
  type SESSIONS,
  type SessionRow,
} from "../tables.ts"
import type { SessionTables } from "../write/write-sessions.ts"
import { type ListingReads, openListingReads } from "./listing-reads.ts"
import type { Superseded } from "./superseded.ts"
import type { Titles } from "./titles.ts"

/** When a session got its last message of the conversation. */
export interface SessionActivity {
  readonly id: string
  readonly lastAtMicros: bigint
}

export interface RecentActivity {
  /** Newest first. */
  readonly sessions: readonly SessionActivity[]
  /** Whether no other session exists: the newest messages were all messages. */
  readonly isAll: boolean
}

/** The columns of each table that can be scanned. Vectors have one table per dimension; a scan goes through all of them. */
interface ScannedColumns {
  readonly sessions: (typeof SESSIONS)["columns"]
  readonly messages: (typeof MESSAGES)["columns"]
  readonly parts: (typeof PARTS)["columns"]
  readonly embeddings: ReturnType<typeof embeddingsTable>["columns"]
}

export type ScannedTable = keyof ScannedColumns

export interface SessionLists extends ListingReads {
  /** The sessions of the newest messages; with a prefix, those whose id starts with it. */
  recentActivity(idPrefix?: string): Promise<RecentActivity>
  /** Every session with a conversation, newest first; undefined once the signal aborts. */
  allActivity(signal: AbortSignal): Promise<readonly SessionActivity[] | undefined>
  /** The first words of the user in each session where they stand near its beginning. */
  firstWords(sessionIds: readonly string[]): Promise<Map<string, string>>
  idsStartingWith(prefix: string, limit: number): Promise<readonly Pick<SessionRow, "id" | "parent_session_id">[]>
  messageCount(sessionId: string): Promise<number>
  /** Of those sessions that are stored: client and project, and when and where they were stored first. */
  owners(ids: readonly string[]): Promise<readonly Pick<SessionRow, (typeof OWNER_COLUMNS)[number]>[]>
  /** Rows of one table, a batch at a time, with the named columns alone. */
  scan<T extends ScannedTable, Name extends ScannedName<ScannedColumns[T]>>(
    table: T,
    request: ReadRequest<ScannedColumns[T], Name>,
  ): AsyncIterable<readonly Picked<ScannedColumns[T], Name>[]>
  countRows(table: ScannedTable, where?: Filter): Promise<number>
}

const OWNER_COLUMNS = ["id", "source_agent", "project", "ingested_at", "host"] as const
/** The newest messages that are read to find the newest sessions. */
const RECENT_MESSAGES_MAX = 20_000
/** The first words of the user stand near the beginning, behind what the client put there. */
const FIRST_ORDINALS = 60

export function openSessionLists(
  store: Store,
  tables: SessionTables,
  { titles, superseded }: { readonly titles: Titles; readonly superseded: Superseded },
): SessionLists {
  const { sessions, messages } = tables
  const scanned = async (name: ScannedTable) =>
    (name === "embeddings"
      ? (await store.names()).flatMap((each) => embeddingsTableNamed(each) ?? []).map((each) => store.table(each))
      : [tables[name]]) as unknown as readonly Table<Columns>[]
  return {
    ...openListingReads(tables),
    recentActivity: async (idPrefix = "") => {
      const newest = await messages.read({
        columns: ["session_id", "timestamp"],
        where: idPrefix === "" ? eq("lane", "main") : and(eq("lane", "main"), startsWith("session_id", idPrefix)),
        orderBy: [{ column: "timestamp", descending: true }],
        limit: RECENT_MESSAGES_MAX,
      })
      const lastAt = new Map<string, bigint>()
      for (const { session_id: id, timestamp } of newest) if (!lastAt.has(id)) lastAt.set(id, timestamp)
      return { sessions: activityOf(lastAt), isAll: newest.length < RECENT_MESSAGES_MAX }
    },
    allActivity: async (signal) => {
      const lastAt = new Map<string, bigint>()
      const columns = ["session_id", "timestamp"] as const
      for await (const rows of messages.batches({ columns, where: eq("lane", "main") })) {
        if (signal.aborted) return undefined
        for (const { session_id: id, timestamp } of rows) {
          const last = lastAt.get(id)
          if (last === undefined || last < timestamp) lastAt.set(id, timestamp)
        }
      }
      return activityOf(new Map([...lastAt].toSorted(([, left], [, right]) => (left < right ? 1 : -1))))
    },
    firstWords: async (sessionIds) => {
      if (sessionIds.length === 0) return new Map()
      const isFirst = and(
        isIn("session_id", sessionIds),
        eq("role", "user"),
        range("ordinal", { to: FIRST_ORDINALS }),
        not(isNull("search_text")),
      )
      const [rows, gone] = await Promise.all([
        messages.read({ columns: ["id", "session_id", "ordinal", "search_text"], where: isFirst }),
        superseded(sessionIds),
      ])
      const words = new Map<string, string>()
      for (const { session_id: session, id, search_text } of rows.toSorted((a, b) => a.ordinal - b.ordinal))
        if (!words.has(session) && !gone.has(session, id)) words.set(session, search_text ?? "")
      return words
    },
    idsStartingWith: (prefix, limit) =>
      sessions.read({ columns: ["id", "parent_session_id"], where: startsWith("id", prefix), limit }),
    messageCount: (sessionId) => messages.count(eq("session_id", sessionId)),
    owners: (ids) => sessions.read({ columns: OWNER_COLUMNS, where: isIn("id", [...ids]) }),
    scan: async function* (name, request) {
      const asked: readonly string[] = request.columns
      if (name === "sessions" && asked.includes("title")) {
        // The ids tell which titles to look for. A filter or an order by title cannot be asked of the stored rows.
        const withIds = { ...request, columns: [...new Set([...asked, "id"])] } as never
        for await (const rows of sessions.batches(withIds))
          yield (await titles.last(rows as never)) as readonly unknown[] as never
        return
      }
      for (const table of await scanned(name)) yield* table.batches(request as never) as AsyncIterable<never>
    },
    countRows: async (name, where) => {
      const counts = await Promise.all((await scanned(name)).map((table) => table.count(where)))
      return counts.reduce((sum, count) => sum + count, 0)
    },
  }
}

function activityOf(lastAt: ReadonlyMap<string, bigint>): SessionActivity[] {
  return [...lastAt].map(([id, lastAtMicros]) => ({ id, lastAtMicros }))
}

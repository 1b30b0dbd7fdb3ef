/**
 * Reads what a search answer says beside its hits: sessions, and files that came with messages. A long-lived process
 * keeps them in memory (`row-cache.ts`); a command reads the few rows it needs.
 */
import type { Lifetime } from "../../platform/host/host.ts"
import { type CoalescedRead, coalesceReads } from "../../substrate/coalesce-reads.ts"
import { and, eq, isIn } from "../../substrate/filter.ts"
import type { ScannedName } from "../../substrate/table-definition.ts"
import type { PartRow, SESSIONS, SessionRow } from "../tables.ts"
import type { SessionTables } from "../write/write-sessions.ts"
import { byNames, itself, MESSAGES_MAX, type NameKey, SESSIONS_MAX, textOfName } from "./point-reads.ts"
import { cacheRows } from "./row-cache.ts"
import type { Titles } from "./titles.ts"

const FACT_COLUMNS = [
  "id",
  "parent_session_id",
  "source_agent",
  "project",
  "title",
] as const satisfies readonly ScannedName<(typeof SESSIONS)["columns"]>[]
const IS_FILE = eq("type", "file")

type SessionFactRow = Pick<SessionRow, (typeof FACT_COLUMNS)[number]>
type FileRow = Pick<PartRow, "session_id" | "message_id" | "variant_data">

export interface AnswerReads {
  readonly sessions: CoalescedRead<string, SessionFactRow>
  /** The parts of messages that are files. */
  readonly files: CoalescedRead<NameKey, FileRow>
  /** The project of every session. */
  projects(): Promise<readonly string[]>
  /** The projects of these sessions, without what else is said of them. */
  projectsOf(ids: readonly string[]): Promise<ReadonlyMap<string, string>>
  /** Opens the tables of an answer ahead, in parallel with reading the texts of the hits. */
  expected(): void
}

export function openAnswerReads(
  { sessions, parts }: SessionTables,
  titles: Titles,
  lifetime: Lifetime = "command",
): AnswerReads {
  const kept = cacheRows({ lifetime, table: sessions, columns: FACT_COLUMNS, keyOf: ({ id }) => id })
  const readById = coalesceReads<string, SessionFactRow>({
    read: (ids) => sessions.read({ columns: FACT_COLUMNS, where: isIn("id", ids) }),
    keyOf: ({ id }) => id,
    textOf: itself,
    keysMax: SESSIONS_MAX,
  })
  const byId = lifetime === "command" ? rememberRows(readById, sessions) : readById
  const nameOf = (row: Pick<FileRow, "session_id" | "message_id">) => ({
    sessionId: row.session_id,
    messageId: row.message_id,
  })
  // Few messages came with files, and of all others it is known then that they have none.
  const withFiles = cacheRows({
    lifetime,
    table: parts,
    columns: ["session_id", "message_id"],
    where: IS_FILE,
    keyOf: (row) => textOfName(nameOf(row)),
  })
  const filesOf = coalesceReads<NameKey, FileRow>({
    read: (keys) =>
      parts.read({
        columns: ["session_id", "message_id", "variant_data"],
        where: and(byNames("message_id", keys), IS_FILE),
      }),
    keyOf: nameOf,
    textOf: textOfName,
    keysMax: MESSAGES_MAX,
  })
  let isExpected = false
  return {
    expected: () => {
      if (isExpected) return
      isExpected = true
      // The first read of a table reports why it cannot be opened.
      Promise.all([sessions.version(), parts.version()]).catch(() => undefined)
    },
    sessions: async (ids) => {
      const all = await kept()
      return await titles.last(
        all === undefined ? await byId(ids) : [...new Set(ids)].flatMap((id) => all.get(id) ?? []),
      )
    },
    files: async (keys) => {
      const some = await withFiles()
      return await filesOf(some === undefined ? keys : keys.filter((key) => some.has(textOfName(key))))
    },
    projectsOf: async (ids) => {
      const all = await kept()
      const rows = all === undefined ? await byId(ids) : ids.flatMap((id) => all.get(id) ?? [])
      return new Map(rows.map(({ id, project }) => [id, project]))
    },
    projects: async () => {
      const all = (await kept())?.values() ?? (await sessions.read({ columns: ["project"] }))
      return [...new Set([...all].map(({ project }) => project))]
    },
  }
}

/**
 * What a command has read: one answer asks for the projects of its hits, and then for what else is said of the same
 * sessions (3 to 6 ms a read). A row is never changed, but may be erased.
 */
function rememberRows(
  read: CoalescedRead<string, SessionFactRow>,
  sessions: SessionTables["sessions"],
): CoalescedRead<string, SessionFactRow> {
  const known = new Map<string, SessionFactRow>()
  let erasedVersion: number | undefined
  return async (ids) => {
    const { version } = await sessions.erased()
    if (version !== erasedVersion) known.clear()
    erasedVersion = version
    for (const row of await read(ids.filter((id) => !known.has(id)))) known.set(row.id, row)
    return [...new Set(ids)].flatMap((id) => known.get(id) ?? [])
  }
}

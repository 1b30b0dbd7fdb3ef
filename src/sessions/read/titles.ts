/**
 * The title that each client recorded last. Clients name a session while it goes on, and rename it: the row of a session
 * is written before that and never changes, so the later titles are read from the messages that record them (lane `title`).
 */
import { isJsonObject, parseOwnJson } from "../../model/json.ts"
import type { Lifetime } from "../../platform/host/host.ts"
import { coalesceReads } from "../../substrate/coalesce-reads.ts"
import { and, eq, isIn } from "../../substrate/filter.ts"
import type { Lane, MESSAGES, MessageRow } from "../tables.ts"
import type { SessionTables } from "../write/write-sessions.ts"
import { itself, SESSIONS_MAX } from "./point-reads.ts"
import { cacheRows } from "./row-cache.ts"

export interface Titles {
  /** Rows of sessions, with the title that counts. An empty one took a title away. */
  last<Row extends Titled>(rows: readonly Row[]): Promise<readonly Row[]>
}

interface Titled {
  readonly id: string
  readonly title: string | null
}

const COLUMNS = ["session_id", "ordinal", "options"] as const satisfies readonly (keyof (typeof MESSAGES)["columns"])[]
type TitleRow = Pick<MessageRow, (typeof COLUMNS)[number]>

const IS_TITLE = eq("lane", "title" satisfies Lane)
/** For more sessions than this all titles are read: their ids would be a longer list than it saves. */
const ASKED_MAX = 1_000

export function openTitles({ messages }: Pick<SessionTables, "messages">, lifetime: Lifetime = "command"): Titles {
  const cached = cacheRows({
    lifetime,
    table: messages,
    columns: COLUMNS,
    where: IS_TITLE,
    keyOf: (row) => row.session_id,
  })
  const byId = coalesceReads<string, TitleRow>({
    read: (ids) => messages.read({ columns: COLUMNS, where: and(isIn("session_id", ids), IS_TITLE) }),
    keyOf: (row) => row.session_id,
    textOf: itself,
    keysMax: SESSIONS_MAX,
  })

  async function rowsOf(ids: readonly string[]): Promise<readonly TitleRow[]> {
    const all = await cached()
    if (all !== undefined) return ids.flatMap((id) => all.get(id) ?? [])
    return ids.length > ASKED_MAX ? await messages.read({ columns: COLUMNS, where: IS_TITLE }) : await byId(ids)
  }

  return {
    last: async (rows) => {
      if (rows.length === 0) return rows
      const last = new Map<string, TitleRow>()
      for (const row of await rowsOf(rows.map(({ id }) => id))) {
        if (row.ordinal >= (last.get(row.session_id)?.ordinal ?? 0)) last.set(row.session_id, row)
      }
      if (last.size === 0) return rows
      return rows.map((row) => {
        const title = parseTitle(last.get(row.id)?.options)
        return title === undefined ? row : { ...row, title: title === "" ? null : title }
      })
    },
  }
}

function parseTitle(options: string | undefined): string | undefined {
  const parsed = options === undefined ? undefined : parseOwnJson(options)
  if (!parsed?.ok || !isJsonObject(parsed.value)) return undefined
  const { pond } = parsed.value
  const title = pond !== undefined && isJsonObject(pond) ? pond["title"] : undefined
  return typeof title === "string" ? title : undefined
}

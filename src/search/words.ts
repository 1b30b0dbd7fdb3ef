/** The words arm: BM25 over what was said. Gives one ranking per indexed field, with the weight that it has for this query. */
import type { Sessions } from "../sessions/store.ts"
import type { Filter } from "../substrate/filter.ts"
import type { WeightedArm } from "./fuse.ts"
import type { QueryShape } from "./query-shape.ts"
import type { Hit } from "./request.ts"

/** What a search reads of a message that it found. */
export const HIT_COLUMNS = ["session_id", "id", "ordinal", "role", "timestamp", "search_text"] as const

export interface HitRow {
  readonly session_id: string
  readonly id: string
  readonly ordinal: number
  readonly role: string
  readonly timestamp: bigint
  readonly search_text: string | null
}

export function hitOf(row: HitRow, score: number): Hit {
  return {
    sessionId: row.session_id,
    messageId: row.id,
    ordinal: row.ordinal,
    role: row.role,
    timestampMicros: row.timestamp,
    text: row.search_text ?? "",
    score,
  }
}

export async function findWords(
  sessions: Sessions,
  shape: QueryShape,
  where: Filter,
  limit: number,
): Promise<WeightedArm[]> {
  if (shape.text === "") return []
  const rows = await sessions.tables.messages.searchText(
    { match: shape.text, column: "search_text" },
    { columns: HIT_COLUMNS, where, limit },
  )
  return [{ hits: rows.map((row) => hitOf(row, row._score)), weight: 1 }]
}

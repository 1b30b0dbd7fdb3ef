/** The columns that every arm reads of a message it found, and the hit made of them. */
import type { Hit } from "./request.ts"

/** Columns of the messages table. */
export const HIT_COLUMNS = ["session_id", "id", "ordinal", "role", "timestamp", "search_text"] as const

export interface HitRow {
  readonly session_id: string
  readonly id: string
  readonly ordinal: number
  readonly role: string
  readonly timestamp: bigint
  readonly search_text: string | null
}

export function toHit(row: HitRow, score: number): Hit {
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

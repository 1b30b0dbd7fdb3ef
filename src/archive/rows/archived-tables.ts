/**
 * The tables that an export file holds and a copy moves, in reading order: sessions first, so that each session is known
 * before a row of it is met. They are stored in the reverse order, so that what becomes visible is complete.
 */
import { BLOBS, embeddingsTableNamed, MESSAGES, PARTS, SESSIONS } from "../../sessions/tables.ts"
import type { RowBatch } from "../../substrate/columns/row-batch.ts"
import type { Store } from "../../substrate/table.ts"
import type { TableDefinition } from "../../substrate/table-definition.ts"

type Role = "sessions" | "messages" | "parts" | "embeddings" | "blobs"

export interface ArchivedTable {
  readonly role: Role
  readonly definition: TableDefinition
}

export interface ArrivingBatch {
  readonly table: ArchivedTable
  readonly batch: RowBatch
}

/** The order of tables in a file. */
export const TABLE_ORDER: readonly Role[] = ["sessions", "messages", "parts", "embeddings", "blobs"]

const FIXED: Readonly<Record<string, ArchivedTable>> = {
  sessions: table("sessions", SESSIONS),
  messages: table("messages", MESSAGES),
  parts: table("parts", PARTS),
  blobs: table("blobs", BLOBS),
}

function table(role: Role, definition: object): ArchivedTable {
  return { role, definition: definition as TableDefinition }
}

/** The table of that name, if export files hold it. */
export function archivedTable(name: string): ArchivedTable | undefined {
  if (Object.hasOwn(FIXED, name)) return FIXED[name]
  const vectors = embeddingsTableNamed(name)
  return vectors === undefined ? undefined : table("embeddings", vectors)
}

const OWNERS: Readonly<Partial<Record<Role, string>>> = { sessions: "id", blobs: "sha256" }

/** The column that says which session, or which blob, a row belongs to. */
export function ownerColumn({ role }: Pick<ArchivedTable, "role">): string {
  return OWNERS[role] ?? "session_id"
}

/** These say how a row came in, and differ between stores that read the same log. */
const OF_STORING: readonly string[] = ["ingested_at", "host"]
/** Blobs are called by their SHA-256, and vectors can be made again. */
const BY_KEY: readonly string[] = ["blob", "vector"]

/** The columns by which two rows of the same key are the same. */
export function comparedColumns({ definition }: ArchivedTable): readonly string[] {
  return Object.entries(definition.columns).flatMap(([name, { kind }]) =>
    BY_KEY.includes(kind) || OF_STORING.includes(name) ? [] : name,
  )
}

/** The tables that a store has, in reading order. */
export async function tablesOf(store: Store): Promise<ArchivedTable[]> {
  const found = (await store.names()).flatMap((name) => archivedTable(name) ?? [])
  return found.toSorted(
    (one, other) =>
      TABLE_ORDER.indexOf(one.role) - TABLE_ORDER.indexOf(other.role) ||
      one.definition.name.localeCompare(other.definition.name),
  )
}

/** A number of rows for each table. */
export type RowCounts = Readonly<Record<Role, number>>

export const NO_ROWS: RowCounts = { sessions: 0, messages: 0, parts: 0, embeddings: 0, blobs: 0 }

export function addRows(counts: RowCounts, role: Role, rows: number): RowCounts {
  return { ...counts, [role]: counts[role] + rows }
}

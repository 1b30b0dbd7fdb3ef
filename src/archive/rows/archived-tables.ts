/**
 * Which tables an archive holds and a copy moves, in the order in which they are read: sessions first, so that everything
 * that one of them names was there before it was looked for. They are written the other way round, so that what becomes
 * visible is whole.
 */
import { BLOBS, embeddingsTableNamed, MESSAGES, PARTS, SESSIONS } from "../../sessions/tables.ts"
import type { Store } from "../../substrate/table.ts"
import type { TableDefinition } from "../../substrate/table-definition.ts"

type Role = "sessions" | "messages" | "parts" | "embeddings" | "blobs"

export interface ArchivedTable {
  readonly role: Role
  readonly definition: TableDefinition
}

/** The place of a role in an archive. */
export const ROLES: readonly Role[] = ["sessions", "messages", "parts", "embeddings", "blobs"]

const FIXED: Readonly<Record<string, ArchivedTable>> = {
  sessions: table("sessions", SESSIONS),
  messages: table("messages", MESSAGES),
  parts: table("parts", PARTS),
  blobs: table("blobs", BLOBS),
}

function table(role: Role, definition: object): ArchivedTable {
  return { role, definition: definition as TableDefinition }
}

/** The table of that name, if it is one that archives hold. */
export function archivedTable(name: string): ArchivedTable | undefined {
  if (Object.hasOwn(FIXED, name)) return FIXED[name]
  const vectors = embeddingsTableNamed(name)
  return vectors === undefined ? undefined : table("embeddings", vectors)
}

const OWNERS: Readonly<Partial<Record<Role, string>>> = { sessions: "id", blobs: "sha256" }

/** The column that says whose a row is. */
export function ownerColumn({ role }: ArchivedTable): string {
  return OWNERS[role] ?? "session_id"
}

/** Those that a store has, in the order of reading. */
export async function tablesOf(store: Store): Promise<ArchivedTable[]> {
  const found = (await store.names()).flatMap((name) => archivedTable(name) ?? [])
  return found.toSorted(
    (one, other) =>
      ROLES.indexOf(one.role) - ROLES.indexOf(other.role) || one.definition.name.localeCompare(other.definition.name),
  )
}

/** How many rows of each role. */
export type Tally = Readonly<Record<Role, number>>

export const NOTHING: Tally = { sessions: 0, messages: 0, parts: 0, embeddings: 0, blobs: 0 }

export function added(tally: Tally, role: Role, rows: number): Tally {
  return { ...tally, [role]: tally[role] + rows }
}

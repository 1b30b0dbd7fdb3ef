/**
 * Which stored sessions hold what looks like a credential, and where: never what it is. Read in batches, a table after the
 * other; of what was found only a hash is kept, so that the same credential in many places is known as one.
 */
import { textOfMicros } from "../../model/timestamp.ts"
import { sha256Of } from "../../platform/sha256.ts"
import { BLOB_SCHEME } from "../../sessions/rows/oversized.ts"
import { and, contains, eq, type Filter } from "../../substrate/filter.ts"
import type { Pond } from "../pond.ts"
import { findCredentials } from "../share/find-credentials.ts"

export interface SecretsRequest {
  readonly session_id?: string | undefined
  readonly project?: string | undefined
}

export interface FoundSecret {
  readonly kind: string
  /** The same number wherever the same credential stands. */
  readonly secret: number
  readonly session_id: string
  /** Nothing where it stands in what is known of the session. */
  readonly message_id: string | null
  readonly project: string
  readonly source_agent: string
  readonly timestamp: string
  /** The columns it stands in, such as `parts.text`. */
  readonly columns: readonly string[]
}

export interface Secrets {
  /** Newest first. */
  readonly findings: readonly FoundSecret[]
  readonly kinds: readonly { readonly kind: string; readonly secrets: number; readonly findings: number }[]
  /** Different ones. */
  readonly secrets: number
  readonly sessions: number
  /** Values that are too large for a column, and lie elsewhere. */
  readonly not_searched: number
}

/** What a row is of. The columns that are searched come besides. */
interface Row {
  readonly project: string
  readonly source_agent: string
  readonly [column: string]: unknown
}

interface Finding {
  readonly kind: string
  readonly secret: number
  readonly row: Row
  readonly columns: Set<string>
}

interface Search {
  readonly numbers: Map<string, number>
  readonly findings: Map<string, Finding>
  notSearched: number
}

export async function findSecrets(pond: Pond, request: SecretsRequest, signal: AbortSignal): Promise<Secrets> {
  const sessions = await pond.sessions()
  const search: Search = { numbers: new Map(), findings: new Map(), notSearched: 0 }
  const of = ["project", "source_agent"] as const
  const where = (sessionColumn: "id" | "session_id") => requestFilter(request, sessionColumn)
  for await (const rows of sessions.scan("sessions", {
    columns: ["id", "created_at", "title", "options", ...of],
    ...where("id"),
  })) {
    for (const row of rows)
      searchRow(search, "sessions", { ...row, session_id: row.id, timestamp: row.created_at }, ["title", "options"])
    signal.throwIfAborted()
  }
  for await (const rows of sessions.scan("messages", {
    columns: ["session_id", "id", "timestamp", "content", "options", ...of],
    ...where("session_id"),
  })) {
    for (const row of rows) searchRow(search, "messages", { ...row, message_id: row.id }, ["content", "options"])
    signal.throwIfAborted()
  }
  for await (const rows of sessions.scan("parts", {
    columns: ["session_id", "message_id", "timestamp", "text", "variant_data", "options", ...of],
    ...where("session_id"),
  })) {
    for (const row of rows) searchRow(search, "parts", row, ["text", "variant_data", "options"])
    signal.throwIfAborted()
  }
  return toSecrets(search)
}

function requestFilter({ session_id, project }: SecretsRequest, sessionColumn: string): { readonly where?: Filter } {
  const filters = [
    ...(session_id === undefined ? [] : [eq(sessionColumn, session_id)]),
    ...(project === undefined ? [] : [contains("project", project)]),
  ]
  return filters.length === 0 ? {} : { where: and(...filters) }
}

function searchRow(search: Search, table: string, row: Row, columns: readonly string[]): void {
  for (const column of columns) {
    const text = row[column]
    if (typeof text !== "string") continue
    if (text.startsWith(BLOB_SCHEME)) search.notSearched += 1
    for (const { kind, from, to } of findCredentials(text)) {
      const secret = secretNumber(search.numbers, text.slice(from, to))
      const key = `${String(row["session_id"])} ${String(row["message_id"] ?? "")} ${secret}`
      const finding = search.findings.get(key) ?? { kind, secret, row: placeOnly(row), columns: new Set() }
      finding.columns.add(`${table}.${column}`)
      search.findings.set(key, finding)
    }
  }
}

/** Without the texts: what is kept grows with what was found, and not with how much stands around it. */
function placeOnly({ project, source_agent, session_id, message_id, timestamp }: Row): Row {
  return { project, source_agent, session_id, message_id, timestamp }
}

/** By its hash: a key that JSON spells with escapes is another text, and counts as another. */
function secretNumber(numbers: Map<string, number>, secret: string): number {
  const hash = sha256Of(secret)
  const known = numbers.get(hash)
  if (known !== undefined) return known
  numbers.set(hash, numbers.size + 1)
  return numbers.size
}

function toSecrets({ findings, notSearched }: Search): Secrets {
  const found = [...findings.values()]
  const newest = found.toSorted((left, right) => Number(rowTime(right.row) - rowTime(left.row)))
  const kinds = [...Map.groupBy(found, ({ kind }) => kind)].map(([kind, own]) => ({
    kind,
    secrets: new Set(own.map(({ secret }) => secret)).size,
    findings: own.length,
  }))
  return {
    findings: newest.map(({ kind, secret, row, columns }) => ({
      kind,
      secret,
      session_id: String(row["session_id"]),
      message_id: row["message_id"] === undefined ? null : String(row["message_id"]),
      project: row.project,
      source_agent: row.source_agent,
      timestamp: textOfMicros(rowTime(row)),
      columns: [...columns],
    })),
    kinds: kinds.toSorted((left, right) => right.secrets - left.secrets || (left.kind < right.kind ? -1 : 1)),
    secrets: new Set(found.map(({ secret }) => secret)).size,
    sessions: new Set(found.map(({ row }) => row["session_id"])).size,
    not_searched: notSearched,
  }
}

function rowTime(row: Row): bigint {
  return row["timestamp"] as bigint
}

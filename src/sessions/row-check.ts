/**
 * Whether rows that come from elsewhere are rows that a session can be read from: what the row codecs take for granted
 * of rows that pond itself has written. Names the first fault it finds.
 */
import { isJsonObject, parseOwnJson } from "../model/json.ts"
import { isMoment } from "../model/timestamp.ts"
import { BLOB_SCHEME } from "./oversized.ts"
import { blobsOfPart, blobsOfRow } from "./rows.ts"
import type { BlobRow, MessageRow, PartRow, SessionRow } from "./tables.ts"

const ROLES: readonly string[] = ["system", "user", "assistant", "tool"]
const LANES: readonly string[] = ["main", "subagent", "replay"]
const PROVENANCES: readonly string[] = ["conversational", "injected"]
const TYPES: readonly string[] = [
  "text",
  "reasoning",
  "file",
  "tool_call",
  "tool_result",
  "tool_approval_request",
  "tool_approval_response",
  "opaque",
]

/** The columns that are looked into. The long ones, which hold any text at all, are only asked whether they are references. */
export const CHECKED_MESSAGE = [
  "session_id",
  "id",
  "ordinal",
  "role",
  "source_agent",
  "project",
  "timestamp",
  "lane",
  "options",
] as const
export const CHECKED_PART = [
  "session_id",
  "message_id",
  "id",
  "ordinal",
  "message_ordinal",
  "type",
  "source_agent",
  "project",
  "timestamp",
  "provenance",
  "tool_name",
  "call_id",
  "is_failure",
  "variant_data",
  "options",
] as const
export const TEXT_COLUMNS = { messages: ["content", "search_text"], parts: ["text"] } as const
export const REFERENCE_BEGINNING = BLOB_SCHEME

export interface RowChecker {
  /** Why these rows are not those of sessions; undefined where they are. Sessions come before what is in them. */
  readonly sessions: (rows: readonly SessionRow[]) => string | undefined
  readonly messages: (rows: readonly Pick<MessageRow, (typeof CHECKED_MESSAGE)[number]>[]) => string | undefined
  readonly parts: (rows: readonly Pick<PartRow, (typeof CHECKED_PART)[number]>[]) => string | undefined
  /** Texts that are references to bytes, of the columns that need no other look. */
  readonly references: (columns: readonly string[]) => void
  readonly blobs: (rows: readonly BlobRow[]) => string | undefined
  readonly ofSession: (sessionId: string) => string | undefined
  /** Bytes that a row points at, and that were not there. */
  readonly missingBlob: () => string | undefined
  readonly known: ReadonlyMap<string, SessionOwner>
}

type SessionOwner = Pick<SessionRow, "source_agent" | "project">

export function createRowChecker(): RowChecker {
  const known = new Map<string, SessionOwner>()
  const referenced = new Set<string>()
  const present = new Set<string>()
  const isJson = createJsonJudge()
  const note = (references: readonly string[]) => {
    for (const each of references) referenced.add(each)
  }
  const ofSession = (sessionId: string) => (known.has(sessionId) ? undefined : `session ${sessionId} is not in it`)
  const owned = (row: { readonly session_id: string } & SessionOwner) => {
    const owner = known.get(row.session_id)
    if (owner === undefined) return `session ${row.session_id} is not in it`
    const isSame = owner.source_agent === row.source_agent && owner.project === row.project
    return isSame ? undefined : `a row of session ${row.session_id} says that it is of another client or project`
  }
  return {
    known,
    ofSession,
    references: (columns) => note(blobsOfRow(columns)),
    missingBlob: () => referenced.difference(present).values().next().value,
    sessions: (rows) =>
      firstFault(rows, (row) => {
        if (row.id === "" || row.source_agent === "" || row.project === "")
          return "a session has no id, client or project"
        if (!isMoment(row.created_at) || !isJson(row.options)) return `session ${row.id} cannot be read`
        note(blobsOfRow([row.options]))
        known.set(row.id, { source_agent: row.source_agent, project: row.project })
        return undefined
      }),
    messages: (rows) =>
      firstFault(rows, (row) => {
        const isWhole = row.id !== "" && row.ordinal >= 0 && ROLES.includes(row.role) && LANES.includes(row.lane)
        if (!isWhole || !isMoment(row.timestamp) || !isJson(row.options)) return unreadable("message", row)
        note(blobsOfRow([row.options]))
        return owned(row)
      }),
    parts: (rows) =>
      firstFault(rows, (row) => {
        if (!isPart(row) || !isMoment(row.timestamp)) return unreadable("part", row)
        if (!isJson(row.variant_data) || !isJson(row.options)) return unreadable("part", row)
        note(blobsOfPart({ ...row, text: null }))
        return owned(row)
      }),
    blobs: (rows) =>
      firstFault(rows, ({ sha256, size, bytes }) => {
        const found = new Bun.CryptoHasher("sha256").update(bytes).digest("hex")
        if (found !== sha256 || BigInt(bytes.byteLength) !== size) return `the bytes ${sha256} are others`
        present.add(sha256)
        return undefined
      }),
  }
}

function firstFault<Row>(rows: readonly Row[], fault: (row: Row) => string | undefined): string | undefined {
  for (const row of rows) {
    const found = fault(row)
    if (found !== undefined) return found
  }
  return undefined
}

function unreadable(what: string, row: { readonly id: string; readonly session_id: string }): string {
  return `the ${what} ${row.id} of session ${row.session_id} cannot be read`
}

function isPart(row: Pick<PartRow, (typeof CHECKED_PART)[number]>): boolean {
  if (row.id === "" || row.message_id === "" || row.ordinal < 0 || row.message_ordinal < 0) return false
  if (!TYPES.includes(row.type) || !PROVENANCES.includes(row.provenance)) return false
  if (row.type === "tool_call") return row.call_id !== null && row.tool_name !== null
  return row.type !== "tool_result" || (row.call_id !== null && row.is_failure !== null)
}

const REMEMBERED_UNITS = 512
const REMEMBERED_MAX = 4096

/** Short values repeat from row to row, and need not be read again. */
function createJsonJudge(): (column: string) => boolean {
  let seen = new Set<string>()
  return (column) => {
    if (seen.has(column)) return true
    if (blobsOfRow([column]).length > 0) return true
    const parsed = parseOwnJson(column)
    if (!parsed.ok || !isJsonObject(parsed.value)) return false
    if (column.length <= REMEMBERED_UNITS) {
      if (seen.size >= REMEMBERED_MAX) seen = new Set()
      seen.add(column)
    }
    return true
  }
}

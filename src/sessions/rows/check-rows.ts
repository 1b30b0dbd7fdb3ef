/**
 * Checks rows from elsewhere: can sessions be read from them? Reports the first fault. Rows are checked in their
 * columns, because there are millions and most values repeat.
 */
import { isJsonObject, parseOwnJson } from "../../model/json.ts"
import { isSurelyObject } from "../../model/json-bytes.ts"
import { isMoment, MICROS_MAX, MICROS_MIN } from "../../model/timestamp.ts"
import { sha256Of } from "../../platform/sha256.ts"
import {
  choiceColumn,
  hasValueIn,
  int32Column,
  int64Column,
  type TextColumn,
  textColumn,
  upperHalves,
} from "../../substrate/columns/batch-cells.ts"
import { type RowBatch, rowsOfBatch, textsBeginning } from "../../substrate/columns/row-batch.ts"
import type { BlobRow, SessionRow } from "../tables.ts"
import { unpackBlob } from "./blob-packing.ts"
import { BLOB_SCHEME } from "./oversized.ts"
import { blobsOfPart, blobsOfRow } from "./row-codecs.ts"

const ROLES = ["system", "user", "assistant", "tool"]
const LANES = ["main", "subagent", "replay", "title"]
const PROVENANCES = ["conversational", "injected"]
const TYPES = [
  "text",
  "reasoning",
  "file",
  "tool_call",
  "tool_result",
  "tool_approval_request",
  "tool_approval_response",
  "opaque",
]

export interface RowChecker {
  /** Why these rows are not those of sessions; undefined where they are. Sessions come before what is in them. */
  readonly sessions: (batch: RowBatch) => string | undefined
  readonly messages: (batch: RowBatch) => string | undefined
  readonly parts: (batch: RowBatch) => string | undefined
  readonly embeddings: (batch: RowBatch) => string | undefined
  readonly blobs: (batch: RowBatch) => string | undefined
  /** Bytes that a row points at, and that were not there. */
  readonly missingBlob: () => string | undefined
  readonly known: ReadonlyMap<string, SessionOwner>
}

type SessionOwner = Pick<SessionRow, "source_agent" | "project">

/** What is gathered from row to row. */
interface Judge {
  readonly known: Map<string, SessionOwner>
  readonly referenced: Set<string>
  readonly isJson: (column: string | null) => boolean
}

export function createRowChecker(): RowChecker {
  const judge: Judge = { known: new Map(), referenced: new Set(), isJson: createJsonChecker() }
  const present = new Set<string>()
  return {
    known: judge.known,
    missingBlob: () => judge.referenced.difference(present).values().next().value,
    sessions: (batch) => sessionsFault(judge, rowsOfBatch(batch) as unknown as readonly SessionRow[]),
    messages: (batch) => messagesFault(judge, batch),
    parts: (batch) => partsFault(judge, batch),
    embeddings: (batch) => {
      const owner = textColumn(batch, "session_id")
      return firstFault(batch, (row) => unknownSession(judge, owner.at(row)))
    },
    blobs: (batch) => blobsFault(present, rowsOfBatch(batch) as unknown as readonly BlobRow[]),
  }
}

function firstFault(batch: RowBatch, fault: (row: number) => string | undefined): string | undefined {
  for (let row = 0; row < batch.length; row++) {
    const found = fault(row)
    if (found !== undefined) return found
  }
  return undefined
}

// --- Of each table ---------------------------------------------------------------------------------------------------

function sessionsFault({ known, referenced, isJson }: Judge, rows: readonly SessionRow[]): string | undefined {
  for (const row of rows) {
    if (row.id === "" || row.source_agent === "" || row.project === "") return "a session has no id, client or project"
    if (!isMoment(row.created_at) || !isJson(row.options)) return `session ${row.id} cannot be read`
    note(referenced, blobsOfRow([row.options]))
    known.set(row.id, { source_agent: row.source_agent, project: row.project })
  }
  return undefined
}

function messagesFault(judge: Judge, batch: RowBatch): string | undefined {
  const [id, owner] = [textColumn(batch, "id"), textColumn(batch, "session_id")]
  const [role, lane] = [choiceColumn(batch, "role", ROLES), choiceColumn(batch, "lane", LANES)]
  const ordinal = int32Column(batch, "ordinal")
  const isTimed = momentColumn(batch)
  const isReadable = jsonColumn(judge, textColumn(batch, "options"))
  const owned = ownerColumns(judge, batch, owner)
  for (const column of ["content", "search_text"]) noteReferences(judge, batch, column)
  return firstFault(batch, (row) => {
    const isWhole =
      id.bytesAt(row) > 0 && (ordinal[row] ?? -1) >= 0 && role(row) !== undefined && lane(row) !== undefined
    if (!isWhole || !isTimed(row) || !isReadable(row)) return unreadable("message", id, owner, row)
    return owned(row)
  })
}

function partsFault(judge: Judge, batch: RowBatch): string | undefined {
  const [id, owner, message] = [
    textColumn(batch, "id"),
    textColumn(batch, "session_id"),
    textColumn(batch, "message_id"),
  ]
  const [type, provenance] = [choiceColumn(batch, "type", TYPES), choiceColumn(batch, "provenance", PROVENANCES)]
  const [ordinal, messageOrdinal] = [int32Column(batch, "ordinal"), int32Column(batch, "message_ordinal")]
  const variant = textColumn(batch, "variant_data")
  const isTimed = momentColumn(batch)
  const [isVariant, isOptions] = [jsonColumn(judge, variant), jsonColumn(judge, textColumn(batch, "options"))]
  const has = requirements(batch)
  const owned = ownerColumns(judge, batch, owner)
  noteReferences(judge, batch, "text")
  return firstFault(batch, (row) => {
    const kind = type(row)
    const isPlaced =
      id.bytesAt(row) > 0 &&
      message.bytesAt(row) > 0 &&
      (ordinal[row] ?? -1) >= 0 &&
      (messageOrdinal[row] ?? -1) >= 0 &&
      provenance(row) !== undefined
    if (kind === undefined || !isPlaced || !has(kind, row) || !isTimed(row) || !isVariant(row) || !isOptions(row)) {
      return unreadable("part", id, owner, row)
    }
    if (kind === "file") noteFile(judge, variant.at(row) ?? "")
    return owned(row)
  })
}

/** A call has a name and an id, a result an id and an outcome. */
function requirements(batch: RowBatch): (kind: string, row: number) => boolean {
  const [hasTool, hasCall, hasOutcome] = [
    hasValueIn(batch, "tool_name"),
    hasValueIn(batch, "call_id"),
    hasValueIn(batch, "is_failure"),
  ]
  return (kind, row) => {
    if (kind === "tool_call") return hasCall(row) && hasTool(row)
    return kind !== "tool_result" || (hasCall(row) && hasOutcome(row))
  }
}

function blobsFault(present: Set<string>, rows: readonly BlobRow[]): string | undefined {
  for (const row of rows) {
    const { sha256 } = row
    const bytes = unpackBlob(row)
    const found = bytes && sha256Of(bytes)
    if (found !== sha256) return `the content of ${sha256} differs`
    present.add(sha256)
  }
  return undefined
}

function unreadable(what: string, id: TextColumn, owner: TextColumn, row: number): string {
  return `the ${what} ${id.at(row)} of session ${owner.at(row)} cannot be read`
}

// --- Of each column --------------------------------------------------------------------------------------------------

function unknownSession({ known }: Judge, sessionId: string | null): string | undefined {
  return known.has(sessionId ?? "") ? undefined : `session ${sessionId} is not in it`
}

function ownerColumns(judge: Judge, batch: RowBatch, session: TextColumn): (row: number) => string | undefined {
  const [agent, project] = [textColumn(batch, "source_agent"), textColumn(batch, "project")]
  return (row) => {
    // The row before was judged, and is of that session.
    if (session.isRepeated(row) && agent.isRepeated(row) && project.isRepeated(row)) return undefined
    const sessionId = session.at(row)
    const owner = judge.known.get(sessionId ?? "")
    if (owner === undefined) return unknownSession(judge, sessionId)
    const isSame = owner.source_agent === agent.at(row) && owner.project === project.at(row)
    return isSame ? undefined : `a row of session ${sessionId} is from another client or project`
  }
}

/** Between them every lower half makes a moment. */
const [MOMENT_UPPER_MIN, MOMENT_UPPER_MAX] = [Number(MICROS_MIN >> 32n), Number(MICROS_MAX >> 32n)]

function momentColumn(batch: RowBatch): (row: number) => boolean {
  const timestamp = int64Column(batch, "timestamp")
  const upperHalf = upperHalves(timestamp)
  return (row) => {
    const upper = upperHalf(row)
    return (upper > MOMENT_UPPER_MIN && upper < MOMENT_UPPER_MAX) || isMoment(timestamp[row] ?? -1n)
  }
}

function jsonColumn({ isJson, referenced }: Judge, column: TextColumn): (row: number) => boolean {
  return (row) => {
    if (column.isRepeated(row)) return true
    const [from, end] = [column.offsets[row] as number, column.offsets[row + 1] as number]
    if (end - from <= SHALLOW_UNITS && column.hasValue(row) && isSurelyObject(column.bytes, from, end)) return true
    const text = column.at(row)
    if (text?.startsWith(BLOB_SCHEME) === true) note(referenced, blobsOfRow([text]))
    return isJson(text)
  }
}

function noteReferences({ referenced }: Judge, batch: RowBatch, column: string): void {
  note(referenced, blobsOfRow(textsBeginning(batch, column, BLOB_SCHEME)))
}

function noteFile({ referenced }: Judge, variant: string): void {
  note(referenced, blobsOfPart({ type: "file", variant_data: variant, options: "", text: null }))
}

function note(referenced: Set<string>, references: readonly string[]): void {
  for (const each of references) referenced.add(each)
}

const REMEMBERED_UNITS = 512
const REMEMBERED_MAX = 4096
/** A text of so many characters cannot be nested more deeply than pond reads, whatever it holds. */
const SHALLOW_UNITS = 4000

/** Short values repeat from row to row, and need not be read again. */
function createJsonChecker(): (column: string | null) => boolean {
  let seen = new Set<string>(["{}"])
  return (column) => {
    if (column === null) return false
    if (seen.has(column)) return true
    if (column.startsWith(BLOB_SCHEME)) return true
    if (!isObjectText(column)) return false
    if (column.length <= REMEMBERED_UNITS) {
      if (seen.size >= REMEMBERED_MAX) seen = new Set(["{}"])
      seen.add(column)
    }
    return true
  }
}

/** Numbers that a double cannot hold are read as they were spelled, elsewhere: here it only counts that they can be. */
function isObjectText(text: string): boolean {
  if (text.length > SHALLOW_UNITS) {
    const parsed = parseOwnJson(text)
    return parsed.ok && isJsonObject(parsed.value)
  }
  try {
    return isJsonObject(JSON.parse(text))
  } catch {
    return false
  }
}

/**
 * Rows as they go from one thread to another: by column, because an array of strings is handed over without a copy of
 * their text, while an array of objects is copied field by field (ten times as long, measured). What every row of a
 * session repeats is not carried, and JSON goes as text, because a copy would make other numbers of exact ones.
 */
import { assert } from "../model/errors.ts"
import { type JsonObject, parseOwnJson, stringifyJson } from "../model/json.ts"
import type { Session } from "../model/session.ts"
import type { PreparedBatch } from "../sessions/prepare.ts"
import type { IngestFacts } from "../sessions/rows.ts"
import { type BlobRow, MESSAGES, type MessageRow, PARTS, type PartRow } from "../sessions/tables.ts"

type ColumnsOf<Row, Repeated extends keyof Row> = { readonly [Name in Exclude<keyof Row, Repeated>]: Row[Name][] }

type MessageColumns = ColumnsOf<MessageRow, (typeof OF_SESSION)[number] | keyof Written>
type PartColumns = ColumnsOf<PartRow, (typeof OF_SESSION)[number]>

interface Written {
  readonly ingested_at: bigint
  readonly host: string
}

export interface CarriedBatch {
  readonly session: string
  readonly messages: MessageColumns
  readonly parts: PartColumns
  readonly blobs: readonly BlobRow[]
}

const OF_SESSION = ["session_id", "source_agent", "project"] as const satisfies (keyof PartRow)[]
const WRITTEN = ["ingested_at", "host"] as const satisfies (keyof Written)[]

/** Taken from the tables, so that a column which is added there cannot be forgotten here. */
const MESSAGE_COLUMNS = Object.keys(MESSAGES.columns).filter(isNotIn([...OF_SESSION, ...WRITTEN]))
const PART_COLUMNS = Object.keys(PARTS.columns).filter(isNotIn(OF_SESSION))

export function carried({ session, messages, parts, blobs }: PreparedBatch): CarriedBatch {
  return {
    session: stringifyJson(session as unknown as JsonObject),
    messages: columnsOf(MESSAGE_COLUMNS, messages) as unknown as MessageColumns,
    parts: columnsOf(PART_COLUMNS, parts) as unknown as PartColumns,
    blobs,
  }
}

export function received(batch: CarriedBatch, { ingestedAtMicros, host }: IngestFacts): PreparedBatch {
  const parsed = parseOwnJson(batch.session)
  assert(parsed.ok, "a session that was written by this process is JSON")
  const session = parsed.value as unknown as Session
  const repeated = { session_id: session.id, source_agent: session.source_agent, project: session.project }
  const written: Written = { ingested_at: ingestedAtMicros, host }
  return {
    session,
    messages: rowsOf(MESSAGE_COLUMNS, batch.messages, { ...repeated, ...written }) as unknown as MessageRow[],
    parts: rowsOf(PART_COLUMNS, batch.parts, repeated) as unknown as PartRow[],
    blobs: batch.blobs,
  }
}

type AnyRow = Readonly<Record<string, unknown>>

function columnsOf(names: readonly string[], rows: readonly object[]): Record<string, unknown[]> {
  return Object.fromEntries(names.map((name) => [name, (rows as readonly AnyRow[]).map((row) => row[name])]))
}

function rowsOf(names: readonly string[], columns: object, repeated: AnyRow): AnyRow[] {
  const lists = names.map((name) => (columns as Record<string, unknown[]>)[name] ?? [])
  return (lists[0] ?? []).map((_, index) => {
    const row: Record<string, unknown> = { ...repeated }
    for (const [at, name] of names.entries()) row[name] = lists[at]?.[index]
    return row
  })
}

function isNotIn(names: readonly string[]): (name: string) => boolean {
  return (name) => !names.includes(name)
}

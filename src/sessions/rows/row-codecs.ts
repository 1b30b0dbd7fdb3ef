/**
 * The row codecs: canonical values to columns and back, exactly (`session-durable-copy`). Reading needs the bytes of the
 * blobs that the rows point at; `blobsOf…` says which.
 */
import { PondError } from "../../model/errors.ts"
import { isJsonObject, type JsonObject, type JsonValue, parseOwnJson, stringifyJson } from "../../model/json.ts"
import type { Entry, FileContent, Message, Part, ProviderOptions, Session } from "../../model/session.ts"
import { microsOfText, textOfMicros } from "../../model/timestamp.ts"
import type { Lane, MessageRow, PartRow, SessionRow } from "../tables.ts"
import { termsOfLarge } from "../words/terms/message-terms.ts"
import { type BlobSink, blobOfColumn, COLUMN_UNITS_MAX, columnOfText, textOfColumn } from "./oversized.ts"
import { searchText } from "./search-text.ts"

export type Blobs = ReadonlyMap<string, Uint8Array>

/** What pond itself knows about a write. */
export interface IngestFacts {
  readonly ingestedAtMicros: bigint
  readonly host: string
}

/** What every row of a session repeats for its filters. */
export interface SessionFacts extends IngestFacts {
  readonly sourceAgent: string
  readonly project: string
}

// --- Session ---------------------------------------------------------------------------------------------------------

export function sessionRow(session: Session, facts: IngestFacts, blobs: BlobSink): SessionRow {
  return {
    id: session.id,
    parent_session_id: session.parent_session_id ?? null,
    parent_message_id: session.parent_message_id ?? null,
    source_agent: session.source_agent,
    created_at: micros(session.created_at),
    project: session.project,
    title: session.title ?? null,
    options: columnOfText(stringifyJson(session.options as JsonObject), blobs),
    ingested_at: facts.ingestedAtMicros,
    host: facts.host,
  }
}

export function sessionOfRow(row: Omit<SessionRow, "ingested_at" | "host">, blobs: Blobs): Session {
  return {
    id: row.id,
    ...optional("parent_session_id", row.parent_session_id),
    ...optional("parent_message_id", row.parent_message_id),
    source_agent: row.source_agent,
    created_at: textOfMicros(row.created_at),
    project: row.project,
    ...optional("title", row.title),
    options: optionsOf(row.options, blobs),
  }
}

// --- Message ---------------------------------------------------------------------------------------------------------

/**
 * Not null: among texts of which few rows have any, the engine reads one of them for every row that has none, and a store
 * with one such message took 2.4 GB to export and 1.7 GB to optimize. As earlier builds stored it, it is read the same.
 */
const NO_TERMS = ""

export function messageRow(entry: Entry, facts: SessionFacts & { readonly lane: Lane }, blobs: BlobSink): MessageRow {
  const { message } = entry
  const text = searchText(entry)
  return {
    session_id: message.session_id,
    id: message.id,
    ordinal: message.ordinal,
    role: message.role,
    source_agent: facts.sourceAgent,
    project: facts.project,
    timestamp: micros(message.timestamp),
    lane: facts.lane,
    content: message.role === "system" ? columnOfText(message.content, blobs) : null,
    search_text: text === null ? null : columnOfText(text, blobs),
    search_terms: text === null || text.length <= COLUMN_UNITS_MAX ? NO_TERMS : termsOfLarge(message.role, text),
    options: columnOfText(stringifyJson(message.options as JsonObject), blobs),
    ingested_at: facts.ingestedAtMicros,
    host: facts.host,
  }
}

export type StoredMessage = Pick<
  MessageRow,
  "session_id" | "id" | "ordinal" | "role" | "timestamp" | "content" | "options"
>

export function messageOfRow(row: StoredMessage, blobs: Blobs): Message {
  const fields = {
    id: row.id,
    session_id: row.session_id,
    ordinal: row.ordinal,
    timestamp: textOfMicros(row.timestamp),
    options: optionsOf(row.options, blobs),
  }
  if (row.role !== "system") return { ...fields, role: row.role as Exclude<Message["role"], "system"> }
  return { ...fields, role: "system", content: textOfColumn(row.content ?? "", blobs) }
}

// --- Part ------------------------------------------------------------------------------------------------------------

/** What a message says for all its parts, they repeat. */
type OfMessage = Pick<MessageRow, "ordinal" | "role" | "source_agent" | "project" | "timestamp" | "lane">

export function partRows({ parts }: Entry, message: OfMessage, blobs: BlobSink): PartRow[] {
  return parts.map((part: Part, ordinal) => {
    const { text, ...variant } = variantOf(part, blobs)
    return {
      session_id: part.session_id,
      message_id: part.message_id,
      id: part.id,
      ordinal,
      message_ordinal: message.ordinal,
      type: part.type,
      role: message.role,
      source_agent: message.source_agent,
      project: message.project,
      timestamp: message.timestamp,
      lane: message.lane,
      provenance: part.provenance,
      tool_name: "name" in part ? (part.name ?? null) : null,
      call_id: "call_id" in part ? part.call_id : null,
      is_failure: part.type === "tool_result" ? part.is_failure : null,
      text: text === undefined ? null : columnOfText(text, blobs),
      variant_data: columnOfText(stringifyJson(variant.json), blobs),
      options: columnOfText(stringifyJson(part.options as JsonObject), blobs),
    }
  })
}

export type StoredPart = Pick<
  PartRow,
  | "session_id"
  | "message_id"
  | "id"
  | "ordinal"
  | "type"
  | "provenance"
  | "tool_name"
  | "call_id"
  | "is_failure"
  | "text"
  | "variant_data"
  | "options"
>

export function partOfRow(row: StoredPart, blobs: Blobs, options = (column: string) => optionsOf(column, blobs)): Part {
  const variant = jsonOf(row.variant_data, blobs)
  const json: JsonObject = isJsonObject(variant) ? variant : {}
  const text = row.text === null ? "" : textOfColumn(row.text, blobs)
  const fields = {
    id: row.id,
    session_id: row.session_id,
    message_id: row.message_id,
    provenance: row.provenance as Part["provenance"],
    options: options(row.options),
  }
  return { ...fields, ...bodyOf(row, text, json, blobs) } as Part
}

interface Variant {
  readonly text?: string
  readonly json: JsonObject
}

function variantOf(part: Part, blobs: BlobSink): Variant {
  switch (part.type) {
    case "text":
    case "reasoning":
      return { text: part.text, json: {} }
    case "file":
      return fileVariant(
        part.data,
        { media_type: part.media_type, ...optional("file_name", part.file_name ?? null) },
        blobs,
      )
    case "tool_call":
      return { json: { params: part.params as JsonValue, provider_executed: part.provider_executed } }
    case "tool_result":
      return typeof part.result === "string"
        ? { text: part.result, json: {} }
        : { json: { result: part.result as JsonValue } }
    case "tool_approval_request":
      return { json: { approval_id: part.approval_id, tool_call_id: part.tool_call_id } }
    case "tool_approval_response":
      return {
        json: { approval_id: part.approval_id, approved: part.approved, ...optional("reason", part.reason ?? null) },
      }
    case "opaque":
      return { json: { kind: part.kind } }
  }
}

/** Base64 is kept as the bytes it stands for, where the bytes give the same base64 again. */
function fileVariant(data: FileContent, json: JsonObject, blobs: BlobSink): Variant {
  if ("text" in data) return { text: data.text, json: { ...json, data: "text" } }
  if ("url" in data) return { json: { ...json, data: "url", url: data.url } }
  const bytes = Buffer.from(data.base64, "base64")
  if (bytes.toString("base64") !== data.base64) return { json: { ...json, data: "base64", base64: data.base64 } }
  return { json: { ...json, data: "blob", blob: blobs.put(new Uint8Array(bytes)) } }
}

function bodyOf(row: StoredPart, text: string, json: JsonObject, blobs: Blobs): object {
  switch (row.type) {
    case "text":
    case "reasoning":
      return { type: row.type, text }
    case "file":
      return {
        type: "file",
        media_type: json["media_type"],
        ...("file_name" in json ? { file_name: json["file_name"] } : {}),
        data: fileContent(json, text, blobs),
      }
    case "tool_call":
      return { type: "tool_call", call_id: row.call_id, name: row.tool_name, ...json }
    case "tool_result":
      return {
        type: "tool_result",
        call_id: row.call_id,
        ...optional("name", row.tool_name),
        is_failure: row.is_failure,
        result: row.text === null ? json["result"] : text,
      }
    default:
      return { type: row.type, ...json }
  }
}

function fileContent(json: JsonObject, text: string, blobs: Blobs): FileContent {
  if (json["data"] === "text") return { text }
  if (json["data"] === "url") return { url: String(json["url"]) }
  if (json["data"] === "base64") return { base64: String(json["base64"]) }
  const bytes = blobs.get(blobOfColumn(String(json["blob"])) ?? "")
  return { base64: bytes === undefined ? "" : Buffer.from(bytes).toString("base64") }
}

/** Interns options that many rows of a session share. They are immutable: change a copy. */
export interface Interner {
  readonly text: (text: string) => string
  readonly options: (column: string) => ProviderOptions
}

const REPEATED_UNITS_MAX = 200
const REPEATED_MAX = 1_000

export function createInterner(blobs: Blobs): Interner {
  const texts = new Map<string, string>()
  const known = new Map<string, ProviderOptions>()
  return {
    text: (text) => intern(texts, text, () => text),
    options: (column) => {
      if (column.length > REPEATED_UNITS_MAX) return optionsOf(column, blobs)
      return intern(known, column, () => deepFreeze(optionsOf(column, blobs)))
    },
  }
}

function intern<Value>(values: Map<string, Value>, key: string, make: () => Value): Value {
  const value = values.get(key)
  if (value !== undefined) return value
  const made = make()
  if (values.size < REPEATED_MAX) values.set(key, made)
  return made
}

function deepFreeze<Value>(value: Value): Value {
  if (typeof value !== "object" || value === null) return value
  for (const inner of Object.values(value)) deepFreeze(inner)
  return Object.freeze(value)
}

// --- Blobs that rows point at ----------------------------------------------------------------------------------------

export function blobsOfRow(columns: readonly (string | null | undefined)[]): string[] {
  return columns.flatMap((column) => blobOfColumn(column ?? "") ?? [])
}

/** A file part names its bytes inside its JSON. */
export function blobsOfPart(row: Pick<StoredPart, "type" | "text" | "variant_data" | "options">): string[] {
  const own = blobsOfRow([row.text, row.variant_data, row.options])
  if (row.type !== "file" || blobOfColumn(row.variant_data) !== undefined) return own
  const variant = parseOwnJson(row.variant_data)
  const reference = variant.ok && isJsonObject(variant.value) ? variant.value["blob"] : undefined
  return typeof reference === "string" ? [...own, ...blobsOfRow([reference])] : own
}

// --- Columns ---------------------------------------------------------------------------------------------------------

function micros(timestamp: string): bigint {
  const found = microsOfText(timestamp)
  if (found === undefined) {
    throw new PondError("validation_failed", `"${timestamp}" is not a timestamp. Use RFC 3339: 2026-01-31T12:00:00Z.`)
  }
  return found
}

function optionsOf(column: string, blobs: Blobs): ProviderOptions {
  const value = jsonOf(column, blobs)
  return isJsonObject(value) ? value : {}
}

function jsonOf(column: string, blobs: Blobs): JsonValue {
  const parsed = parseOwnJson(textOfColumn(column, blobs))
  if (!parsed.ok) throw new PondError("internal", `A stored JSON value cannot be read (${parsed.reason}).`)
  return parsed.value
}

function optional<Name extends string>(name: Name, value: string | null): { readonly [K in Name]?: string } {
  return value === null ? {} : ({ [name]: value } as { readonly [K in Name]: string })
}

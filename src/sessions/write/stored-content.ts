/**
 * Hashes of stored messages with their parts. They tell which messages of a log that is read again are stored as they
 * are: reading a whole session to find that nothing changed takes longer than storing it.
 */

import { isJsonObject, type JsonValue, parseOwnJson, stringifyJson } from "../../model/json.ts"
import { FingerprintSet } from "../../platform/fingerprint-set.ts"
import { openLedger } from "../../platform/memory.ts"
import {
  type ColumnBatch,
  type ColumnValues,
  columnBytes,
  keyHashes,
  repeatedTexts,
  replaceColumns,
  textReader,
  textsOf,
} from "../../substrate/columns/column-batch.ts"
import { isIn } from "../../substrate/filter.ts"
import { type Lane, MESSAGES } from "../tables.ts"
import type { PreparedBatch } from "./prepare.ts"
import type { SessionTables } from "./write-sessions.ts"

export interface StoredContent {
  /** One past the position of the last stored message of the session. */
  nextOrdinal(sessionId: string): number
  /** Undefined if the session is not stored. */
  project(sessionId: string): string | undefined
  /** For each message of the batch: whether it is stored with the same content and parts and was never revised. */
  areStored(batch: PreparedBatch): boolean[]
  /** For each message of the batch: whether it is stored with the same content, and none of its parts is. */
  lackParts(batch: PreparedBatch): boolean[]
}

/** The columns that a record is restored from. All others are copies of these or pond's own. */
const MESSAGE_CONTENT = ["session_id", "id", "role", "content", "options"] as const
const PART_CONTENT = ["session_id", "message_id", "id", "ordinal", "type", "text", "variant_data", "options"] as const

const REVISION = /^(.*)@[0-9a-f]{16}(?:\.\d+)?$/s

interface KnownSession {
  readonly sums: Sums
  nextOrdinal: number
  /** Messages that have a revision. */
  readonly revised: Set<string>
}

export async function readStoredContent(tables: SessionTables, ids: readonly string[]): Promise<StoredContent> {
  const where = isIn("session_id", [...ids])
  const known = new Map(ids.map((id) => [id, { sums: createSums(), nextOrdinal: 0, revised: new Set<string>() }]))
  const sessions = await tables.sessions.read({ columns: ["id", "project"], where: isIn("id", [...ids]) })
  const memory = openLedger("columns")
  // In sequence, because the engine reads ahead of each.
  const ofMessages = [...MESSAGE_CONTENT, "ordinal", "lane"] as const
  for await (const batch of tables.messages.columnBatches({ columns: ofMessages, where })) {
    addMessages(known, batch)
    memory.made(columnBytes(batch))
  }
  const ofParts = [...PART_CONTENT, "message_ordinal"] as const
  for await (const batch of tables.parts.columnBatches({ columns: ofParts, where })) {
    addParts(known, batch)
    memory.made(columnBytes(batch))
  }
  const projects = new Map(sessions.map(({ id, project }) => [id, project]))
  const hashes = new FingerprintSet()
  for (const { sums, nextOrdinal } of known.values()) {
    for (let ordinal = 0; ordinal < nextOrdinal; ordinal++) hashes.addHash(...sums.at(ordinal))
  }
  return {
    nextOrdinal: (sessionId) => known.get(sessionId)?.nextOrdinal ?? 0,
    project: (sessionId) => projects.get(sessionId),
    areStored: (batch) => areStored(batch, hashes, known.get(batch.session.id)?.revised),
    lackParts: (batch) => lackParts(batch, hashes),
  }
}

function addMessages(known: ReadonlyMap<string, KnownSession>, batch: ColumnBatch): void {
  const hashes = messageHashes(batch)
  const ordinals = numbersIn(batch, "ordinal")
  const idAt = textReader(columnIn(batch, "id"))
  for (const [row, session] of sessionsIn(known, batch)) {
    const ordinal = ordinals[row] as number
    session.sums.add(ordinal, hashes, row)
    session.nextOrdinal = Math.max(session.nextOrdinal, ordinal + 1)
    const revised = REVISION.exec(idAt(row) ?? "")?.[1]
    if (revised !== undefined) session.revised.add(revised)
  }
}

function addParts(known: ReadonlyMap<string, KnownSession>, batch: ColumnBatch): void {
  const hashes = partHashes(batch)
  const ordinals = numbersIn(batch, "message_ordinal")
  for (const [row, session] of sessionsIn(known, batch)) session.sums.add(ordinals[row] as number, hashes, row)
}

function* sessionsIn(
  known: ReadonlyMap<string, KnownSession>,
  batch: ColumnBatch,
): Generator<readonly [row: number, session: KnownSession]> {
  const ids = columnIn(batch, "session_id")
  const [idAt, isRepeated] = [textReader(ids), repeatedTexts(ids)]
  let session: KnownSession | undefined
  for (let row = 0; row < batch.length; row++) {
    if (!isRepeated(row)) session = known.get(idAt(row) ?? "")
    if (session !== undefined) yield [row, session]
  }
}

function areStored(
  { messages, parts }: PreparedBatch,
  hashes: FingerprintSet,
  revised: ReadonlySet<string> | undefined,
): boolean[] {
  const sums = createSums()
  const ordinals = numbersIn(messages, "ordinal")
  const first = ordinals[0] ?? 0
  const own = messageHashes(messages)
  for (let row = 0; row < messages.length; row++) sums.add((ordinals[row] as number) - first, own, row)
  const ofMessages = numbersIn(parts, "message_ordinal")
  const ofParts = partHashes(parts)
  for (let row = 0; row < parts.length; row++) sums.add((ofMessages[row] as number) - first, ofParts, row)
  const idAt = textReader(columnIn(messages, "id"))
  return Array.from({ length: messages.length }, (_, row) => {
    if (!hashes.mayHaveHash(...sums.at((ordinals[row] as number) - first))) return false
    return revised === undefined || revised.size === 0 || !revised.has(idAt(row) ?? "")
  })
}

/** The parts of a message are stored together, so that damage costs all of them or none. */
function lackParts({ messages, parts }: PreparedBatch, hashes: FingerprintSet): boolean[] {
  const withParts = new Set(numbersIn(parts, "message_ordinal"))
  const [own, ordinals] = [messageHashes(messages), numbersIn(messages, "ordinal")]
  return Array.from({ length: messages.length }, (_, row) => {
    if (!withParts.has(ordinals[row] as number)) return false
    return hashes.mayHaveHash(own[2 * row] as number, own[2 * row + 1] as number)
  })
}

// --- Hashes ------------------------------------------------------------------------------------------------------------

function messageHashes(batch: ColumnBatch): Uint32Array {
  return hashesOf(withoutReplays(batch), MESSAGE_CONTENT)
}

function partHashes(batch: ColumnBatch): Uint32Array {
  return hashesOf(batch, PART_CONTENT)
}

/** A null hashes differently from an empty value. */
function hashesOf(batch: ColumnBatch, names: readonly string[]): Uint32Array {
  const { length } = batch
  const columns = names.flatMap((name) => {
    const column = columnIn(batch, name)
    return [column, { data: column.nulls ?? new Uint8Array(length) }]
  })
  return keyHashes(columns, length)
}

/** Removes the mark of a copy, which only the store adds (see `mark-replays.ts`). */
function withoutReplays(batch: ColumnBatch): ColumnBatch {
  const lanes = textsOf(columnIn(batch, "lane"))
  const replay: Lane = "replay"
  if (!lanes.includes(replay)) return batch
  const options = textsOf(columnIn(batch, "options")).map((text, row) =>
    lanes[row] === replay && text !== null ? withoutMark(text) : text,
  )
  return replaceColumns(MESSAGES, batch, { options })
}

function withoutMark(options: string): string {
  const parsed = parseOwnJson(options)
  if (!parsed.ok || !isJsonObject(parsed.value)) return options
  const { pond } = parsed.value
  if (pond === undefined || !isJsonObject(pond)) return options
  const { replay_of: _, ...own } = pond
  const isOnlyMark = Object.keys(own).length === 0
  const entries = Object.entries(parsed.value).flatMap(([key, value]): [string, JsonValue][] => {
    if (key !== "pond") return [[key, value]]
    return isOnlyMark ? [] : [[key, own]]
  })
  return stringifyJson(Object.fromEntries(entries))
}

/** Two sums of hashes for each message position. A message and its parts arrive apart and in any order. */
interface Sums {
  add(place: number, hashes: Uint32Array, row: number): void
  at(place: number): readonly [number, number]
}

function createSums(): Sums {
  let sums = new Uint32Array(128)
  return {
    add: (place, hashes, row) => {
      if (2 * place >= sums.length) {
        const wider = new Uint32Array(4 * (place + 1))
        wider.set(sums)
        sums = wider
      }
      sums[2 * place] = (sums[2 * place] as number) + (hashes[2 * row] as number)
      sums[2 * place + 1] = (sums[2 * place + 1] as number) + (hashes[2 * row + 1] as number)
    },
    at: (place) => [sums[2 * place] ?? 0, sums[2 * place + 1] ?? 0],
  }
}

function columnIn({ columns }: ColumnBatch, name: string): ColumnValues {
  return columns[name] as ColumnValues
}

function numbersIn(batch: ColumnBatch, name: string): Int32Array {
  return columnIn(batch, name).data as Int32Array
}

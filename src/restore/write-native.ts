/**
 * Serializes one session for a native restore, a stretch at a time. Of a long session memory holds one stretch, and for each
 * message a hash of what its parts must read back as.
 */
import type { Adapter, OutputFile } from "../adapters/adapter.ts"
import { lastRecordAt, revisionOf } from "../adapters/shared/native.ts"
import { canonicalJson, type JsonValue } from "../model/json.ts"
import type { Entry, Part, Session } from "../model/session.ts"
import { codeUnitsOf, type StoredLog } from "../sessions/read/read-sessions.ts"
import { createOutputFiles, type NewLines, outputOptionsOf } from "./output-files.ts"

export interface WrittenLog {
  readonly session: Session
  readonly sessionId: string
  readonly files: readonly OutputFile[]
  readonly isOutdated: boolean
  readonly knownAs: string | undefined
  /** Other sessions that this one is nothing without. */
  readonly needs: readonly string[]
  /** What the parts of a message are, by its id. One that was revised reads back as the newer one, and is not here. */
  readonly bodies: ReadonlyMap<string, number>
}

export async function writeNative(log: StoredLog, adapter: Adapter, newLines: NewLines): Promise<WrittenLog> {
  const { session } = log
  const output = createOutputFiles({ ...outputOptionsOf(adapter), newLines })
  const serializer = adapter.serialize.native(session, output)
  const lineage = adapter.lineage?.open(session)
  const bodies = new Map<string, number>()
  const revised = new Set<string>()
  for await (const entries of piecesOf(log)) {
    serializer.push(entries)
    lineage?.push(entries)
    for (const { message, parts } of entries) {
      bodies.set(message.id, bodiesOf(parts))
      const of = revisionOf(message)
      if (of !== undefined) revised.add(of)
    }
  }
  for (const id of revised) bodies.delete(id)
  const { sessionId, isOutdated = false, knownAs } = serializer.end()
  return { session, sessionId, files: output.files(), isOutdated, knownAs, needs: lineage?.needs() ?? [], bodies }
}

// --- Pieces -----------------------------------------------------------------------------------------------------------

/** So much of a session is serialized at once. */
const PIECE_UNITS = 4 << 20
const PIECE_ENTRIES = 4_096

export interface Pieces {
  /** Gives entries of whole records, once there are many. */
  add(entry: Entry): readonly Entry[] | undefined
  rest(): readonly Entry[]
}

export function createPieces(): Pieces {
  let waiting: Entry[] = []
  let units = 0
  return {
    add: (entry) => {
      waiting.push(entry)
      units += codeUnitsOf([entry])
      if (units < PIECE_UNITS && waiting.length < PIECE_ENTRIES) return undefined
      const at = lastRecordAt(waiting)
      if (at === 0) return undefined
      const piece = waiting.slice(0, at)
      waiting = waiting.slice(at)
      units = codeUnitsOf(waiting)
      return piece
    },
    rest: () => waiting,
  }
}

async function* piecesOf(log: StoredLog): AsyncGenerator<readonly Entry[]> {
  const pieces = createPieces()
  let revisions: readonly Entry[] | undefined
  for await (const stretch of log.stretches()) {
    for (const entry of stretch) {
      const piece = pieces.add(entry)
      if (piece === undefined) continue
      // What a record of this piece became may stand far behind it.
      revisions ??= await log.revisions()
      yield withRevisions(piece, revisions)
    }
  }
  yield withRevisions(pieces.rest(), revisions ?? [])
}

function withRevisions(piece: readonly Entry[], revisions: readonly Entry[]): readonly Entry[] {
  if (revisions.length === 0) return piece
  const ids = new Set(piece.map(({ message }) => message.id))
  return [...piece, ...revisions.filter(({ message }) => !ids.has(message.id) && ids.has(revisionOf(message) ?? ""))]
}

// --- What is read back ------------------------------------------------------------------------------------------------

/** A hash of what the parts of a message say. The order of keys and what the store adds to a part do not change it. */
export function bodiesOf(parts: readonly Part[]): number {
  let hash = 0n
  for (const part of parts) hash = hashOfBody(part, hash)
  return Number(hash & SAFE_BITS)
}

const SAFE_BITS = (1n << 53n) - 1n

function hashOfBody(part: Part, before: bigint): bigint {
  let hash = before
  let short = ""
  for (const key of Object.keys(part).sort((left, right) => (left < right ? -1 : 1))) {
    if (key === "options") continue
    const value = part[key as keyof Part] as JsonValue
    const text = typeof value === "string" ? value : canonicalJson(value)
    short += `${key} ${typeof value} ${text.length} `
    // Not put together first: a text may be long.
    if (text.length <= SHORT_UNITS) short += text
    else hash = hashText(text, hash)
  }
  return hashText(short, hash)
}

const SHORT_UNITS = 256

/** Half a surrogate pair is not taken for another half. */
function hashText(text: string, seed: bigint): bigint {
  return Bun.hash.xxHash64(text.isWellFormed() ? text : Buffer.from(text, "utf16le"), seed)
}

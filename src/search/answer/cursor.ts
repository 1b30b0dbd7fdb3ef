/**
 * The cursor of an answer: bound to its query and to the rows stored when the answer began, so that new sessions
 * neither shift nor repeat hits. Opaque to clients.
 */
import { PondError } from "../../model/errors.ts"
import type { TimelinePosition } from "../exact/timeline.ts"
import type { SearchRequest } from "../request.ts"

export interface CursorState {
  /** When the answer began. Vectors stored later are excluded. */
  readonly asOfMicros: bigint
  /**
   * The next row number of the messages table at that time. Unlike timestamps, row numbers do not depend on a clock.
   */
  readonly messages: number
  /** The same for parts, if they are searched. */
  readonly parts: number | undefined
  /** Groups shown so far. */
  readonly shown: number
  /** Where a scan stopped, for arms that scan. */
  readonly place: TimelinePosition | undefined
  /** How many hits that scan asked for. `shown` counts in these, whatever the limit of the next page. */
  readonly walked: number | undefined
}

interface EncodedCursor {
  readonly v: 2
  readonly q: string
  readonly a: string
  readonly n: number
  readonly m: number
  readonly p?: number
  readonly b?: string
  readonly s?: number
  readonly w?: number
}

const LENGTH_MAX = 1_024

export function writeCursor(request: SearchRequest, state: CursorState): string {
  const { place, messages, parts, walked } = state
  const written: EncodedCursor = {
    v: 2,
    q: fingerprint(request),
    a: String(state.asOfMicros),
    n: state.shown,
    m: messages,
    ...(parts === undefined ? {} : { p: parts }),
    ...(place === undefined ? {} : { b: String(place.beforeMicros), s: place.skip }),
    ...(walked === undefined ? {} : { w: walked }),
  }
  return Buffer.from(JSON.stringify(written)).toString("base64url")
}

export function readCursor(request: SearchRequest): CursorState | undefined {
  if (request.cursor === undefined) return undefined
  const written = decodeCursor(request.cursor)
  if (written === undefined) throw bad("It was not made by pond.")
  if (written.q !== fingerprint(request)) throw bad("It belongs to another query: repeat the same query and filters.")
  return {
    asOfMicros: BigInt(written.a),
    shown: written.n,
    messages: written.m,
    parts: written.p,
    place: written.b === undefined ? undefined : { beforeMicros: BigInt(written.b), skip: written.s ?? 0 },
    walked: written.w,
  }
}

/** When the answer of a cursor began. */
export function cursorMs(cursor: string | undefined): number | undefined {
  const written = cursor === undefined ? undefined : decodeCursor(cursor)
  return written === undefined ? undefined : Number(BigInt(written.a) / 1000n)
}

function decodeCursor(cursor: string): EncodedCursor | undefined {
  if (cursor.length > LENGTH_MAX) return undefined
  try {
    const written = JSON.parse(Buffer.from(cursor, "base64url").toString("utf8")) as Partial<EncodedCursor>
    const isWhole =
      written.v === 2 &&
      typeof written.q === "string" &&
      isMicros(written.a) &&
      isCount(written.n) &&
      isCount(written.m) &&
      (written.p === undefined || isCount(written.p)) &&
      (written.w === undefined || isCount(written.w))
    const hasPlace = written.b === undefined || (isMicros(written.b) && isCount(written.s))
    return isWhole && hasPlace ? (written as EncodedCursor) : undefined
  } catch {
    return undefined
  }
}

function isCount(value: unknown): value is number {
  return typeof value === "number" && Number.isSafeInteger(value) && value >= 0
}

function isMicros(value: unknown): boolean {
  return typeof value === "string" && /^-?\d{1,18}$/.test(value)
}

/** Covers everything that decides what is found. The page size may change between pages. */
function fingerprint({ cursor: _, limit: __, ...request }: SearchRequest): string {
  const text = JSON.stringify(request, (_key, value) => (typeof value === "bigint" ? String(value) : value))
  return Bun.hash.xxHash64(text).toString(36)
}

function bad(why: string): PondError {
  return new PondError("validation_failed", `Invalid cursor. ${why}`, { details: { field: "cursor" } })
}

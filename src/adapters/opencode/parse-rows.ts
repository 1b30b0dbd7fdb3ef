/**
 * The rows of one session. A message comes with its parts inside it; the first read brings all of them, a later one only
 * those that are new or have changed, and behind them a listing of what is there now.
 */
import { isJsonObject, type JsonValue } from "../../model/json.ts"
import type { RawRecord } from "../adapter.ts"
import { nonEmptyStringAt } from "../extract.ts"
import { composed, fieldsOf, type SourceObject, type SourceValue } from "../source-value.ts"
import { digestOf, hashOf, openDigests } from "./digests.ts"
import { draftsOf } from "./messages.ts"
import { rowDraftsOf } from "./messages-v2.ts"
import { type Parsing, putMessage, putSingle, putUnknown } from "./parsing.ts"
import { viewOf } from "./records.ts"
import { LISTING_TABLE, REMOVED_TABLE, SESSION_TABLES } from "./tables.ts"

export interface RowState {
  /** Of the messages as they are now: see `digests.ts`. */
  readonly digests: string
  /** The last of the session's events that was read. */
  readonly lastEvent: number
  /** The hash of the ids of those that are stored and were removed since. */
  readonly removed: string
}

type RawRow = RawRecord & { readonly form: "row" }

export interface RowReader {
  push(raw: RawRow): void
  state(): RowState
}

export function openRows(parsing: Parsing, before: RowState): RowReader {
  const { writer, seen } = parsing
  const known = openDigests(before.digests)
  const digests = openDigests(before.digests)
  let listed: string | undefined
  let { lastEvent, removed } = before

  function takeMessage(raw: RawRow, row: SourceObject): void {
    const parts = Array.isArray(row["part"]) ? row["part"] : []
    const digest = digestOf(row, parts)
    if (known.has(digest)) return
    digests.add(digest)
    const found = raw.table === "message" ? draftsOf(viewOf(row)) : rowDraftsOf(row)
    const id = nonEmptyStringAt(row, "id")
    if (found !== undefined) putMessage(parsing, raw, row, found)
    else if (raw.table === "session_message" && SWITCHES.has(String(row["type"])) && id !== undefined)
      putSingle(parsing, raw, row, id)
    else putUnknown(parsing, raw, row, "unknown_record", `an unknown row of ${raw.table}`)
  }

  /** What has no place in the order is not known to have been read. */
  function isKnownEvent(event: SourceValue): boolean {
    return before.lastEvent >= 0 && (seqOf(event) ?? Number.POSITIVE_INFINITY) <= before.lastEvent
  }

  /** A stretch of events: the first with the others inside. */
  function takeEvents(raw: RawRow, row: SourceObject): void {
    const { event: rest, ...first } = row
    const all = [first, ...(Array.isArray(rest) ? rest : [])]
    const fresh = all.filter((event) => !isKnownEvent(event))
    if (fresh.length === 0) return
    for (const event of fresh) lastEvent = Math.max(lastEvent, seqOf(event) ?? lastEvent)
    const [head, ...tail] = fresh
    const stretch =
      fresh.length === all.length ? row : composed({ ...fieldsOf(head), ...(tail.length === 0 ? {} : { event: tail }) })
    const id = nonEmptyStringAt(stretch, "id")
    writer.carrier(raw, stretch, id === undefined ? {} : { id })
  }

  /** What is stored and not among those that are there was removed: by an undo, for one. */
  function takeListing(raw: RawRow, row: SourceObject): void {
    const { message: ids, digests: all } = row
    if (!Array.isArray(ids) || typeof all !== "string") return
    listed = all
    const live = new Set<JsonValue>(ids)
    const gone = [...seen].filter((id) => id.startsWith("msg_") && !/[#@]/.test(id) && !live.has(id))
    const hash = gone.length === 0 ? "" : hashOf(gone.toSorted((left, right) => (left < right ? -1 : 1)).join())
    if (gone.length > 0 && hash !== removed) {
      writer.carrier({ ...raw, table: REMOVED_TABLE }, { message: gone })
    }
    removed = hash
  }

  function takeOther(raw: RawRow, row: SourceObject): void {
    if (raw.table === "session") parsing.begin(row, "database")
    const id = nonEmptyStringAt(row, "id")
    if (id !== undefined && KNOWN.has(raw.table)) putSingle(parsing, raw, row, id)
    else putUnknown(parsing, raw, row, "unknown_record", `a row of ${raw.table}`)
  }

  return {
    push(raw) {
      const { row } = raw
      if (!isJsonObject(row)) writer.unreadable(raw, "unparsable_row", "a row that is not an object")
      else if (raw.table === LISTING_TABLE) takeListing(raw, row)
      else if (raw.table === "message" || raw.table === "session_message") takeMessage(raw, row)
      else if (raw.table === "event") takeEvents(raw, row)
      else takeOther(raw, row)
    },
    state: () => ({ digests: listed ?? digests.toText(), lastEvent, removed }),
  }
}

/** Rows that say which agent or model goes on. */
const SWITCHES = new Set(["agent-switched", "model-switched"])
const KNOWN = new Set<string>(SESSION_TABLES)

function seqOf(event: SourceValue): number | undefined {
  const seq = isJsonObject(event) ? event["seq"] : undefined
  return typeof seq === "number" ? seq : undefined
}

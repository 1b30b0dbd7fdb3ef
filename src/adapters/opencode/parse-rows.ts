/**
 * The rows of one session. A message comes with its parts inside it; the first read brings all of them, a later one only
 * those that are new or have changed, and before them a listing of what is there now.
 */
import { isJsonObject, type JsonObject, type JsonValue } from "../../model/json.ts"
import type { RawRecord } from "../adapter.ts"
import { digestOf, hashOf, openDigests } from "./digests.ts"
import { draftsOf } from "./messages.ts"
import { rowDraftsOf } from "./messages-v2.ts"
import { type Parsing, putMessage, putUnknown } from "./parsing.ts"
import { objectOf, viewOf } from "./records.ts"
import { LISTING_TABLE, REMOVED_TABLE } from "./tables.ts"

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
  const digests = openDigests(before.digests)
  let listed: string | undefined
  let { lastEvent, removed } = before

  function message(raw: RawRow, row: JsonObject): void {
    const parts = Array.isArray(row["part"]) ? row["part"] : []
    const digest = digestOf(row, parts)
    if (digests.has(digest)) return
    digests.add(digest)
    const found = raw.table === "message" ? draftsOf(viewOf(row)) : rowDraftsOf(row)
    if (found !== undefined) putMessage(parsing, raw, row, found)
    else if (raw.table === "session_message" && SWITCHES.has(String(row["type"]))) writer.carrier(raw, row)
    else putUnknown(parsing, raw, row, "unknown_record", `a ${raw.table} row of type ${String(row["type"] ?? "?")}`)
  }

  /** A stretch of events: the first with the others inside. */
  function events(raw: RawRow, row: JsonObject): void {
    const { event: rest, ...first } = row
    const all = [first, ...(Array.isArray(rest) ? rest : [])]
    const [head, ...tail] = all.filter((event) => seqOf(event) > lastEvent)
    if (head === undefined) return
    lastEvent = seqOf(tail.at(-1) ?? head)
    const isWhole = tail.length + 1 === all.length
    writer.carrier(raw, isWhole ? row : { ...objectOf(head), ...(tail.length === 0 ? {} : { event: tail }) })
  }

  /** What is stored and not among those that are there was removed: by an undo, for one. */
  function listing(raw: RawRow, row: JsonObject): void {
    const { message: ids, digests: all } = row
    if (!Array.isArray(ids) || typeof all !== "string") return
    listed = all
    const live = new Set<JsonValue>(ids)
    const gone = [...seen].filter((id) => id.startsWith("msg_") && !id.includes("#") && !live.has(id))
    const hash = gone.length === 0 ? "" : hashOf(gone.toSorted((left, right) => (left < right ? -1 : 1)).join())
    if (gone.length > 0 && hash !== removed) {
      const removal = { message: gone }
      writer.carrier({ ...raw, table: REMOVED_TABLE, row: removal }, removal)
    }
    removed = hash
  }

  return {
    push(raw) {
      const { row } = raw
      if (!isJsonObject(row)) writer.unreadable(raw, "unparsable_row", "a row that is no object")
      else if (raw.table === LISTING_TABLE) listing(raw, row)
      else if (raw.table === "message" || raw.table === "session_message") message(raw, row)
      else if (raw.table === "event") events(raw, row)
      else {
        if (raw.table === "session") parsing.begin(row, "database")
        parsing.single(`${raw.table} ${String(row["id"] ?? "")}`, raw, row)
      }
    },
    state: () => ({ digests: listed ?? digests.toText(), lastEvent, removed }),
  }
}

/** Rows that say which agent or model goes on. */
const SWITCHES = new Set(["agent-switched", "model-switched"])

function seqOf(event: JsonValue): number {
  return isJsonObject(event) && typeof event["seq"] === "number" ? event["seq"] : -1
}

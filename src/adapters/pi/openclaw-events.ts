/**
 * The events of a session of OpenClaw as the lines that they are: as text, compressed each alone, or all of them in an archive
 * that the client made of a session which nobody went on with.
 */
import { isJsonObject, parseJson } from "../../model/json.ts"
import { BYTES_KEY, type ForeignDatabase, type ForeignRow } from "../../platform/files/foreign-sqlite.ts"

const EVENTS = "transcript_events"
const COLD = "session_transcript_cold_archives"

/** `archiveOf`: the bytes of an archive that lies in a file. */
export function* eventTextsOf(
  database: ForeignDatabase,
  sessionId: string,
  archiveOf: (name: string) => Uint8Array,
): Generator<string> {
  const where = { session_id: sessionId }
  const columns = ["event_json", "event_zstd"]
  for (const row of database.rows({ table: EVENTS, columns, where, order: ["seq"] })) {
    const compressed = bytesIn(row, "event_zstd")
    if (typeof row["event_json"] === "string") yield row["event_json"]
    else if (compressed !== undefined) yield decompressed(compressed)
  }
  if (!database.tables.has(COLD)) return
  for (const row of database.rows({ table: COLD, columns: ["archive_name", "archive_blob"], where })) {
    const bytes = bytesIn(row, "archive_blob") ?? archiveOf(nameIn(row))
    for (const line of decompressed(bytes).split("\n")) {
      const text = archivedText(line)
      if (text !== undefined) yield text
    }
  }
}

/** The client names archives after their contents. Another name would lead out of their folder. */
function nameIn(row: ForeignRow): string {
  const name = String(row["archive_name"])
  return /^[\w-]+\.jsonl\.zst$/.test(name) ? name : "no-such-archive"
}

/** `{kind: "event", row: {seq, event_json, created_at}}`, among a header and what is derived from the events. */
function archivedText(line: string): string | undefined {
  const parsed = line === "" ? undefined : parseJson(line)
  const record = parsed?.ok === true && isJsonObject(parsed.value) ? parsed.value : {}
  const { kind, row } = record
  const text = kind === "event" && isJsonObject(row) ? row["event_json"] : undefined
  return typeof text === "string" ? text : undefined
}

function bytesIn(row: ForeignRow, column: string): Uint8Array | undefined {
  const value = row[column]
  const text = isJsonObject(value) ? value[BYTES_KEY] : undefined
  return typeof text === "string" ? Buffer.from(text, "base64") : undefined
}

const UTF8 = new TextDecoder()

function decompressed(compressed: Uint8Array): string {
  return UTF8.decode(Bun.zstdDecompressSync(compressed))
}

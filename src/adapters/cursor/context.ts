/**
 * The live conversation: of the editor the bubbles that the chat shows; of the command line the blobs that its root names; of a
 * transcript all of it. Reads kept records, never the disk.
 */
import { isJsonObject, type JsonObject, type JsonValue } from "../../model/json.ts"
import type { Entry, SessionLog } from "../../model/session.ts"
import { entriesByRecord, mainPlaceOf, sourceOf } from "../shared/native.ts"
import { bytesInCell } from "../shared/row-documents.ts"
import { isTab, promptBlobs, shapeOf, shownBubbles, textIn } from "./documents.ts"
import { tab } from "./parse.ts"

export function context(log: SessionLog, ancestors: readonly SessionLog[]): readonly Entry[] {
  if (isTab(mainPlaceOf(log))) return tab.context(log, ancestors)
  const items = new Map<string, readonly Entry[]>()
  const blobs = new Map<string, JsonObject>()
  let header: JsonObject | undefined
  for (const { newest, entries } of entriesByRecord(log)) {
    const record = sourceOf(newest)["record"] ?? null
    if (isJsonObject(record) && ("composer" in record || "meta" in record)) header = record
    else {
      const id = textIn(record, "id") ?? textIn(record, "key") ?? textIn(record, "bubbleId")
      items.set(id ?? entries[0].message.id, entries)
      if (isJsonObject(record) && id !== undefined) blobs.set(id, record)
    }
  }
  const named = header === undefined ? [] : namedIn(header, blobs)
  const order = named.length === 0 ? [...items.keys()] : named
  return order
    .flatMap((id) => items.get(id) ?? [])
    .filter(({ message, parts }) => message.role !== "system" && parts.length > 0)
}

function namedIn(header: JsonObject, blobs: ReadonlyMap<string, JsonObject>): readonly string[] {
  if ("meta" in header) {
    const meta = header["meta"]
    const root = textIn(isJsonObject(meta) ? meta["0"] : undefined, "latestRootBlobId") ?? ""
    const bytes = bytesInCell(blobs.get(root)?.["bytes"])
    return bytes === undefined ? [] : promptBlobs(bytes)
  }
  const rows = header[shapeOf(header).key] as JsonValue | undefined
  const keys = new Map(
    (Array.isArray(rows) ? (rows as readonly JsonValue[]) : []).map((key) => [
      String(key).split(":")[2] ?? "",
      String(key),
    ]),
  )
  return shownBubbles(header).flatMap((id) => keys.get(id) ?? [])
}

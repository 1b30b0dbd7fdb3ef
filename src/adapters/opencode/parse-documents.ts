/**
 * Documents: a tree, where the parts of a message come behind it and are put into one record with it, and the document
 * that `opencode export` writes, where all messages stand in one. Each message is a record of its own in either case.
 */
import { isJsonObject, type JsonObject, type JsonValue, stringifyJson } from "../../model/json.ts"
import type { RawRecord, SourceFile } from "../adapter.ts"
import { readJson } from "../shared/read-json.ts"
import { type Digests, hashOf } from "./digests.ts"
import { draftsOf } from "./messages.ts"
import { type Parsing, putMessage, putUnknown } from "./parsing.ts"
import { kindOf, partFolderOf, stemOf } from "./places.ts"
import { viewOf } from "./records.ts"
import { orphanStart } from "./session-start.ts"

/** A file of one value, or the bytes of one that is no text. */
type RawDocument = Exclude<RawRecord, { form: "row" }>

export interface DocumentReader {
  push(raw: RawDocument): void
  end(): void
}

/** A message of a tree whose parts are still to come. */
interface Waiting {
  readonly raw: RawDocument
  readonly info: JsonObject
  readonly folder: string
  readonly parts: JsonValue[]
  readonly places: string[]
}

export function openDocuments(parsing: Parsing, main: SourceFile, digests: Digests): DocumentReader {
  const { writer, seen } = parsing
  let waiting: Waiting | undefined

  function flush(): void {
    if (waiting === undefined) return
    const { raw, info, folder, parts, places } = waiting
    waiting = undefined
    // Names that say nothing that the ids do not say are not kept.
    const areNamed = parts.every((part, index) => places[index] === `${folder}/${idOf(part)}.json`)
    const record = { info, parts, ...(areNamed ? {} : { places }) }
    const found = draftsOf(viewOf(record))
    if (found !== undefined) putMessage(parsing, raw, record, found)
    else putUnknown(parsing, raw, record, "unknown_record", `a message of role ${String(info["role"])}`)
  }

  function takeMessage(raw: RawDocument, info: JsonObject): void {
    if (!writer.hasBegun && kindOf(main.place) === "message") {
      const start = orphanStart(info, main)
      if (start !== undefined) writer.begin(start)
    }
    // What is stored is changed file by file: the parts that did not change do not come again.
    if (seen.has(idOf(info))) writer.carrier(raw, info, { pond: { revision_of: idOf(info) } })
    else waiting = { raw, info, folder: partFolderOf(raw.file.place), parts: [], places: [] }
  }

  function takePart(raw: RawDocument, record: JsonValue): void {
    if (waiting === undefined || !raw.file.place.startsWith(`${waiting.folder}/`)) {
      flush()
      writer.carrier(raw, record)
      return
    }
    waiting.parts.push(record)
    waiting.places.push(raw.file.place)
  }

  return {
    push(raw) {
      const kind = kindOf(raw.file.place)
      if (kind !== "part") flush()
      const record = readJson(raw, writer)
      if (record === undefined) return
      if (kind === "part") takePart(raw, record)
      else if (kind === "message" && isJsonObject(record)) takeMessage(raw, record)
      else if (kind !== "other") {
        if (kind === "session") parsing.begin(record, "tree")
        writer.carrier(raw, record)
      } else if (isExport(record)) pushExport(parsing, raw, record, digests)
      else putUnknown(parsing, raw, record, "unknown_document", `${stemOf(raw.file.place)} is no session of opencode`)
    },
    end: flush,
  }
}

// --- Export -------------------------------------------------------------------------------------------------------------

interface ExportDocument extends JsonObject {
  readonly info: JsonObject
  readonly messages: readonly JsonValue[]
}

function isExport(record: JsonValue): record is ExportDocument {
  return isJsonObject(record) && isJsonObject(record["info"] ?? null) && Array.isArray(record["messages"])
}

/**
 * The document without its messages, which it names, and then each of them. One that is stored already and has changed
 * is kept under `revises`, so that it can be told from a second message of the same id.
 */
function pushExport(parsing: Parsing, raw: RawDocument, document: ExportDocument, digests: Digests): void {
  const { messages, ...rest } = document
  parsing.begin(document.info, "export")
  parsing.single(`export ${raw.file.place}`, raw, { ...rest, messages: messages.map((message) => exportIdOf(message)) })
  for (const message of messages) {
    const digest = hashOf(stringifyJson(message))
    if (digests.has(digest)) continue
    digests.add(digest)
    const found = isJsonObject(message) && "info" in message ? draftsOf(viewOf(message)) : undefined
    const id = exportIdOf(message)
    if (id !== null && parsing.seen.has(id)) parsing.writer.carrier(raw, { revises: id, record: message })
    else if (found !== undefined && isJsonObject(message)) putMessage(parsing, raw, message, found)
    else putUnknown(parsing, raw, { record: message }, "unknown_record", "a message of an export")
  }
}

function exportIdOf(message: JsonValue): string | null {
  const info = isJsonObject(message) ? message["info"] : undefined
  const id = isJsonObject(info ?? null) ? idOf(info ?? null) : ""
  return id === "" ? null : id
}

function idOf(record: JsonValue): string {
  const id = isJsonObject(record) ? record["id"] : undefined
  return typeof id === "string" ? id : ""
}

/**
 * Documents: a tree, where the parts of a message come before it and are put into one record with it, and the document
 * that `opencode export` writes, where all messages stand in one. Each message is a separate record in either case.
 */
import { isJsonObject, type JsonObject, type JsonValue, stringifyJson } from "../../model/json.ts"
import type { RawRecord, SourceUnit } from "../adapter.ts"
import { nonEmptyStringAt, plain, sealedRelativePath, sourceText } from "../extract.ts"
import { type DocumentShape, splitDocument } from "../shared/documents.ts"
import { readJson } from "../shared/read-json.ts"
import { composed, type SourceObject, type SourceValue } from "../source-value.ts"
import { type Digests, hashOf, openDigests } from "./digests.ts"
import { draftsOf } from "./messages.ts"
import { type Parsing, putMessage, putSingle, putUnknown } from "./parsing.ts"
import { kindOf, partFolderOf, stemOf } from "./places.ts"
import { viewOf } from "./records.ts"
import { directoryOf, orphanStart } from "./session-start.ts"

/** A file of one value, or the bytes of one that is no text. */
type RawDocument = Exclude<RawRecord, { form: "row" }>

export interface DocumentState {
  /** Of the messages of an export. */
  readonly exported: string
  /** Parts whose message has not been read yet: each with its place. */
  readonly waiting: readonly (readonly [place: string, record: SourceValue])[]
}

export interface DocumentReader {
  push(raw: RawDocument): void
  end(): DocumentState
}

interface WaitingPart {
  readonly raw: RawDocument
  readonly record: SourceValue
}

export function openDocuments(parsing: Parsing, unit: SourceUnit, before: DocumentState): DocumentReader {
  const { writer, seen } = parsing
  const known = openDigests(before.exported)
  const exported = openDigests(before.exported)
  const waiting = new Map<string, WaitingPart[]>()
  for (const [place, record] of before.waiting) {
    const file = unit.files.find((each) => each.relativePath === place)
    if (file !== undefined) wait({ raw: { form: "document", file, line: 1, text: "" }, record })
  }
  const read = new Set<string>()
  /** A session that does not say where it was: it begins with the first message that does. */
  let placeless: SourceValue | undefined

  function wait(part: WaitingPart): void {
    const folder = folderOf(part.raw.file.relativePath)
    const siblings = waiting.get(folder)
    if (siblings === undefined) waiting.set(folder, [part])
    else siblings.push(part)
  }

  function beginWith(info: SourceObject, raw: RawDocument): void {
    const directory = directoryOf(info)
    if (placeless !== undefined && directory !== undefined) parsing.begin(placeless, "tree", directory)
    else if (placeless === undefined && !writer.hasBegun && isWithoutSession(unit)) {
      const start = orphanStart(info, { brand: parsing.brand, main: raw.file })
      if (start !== undefined) writer.begin(start)
    }
  }

  function takeSession(raw: RawDocument, record: SourceValue): void {
    if (nonEmptyStringAt(record, "directory") === undefined) placeless = record
    else parsing.begin(record, "tree")
    writer.carrier(raw, record, { ...idField(record), ...titleFact(record) })
  }

  function takeMessage(raw: RawDocument, info: SourceObject): void {
    beginWith(info, raw)
    const folder = partFolderOf(raw.file.relativePath)
    const parts = waiting.get(folder) ?? []
    const id = nonEmptyStringAt(info, "id")
    if (id !== undefined && seen.has(plain(id))) {
      // What is stored changes file by file, and a file that did not change does not come again.
      writer.carrier(raw, info)
      return
    }
    waiting.delete(folder)
    // Names that say nothing that the ids do not say are not kept.
    const places = parts.map((part) => sourceText(sealedRelativePath(part.raw.file)))
    const areNamed = parts.every((part, index) => places[index] === `${folder}/${idOf(part.record)}.json`)
    const record = composed({ info, parts: parts.map((part) => part.record), ...(areNamed ? {} : { places }) })
    const found = draftsOf(viewOf(record))
    if (found !== undefined) putMessage(parsing, raw, record, found)
    else putUnknown(parsing, raw, record, "unknown_record", "a message with an unknown role")
  }

  return {
    push(raw) {
      const { relativePath } = raw.file
      const kind = kindOf(relativePath)
      read.add(relativePath)
      const record = readJson(raw, writer)
      if (record === undefined) return
      if (kind === "part") wait({ raw, record })
      else if (kind === "message" && isJsonObject(record)) takeMessage(raw, record)
      else if (kind === "session") takeSession(raw, record)
      else if (kind !== "other") writer.carrier(raw, record, idField(record))
      else if (isExport(record)) pushExport(parsing, raw, record, { known, exported })
      else putUnknown(parsing, raw, record, "unknown_document", `${stemOf(relativePath)} is not a session of opencode`)
    },
    end() {
      if (placeless !== undefined) parsing.begin(placeless, "tree")
      const toCome = unit.files.filter(
        ({ relativePath }) => kindOf(relativePath) === "message" && !read.has(relativePath),
      )
      const expected = new Set(toCome.map(({ relativePath }) => partFolderOf(relativePath)))
      const left = [...waiting.values()].flat()
      const isHeld = ({ raw: { file } }: WaitingPart) =>
        expected.has(folderOf(file.relativePath)) && !seen.has(folderOf(file.relativePath).split("/").at(-1) ?? "")
      for (const part of left) if (!isHeld(part)) writer.carrier(part.raw, part.record, idField(part.record))
      return {
        exported: exported.toText(),
        waiting: left.filter(isHeld).map(({ raw, record }) => [raw.file.relativePath, record]),
      }
    },
  }
}

function folderOf(place: string): string {
  return place.slice(0, Math.max(0, place.lastIndexOf("/")))
}

function isWithoutSession(unit: SourceUnit): boolean {
  return unit.files.every(({ relativePath }) => !["session", "other"].includes(kindOf(relativePath)))
}

function titleFact(record: SourceValue): { readonly pond?: { readonly title: string } } {
  const title = isJsonObject(record) ? record["title"] : undefined
  return typeof title === "string" ? { pond: { title } } : {}
}

function idField(record: SourceValue) {
  const id = nonEmptyStringAt(record, "id")
  return id === undefined ? {} : { id }
}

// --- Export -------------------------------------------------------------------------------------------------------------

export function isExport(record: JsonValue): record is JsonObject {
  return isJsonObject(record) && isJsonObject(record["info"] ?? null) && Array.isArray(record["messages"])
}

interface ExportDigests {
  readonly known: Digests
  readonly exported: Digests
}

/** The document without its messages, whose ids stand in their place, and then each of them. */
function pushExport(parsing: Parsing, raw: RawDocument, document: SourceObject, digests: ExportDigests): void {
  parsing.begin(document["info"] ?? null, "export")
  const { header, items } = splitDocument(document, EXPORT) ?? { header: document, items: [] }
  const id = nonEmptyStringAt(header, "info", "id")
  if (id !== undefined) putSingle(parsing, raw, header, id)
  else putUnknown(parsing, raw, header, "unknown_document", "an export without a session id")
  for (const message of items) {
    const digest = hashOf(stringifyJson(message))
    if (digests.known.has(digest)) continue
    digests.exported.add(digest)
    const found = isMessage(message) ? draftsOf(viewOf(message)) : undefined
    if (found !== undefined && isMessage(message)) putMessage(parsing, raw, message, found)
    else putUnknown(parsing, raw, composed({ message }), "unknown_record", "a message of an export")
  }
}

/** With a list of messages in it, it would look like the document that it stands in. */
function isMessage(message: JsonValue): message is JsonObject {
  return isJsonObject(message) && isJsonObject(message["info"] ?? null) && !("messages" in message)
}

/** The messages of an export stand in one list. */
export const EXPORT: DocumentShape = {
  key: "messages",
  idOf: (message) => {
    const id = isMessage(message) ? idOf(message["info"] ?? null) : ""
    return id === "" ? undefined : id
  },
}

function idOf(record: JsonValue): string {
  const id = isJsonObject(record) ? record["id"] : undefined
  return typeof id === "string" ? id : ""
}

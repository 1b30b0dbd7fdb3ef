/** Cline from canonical: its documents as they were, or as its command line would have written them (`foreign.ts`). */
import { isJsonObject, type JsonObject, type JsonValue, parseJson, stringifyJson } from "../../model/json.ts"
import type { Session } from "../../model/session.ts"
import type { FileSink, NativeSerializer, OutputFile, Serialize } from "../adapter.ts"
import { mainPlaceOf, type NativeRecord, nativeRecords, wholeSession, writeRecord } from "../shared/native.ts"
import { inOtherHome } from "../shared/other-home.ts"
import type { Brand } from "./brands.ts"
import { foreign } from "./foreign.ts"
import { hashedKey, joinKeyed, namedIn } from "./keyed-list.ts"

export function serializerOf({ id, title }: Brand): Serialize {
  const isCline = id === "cline"
  return {
    native,
    // Tasks are read, and go on in a client that has a command line.
    foreign: isCline ? foreign : ({ session }) => ({ sessionId: session.id, losses: [] }),
    resume: (sessionId, cwd, { root } = {}) => {
      if (!isCline) return { command: ["code", cwd], cwd, note: `${title} lists it in its history.` }
      const command = ["cline", "--id", sessionId]
      return root === undefined ? { command, cwd } : { ...inOtherHome(title, { CLINE_DATA_DIR: root }), command, cwd }
    },
  }
}

function native(session: Session, sink: FileSink): NativeSerializer {
  return wholeSession(session, (log) => {
    const documents = new Map<string, { record: NativeRecord; header: JsonObject | undefined }>()
    const items = new Map<string, JsonValue>()
    for (const record of nativeRecords(log)) {
      const { content, relativePath, form } = record
      if (form !== "document" || !("json" in content)) {
        writeRecord(record, sink)
        continue
      }
      const { json } = content
      const known = documents.get(relativePath)
      const isHeader = isJsonObject(json) && namedIn(json) !== undefined
      if (isHeader) documents.set(relativePath, { record, header: json })
      else if (known?.header === undefined) documents.set(relativePath, { record, header: undefined })
      else items.set(hashedKey(json), json)
    }
    for (const { record, header } of documents.values())
      writeRecord(header === undefined ? record : { ...record, content: { json: joinKeyed(header, items) } }, sink)
    return {
      sessionId: session.id,
      ...(isTask(mainPlaceOf(log)) ? { isOutdated: session.source_agent === "cline" } : {}),
    }
  })
}

/** The current command line cannot open a task of the extension. The extension converts the task when it is resumed. */
function isTask(place: string): boolean {
  return !place.endsWith(".messages.json")
}

/** A session contains the absolute path of its messages file. The client cannot open the session if that path is wrong. */
export function atRoot(root: string): (file: OutputFile) => OutputFile {
  return (file) => {
    if (file.form !== "document" || !DESCRIPTION.test(file.relativePath)) return file
    const parsed = parseJson(file.text)
    if (!parsed.ok || !isJsonObject(parsed.value)) return file
    const folder = file.relativePath.slice(0, file.relativePath.lastIndexOf("/"))
    const named = Object.entries(parsed.value).filter(([name, value]) => PATHS.has(name) && typeof value === "string")
    const placed = named.map(
      ([name, value]) => [name, `${root}/${folder}/${String(value).split(/[/\\]/).at(-1)}`] as const,
    )
    if (placed.every(([, path], at) => path === named[at]?.[1])) return file
    return { ...file, text: stringifyJson({ ...parsed.value, ...Object.fromEntries(placed) }) }
  }
}

const DESCRIPTION = /^sessions\/[^/]+\/[^/.]+\.json$/
const PATHS: ReadonlySet<string> = new Set(["messages_path", "compaction_path"])

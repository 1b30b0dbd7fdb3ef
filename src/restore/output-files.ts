/**
 * Makes whole files of what a serializer writes line by line and row by row. With a shelf of long lines (`newLines`) those of
 * a long session lie in a file instead of in memory: a log as its lines, a database as one line for each row.
 */
import type {
  Adapter,
  Conversation,
  DatabaseSchema,
  FileSink,
  ForeignEnd,
  ForeignTarget,
  OutputFile,
  OutputLine,
  OutputLines,
  OutputRow,
} from "../adapters/adapter.ts"
import { isJsonObject, parseJson, parseOwnJson, stringifyJson } from "../model/json.ts"
import type { SessionLog } from "../model/session.ts"
import { madeValues } from "../platform/memory.ts"

/** The lines of a log that is being written. A list is one. */
export interface LineList extends OutputLines {
  push(line: OutputLine): unknown
}

export type NewLines = (() => LineList) | undefined

export interface OutputFiles extends FileSink {
  files(): OutputFile[]
}

export interface OutputOptions {
  readonly newLines?: NewLines
  readonly schema?: DatabaseSchema | undefined
  /** See `Relocation.nameOf`: files of one name are one file, which lies where it was written to first. */
  readonly nameOf?: ((relativePath: string) => string) | undefined
}

interface RowList extends Iterable<OutputRow> {
  push(row: OutputRow): unknown
}

const NO_SCHEMA: DatabaseSchema = { create: [], keys: {}, shared: [], owners: [] }

export function createOutputFiles({ newLines, schema = NO_SCHEMA, nameOf }: OutputOptions = {}): OutputFiles {
  const byName = new Map<string, OutputFile>()
  const rowsByName = new Map<string, RowList>()
  const linesByName = new Map<string, LineList>()
  const named = (relativePath: string) => nameOf?.(relativePath) ?? relativePath

  // Nearly every line goes where the one before it went.
  let lastPath: string | undefined
  let lastLines: LineList = []

  function linesAt(relativePath: string, isShared: true | undefined): LineList {
    if (relativePath !== lastPath) {
      lastLines = findLines(relativePath, isShared)
      lastPath = relativePath
    }
    return lastLines
  }

  function findLines(relativePath: string, isShared: true | undefined): LineList {
    const name = named(relativePath)
    const known = linesByName.get(name)
    if (known !== undefined) return known
    const lines = newLines?.() ?? []
    linesByName.set(name, lines)
    byName.set(name, { form: "log", relativePath, lines, ...(isShared === undefined ? {} : { isShared }) })
    return lines
  }

  function rowsAt(relativePath: string): RowList {
    const name = named(relativePath)
    const known = rowsByName.get(name)
    if (known !== undefined) return known
    const rows = createRowList(newLines)
    rowsByName.set(name, rows)
    byName.set(name, { form: "database", relativePath, rows, schema })
    return rows
  }

  return {
    line: (relativePath, line, isShared) => linesAt(relativePath, isShared).push(line),
    row: (relativePath, row) => rowsAt(relativePath).push(row),
    file: (file) => byName.set(named(file.relativePath), file),
    files: () => [...byName.values()],
  }
}

/** What a row was made of, which has many small objects. */
const ROW_BYTES = 4_096

function createRowList(newLines: NewLines): RowList {
  if (newLines === undefined) return [] as OutputRow[]
  const lines = newLines()
  return {
    push: ({ table, row }) => {
      const line = stringifyJson({ table, row })
      lines.push(line)
      madeValues(line.length + ROW_BYTES, 1)
    },
    *[Symbol.iterator]() {
      for (const line of lines) {
        const parsed = parseOwnJson(String(line))
        if (parsed.ok) yield parsed.value as unknown as OutputRow
      }
    },
  }
}

/** The files of a session that is held, as its own client had them. */
export function nativeFiles(adapter: Adapter, { session, entries }: SessionLog, newLines?: NewLines): OutputFile[] {
  const output = createOutputFiles({ ...outputOptionsOf(adapter), newLines })
  const serializer = adapter.serialize.native(session, output)
  serializer.push(entries)
  serializer.end()
  return output.files()
}

export interface ForeignFiles extends ForeignEnd {
  readonly files: readonly OutputFile[]
}

export function foreignFiles(
  adapter: Adapter,
  conversation: Conversation,
  target: ForeignTarget,
  newLines?: NewLines,
): ForeignFiles {
  const output = createOutputFiles({ ...outputOptionsOf(adapter), newLines })
  const end = adapter.serialize.foreign?.(conversation, target, output) ?? {
    sessionId: conversation.session.id,
    losses: [],
  }
  return { ...end, files: output.files() }
}

export function outputOptionsOf({ database, relocation }: Adapter): Pick<OutputOptions, "schema" | "nameOf"> {
  return { schema: database?.schema, nameOf: relocation?.nameOf }
}

/** Several sessions may lie in one file: a database, an index of titles. Their pieces become one file each. */
export function mergeFiles(files: readonly OutputFile[]): OutputFile[] {
  const byPlace = new Map<string, OutputFile>()
  for (const file of files) {
    const before = byPlace.get(file.relativePath)
    byPlace.set(file.relativePath, before === undefined ? file : merged(before, file))
  }
  return [...byPlace.values()]
}

function merged(left: OutputFile, right: OutputFile): OutputFile {
  if (left.form === "database" && right.form === "database") {
    const rows = new Map([...left.rows, ...right.rows].map((row) => [`${row.table} ${stringifyJson(row.row)}`, row]))
    return { ...left, rows: [...rows.values()] }
  }
  if (left.form === "log" && right.form === "log" && left.isShared === true) {
    return {
      ...left,
      lines: [...new Map([...left.lines, ...right.lines].map((line) => [String(line), line])).values()],
    }
  }
  if (left.form === "text" && right.form === "text" && left.isShared === true)
    return { ...left, text: `${left.text}${right.text}` }
  if (left.form === "document" && right.form === "document" && left.entryOf === "" && right.entryOf === "") {
    const [before, after] = [parseJson(left.text), parseJson(right.text)]
    if (before.ok && after.ok && isJsonObject(before.value) && isJsonObject(after.value))
      return { ...left, text: stringifyJson({ ...before.value, ...after.value }) }
  }
  return right
}

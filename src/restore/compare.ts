/**
 * Whether the files that a native restore would write hold what the source holds: file by file, record by record, by
 * value. White space, key order and the spelling of equal numbers make no difference; anything else is a mismatch, with
 * the first place where the two differ. Knows no client and no store.
 */
import type { DatabaseSchema, OutputFile, OutputRow, RawRecord, Relocation } from "../adapters/adapter.ts"
import {
  canonicalJson,
  differingPointer,
  isJsonObject,
  type JsonValue,
  parseJson,
  pointerKeys,
  stringifyJson,
} from "../model/json.ts"
import { flatRows } from "../platform/files/foreign-sqlite-writer.ts"

export interface Mismatch {
  readonly session: string
  /** The place below the root of the source. */
  readonly file: string
  /** The record in the file (of a database: in its table), counted from 1. */
  readonly record: number
  /** The JSON pointer of the first difference. Empty where the record differs as a whole. */
  readonly pointer: string
  /** What the source has there, and what a restore would write: JSON, cut short. Null where there is nothing. */
  readonly expected: string | null
  readonly got: string | null
}

type Content = { readonly text: string } | { readonly bytes: Uint8Array } | { readonly json: JsonValue }

/** The records of one file, or of one table of a database: what the source has, and what a restore would write. */
interface Run {
  readonly file: string
  isText: boolean
  readonly wanted: Content[]
  readonly written: Content[]
}

const PREVIEW_UNITS = 160

/** A record as it was read. A row may be given as its JSON, where what it was read into belongs to somebody else since. */
export type SourceRecord =
  | RawRecord
  | (Pick<Extract<RawRecord, { form: "row" }>, "form" | "file" | "table"> & { readonly text: string })

/** How many records of each file and table were compared before, for a session that is compared a stretch at a time. */
export type Compared = Map<string, number>

export interface Comparing {
  readonly before?: Compared
  /** A file that was moved since it was stored is compared with itself. */
  readonly nameOf?: Relocation["nameOf"]
  /** What is written may be more, in another order and in other files: a store has what other machines said as well. */
  readonly mayBeMore?: boolean | undefined
}

export function differences(
  session: string,
  source: readonly SourceRecord[],
  files: readonly OutputFile[],
  { before = new Map(), nameOf, mayBeMore }: Comparing = {},
): Mismatch[] {
  const attempt = (flat?: DatabaseSchema) => {
    const runs = runsOf(source, files, { nameOf, ...(flat === undefined ? {} : { schema: flat }) })
    const found = differing(session, runs, before)
    return found.length > 0 && mayBeMore === true ? differing(session, runs, before, lackingRecords(runs)) : found
  }
  const found = attempt()
  const schema = files.find((file) => file.form === "database")?.schema
  if (found.length === 0 || schema === undefined) return found
  // Which rows stand inside others is only how they were read: at once, or some now and more when the session had grown.
  return attempt(schema)
}

/** By run: the records of the source that are written nowhere. Two equal records are two. */
type Lacking = ReadonlyMap<string, ReadonlySet<number>>

function lackingRecords(runs: ReadonlyMap<string, Run>): Lacking {
  const written = new Map<string, number>()
  for (const content of [...runs.values()].flatMap((run) => run.written))
    written.set(contentKey(content), (written.get(contentKey(content)) ?? 0) + 1)
  const lacking = new Map<string, Set<number>>()
  for (const [key, { wanted }] of runs) {
    for (const [index, content] of wanted.entries()) {
      const left = written.get(contentKey(content)) ?? 0
      if (left === 0) lacking.set(key, (lacking.get(key) ?? new Set()).add(index))
      else written.set(contentKey(content), left - 1)
    }
  }
  return lacking
}

function contentKey(content: Content): string {
  const json = contentJson(content)
  return json === undefined
    ? `bytes ${Bun.hash.xxHash64(contentBytes(content))}`
    : `json ${Bun.hash.xxHash64(canonicalJson(json))}`
}

/** Nothing where either side has records that the other has not: they may belong to the next stretch. */
export function stretchDifferences(
  session: string,
  source: readonly SourceRecord[],
  files: readonly OutputFile[],
  { before = new Map(), nameOf }: Comparing,
): Mismatch[] | undefined {
  const runs = runsOf(source, files, { nameOf })
  const isLevel = [...runs.values()].every(({ wanted, written }) => wanted.length === written.length)
  if (!isLevel) return undefined
  const found = differing(session, runs, before)
  for (const [key, { wanted }] of runs) before.set(key, (before.get(key) ?? 0) + wanted.length)
  return found
}

function differing(session: string, runs: ReadonlyMap<string, Run>, before: Compared, lacking?: Lacking): Mismatch[] {
  const found: Mismatch[] = []
  for (const [key, { file, isText, wanted, written }] of runs) {
    if (wanted.length === 0 && written.every(isNothing)) continue
    const differ = isText ? differingText : differingContent
    const first = (before.get(key) ?? 0) + 1
    const length = Math.max(wanted.length, written.length)
    for (let index = 0; index < length; index++) {
      if (lacking !== undefined && lacking.get(key)?.has(index) !== true) continue
      const difference = differ(wanted[index], written[index])
      if (difference !== undefined) found.push({ session, file, record: first + index, ...difference })
    }
  }
  return found
}

/** A client may need an empty file beside what was stored. It says nothing that the source does not say. */
function isNothing(content: Content): boolean {
  return "text" in content && content.text === ""
}

// --- Both sides as runs of records ------------------------------------------------------------------------------------

/** With a schema each row is compared on its own. */
function runsOf(
  source: readonly SourceRecord[],
  files: readonly OutputFile[],
  { nameOf, schema }: Pick<Comparing, "nameOf"> & { readonly schema?: DatabaseSchema },
): Map<string, Run> {
  const runs = new Map<string, Run>()
  const runOf = (file: string, table: string): Run => {
    const key = `${nameOf?.(file) ?? file}\n${table}`
    const known = runs.get(key)
    if (known !== undefined) return known
    const run: Run = { file, isText: false, wanted: [], written: [] }
    runs.set(key, run)
    return run
  }
  for (const raw of source) {
    for (const { table, content } of wantedOf(raw, schema)) {
      const run = runOf(raw.file.relativePath, table)
      run.wanted.push(content)
      if (raw.file.form === "text") run.isText = true
    }
  }
  for (const file of files) {
    if (file.form !== "database") runOf(file.relativePath, "").written.push(...contentsOf(file))
    else
      for (const { table, row } of Array.from(file.rows).flatMap((each) => rowsIn(each, schema)))
        runOf(file.relativePath, table).written.push({ json: row })
  }
  return runs
}

function wantedOf(
  raw: SourceRecord,
  schema: DatabaseSchema | undefined,
): { readonly table: string; readonly content: Content }[] {
  const content = contentOf(raw)
  if (raw.form !== "row") return [{ table: "", content }]
  const row = schema === undefined ? undefined : contentJson(content)
  if (!isJsonObject(row)) return [{ table: raw.table, content }]
  return rowsIn({ table: raw.table, row }, schema).map((each) => ({ table: each.table, content: { json: each.row } }))
}

function rowsIn(row: OutputRow, schema: DatabaseSchema | undefined): OutputRow[] {
  return schema?.keys[row.table] === undefined ? [row] : [...flatRows({ rows: [row], schema })]
}

function contentsOf(file: Exclude<OutputFile, { form: "database" }>): Content[] {
  if (file.form === "log")
    return Array.from(file.lines, (line) => (typeof line === "string" ? { text: line } : { bytes: line }))
  return [file.form === "bytes" ? { bytes: file.bytes } : { text: file.text }]
}

function contentOf(raw: SourceRecord): Content {
  if ("text" in raw) return { text: raw.text }
  return raw.form === "row" ? { json: raw.row } : { bytes: raw.bytes }
}

// --- One record -------------------------------------------------------------------------------------------------------

type Difference = Pick<Mismatch, "pointer" | "expected" | "got">

function differingContent(expected: Content | undefined, got: Content | undefined): Difference | undefined {
  // Most clients write JSON as JavaScript does, and then the same text is the same value.
  if (expected && got && "text" in expected && expected.text === contentText(got)) return undefined
  const wanted = contentJson(expected)
  const written = contentJson(got)
  if (wanted === undefined || written === undefined) return differingText(expected, got)
  const pointer = differingPointer(wanted, written)
  if (pointer === undefined) return undefined
  return { pointer, expected: previewAt(wanted, pointer), got: previewAt(written, pointer) }
}

function contentText(content: Content): string | undefined {
  if ("text" in content) return content.text
  return "json" in content ? stringifyJson(content.json) : undefined
}

function differingText(expected: Content | undefined, got: Content | undefined): Difference | undefined {
  const isSame = expected && got && Buffer.compare(contentBytes(expected), contentBytes(got)) === 0
  return isSame ? undefined : { pointer: "", expected: preview(expected), got: preview(got) }
}

function contentJson(content: Content | undefined): JsonValue | undefined {
  if (content === undefined || "bytes" in content) return undefined
  if ("json" in content) return content.json
  const parsed = parseJson(content.text)
  return parsed.ok ? parsed.value : undefined
}

/** Strings as UTF-16, so that half a surrogate pair is not taken for another half. */
function contentBytes(content: Content): Uint8Array {
  if ("bytes" in content) return content.bytes
  return Buffer.from("text" in content ? content.text : stringifyJson(content.json), "utf16le")
}

function preview(content: Content | undefined): string | null {
  if (content === undefined) return null
  if ("bytes" in content) return `${content.bytes.length} bytes`
  return cut("text" in content ? content.text : stringifyJson(content.json))
}

function previewAt(value: JsonValue, pointer: string): string | null {
  let found: JsonValue | undefined = value
  for (const key of pointerKeys(pointer)) {
    if (Array.isArray(found)) found = found[Number(key)]
    else found = isJsonObject(found) && Object.hasOwn(found, key) ? found[key] : undefined
  }
  return found === undefined ? null : cut(stringifyJson(found))
}

function cut(text: string): string {
  return text.length <= PREVIEW_UNITS ? text : `${text.slice(0, PREVIEW_UNITS)}…`
}

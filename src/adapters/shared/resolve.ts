/**
 * Resolve: the bytes of one unit become raw records, in order, a batch at a time. No more of a log is held than one batch
 * and the longest line. A log can be read on from where an earlier read ended, and says where it ended itself.
 * Knows no client and parses nothing: a line is text, or bytes where it is no UTF-8.
 */
import { open, readFile, stat } from "node:fs/promises"
import { join } from "node:path"
import type { Issue } from "../../model/report.ts"
import { ZipFault } from "../../platform/files/zip.ts"
import { errorCode } from "../../platform/system-error.ts"
import type { Adapter, RawRecord, SourceFile, SourceUnit } from "../adapter.ts"
import type { SourceValue } from "../source-value.ts"
import { absentFile, fileOf } from "./folders.ts"
import { readInside } from "./inside.ts"
import { type LogPosition, openLogWindow, UnreadableLog } from "./log-window.ts"

export interface Batch {
  readonly file: SourceFile
  /** A parser may take records out to free them: one may be hundreds of megabytes. */
  readonly records: RawRecord[]
  /** What could not be read. The other files of the unit go on. */
  readonly issues: readonly Issue[]
  readonly bytes: number
  /** Its bytes could not be had, which may be otherwise the next time. */
  readonly isUnread?: boolean
  /** Where the log goes on after this batch. Absent for everything that is read whole. */
  readonly position?: LogPosition
}

export interface ResolveOptions {
  /** Where logs go on, by the place of their file. Ask `isPrefixOf` first: a log that was rewritten has no such place. */
  readonly from?: ReadonlyMap<string, LogPosition>
  /** A last line without its line feed may still be in the writing. It is read as it is (`take`), or left for the next time. */
  readonly unendedLine?: "take" | "leave"
  /** The state of an earlier parse, from which the rows of a database go on. */
  readonly since?: SourceValue
}

/** A last line without a line feed is still being written, unless the file was not touched for so long. */
const SETTLED_MS = 60_000

export function isLeftAlone(unit: SourceUnit, nowMs: number): boolean {
  return unit.files.every((file) => nowMs - file.modifiedMs > SETTLED_MS)
}

const ROWS_PER_BATCH = 256
const LINE_FEED = 10
const CARRIAGE_RETURN = 13

export async function* resolve(
  adapter: Pick<Adapter, "database" | "assemble" | "contentIds" | "attachments">,
  unit: SourceUnit,
  options: ResolveOptions = {},
): AsyncGenerator<Batch> {
  const attached = new Set<string>()
  for (const file of unit.files) {
    try {
      if (file.form === "log") yield* withAttachments(adapter, resolveLog(adapter, file, options), attached)
      else if (file.form !== "database") yield resolveAssembled(adapter, file) ?? (await resolveWhole(file))
      else if (adapter.database !== undefined) yield* resolveRows(file, adapter.database.rows(unit, options.since))
    } catch (error) {
      const isUnread = !(error instanceof UnreadableLog)
      yield { file, records: [], issues: [issueOf(file, error)], bytes: 0, isUnread }
    }
  }
  for (const place of attached) yield await resolveAttachment(unit, place)
  const [beside] = unit.beside ?? []
  if (beside !== undefined) yield { file: beside.file, records: [...(unit.beside ?? [])], issues: [], bytes: 0 }
}

// --- Files that lines name ---------------------------------------------------------------------------------------------

/** Passes the batches on, and notes the files that their lines name. */
async function* withAttachments(
  { attachments }: Pick<Adapter, "attachments">,
  batches: AsyncGenerator<Batch>,
  attached: Set<string>,
): AsyncGenerator<Batch> {
  if (attachments === undefined) return yield* batches
  for await (const batch of batches) {
    for (const record of batch.records)
      if (record.form === "log") for (const place of attachments(record.text)) attached.add(place)
    yield batch
  }
}

async function resolveAttachment({ root }: SourceUnit, relativePath: string): Promise<Batch> {
  try {
    return await resolveWhole(fileOf(root, relativePath, "bytes", await stat(join(root, relativePath))))
  } catch (error) {
    const file = absentFile(root, relativePath, "bytes")
    return { file, records: [], issues: [issueOf(file, error)], bytes: 0 }
  }
}

// --- Logs: whole lines ------------------------------------------------------------------------------------------------

async function* resolveLog(
  adapter: Pick<Adapter, "contentIds">,
  file: SourceFile,
  { from: places, unendedLine }: ResolveOptions,
): AsyncGenerator<Batch> {
  const from = places?.get(file.relativePath)
  const handle = await open(file.path, "r")
  try {
    const window = await openLogWindow(handle, file, from)
    let line = from?.line ?? 0
    // What the earlier read took without a line feed comes once more, and was handed on then.
    let known = from?.open === undefined ? 0 : 1
    for (let lines = await window.next(); lines.length > 0; lines = await window.next()) {
      const isUnended = lines.at(-1) !== LINE_FEED
      if (isUnended && unendedLine === "leave") return
      const bytes = lines.length
      const records = recordsOf(file, lines, line, adapter.contentIds)
      window.letGo()
      line += isUnended ? records.length - 1 : records.length
      yield {
        file,
        records: records.slice(known),
        issues: [],
        bytes,
        position: { ...window.position(), line },
      }
      known = 0
    }
  } finally {
    await handle.close()
  }
}

/** `before` is how many lines of the file came earlier. Every line is a record, blank ones too. */
export function recordsOf(file: SourceFile, lines: Buffer, before: number, contentIds?: true): RawRecord[] {
  const records: RawRecord[] = []
  for (let start = 0; start < lines.length; ) {
    const feed = lines.indexOf(LINE_FEED, start)
    const next = feed < 0 ? lines.length : feed + 1
    let end = feed < 0 ? lines.length : feed
    // At the end of a file, too: a restore ends every line with a line feed, and would make it a part of the ending.
    if (end > start && lines[end - 1] === CARRIAGE_RETURN) end--
    const line = before + records.length + 1
    const bytes = lines.subarray(line === 1 ? start + byteOrderMarkOf(lines) : start, end)
    const text = decodeUtf8(bytes)
    if (text === undefined) records.push({ form: "bytes", file, line, bytes: Uint8Array.from(bytes) })
    else if (contentIds) records.push({ form: "log", file, line, text, hash: Bun.hash.xxHash64(bytes) })
    else records.push({ form: "log", file, line, text })
    start = next
  }
  return records
}

// --- Files that are read whole, and rows ------------------------------------------------------------------------------

function resolveAssembled({ assemble }: Pick<Adapter, "assemble">, file: SourceFile): Batch | undefined {
  const text = file.form === "document" ? assemble?.(file) : undefined
  return text === undefined
    ? undefined
    : { file, records: [{ form: "document", file, line: 1, text }], issues: [], bytes: file.sizeBytes }
}

async function resolveWhole(file: SourceFile): Promise<Batch> {
  const bytes = file.inside === undefined ? await readFile(file.path) : await readInside(file.path, file.inside)
  // The mark belongs to the encoding of a document, and to the text of a text.
  const text = decodeUtf8(file.form === "document" ? bytes.subarray(byteOrderMarkOf(bytes)) : bytes)
  const record: RawRecord =
    text === undefined || file.form === "bytes" || file.form === "database"
      ? { form: "bytes", file, line: 1, bytes }
      : { form: file.form, file, line: 1, text }
  return { file, records: [record], issues: [], bytes: bytes.length }
}

/** How many bytes a row took in its database is not known: all of them count as read when the last one is. */
async function* resolveRows(file: SourceFile, rows: AsyncIterable<RawRecord>): AsyncGenerator<Batch> {
  let records: RawRecord[] = []
  for await (const row of rows) {
    records.push(row)
    if (records.length < ROWS_PER_BATCH) continue
    yield { file, records, issues: [], bytes: 0 }
    records = []
  }
  yield { file, records, issues: [], bytes: file.sizeBytes }
}

/** Fatal, so that bytes which are no UTF-8 stay bytes. */
const UTF8 = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true })

function decodeUtf8(bytes: Uint8Array): string | undefined {
  try {
    return UTF8.decode(bytes)
  } catch {
    return undefined
  }
}

function byteOrderMarkOf(bytes: Uint8Array): number {
  return bytes[0] === 0xef && bytes[1] === 0xbb && bytes[2] === 0xbf ? 3 : 0
}

/** A file that cannot be read is a fact about the source, not an error of pond: the other files go on. */
function issueOf(file: SourceFile, error: unknown): Issue {
  const found = { severity: "fault" as const, file: file.relativePath }
  if (error instanceof ZipFault) return { ...found, kind: "unreadable_file", found: error.message }
  if (error instanceof UnreadableLog) return { ...found, kind: error.kind, found: error.message }
  const code = errorCode(error)
  if (code === undefined) throw error
  return { ...found, kind: code === "ENOENT" ? "missing_file" : "unreadable_file", found: code }
}

/**
 * Export, import and copy: whole stores, or sessions of one, from place to place. Not on the wire: it reads and writes
 * files of this machine, and stores that its owner names.
 */
import { rmSync } from "node:fs"
import { join } from "node:path"
import { type CopyReport, copyStore } from "../../archive/copy.ts"
import { type CopyNote, copyNoteFrom } from "../../archive/copy-note.ts"
import { type ExportReport, exportArchive } from "../../archive/export.ts"
import { importArchive } from "../../archive/import.ts"
import type { RowCounts } from "../../archive/rows/archived-tables.ts"
import type { SessionFilter } from "../../archive/rows/selection.ts"
import type { Work } from "../../archive/work.ts"
import { ERROR_TABLE, EXIT_NOT_WHOLE, PondError } from "../../model/errors.ts"
import { parseOwnJson } from "../../model/json.ts"
import { bytesOfFile, replaceFile } from "../../platform/files/replace-file.ts"
import type { Host } from "../../platform/host/host.ts"
import { between } from "../../platform/memory.ts"
import { sha256Of } from "../../platform/sha256.ts"
import type { Sessions } from "../../sessions/store.ts"
import type { LabelConflict } from "../../sessions/write/labels.ts"
import type { Pond } from "../pond.ts"
import { boundsOf } from "../wire/date-bounds.ts"

export interface ExportOptions {
  readonly path: string
  readonly sessionIds: readonly string[]
  readonly project?: string | undefined
  readonly agent?: string | undefined
  readonly from?: string | undefined
  readonly to?: string | undefined
  readonly isForced: boolean
}

export async function exportPond(pond: Pond, options: ExportOptions, work: Work): Promise<ExportReport> {
  const filter = filterOf(options)
  const { store } = await pond.sessions()
  const { path, isForced } = options
  return await exportArchive(store, { path, isForced, filter }, { ...work, clock: pond.host.clock })
}

/** Nothing where nothing was asked for: then the archive is of all the store. */
function filterOf({ sessionIds, project, agent, ...days }: ExportOptions): SessionFilter | undefined {
  const { from, to } = boundsOf({ from: "from", to: "to" }, days.from, days.to)
  const filter: SessionFilter = {
    ...(sessionIds.length === 0 ? {} : { ids: sessionIds }),
    ...(project === undefined ? {} : { project }),
    ...(agent === undefined ? {} : { agent }),
    ...(from === undefined ? {} : { fromMicros: from }),
    ...(to === undefined ? {} : { toMicros: to }),
  }
  return Object.keys(filter).length === 0 ? undefined : filter
}

type StoredRows = { readonly [Role in keyof RowCounts]: { readonly new: number; readonly present: number } }

export interface ImportOutcome extends StoredRows {
  readonly labels: StoredRows["sessions"]
  readonly label_conflicts: readonly LabelConflict[]
  readonly refused: readonly string[]
  readonly diverging: readonly string[]
  readonly erased: readonly string[]
  readonly excluded: readonly string[]
  readonly bytes: number
  readonly dry_run: boolean
  /** Until everything was stored, and for its indexes after that. */
  readonly ms: number
  readonly index_ms: number
}

export async function importPond(
  pond: Pond,
  { path, isDryRun }: { readonly path: string; readonly isDryRun: boolean },
  work: Work,
): Promise<ImportOutcome> {
  const sessions = await pond.sessions()
  const beganMs = pond.host.clock.monotonicMs()
  const imported = await importArchive(sessions, { path, isDryRun }, work)
  const { inserted, present, labels, refused, diverging, erased, excluded, bytes } = imported
  const importedMs = pond.host.clock.monotonicMs()
  if (!isDryRun) await indexed(sessions, work)
  const doneMs = pond.host.clock.monotonicMs()
  const both = (role: keyof RowCounts) => ({ new: inserted[role], present: present[role] })
  return {
    sessions: both("sessions"),
    messages: both("messages"),
    parts: both("parts"),
    embeddings: both("embeddings"),
    blobs: both("blobs"),
    labels: { new: labels.inserted, present: labels.present },
    label_conflicts: labels.conflicts,
    refused,
    diverging,
    erased,
    excluded,
    bytes,
    dry_run: isDryRun,
    ms: Math.round(importedMs - beganMs),
    index_ms: Math.round(doneMs - importedMs),
  }
}

/** Whatever of it is not done yet, a search does row by row, and the next sync goes on with it. */
async function indexed(sessions: Sessions, work: Work): Promise<void> {
  between("stages")
  for (const table of await sessions.written()) {
    if (work.signal.aborted)
      throw new PondError("interrupted", "Everything is stored. Run `pond optimize` to build the indexes.")
    work.onStage(`index ${table.name}`, undefined)
    await table.maintain("due")
  }
}

export interface CopyOptions {
  /** Absent: the store that this pond is of. */
  readonly from: string | undefined
  readonly to: string
  readonly isVerifyOnly: boolean
  /** Compares everything, also what an earlier copy has verified. */
  readonly isFull: boolean
}

export interface CopyOutcome extends Omit<CopyReport, "labels" | "note"> {
  readonly labels: { readonly new: number; readonly present: number }
  readonly label_conflicts: readonly LabelConflict[]
}

export async function copyPond(pond: Pond, options: CopyOptions, work: Work): Promise<CopyOutcome> {
  const from = options.from === undefined ? await pond.sessions() : await pond.sessionsAt(options.from)
  const to = await pond.sessionsAt(options.to)
  if (from.store.location.uri === to.store.location.uri) {
    throw new PondError("validation_failed", "Source and target are the same store. Use two different ones.", {
      details: { store: from.store.location.shown },
    })
  }
  if ((await from.store.names()).length === 0) {
    throw new PondError("not_found", `No store at ${from.store.location.shown}. \`pond sync\` creates one.`, {
      details: { store: from.store.location.shown },
    })
  }
  const { isVerifyOnly } = options
  const notes = copyNotes(pond.host, from.store.location.uri, to.store.location.uri)
  const since = options.isFull ? undefined : notes.read()
  const request = { isVerifyOnly, since, index: () => indexed(to, work) }
  const { labels, note, ...report } = await copyStore(from, to, request, work)
  if (!isVerifyOnly) notes.write(note)
  const { inserted, present, conflicts } = labels
  return { ...report, labels: { new: inserted, present }, label_conflicts: conflicts }
}

/** What copies from one store into another have verified, as this machine knows it. */
function copyNotes(host: Host, from: string, to: string) {
  const path = join(host.path("state"), "copies", `${sha256Of(`${from}\n${to}`).slice(0, 16)}.json`)
  return {
    read: (): CopyNote | undefined => {
      const bytes = bytesOfFile(path)
      const parsed = bytes === undefined ? undefined : parseOwnJson(Buffer.from(bytes).toString())
      return parsed?.ok === true ? copyNoteFrom(parsed.value) : undefined
    },
    /** A copy that is not whole leaves none. */
    write: (note: CopyNote | undefined) => {
      if (note === undefined) rmSync(path, { force: true })
      else replaceFile({ path, from: bytesOfFile(path), text: JSON.stringify(note), keepsBackup: false })
    },
  }
}

interface Left {
  readonly refused: readonly string[]
  readonly diverging: readonly string[]
  readonly ok?: boolean
}

/** 4 where something was left behind, 6 where it was left because the store says something else. */
export function wholeExitCode({ refused, diverging, ok = true }: Left): number {
  if (diverging.length > 0) return ERROR_TABLE.conflict.exit
  return ok && refused.length === 0 ? 0 : EXIT_NOT_WHOLE
}

/**
 * The act: draft beside the target, make it durable, rename. The client may be reading its directory at this moment, so a
 * session appears whole or not at all: everything that belongs to it is there before its main file is.
 */
import { dirname, join } from "node:path"
import type { OutputFile } from "../adapters/adapter.ts"
import { PondError } from "../model/errors.ts"
import { isJsonObject, type JsonValue, parseJson, stringifyJson } from "../model/json.ts"
import { backupOf, draftName } from "../platform/files/draft-names.ts"
import type { Files } from "../platform/files/files.ts"
import {
  chunksOfFile,
  type DatabaseFile,
  isEntry,
  lengthOf,
  pathInside,
  type WriteDatabase,
  writeDraft,
} from "./draft.ts"

export interface ApplyRequest {
  readonly files: Files
  readonly root: string
  readonly output: readonly OutputFile[]
  /** Replaces files that are there, and keeps them beside as backups. */
  readonly isForced: boolean
  /** Tells drafts and backups of different restores apart. */
  readonly stamp: string
  readonly writeDatabase: WriteDatabase
}

export interface Applied {
  readonly files: readonly { readonly path: string; readonly bytes: number }[]
  readonly backups: readonly string[]
}

/** Shared files and databases belong to other sessions too: they are added to, and nothing else is. */
type Placed = Exclude<OutputFile, { form: "database" }>

export function isPlaced(file: OutputFile): file is Placed {
  return file.form !== "database" && !isShared(file) && !isNamed(file) && !isEntry(file)
}

export async function applyRestore(request: ApplyRequest): Promise<Applied> {
  const { files, root, output, stamp, writeDatabase } = request
  const placed = output.filter(isPlaced)
  const added = output.filter((file) => !isPlaced(file) && !isNamed(file))
  const named = output.filter(isNamed)
  refuseToOverwrite(request, placed)
  const folder = join(root, draftName(stamp))
  const backups: string[] = []
  try {
    for (const file of named) await addNamed(request, file)
    await writeDraft(files, folder, placed, writeDatabase)
    // The main file comes first in a plan, so it goes last: until it is there the client sees no session.
    for (const file of placed.toReversed()) backups.push(...(await place(request, folder, file)))
    for (const file of added) backups.push(...(await add(request, file)))
  } finally {
    await files.remove(folder)
  }
  return {
    files: output.map((file) => ({
      path: pathInside(root, file.relativePath),
      bytes: file.form === "database" ? 0 : lengthOf(file),
    })),
    backups,
  }
}

export interface PlaceRequest extends Pick<ApplyRequest, "files" | "root" | "output"> {
  /** Whether the database at that path has every one of the rows as it is. */
  readonly hasRows: (path: string, file: DatabaseFile) => boolean
}

/** Whether the files hold all that would be written, followed by nothing but later messages. */
export async function liesThere({ files, root, output, hasRows }: PlaceRequest): Promise<boolean> {
  for (const file of output) {
    const path = pathInside(root, file.relativePath)
    if (file.form === "database") {
      if (!hasRows(path, file)) return false
    } else if (!(isShared(file) || isEntry(file))) {
      let at = 0
      for (const bytes of chunksOfFile(file)) {
        const there = await files.readPart(path, at, bytes.byteLength)
        if (there === undefined || !Buffer.from(there).equals(bytes)) return false
        at += bytes.byteLength
      }
    }
  }
  return true
}

/** Whether its client sees the session, whatever became of it: the first file of a plan is the one that it opens. */
export async function isSeenThere({
  files,
  root,
  output,
}: Pick<ApplyRequest, "files" | "root" | "output">): Promise<boolean> {
  const [main] = output
  if (main === undefined) return false
  const path = pathInside(root, main.relativePath)
  return isSharedText(main) ? await holdsText(files, path, main.text) : files.exists(path)
}

function isNamed(file: OutputFile): boolean {
  return file.form === "bytes" && file.isShared === true
}

function isShared(file: OutputFile): boolean {
  return (file.form === "log" && file.isShared === true) || isSharedText(file)
}

/** A stretch of a text that has those of other sessions as well. */
function isSharedText(file: OutputFile): file is Extract<OutputFile, { form: "text" | "document" }> {
  return file.form === "text" && file.isShared === true
}

async function holdsText(files: Files, path: string, text: string): Promise<boolean> {
  return files.exists(path) && Buffer.from(await files.read(path)).includes(text)
}

/** Behind all that is there. A last line that was cut off is ended first. */
async function appendText(files: Files, path: string, text: string): Promise<void> {
  const [last] = files.exists(path) ? Buffer.from(await files.read(path)).subarray(-1) : []
  await files.append(path, Buffer.from(`${last === undefined || last === LINE_FEED ? "" : "\n"}${text}`))
  await files.sync(path)
}

const LINE_FEED = 10

function refuseToOverwrite({ files, root, isForced }: ApplyRequest, placed: readonly Placed[]): void {
  const there = placed.map((file) => pathInside(root, file.relativePath)).filter((path) => files.exists(path))
  const [first] = there
  if (first === undefined || isForced) return
  throw new PondError(
    "would_overwrite",
    `${first} already exists. Use --force to replace it; the old file is kept as a backup.`,
    {
      details: { paths: there },
    },
  )
}

async function place({ files, root, stamp }: ApplyRequest, folder: string, file: Placed): Promise<string[]> {
  const path = pathInside(root, file.relativePath)
  await files.makeDirectory(dirname(path))
  const backups: string[] = []
  if (files.exists(path)) {
    const backup = backupOf(path, stamp)
    await files.rename(path, backup)
    backups.push(backup)
  }
  await files.rename(pathInside(folder, file.relativePath), path)
  await files.sync(dirname(path))
  return backups
}

async function add({ files, root, writeDatabase }: ApplyRequest, file: OutputFile): Promise<readonly string[]> {
  const path = pathInside(root, file.relativePath)
  await files.makeDirectory(dirname(path))
  if (file.form === "database") return writeDatabase(path, file)
  if (isEntry(file)) await putEntry(files, path, file)
  if (isSharedText(file) && !(await holdsText(files, path, file.text))) await appendText(files, path, file.text)
  if (file.form === "log") await appendAbsent(files, path, Array.from(file.lines, String))
  return []
}

/** A file whose name says what is in it: one that is there is the same. */
async function addNamed({ files, root, stamp, writeDatabase }: ApplyRequest, file: OutputFile): Promise<void> {
  const path = pathInside(root, file.relativePath)
  if (files.exists(path)) return
  const folder = join(root, `${draftName(stamp)}-named`)
  try {
    await writeDraft(files, folder, [file], writeDatabase)
    await files.makeDirectory(dirname(path))
    await files.rename(pathInside(folder, file.relativePath), path)
    await files.sync(dirname(path))
  } finally {
    await files.remove(folder)
  }
}

/** In the place of the entry that has the same name, or behind all others. What is no list is left alone. */
async function putEntry(
  files: Files,
  path: string,
  { text, entryOf }: { readonly text: string; readonly entryOf: string },
): Promise<void> {
  const known = files.exists(path) ? parseJson(Buffer.from(await files.read(path)).toString("utf8")) : undefined
  const entry = parseJson(text)
  const changed = entry.ok ? listWith(known?.ok === false ? false : known?.value, entry.value, entryOf) : undefined
  if (changed === undefined) return
  const draft = `${path}.${entryOf || "entries"}`
  await files.write(draft, Buffer.from(stringifyJson(changed)))
  await files.sync(draft)
  await files.rename(draft, path)
  await files.sync(dirname(path))
}

function listWith(known: JsonValue | undefined, entry: JsonValue, entryOf: string): JsonValue | undefined {
  if (entryOf === "") {
    const entries = known ?? {}
    return isJsonObject(entries) && isJsonObject(entry) ? { ...entries, ...entry } : undefined
  }
  const list = known ?? []
  if (!Array.isArray(list)) return undefined
  const nameIn = (value: JsonValue) => (isJsonObject(value) ? value[entryOf] : undefined)
  return [...list.filter((each: JsonValue) => nameIn(each) !== nameIn(entry)), entry]
}

/** Lines that the file does not have yet. One that was cut off is ended first. */
async function appendAbsent(files: Files, path: string, lines: readonly string[]): Promise<void> {
  const text = files.exists(path) ? Buffer.from(await files.read(path)).toString("utf8") : ""
  const known = new Set(text.split("\n"))
  const absent = lines.filter((line) => !known.has(line))
  if (absent.length === 0) return
  const start = text === "" || text.endsWith("\n") ? "" : "\n"
  await files.append(path, Buffer.from(`${start}${absent.map((line) => `${line}\n`).join("")}`))
  await files.sync(path)
}

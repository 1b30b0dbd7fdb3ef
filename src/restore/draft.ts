/** Files of a restore below a directory: places checked, bytes written and made durable. Knows no client. */
import { dirname, isAbsolute, join, normalize } from "node:path"
import type { OutputFile, OutputLine } from "../adapters/adapter.ts"
import { PondError } from "../model/errors.ts"
import type { Files } from "../platform/files.ts"

/** Writes the rows of a client's database, and makes the database where there is none. Gives the backups that it made. */
export type DatabaseFile = Extract<OutputFile, { form: "database" }>
export type WriteDatabase = (path: string, file: DatabaseFile) => Promise<readonly string[]>

const LINE_FEED = 10

export async function writeDraft(
  files: Files,
  folder: string,
  output: readonly OutputFile[],
  writeDatabase: WriteDatabase,
): Promise<void> {
  for (const file of output) {
    const path = pathOf(folder, file.place)
    await files.makeDirectory(dirname(path))
    if (file.form === "database") await writeDatabase(path, file)
    else {
      await files.write(path, bytesOf(file))
      await files.sync(path)
    }
  }
}

/** A place comes from stored data, and stored data may come from anybody: it never leads out of its root. */
export function pathOf(root: string, place: string): string {
  const inside = normalize(place)
  if (
    inside === "" ||
    inside === "." ||
    isAbsolute(inside) ||
    inside.split(/[/\\]/).includes("..") ||
    inside.includes("\0")
  ) {
    throw new PondError(
      "validation_failed",
      "A file of this session says that it lies outside its client's directory. It is not restored; export the session instead.",
      {
        details: { place },
      },
    )
  }
  return join(root, inside)
}

export function bytesOf(file: Exclude<OutputFile, { form: "database" }>): Uint8Array {
  if (file.form === "bytes") return file.bytes
  if (file.form !== "log") return Buffer.from(file.text)
  const bytes = logBytes(file.lines)
  // A client that compressed a log looks for it under that name, and its source reads it so.
  return isCompressed(file) ? Bun.zstdCompressSync(bytes) : bytes
}

/** How many they are. */
export function lengthOf(file: Exclude<OutputFile, { form: "database" }>): number {
  return file.form === "log" && !isCompressed(file) ? logLength(file.lines) : bytesOf(file).byteLength
}

function isCompressed({ place }: OutputFile): boolean {
  return place.endsWith(".zst")
}

/** A log may be long, and its lines are many: none of them is held as bytes beside the whole. */
function logBytes(lines: readonly OutputLine[]): Uint8Array {
  const bytes = Buffer.allocUnsafe(logLength(lines))
  let at = 0
  for (const line of lines) {
    if (typeof line === "string") at += bytes.write(line, at)
    else {
      bytes.set(line, at)
      at += line.byteLength
    }
    bytes[at++] = LINE_FEED
  }
  return bytes
}

function logLength(lines: readonly OutputLine[]): number {
  return lines.reduce((sum, line) => sum + Buffer.byteLength(line) + 1, 0)
}

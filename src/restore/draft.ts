/** Files of a restore below a directory: places checked, bytes written and made durable. Knows no client. */
import { dirname, isAbsolute, join, normalize } from "node:path"
import type { OutputFile, OutputLines } from "../adapters/adapter.ts"
import { PondError } from "../model/errors.ts"
import type { Files } from "../platform/files/files.ts"
import { chunksOf, type LongLines, lengthOfLines } from "../platform/files/long-lines.ts"

/** Writes the rows of a client's database, and makes the database where there is none. Gives the backups that it made. */
export type DatabaseFile = Extract<OutputFile, { form: "database" }>
export type WriteDatabase = (path: string, file: DatabaseFile) => Promise<readonly string[]>

export async function writeDraft(
  files: Files,
  folder: string,
  output: readonly OutputFile[],
  writeDatabase: WriteDatabase,
): Promise<void> {
  for (const file of output) {
    const path = pathInside(folder, file.relativePath)
    await files.makeDirectory(dirname(path))
    if (file.form === "database") await writeDatabase(path, file)
    else {
      let isBegun = false
      for (const bytes of chunksOfFile(file)) {
        await (isBegun ? files.append(path, bytes) : files.write(path, bytes))
        isBegun = true
      }
      await files.sync(path)
    }
  }
}

/** A place comes from stored data, and stored data may come from anybody: it never leads out of its root. */
export function pathInside(root: string, place: string): string {
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
      "A file of this session is outside its client's directory, so it was not restored. Export the session instead.",
      {
        details: { place },
      },
    )
  }
  return join(root, inside)
}

/** What lies in it then, a piece at a time where it may be long. One that is empty is one piece. */
export function* chunksOfFile(file: Exclude<OutputFile, { form: "database" }>): Generator<Uint8Array> {
  if (file.form !== "log" || isCompressed(file) || file.lines.length === 0) yield fileBytes(file)
  else yield* isLong(file.lines) ? file.lines.chunks() : chunksOf(file.lines)
}

export function fileBytes(file: Exclude<OutputFile, { form: "database" }>): Uint8Array {
  if (file.form === "bytes") return file.bytes
  if (file.form !== "log") return Buffer.from(isEntry(file) && file.entryOf !== "" ? `[${file.text}]` : file.text)
  const bytes = Buffer.concat([...chunksOf(file.lines)])
  // A client that compressed a log looks for it under that name, and its source reads it so.
  return isCompressed(file) ? Bun.zstdCompressSync(bytes) : bytes
}

/** One entry of a list that belongs to other sessions as well. */
export function isEntry(file: OutputFile): file is ListEntry {
  return (file.form === "document" || file.form === "text") && file.entryOf !== undefined
}

type ListEntry = Extract<OutputFile, { form: "document" | "text" }> & { readonly entryOf: string }

/** How many they are. */
export function lengthOf(file: Exclude<OutputFile, { form: "database" }>): number {
  if (file.form !== "log" || isCompressed(file)) return fileBytes(file).byteLength
  return isLong(file.lines) ? file.lines.byteLength() : lengthOfLines(file.lines)
}

function isCompressed({ relativePath }: OutputFile): boolean {
  return relativePath.endsWith(".zst")
}

function isLong(lines: OutputLines): lines is LongLines {
  return "chunks" in lines
}

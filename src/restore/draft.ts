/** Files of a restore below a directory: places checked, bytes written and made durable. Knows no client. */
import { dirname, isAbsolute, join, normalize } from "node:path"
import type { OutputFile } from "../adapters/adapter.ts"
import { PondError } from "../model/errors.ts"
import type { Files } from "../platform/files.ts"

/** Writes the rows of a client's database, and makes the database where there is none. Gives the backups that it made. */
export type DatabaseFile = Extract<OutputFile, { form: "database" }>
export type WriteDatabase = (path: string, file: DatabaseFile) => Promise<readonly string[]>

const LINE_FEED = new Uint8Array([10])

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
  const chunks = file.lines.flatMap((line) => [typeof line === "string" ? Buffer.from(line) : line, LINE_FEED])
  const bytes = Buffer.concat(chunks)
  // A client that compressed a log looks for it under that name, and its source reads it so.
  return file.place.endsWith(".zst") ? Bun.zstdCompressSync(bytes) : bytes
}

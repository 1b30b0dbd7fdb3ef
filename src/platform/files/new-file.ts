/**
 * A file that a user asked for by its name: written beside its place, and put there when it is whole. Nobody else can read
 * it, as it holds conversations.
 */
import { existsSync } from "node:fs"
import { type FileHandle, open, rename, rm } from "node:fs/promises"
import { PondError } from "../../model/errors.ts"
import { notWritable } from "../host/paths.ts"
import { isSystemError } from "../system-error.ts"

/** Gives how many bytes were written. */
export async function writeNewFile(
  path: string,
  chunks: AsyncIterable<string>,
  { isForced }: { readonly isForced: boolean },
): Promise<number> {
  refuseToReplace(path, isForced)
  const draft = `${path}.part`
  try {
    await rm(draft, { force: true })
    const bytes = await written(draft, chunks)
    refuseToReplace(path, isForced)
    await rename(draft, path)
    return bytes
  } catch (error) {
    await rm(draft, { force: true }).catch(() => undefined)
    throw isSystemError(error) ? notWritable(path, error) : error
  }
}

async function written(draft: string, chunks: AsyncIterable<string>): Promise<number> {
  // Not through a link that lies in its place.
  const file: FileHandle = await open(draft, "wx", 0o600)
  try {
    let bytes = 0
    for await (const chunk of chunks) {
      const block = Buffer.from(chunk)
      for (let at = 0; at < block.length; ) at += (await file.write(block, at)).bytesWritten
      bytes += block.length
    }
    await file.sync()
    return bytes
  } finally {
    await file.close()
  }
}

function refuseToReplace(path: string, isForced: boolean): void {
  if (isForced || !existsSync(path)) return
  throw new PondError("would_overwrite", `${path} already exists. Choose another file, or use --force.`, {
    details: { path },
  })
}

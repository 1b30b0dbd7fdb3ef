/**
 * A file that a user asked for by its name: written beside its place under a temporary name, and put there when it is
 * whole. Nobody else can read it, as it holds conversations.
 */
import { existsSync } from "node:fs"
import { type FileHandle, open, readdir, rename, rm } from "node:fs/promises"
import { dirname, join } from "node:path"
import { PondError } from "../../model/errors.ts"
import { notWritable } from "../host/paths.ts"
import { hasEnded, processMark } from "../process/process-mark.ts"
import { isSystemError } from "../system-error.ts"
import { draftName, stampOf } from "./draft-names.ts"

export interface NewFile {
  readonly path: string
  /** Whether a file that is there is replaced. */
  readonly isForced: boolean
}

/** The file is there once `fill` has resolved, and not at all where it fails. Returns what it returns. */
export async function createFile<T>(
  { path, isForced }: NewFile,
  fill: (write: (block: Uint8Array) => Promise<void>) => Promise<T>,
): Promise<T> {
  refuseToReplace(path, isForced)
  await removeDraftsLeft(dirname(path))
  const draft = join(dirname(path), draftName(`${processMark()}${crypto.randomUUID().slice(0, 8)}`))
  // Not through a link that lies in its place.
  const file = await open(draft, "wx", 0o600)
  try {
    const filled = await fill(writerOf(file))
    await file.sync()
    await file.close()
    refuseToReplace(path, isForced)
    await rename(draft, path)
    return filled
  } catch (error) {
    await file.close().catch(() => undefined)
    await rm(draft, { force: true }).catch(() => undefined)
    throw error
  }
}

/** Gives how many bytes were written. */
export async function writeNewFile(
  path: string,
  chunks: AsyncIterable<string>,
  { isForced }: Pick<NewFile, "isForced">,
): Promise<number> {
  try {
    return await createFile({ path, isForced }, async (write) => {
      let bytes = 0
      for await (const chunk of chunks) {
        const block = Buffer.from(chunk)
        await write(block)
        bytes += block.length
      }
      return bytes
    })
  } catch (error) {
    throw isSystemError(error) ? notWritable(path, error) : error
  }
}

function writerOf(file: FileHandle): (block: Uint8Array) => Promise<void> {
  return async (block) => {
    for (let at = 0; at < block.length; ) at += (await file.write(block, at)).bytesWritten
  }
}

/** Those of processes that were killed. What has no name of pond's stays, whatever it is called. */
async function removeDraftsLeft(folder: string): Promise<void> {
  for (const name of await readdir(folder).catch(() => [])) {
    const stamp = stampOf(name)
    if (stamp !== undefined && hasEnded(stamp)) await rm(join(folder, name), { force: true }).catch(() => undefined)
  }
}

/** Refuses before the work that makes it as well. */
export function refuseToReplace(path: string, isForced: boolean): void {
  if (isForced || !existsSync(path)) return
  throw new PondError("would_overwrite", `${path} already exists. Choose another file, or use --force.`, {
    details: { path },
  })
}

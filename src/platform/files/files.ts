/**
 * The few things that writing durably needs of a disk, passed in, so that a test can be a disk that dies between any two
 * of them. Every path is absolute.
 */
import { existsSync, statSync } from "node:fs"
import { appendFile, mkdir, open, rename, rm, writeFile } from "node:fs/promises"

export interface Files {
  exists(path: string): boolean
  /** Makes the directory and those above it, for their owner alone. */
  makeDirectory(path: string): Promise<void>
  write(path: string, bytes: Uint8Array): Promise<void>
  append(path: string, bytes: Uint8Array): Promise<void>
  read(path: string): Promise<Uint8Array>
  /** Reads this many bytes of a file from an offset; fewer at its end. Undefined for what is not a file. */
  readPart(path: string, at: number, bytes: number): Promise<Uint8Array | undefined>
  /** What was written to it survives a power cut once this is done. Of a directory: its names do. */
  sync(path: string): Promise<void>
  /** The only step that others can see, and whole. */
  rename(from: string, to: string): Promise<void>
  remove(path: string): Promise<void>
}

export const realFiles: Files = {
  exists: (path) => existsSync(path),
  makeDirectory: async (path) => {
    await mkdir(path, { recursive: true, mode: 0o700 })
  },
  write: (path, bytes) => writeFile(path, bytes, { mode: 0o600 }),
  append: (path, bytes) => appendFile(path, bytes, { mode: 0o600 }),
  read: (path) => Bun.file(path).bytes(),
  // A named pipe is not opened: the open would wait for a writer that may never come.
  readPart: async (path, at, bytes) => {
    const isFile = statSync(path, { throwIfNoEntry: false })?.isFile() === true
    return isFile
      ? await Bun.file(path)
          .slice(at, at + bytes)
          .bytes()
      : undefined
  },
  sync: async (path) => {
    const handle = await open(path, "r")
    try {
      await handle.sync()
    } finally {
      await handle.close()
    }
  },
  rename: (from, to) => rename(from, to),
  remove: (path) => rm(path, { recursive: true, force: true }),
}

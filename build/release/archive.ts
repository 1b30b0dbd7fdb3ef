/**
 * Archives of a release: a tar whose bytes depend on nothing but its contents (no times, no owners, files in order),
 * compressed in frames side by side. Reading one needs `tar` and nothing of ours.
 */
import { BuildFailure } from "./targets.ts"

const BLOCK_BYTES = 512
const FRAME_BYTES = 32 * 1024 * 1024
export const LEVEL_BEST = 19
/** For trying a release out. */
export const LEVEL_DRAFT = 3

export interface Entry {
  readonly path: string
  readonly content: Uint8Array
  readonly isExecutable?: boolean
  /** The path of a folder ends with a slash. */
  readonly isFolder?: boolean
}

/** `path` names a file with this text. */
export function textEntry(path: string, text: string): Entry {
  return { path, content: Buffer.from(text) }
}

/** The same entries and the folders that they are in: package managers make no folder that is not listed. */
export function withFolders(entries: readonly Entry[]): Entry[] {
  const folders = new Set<string>()
  for (const { path } of entries) {
    for (let slash = path.indexOf("/", 2); slash >= 0; slash = path.indexOf("/", slash + 1))
      folders.add(path.slice(0, slash + 1))
  }
  return [...[...folders].map((path) => ({ path, content: new Uint8Array(), isFolder: true })), ...entries]
}

/** The same entries in a folder. */
export function inFolder(folder: string, entries: readonly Entry[]): Entry[] {
  return entries.map((entry) => ({ ...entry, path: `${folder}/${entry.path}` }))
}

export function tar(entries: readonly Entry[]): Buffer<ArrayBuffer> {
  const blocks: Uint8Array[] = []
  for (const entry of entries.toSorted((left, right) => (left.path < right.path ? -1 : 1))) {
    blocks.push(header(entry), entry.content, new Uint8Array(-entry.content.length & (BLOCK_BYTES - 1)))
  }
  return Buffer.concat([...blocks, new Uint8Array(2 * BLOCK_BYTES)])
}

export async function zstd(bytes: Buffer<ArrayBuffer>, level = LEVEL_BEST): Promise<Buffer> {
  const starts = Array.from({ length: Math.ceil(bytes.length / FRAME_BYTES) }, (_, frame) => frame * FRAME_BYTES)
  const frames = starts.map((start) => Bun.zstdCompress(bytes.subarray(start, start + FRAME_BYTES), { level }))
  return Buffer.concat(await Promise.all(frames))
}

/** A header of the `ustar` kind. Its checksum is counted with blanks in the place of the checksum. */
function header({ path, content, isExecutable, isFolder = false }: Entry): Uint8Array {
  const block = Buffer.alloc(BLOCK_BYTES)
  const [name, prefix] = splitPath(path)
  const octal = (value: number, digits: number) => `${value.toString(8).padStart(digits, "0")}\0`
  block.write(name, 0)
  block.write(octal(isExecutable === true || isFolder ? 0o755 : 0o644, 7), 100)
  block.write(octal(0, 7), 108)
  block.write(octal(0, 7), 116)
  block.write(octal(content.length, 11), 124)
  block.write(octal(0, 11), 136)
  block.write(" ".repeat(8), 148)
  block.write(isFolder ? "5" : "0", 156)
  block.write("ustar\x0000", 257)
  block.write(prefix, 345)
  const sum = block.reduce((total, byte) => total + byte, 0)
  block.write(`${octal(sum, 6)} `, 148)
  return block
}

/** A long path is cut at a slash: the front of it has its own field. */
function splitPath(path: string): readonly [name: string, prefix: string] {
  if (Buffer.byteLength(path) <= 100) return [path, ""]
  const slash = path.indexOf("/", path.length - 101)
  const name = path.slice(slash + 1)
  const prefix = path.slice(0, slash)
  if (slash < 0 || Buffer.byteLength(prefix) > 155) throw new BuildFailure(`${path} is too long for an archive.`)
  return [name, prefix]
}

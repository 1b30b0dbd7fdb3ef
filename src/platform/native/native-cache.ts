/**
 * Native libraries on disk: a library that the executable carries is written once to `<cache>/native/<content hash>/`
 * and loaded from there ever after. A file appears whole or not at all (written aside, synced, renamed), so two processes
 * may do this at once; a file that is no longer what was written is written again.
 *
 * Hashing 200 MB at each start would cost more than the start. So a stamp beside each file holds what `stat` said of it
 * when its hash was last right: whatever touches the file changes its ctime, and then, and only then, it is hashed again.
 * Knows nothing of which libraries there are, nor how they are loaded.
 */
import {
  accessSync,
  closeSync,
  constants,
  fstatSync,
  fsyncSync,
  mkdirSync,
  openSync,
  readdirSync,
  readFileSync,
  readSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
  writeSync,
} from "node:fs"
import { dirname, join } from "node:path"
import { PondError } from "../../model/errors.ts"
import { type FileLock, openFileLock } from "../files/file-lock.ts"
import type { Clock } from "../host/clock.ts"
import type { Random } from "../host/random.ts"
import { errorCode } from "../system-error.ts"
import type { EmbeddedFile, EmbeddedNative } from "./native-assets.ts"

export interface NativeCache {
  /** The directory of all libraries; it need not exist. */
  readonly directory: string
  /** What this build uses; of the rest, what has grown old is removed when something new is written. */
  readonly contentHashes: readonly string[]
  readonly clock: Clock
  readonly random: Random
  /** The compressed bytes of an asset. */
  readAsset(asset: string): Uint8Array
}

/** What was found of a library that should be on disk. */
export type NativeState = "ready" | "absent" | "damaged"

const STAMP_VERSION = 1
const DRAFT_SUFFIX = ".draft"
const LOCK_NAME = "unpack.lock"
const TURN_MS_MAX = 30_000
const TURN_POLL_MS = 25
const READ_BYTES = 4 * 1024 * 1024
const DRAFT_AGE_MS_MAX = 60 * 60 * 1000
const UNUSED_AGE_MS_MAX = 30 * 24 * 60 * 60 * 1000

/** The path of the addon, after making sure that it and what it needs beside it are there and whole. */
export function placeNative(cache: NativeCache, native: EmbeddedNative): string {
  const directory = join(cache.directory, native.contentHash)
  try {
    if (missingOf(cache, native, directory).length > 0) unpack(cache, native, directory)
  } catch (cause) {
    throw unplaceable(directory, cause)
  }
  return addonPath(cache, native)
}

/** Where the addon lies, or will. */
export function addonPath(cache: NativeCache, native: EmbeddedNative): string {
  return join(cache.directory, native.contentHash, native.addon.name)
}

function missingOf(cache: NativeCache, native: EmbeddedNative, directory: string): EmbeddedFile[] {
  return filesOf(native).filter((file) => nativeState(cache, join(directory, file.name), file) !== "ready")
}

function unpack(cache: NativeCache, native: EmbeddedNative, directory: string): void {
  makePrivateDirectory(directory)
  const lock = openFileLock(join(cache.directory, LOCK_NAME))
  try {
    awaitTurn(cache, lock)
    for (const file of missingOf(cache, native, directory)) extract(cache, join(directory, file.name), file)
    sweep(cache, directory)
  } finally {
    lock.close()
  }
}

/**
 * Ten editors that start ten processes after an update should not write ten copies. The lock only saves work: nobody waits
 * for it long, and where the file system knows no locks, each writes its own copy and the last rename stands.
 */
function awaitTurn({ clock }: NativeCache, lock: FileLock): void {
  const until = clock.monotonicMs() + TURN_MS_MAX
  try {
    while (!lock.take() && clock.monotonicMs() < until) Bun.sleepSync(TURN_POLL_MS)
  } catch (error) {
    if (!(error instanceof PondError)) throw error
  }
}

/** The bytes of a file, for what is used in memory. */
export function unpackInMemory(cache: NativeCache, file: EmbeddedFile): Uint8Array<ArrayBuffer> {
  return new Uint8Array(Buffer.concat([...decompressed(cache, file)]))
}

/** Reads every byte, where `placeNative` believes the stamps. Writes nothing. */
export function inspectNative(cache: NativeCache, native: EmbeddedNative): NativeState {
  const paths = filesOf(native).map((file) => ({ file, path: join(cache.directory, native.contentHash, file.name) }))
  if (paths.every(({ path }) => statExactly(path) === undefined)) return "absent"
  return paths.every(({ file, path }) => isIntact(path, file)) ? "ready" : "damaged"
}

function filesOf(native: EmbeddedNative): readonly EmbeddedFile[] {
  return [...native.beside, native.addon]
}

function unplaceable(directory: string, cause: unknown): PondError {
  if (cause instanceof PondError) return cause
  const reason = errorCode(cause) ?? String(cause)
  const next = reason === "ENOSPC" ? "Free some space there" : "Make it writable"
  return new PondError(
    "storage_unavailable",
    `Cannot unpack the native libraries to ${directory} (${reason}). ${next}, or set XDG_CACHE_HOME to a directory with 320 MB of space.`,
    { details: { path: directory, reason }, cause },
  )
}

// --- What is on disk -------------------------------------------------------------------------------------------------

type Stat = NonNullable<ReturnType<typeof statExactly>>

function statExactly(path: string) {
  return statSync(path, { bigint: true, throwIfNoEntry: false })
}

function nativeState(cache: NativeCache, path: string, file: EmbeddedFile): NativeState {
  const directory = dirname(path)
  const stat = statExactly(path)
  if (stat === undefined) return "absent"
  assertPrivate(directory)
  const fingerprint = fingerprintOf(stat, file)
  if (readStamp(path) === fingerprint) return "ready"
  if (!isIntact(path, file)) return "damaged"
  // A cache that can only be read (an image, a mount) serves all the same: it is hashed each time.
  if (isWritable(directory)) writeStamp(cache, path, fingerprint)
  return "ready"
}

function isIntact(path: string, file: EmbeddedFile): boolean {
  if (statExactly(path)?.size !== BigInt(file.bytes)) return false
  const hash = new Bun.CryptoHasher("sha256")
  const chunk = Buffer.allocUnsafe(READ_BYTES)
  const descriptor = openSync(path, "r")
  try {
    for (let read = readSync(descriptor, chunk); read > 0; read = readSync(descriptor, chunk)) {
      hash.update(chunk.subarray(0, read))
    }
  } finally {
    closeSync(descriptor)
  }
  return hash.digest("hex") === file.sha256
}

function fingerprintOf(stat: Stat, file: EmbeddedFile): string {
  return `${STAMP_VERSION} ${file.sha256} ${stat.size} ${stat.ino} ${stat.mtimeNs} ${stat.ctimeNs}\n`
}

function stampPath(path: string): string {
  return `${path}.stamp`
}

function readStamp(path: string): string | undefined {
  return statExactly(stampPath(path)) === undefined ? undefined : readFileSync(stampPath(path), "utf8")
}

// --- Writing ---------------------------------------------------------------------------------------------------------

function makePrivateDirectory(directory: string): void {
  mkdirSync(directory, { recursive: true, mode: 0o700 })
  assertPrivate(directory)
}

/** What another user can write, another user can make us run. */
function assertPrivate(directory: string): void {
  const stat = statSync(directory)
  if (stat.uid === process.getuid?.() && (stat.mode & 0o022) === 0) return
  throw new PondError(
    "storage_unavailable",
    `Refusing to load native libraries from ${directory}: another user can write there. Delete it, or set XDG_CACHE_HOME to your own directory.`,
    { details: { path: directory, uid: stat.uid, mode: (stat.mode & 0o777).toString(8) } },
  )
}

function isWritable(directory: string): boolean {
  try {
    accessSync(directory, constants.W_OK)
    return true
  } catch {
    return false
  }
}

/** Draft, sync, rename: the last is the only step that anyone else can see. */
function extract(cache: NativeCache, path: string, file: EmbeddedFile): void {
  const draft = draftPath(cache, path)
  const descriptor = openSync(draft, "wx", 0o500)
  try {
    for (const bytes of decompressed(cache, file)) writeAll(descriptor, bytes)
    fsyncSync(descriptor)
    renameSync(draft, path)
    writeStamp(cache, path, fingerprintOf(fstatSync(descriptor, { bigint: true }), file))
  } catch (error) {
    rmSync(draft, { force: true })
    throw error
  } finally {
    closeSync(descriptor)
  }
}

/** A frame at a time; an end without an error says that all of them together were the file. */
function* decompressed(cache: NativeCache, file: EmbeddedFile): Generator<Uint8Array> {
  const compressed = cache.readAsset(file.asset)
  const hash = new Bun.CryptoHasher("sha256")
  let offset = 0
  for (const length of file.frames) {
    const bytes = frameOf(compressed.subarray(offset, offset + length), file)
    hash.update(bytes)
    yield bytes
    offset += length
  }
  if (hash.digest("hex") !== file.sha256) throw damagedExecutable(file)
}

function frameOf(compressed: Uint8Array, file: EmbeddedFile): Uint8Array {
  try {
    return Bun.zstdDecompressSync(compressed)
  } catch (cause) {
    throw damagedExecutable(file, cause)
  }
}

function damagedExecutable({ name }: EmbeddedFile, cause?: unknown): PondError {
  return new PondError("internal", `This pond executable is damaged (${name}). Download it again.`, {
    cause,
  })
}

/**
 * What is written at once, Linux keeps in pieces as large, and maps a whole piece where one of its pages is run: of the
 * engine, written 4 MB at a time, 123 MB were held by a process that runs 56 MB of it.
 */
const WRITE_BYTES = 64 * 1024

function writeAll(descriptor: number, bytes: Uint8Array): void {
  let written = 0
  while (written < bytes.length) {
    written += writeSync(descriptor, bytes, written, Math.min(WRITE_BYTES, bytes.length - written))
  }
}

function writeStamp(cache: NativeCache, path: string, fingerprint: string): void {
  const draft = draftPath(cache, path)
  writeFileSync(draft, fingerprint, { mode: 0o600, flag: "wx" })
  renameSync(draft, stampPath(path))
}

function draftPath(cache: NativeCache, path: string): string {
  const chance = Math.floor(cache.random.next() * 2 ** 48).toString(36)
  return `${path}.${process.pid}-${chance}${DRAFT_SUFFIX}`
}

// --- What is no longer needed ----------------------------------------------------------------------------------------

/** Drafts of processes that were killed, and libraries of other builds that nothing has written for a month. */
function sweep(cache: NativeCache, directory: string): void {
  const now = cache.clock.nowMs()
  const drafts = readdirSync(directory).filter((name) => name.endsWith(DRAFT_SUFFIX))
  for (const name of drafts) removeOlder(join(directory, name), now - DRAFT_AGE_MS_MAX)
  const kept = [LOCK_NAME, ...cache.contentHashes]
  const others = readdirSync(cache.directory).filter((name) => !kept.includes(name))
  for (const name of others) removeOlder(join(cache.directory, name), now - UNUSED_AGE_MS_MAX)
}

/** What cannot be removed stays: room on the disk is no reason to fail. */
function removeOlder(path: string, thanMs: number): boolean {
  try {
    if (statSync(path).mtimeMs >= thanMs) return false
    rmSync(path, { recursive: true, force: true })
    return true
  } catch {
    return false
  }
}

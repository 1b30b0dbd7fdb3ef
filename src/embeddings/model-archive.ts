/**
 * An embedding model in an archive behind a URL: it is downloaded once, checked against its checksum and unpacked into
 * the cache.
 */
import { existsSync, mkdirSync, renameSync, rmSync, writeFileSync } from "node:fs"
import { basename, dirname, join } from "node:path"
import { PondError } from "../model/errors.ts"
import { ensureWritable } from "../platform/host/paths.ts"
import { sha256Of } from "../platform/sha256.ts"

export interface ModelArchive {
  readonly url: string
  readonly sha256?: string | undefined
}

export interface FetchContext {
  readonly cacheDirectory: string
  readonly signal: AbortSignal
  readonly onBytes?: (received: number, total: number | undefined) => void
}

const BYTES_MAX = 2_000_000_000
const TIMEOUT_MS = 30 * 60_000
/** The only files that are unpacked. */
const WANTED = [
  "model.onnx",
  "model_optimized.onnx",
  "tokenizer.json",
  "tokenizer_config.json",
  "config.json",
  "config_sentence_transformers.json",
  "sentence_bert_config.json",
  "special_tokens_map.json",
  "1_Pooling/config.json",
]

/** Where the archive is or will be unpacked. */
export function archiveDirectory({ sha256 }: ModelArchive, cacheDirectory: string): string {
  const wanted = sha256?.toLowerCase()
  if (wanted === undefined || !/^[0-9a-f]{64}$/.test(wanted)) {
    throw new PondError(
      "validation_failed",
      "A model from a URL needs embeddings.sha256, the checksum of the file (64 hexadecimal digits).",
      { details: { key: "embeddings.sha256" } },
    )
  }
  return join(cacheDirectory, "models", wanted)
}

export async function unpackArchive(archive: ModelArchive, context: FetchContext): Promise<string> {
  const place = archiveDirectory(archive, context.cacheDirectory)
  if (existsSync(place)) return place
  unpack(checked(await download(archive.url, context), basename(place), archive.url), place)
  return place
}

async function download(url: string, { signal, onBytes }: FetchContext): Promise<Uint8Array> {
  const pieces: Uint8Array[] = []
  let received = 0
  try {
    const response = await fetch(url, { signal: AbortSignal.any([signal, AbortSignal.timeout(TIMEOUT_MS)]) })
    if (!response.ok || response.body === null) throw new Error(`the server answered ${response.status}`)
    const total = Number(response.headers.get("content-length") ?? Number.NaN)
    for await (const piece of response.body) {
      received += piece.length
      if (received > BYTES_MAX) throw new Error("it is larger than any model that pond could use")
      pieces.push(piece)
      onBytes?.(received, Number.isNaN(total) ? undefined : total)
    }
  } catch (cause) {
    if (signal.aborted) throw new PondError("interrupted", "The model download was stopped.", { cause })
    const why = cause instanceof Error ? cause.message : String(cause)
    throw new PondError(
      "storage_unavailable",
      `Cannot download the model from ${url}: ${why}. Download it yourself and set embeddings.directory.`,
      { details: { url }, cause },
    )
  }
  return new Uint8Array(Buffer.concat(pieces))
}

function checked(archive: Uint8Array, wanted: string, url: string): Uint8Array {
  const found = sha256Of(archive)
  if (found === wanted) return archive
  throw new PondError(
    "validation_failed",
    `The checksum of ${url} does not match: it is ${found}. The download was deleted.`,
    { details: { url, expected: wanted, found } },
  )
}

/** Unpacks into a draft that is renamed at the end: an existing directory is complete. */
function unpack(archive: Uint8Array, place: string): void {
  const draft = `${place}.${process.pid}.draft`
  ensureWritable(dirname(place))
  try {
    const isGzip = archive[0] === 0x1f && archive[1] === 0x8b
    const tar = isGzip ? Bun.gunzipSync(archive as Uint8Array<ArrayBuffer>) : archive
    for (const { name, bytes } of filesOf(tar)) {
      const path = join(draft, name)
      mkdirSync(dirname(path), { recursive: true })
      writeFileSync(path, bytes)
    }
    if (!existsSync(draft)) throw new Error("it contains no model files")
    renameSync(draft, place)
  } catch (cause) {
    throw new PondError(
      "validation_failed",
      "Cannot unpack the model. It must be a tar file (optionally gzipped) with model.onnx and tokenizer.json.",
      { cause },
    )
  } finally {
    rmSync(draft, { recursive: true, force: true })
  }
}

const BLOCK = 512

/** Entry names are matched against a fixed list and never become a path. */
function* filesOf(tar: Uint8Array): Generator<{ readonly name: string; readonly bytes: Uint8Array }> {
  const field = (at: number, from: number, length: number) =>
    Buffer.from(tar.subarray(at + from, at + from + length))
      .toString("latin1")
      .replace(/\0.*$/s, "")
      .trim()
  for (let at = 0; at + BLOCK <= tar.length; ) {
    const path = field(at, 0, 100)
    const size = Number.parseInt(field(at, 124, 12) || "0", 8)
    if (path === "") return
    if (!Number.isSafeInteger(size) || at + BLOCK + size > tar.length) throw new Error("the file ends too early")
    const name = WANTED.find((each) => path === each || path.endsWith(`/${each}`))
    const kind = field(at, 156, 1)
    if (name !== undefined && (kind === "0" || kind === "") && !basename(path).startsWith("."))
      yield { name: shortest(name, path), bytes: tar.subarray(at + BLOCK, at + BLOCK + size) }
    at += BLOCK + Math.ceil(size / BLOCK) * BLOCK
  }
}

/** `1_Pooling/config.json` also ends with `config.json`. */
function shortest(name: string, path: string): string {
  return name === "config.json" && path.endsWith("1_Pooling/config.json") ? "1_Pooling/config.json" : name
}

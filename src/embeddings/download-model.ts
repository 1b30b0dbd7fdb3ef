/**
 * Downloads a known model into the cache: each file is streamed to disk, goes on where it was interrupted, and counts
 * once its SHA-256 is the registry's. fastembed downloads the models that it lists itself, into a draft, because it neither
 * checks what it got nor takes up an interrupted download; those must be as they were the first time.
 */
import {
  closeSync,
  existsSync,
  mkdirSync,
  openSync,
  readdirSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
  writeSync,
} from "node:fs"
import { dirname, join, relative } from "node:path"
import { PondError } from "../model/errors.ts"
import { ensureWritable } from "../platform/host/paths.ts"
import type { KnownModel, ModelFile, ModelSource } from "./known-models.ts"
import { type FileChecksum, RECORD, recordArrival, sha256OfFile } from "./model-checksums.ts"
import { embeddingRuntime } from "./runtime.ts"

export interface DownloadContext {
  readonly signal: AbortSignal
  /** Where the checksums of models are kept. */
  readonly stateDirectory: string
  /** The server to ask instead of Hugging Face's own. */
  readonly endpoint?: string | undefined
  readonly onBytes?: (received: number, total: number | undefined) => void
}

const ENDPOINT = "https://huggingface.co"

export function isDownloaded(directory: string): boolean {
  return existsSync(join(directory, RECORD))
}

export async function downloadModel(model: KnownModel, directory: string, context: DownloadContext): Promise<void> {
  const { source } = model
  if (isDownloaded(directory) || source === undefined) return
  ensureWritable(dirname(directory))
  try {
    if (source.kind === "files") await downloadFiles(model, source, directory, context)
    else await downloadByFastembed(model, source, directory, context)
  } catch (cause) {
    if (cause instanceof PondError) throw cause
    if (context.signal.aborted)
      throw new PondError("interrupted", "The model download was stopped. Run it again to continue.", { cause })
    const why = cause instanceof Error ? cause.message : String(cause)
    throw new PondError(
      "storage_unavailable",
      `Cannot download the model ${model.name}: ${why}. Run the command again to continue, or download its files yourself and name their directory.`,
      { details: { model: model.name }, cause },
    )
  }
}

type FilesSource = Extract<ModelSource, { kind: "files" }>

async function downloadFiles(
  model: KnownModel,
  { repository, revision, files }: FilesSource,
  directory: string,
  context: DownloadContext,
): Promise<void> {
  mkdirSync(directory, { recursive: true, mode: 0o700 })
  let before = 0
  for (const file of files) {
    const url = `${context.endpoint ?? ENDPOINT}/${repository}/resolve/${revision}/${file.from}`
    const path = join(directory, file.to)
    if (!existsSync(path)) {
      const onBytes = (received: number) => context.onBytes?.(before + received, model.megabytes * 1e6)
      await downloadFile(url, path, file, { ...context, onBytes })
    }
    before += statSync(path).size
  }
  // What fastembed wants beside the model. Everything else that pond asks of them stands in the registry.
  const write = (name: string, content: unknown) => writeFileSync(join(directory, name), JSON.stringify(content))
  write("config.json", { hidden_size: model.dimension, ...DECODER_SHAPES[model.name] })
  write("tokenizer_config.json", { model_max_length: model.tokensMax })
  write("special_tokens_map.json", {})
  recordArrival({ name: model.name, directory, stateDirectory: context.stateDirectory }, files, true)
  write(RECORD, { model: model.name, repository, revision, files })
}

/** Of its earlier keys and values, as the model's own `config.json` has it. */
const DECODER_SHAPES: Readonly<Record<string, object>> = {
  "Qwen3-Embedding-0.6B": { num_attention_heads: 16, num_key_value_heads: 8, head_dim: 128 },
}

async function downloadFile(url: string, path: string, file: ModelFile, context: DownloadContext): Promise<void> {
  const draft = `${path}.part`
  const have = existsSync(draft) ? statSync(draft).size : 0
  const headers = have > 0 ? { range: `bytes=${have}-` } : {}
  const response = await fetch(url, { headers, signal: context.signal })
  // A draft that is whole already has nothing behind its end.
  const isWhole = response.status === 416
  if (!isWhole && (!response.ok || response.body === null)) throw new Error(`${url} answered ${response.status}`)
  const goesOn = response.status === 206 || isWhole
  const draftFile = openSync(draft, goesOn ? "a" : "w")
  try {
    let received = goesOn ? have : 0
    for await (const piece of isWhole ? [] : (response.body ?? [])) {
      writeSync(draftFile, piece)
      received += piece.length
      context.onBytes?.(received, undefined)
    }
  } finally {
    closeSync(draftFile)
  }
  const found = await sha256OfFile(draft)
  if (found !== file.sha256) {
    rmSync(draft, { force: true })
    throw new PondError(
      "validation_failed",
      `The checksum of ${url} does not match: it is ${found}. The download was deleted.`,
      { details: { url, expected: file.sha256, found } },
    )
  }
  renameSync(draft, path)
}

type FastembedSource = Extract<ModelSource, { kind: "fastembed" }>

const WATCH_MS = 500

async function downloadByFastembed(
  model: KnownModel,
  source: FastembedSource,
  directory: string,
  { signal, stateDirectory, onBytes }: DownloadContext,
): Promise<void> {
  const { FlagEmbedding } = embeddingRuntime().fastembed
  const draft = `${directory}.${process.pid}.draft`
  mkdirSync(draft, { recursive: true, mode: 0o700 })
  const archive = join(draft, `${source.model}.tar.gz`)
  const watch = setInterval(() => {
    if (existsSync(archive)) onBytes?.(statSync(archive).size, model.megabytes * 1e6)
  }, WATCH_MS)
  try {
    type Named = Parameters<typeof FlagEmbedding.init>[0]
    const asked = { model: source.model, cacheDir: draft, showDownloadProgress: false } as unknown as Named
    const stopped = new Promise<never>((_, reject) => {
      signal.addEventListener("abort", () => reject(new Error("stopped")), { once: true })
    })
    const made = await Promise.race([FlagEmbedding.init(asked), stopped])
    await (made as unknown as { session: { release(): Promise<void> } }).session.release()
    const arrived = join(draft, source.model)
    const files: FileChecksum[] = []
    for (const to of filesBelow(arrived)) files.push({ to, sha256: await sha256OfFile(join(arrived, to)) })
    recordArrival({ name: model.name, directory, stateDirectory }, files, false)
    writeFileSync(join(arrived, RECORD), JSON.stringify({ model: model.name, fastembed: source.model, files }))
    renameSync(arrived, directory)
  } finally {
    clearInterval(watch)
    rmSync(draft, { recursive: true, force: true })
  }
}

function filesBelow(directory: string): string[] {
  const below = readdirSync(directory, { recursive: true, withFileTypes: true })
  return below.filter((each) => each.isFile()).map((each) => relative(directory, join(each.parentPath, each.name)))
}

/**
 * The embedding model that the settings name: where its files are, what its vectors are stored under, and how it is
 * opened. Without one, search works by words.
 */
import { existsSync } from "node:fs"
import { join } from "node:path"
import { PondError } from "../model/errors.ts"
import type { Clock } from "../platform/host/clock.ts"
import type { Log } from "../platform/host/log.ts"
import { sha256Of } from "../platform/sha256.ts"
import { downloadModel, isDownloaded } from "./download-model.ts"
import { type Embedder, openEmbedder } from "./embedder.ts"
import { wantsVectors } from "./enabled.ts"
import type { KnownModel } from "./known-models.ts"
import { archiveDirectory, unpackArchive } from "./model-archive.ts"
import { requireUnchanged } from "./model-checksums.ts"
import { type FactSettings, knownModel, readOwnFacts, unknownModel } from "./model-registry.ts"
import { openRemoteEmbedder, remoteModelId } from "./remote-embedder.ts"

export interface ModelSettings extends FactSettings {
  readonly enabled?: boolean | undefined
  readonly model: string
  readonly directory?: string | undefined
  readonly url?: string | undefined
  readonly sha256?: string | undefined
  readonly rerank?: boolean | undefined
  readonly endpoint?: string | undefined
  readonly api_key?: string | undefined
  readonly requests_per_minute?: number | undefined
}

export interface ConfiguredModel {
  /** What the vectors are stored under: another way to ask the model is another model to them. */
  readonly id: string
  readonly name: string
  readonly known: KnownModel | undefined
  readonly directory: string
  /** The server that embeds instead of this machine. */
  readonly host?: string
  /** Its files are there. */
  readonly isPresent: boolean
  /** Of its vectors; undefined where only the model itself can tell. */
  readonly dimension: number | undefined
}

/** Undefined where embeddings are off. Opens no model and downloads nothing. */
export function configuredModel(settings: ModelSettings, cacheDirectory: string): ConfiguredModel | undefined {
  const { directory, url, sha256 } = settings
  if (!wantsVectors(settings)) return undefined
  if (settings.endpoint !== undefined) return remoteModel(settings, settings.endpoint)
  const known = knownModel(settings.model)
  const name = known?.name ?? settings.model
  const place = directory ?? (url === undefined ? undefined : archiveDirectory({ url, sha256 }, cacheDirectory))
  if (place === undefined && known?.source === undefined) throw unknownModel(settings.model)
  const at = place ?? modelDirectory(name, cacheDirectory)
  return {
    id: vectorsId(name, settings),
    name,
    known,
    directory: at,
    isPresent: place === undefined ? isDownloaded(at) : existsSync(at),
    dimension: settings.dimension ?? known?.dimension ?? readOwnFacts(at).dimension,
  }
}

function remoteModel(settings: ModelSettings, endpoint: string): ConfiguredModel {
  const { model, dimension } = settings
  return {
    id: vectorsId(remoteModelId({ model, endpoint }), settings),
    name: model,
    known: knownModel(model),
    directory: "",
    host: new URL(endpoint).host,
    isPresent: true,
    dimension,
  }
}

export function modelDirectory(name: string, cacheDirectory: string): string {
  return join(cacheDirectory, "models", name)
}

/** Vectors that were made with other prefixes, pooling or lengths are not comparable. */
function vectorsId(name: string, settings: FactSettings): string {
  const { pooling, query_prefix, passage_prefix, max_tokens } = settings
  const overridden = [pooling, query_prefix, passage_prefix, max_tokens]
  if (overridden.every((each) => each === undefined)) return name
  return `${name}~${sha256Of(JSON.stringify(overridden.map((each) => each ?? null))).slice(0, 8)}`
}

export interface OpenContext {
  readonly cacheDirectory: string
  readonly stateDirectory: string
  readonly log: Log
  readonly signal: AbortSignal
  readonly clock: Clock
}

/** Only what was configured by its URL is downloaded here: nobody waits for a model in the middle of a search. */
export async function openConfigured(settings: ModelSettings, context: OpenContext): Promise<Embedder | undefined> {
  const { cacheDirectory, stateDirectory, signal } = context
  const model = configuredModel(settings, cacheDirectory)
  if (model === undefined) return undefined
  const { directory, endpoint, url, sha256 } = settings
  if (endpoint !== undefined) return await openRemote(model, settings, endpoint, context)
  if (directory === undefined && url !== undefined)
    await unpackArchive({ url, sha256 }, { cacheDirectory, signal, onBytes: sayProgress(settings.model, context.log) })
  else if (!model.isPresent && directory === undefined) {
    throw new PondError(
      "validation_failed",
      `The model ${model.name} is not downloaded yet. Run \`pond sync --only embed\`, which downloads it.`,
      { details: { model: model.name } },
    )
  }
  if (directory === undefined && url === undefined) await requireUnchanged({ ...model, stateDirectory })
  return await openEmbedder(model.name, model.directory, settings, model.id)
}

async function openRemote(
  { id, known }: ConfiguredModel,
  settings: ModelSettings,
  endpoint: string,
  { signal, clock }: OpenContext,
): Promise<Embedder> {
  const embedder = await openRemoteEmbedder(
    {
      endpoint,
      model: settings.model,
      apiKey: settings.api_key,
      dimension: settings.dimension,
      queryPrefix: settings.query_prefix ?? known?.queryPrefix ?? "",
      passagePrefix: settings.passage_prefix ?? known?.passagePrefix ?? "",
      tokensMax: settings.max_tokens ?? REMOTE_TOKENS,
      requestsPerMinute: settings.requests_per_minute,
    },
    { signal, nowMs: () => clock.monotonicMs() },
  )
  return { ...embedder, model: id }
}

const REMOTE_TOKENS = 512

/** Downloads what the settings name by its name alone, if it is missing. */
export async function ensureConfigured(
  settings: ModelSettings,
  {
    cacheDirectory,
    stateDirectory,
    log,
    signal,
    endpoint,
  }: Omit<OpenContext, "clock"> & { readonly endpoint: string | undefined },
): Promise<void> {
  const model = configuredModel(settings, cacheDirectory)
  if (model === undefined || model.isPresent || model.known === undefined) return
  if (settings.directory !== undefined || settings.url !== undefined) return
  const onBytes = sayProgress(model.name, log)
  await downloadModel(model.known, model.directory, { signal, stateDirectory, endpoint, onBytes })
}

const SAY_EVERY_BYTES = 16_000_000

function sayProgress(name: string, log: Log): (received: number, total: number | undefined) => void {
  let said = 0
  return (received, total) => {
    if (received - said < SAY_EVERY_BYTES && received !== total) return
    said = received
    const of = total === undefined ? "" : ` of ${megabytes(total)}`
    log.info(`downloading the model ${name}: ${megabytes(received)}${of}`)
  }
}

function megabytes(bytes: number): string {
  return `${Math.round(bytes / 1e6)} MB`
}

/** The embedding model of this machine: which there are, which is in use, how far its vectors are, and its change. */
import { existsSync, statSync } from "node:fs"
import { basename, resolve } from "node:path"
import { type ConfiguredModel, configuredModel, modelDirectory, openConfigured } from "../../embeddings/configured.ts"
import { downloadModel, isDownloaded } from "../../embeddings/download-model.ts"
import { openEmbedder } from "../../embeddings/embedder.ts"
import { KNOWN_MODELS, type KnownModel } from "../../embeddings/known-models.ts"
import { type PairsResult, testOnPairs } from "../../embeddings/known-pairs.ts"
import { proveModel, requireUnchanged } from "../../embeddings/model-checksums.ts"
import { type FactSettings, factsOfModel, knownModel, unknownModel } from "../../embeddings/model-registry.ts"
import { embedCoverage } from "../../search/embed-missing.ts"
import type { Pond } from "../pond.ts"
import { type ConfigChange, changeConfig } from "./config-file.ts"

export type ModelState = "in use" | "downloaded" | "available" | "directory only"

/** Models that only fastembed hosts have no published checksums: what arrived first is what later downloads must be. */
export type ChecksumSource = "registry" | "first download"

function checksumSource({ source }: KnownModel): ChecksumSource | null {
  if (source === undefined) return null
  return source.kind === "files" ? "registry" : "first download"
}

export interface ListedModel {
  readonly name: string
  readonly state: ModelState
  readonly dimension: number
  readonly cuts: readonly number[]
  readonly tokens: number
  readonly languages: string
  readonly license: string
  readonly megabytes: number
  readonly checksums: ChecksumSource | null
}

export function listModels(pond: Pond): readonly ListedModel[] {
  const cache = pond.host.path("cache")
  const inUse = configuredModel(pond.host.settings().values.embeddings, cache)?.name
  return KNOWN_MODELS.map((model) => ({
    name: model.name,
    state: modelState(model, inUse, cache),
    dimension: model.dimension,
    cuts: model.cuts,
    tokens: model.tokensMax,
    languages: model.languages,
    license: model.license,
    megabytes: model.megabytes,
    checksums: checksumSource(model),
  }))
}

function modelState(model: KnownModel, inUse: string | undefined, cache: string): ModelState {
  if (model.name === inUse) return "in use"
  if (model.source === undefined) return "directory only"
  return isDownloaded(modelDirectory(model.name, cache)) ? "downloaded" : "available"
}

export interface EmbeddingsStatus {
  readonly on: boolean
  readonly model: string | null
  readonly directory: string | null
  /** The server that gets every text, where one embeds instead of this machine. */
  readonly host: string | null
  readonly downloaded: boolean
  readonly dimension: number | null
  readonly pooling: string | null
  readonly query_prefix: string | null
  readonly passage_prefix: string | null
  readonly max_tokens: number | null
  /** Whether its files are as they were downloaded; null where pond did not download them by name. */
  readonly files: "unchanged" | "changed" | "unknown" | null
  /** Who says what the files must be. */
  readonly checksums: ChecksumSource | null
  readonly embedded: number
  readonly total: number
}

const OFF = {
  directory: null,
  host: null,
  downloaded: false,
  dimension: null,
  files: null,
  checksums: null,
  embedded: 0,
  total: 0,
} as const
const UNKNOWN_FACTS = { pooling: null, query_prefix: null, passage_prefix: null, max_tokens: null }

export async function embeddingsStatus(pond: Pond): Promise<EmbeddingsStatus> {
  const settings = pond.host.settings().values.embeddings
  const model = configuredModel(settings, pond.host.path("cache"))
  if (model === undefined) return { on: false, model: null, ...OFF, ...UNKNOWN_FACTS }
  const { dimension } = model
  const coverage =
    dimension === undefined
      ? undefined
      : await embedCoverage(await pond.sessions(), model.id, dimension, settings.exclude_projects)
  return {
    on: true,
    model: model.id,
    directory: model.host === undefined ? model.directory : null,
    host: model.host ?? null,
    downloaded: model.isPresent,
    dimension: dimension ?? null,
    ...factsIn(model, settings),
    files: await filesState(pond, model),
    checksums: model.host === undefined && model.known !== undefined ? checksumSource(model.known) : null,
    embedded: coverage?.embedded ?? 0,
    total: coverage?.total ?? 0,
  }
}

async function filesState(pond: Pond, { name, directory, known, isPresent }: ConfiguredModel) {
  const isDownload = known !== undefined && directory === modelDirectory(name, pond.host.path("cache"))
  if (!isDownload || !isPresent) return null
  return (await proveModel({ name, directory, stateDirectory: pond.host.path("state") }, true)).state
}

function factsIn(model: ConfiguredModel, settings: FactSettings) {
  if (model.host !== undefined || (!model.isPresent && model.known === undefined)) return UNKNOWN_FACTS
  const facts = factsOfModel(model.name, model.directory, settings)
  return {
    pooling: facts.pooling,
    query_prefix: facts.queryPrefix,
    passage_prefix: facts.passagePrefix,
    max_tokens: facts.tokensMax,
  }
}

export interface UseRequest {
  readonly model: string
  readonly dimension?: number | undefined
  readonly endpoint?: string | undefined
}

export interface UseHooks {
  readonly signal: AbortSignal
  readonly onDownload?: (received: number, total: number | undefined) => void
}

export interface UsedModel {
  readonly model: string
  readonly directory: string
  readonly dimension: number
  readonly test: PairsResult
  readonly config: string
  readonly changed: boolean
}

/** Downloads and tests the model before the settings name it: what does not work is not turned on. */
export async function useModel(pond: Pond, request: UseRequest, hooks: UseHooks): Promise<UsedModel> {
  const { model, dimension, endpoint: server } = request
  if (server !== undefined) return await useServer(pond, { model, dimension, endpoint: server }, hooks.signal)
  const directory = directoryNamed(model)
  const name = directory === undefined ? model : basename(directory)
  const known = knownModel(name)
  if (directory === undefined && known?.source === undefined) throw unknownModel(model)
  const place = directory ?? modelDirectory(known?.name ?? name, pond.host.path("cache"))
  if (directory === undefined && known !== undefined) {
    const { signal, onDownload } = hooks
    const endpoint = pond.host.environment["HF_ENDPOINT"]
    const stateDirectory = pond.host.path("state")
    await downloadModel(known, place, {
      signal,
      stateDirectory,
      endpoint,
      ...(onDownload === undefined ? {} : { onBytes: onDownload }),
    })
    await requireUnchanged({ name: known.name, directory: place, stateDirectory })
  }
  const own = known?.name ?? name
  const facts = factSettings(pond, own, dimension)
  const embedder = await openEmbedder(own, place, facts)
  try {
    const test = await testOnPairs(embedder, known)
    const { path, changed } = changeConfig(pond, changesOf(pond, own, directory, dimension))
    return { model: own, directory: place, dimension: embedder.dimension, test, config: path, changed }
  } finally {
    await embedder.close()
  }
}

async function useServer(
  pond: Pond,
  { model, dimension, endpoint }: UseRequest & { readonly endpoint: string },
  signal: AbortSignal,
): Promise<UsedModel> {
  const { host } = pond
  const own = { ...factSettings(pond, model, dimension), ...keysOf(pond), enabled: true, model, endpoint }
  const { clock, log } = host
  const embedder = await openConfigured(own, {
    cacheDirectory: host.path("cache"),
    stateDirectory: host.path("state"),
    clock,
    log,
    signal,
  })
  if (embedder === undefined) throw unknownModel(model)
  try {
    const test = await testOnPairs(embedder, knownModel(model))
    const set = (key: string, value: ConfigChange["value"]): ConfigChange => ({ key: ["embeddings", key], value })
    const others = ["directory", "url", "sha256"].map((key) => set(key, undefined))
    const changes = [set("enabled", true), set("model", model), set("endpoint", endpoint), ...others]
    const { path, changed } = changeConfig(pond, [...changes, set("dimension", embedder.dimension)])
    return { model, directory: endpoint, dimension: embedder.dimension, test, config: path, changed }
  } finally {
    await embedder.close()
  }
}

function keysOf(pond: Pond) {
  const { api_key, requests_per_minute } = pond.host.settings().values.embeddings
  return { api_key, requests_per_minute }
}

/** How a model is asked is said of one model: of another it would be wrong. */
function factSettings(pond: Pond, name: string, dimension: number | undefined): FactSettings {
  const { model, pooling, query_prefix, passage_prefix, max_tokens } = pond.host.settings().values.embeddings
  const isSame = (knownModel(model)?.name ?? model) === name
  return { ...(isSame ? { pooling, query_prefix, passage_prefix, max_tokens } : {}), dimension }
}

const ABOUT_ONE_MODEL = ["url", "sha256", "pooling", "query_prefix", "passage_prefix", "max_tokens"] as const

function changesOf(
  pond: Pond,
  name: string,
  directory: string | undefined,
  dimension: number | undefined,
): ConfigChange[] {
  const { values } = pond.host.settings()
  const isSame = (knownModel(values.embeddings.model)?.name ?? values.embeddings.model) === name
  const set = (key: string, value: ConfigChange["value"]): ConfigChange => ({ key: ["embeddings", key], value })
  return [
    set("enabled", true),
    set("model", name),
    set("directory", directory),
    set("endpoint", undefined),
    set("dimension", dimension),
    ...(isSame ? [] : ABOUT_ONE_MODEL.map((key) => set(key, undefined))),
  ]
}

/** A name of a model may hold a slash, so only a directory that exists is one. */
function directoryNamed(model: string): string | undefined {
  const path = resolve(model)
  return existsSync(path) && statSync(path).isDirectory() ? path : undefined
}

export function turnOff(pond: Pond): { readonly config: string; readonly changed: boolean } {
  const { path, changed } = changeConfig(pond, [{ key: ["embeddings", "enabled"], value: false }])
  return { config: path, changed }
}

/** Gives messages their vectors, where a model is configured: the embed stage of a sync. */
import { configuredModel, ensureConfigured } from "../../embeddings/configured.ts"
import { type EmbedProgress, type EmbedReport, embedMissing, nothingToEmbed } from "../../search/embed-missing.ts"
import type { Pond } from "../pond.ts"

export interface EmbedHooks {
  readonly signal: AbortSignal
  readonly onEmbedded?: (progress: EmbedProgress) => void
  /** How long it may take: the next run goes on where this one stops. */
  readonly budgetMs?: number
}

/** Nothing where no model is configured. No native library is loaded to find out that there is nothing to do. */
export async function embedStore(
  pond: Pond,
  { signal, onEmbedded, budgetMs }: EmbedHooks,
): Promise<EmbedReport | null> {
  const settings = pond.host.settings().values.embeddings
  const { clock, environment, log } = pond.host
  const cacheDirectory = pond.host.path("cache")
  const model = configuredModel(settings, cacheDirectory)
  const idle =
    model?.dimension &&
    (await nothingToEmbed(await pond.sessions(), model.id, model.dimension, settings.exclude_projects))
  if (idle) return idle
  const stateDirectory = pond.host.path("state")
  const endpoint = environment["HF_ENDPOINT"]
  await ensureConfigured(settings, { cacheDirectory, stateDirectory, log, signal, endpoint })
  const embedder = await pond.embedder()
  if (embedder === undefined) return null
  return await embedMissing(await pond.sessions(), embedder, {
    clock,
    signal,
    ...(budgetMs === undefined ? {} : { budgetMs }),
    excluded: settings.exclude_projects,
    ...(onEmbedded === undefined ? {} : { onProgress: onEmbedded }),
  })
}

/** Gives messages their vectors, where a model is configured: the embed stage of a sync. */
import { statedDimension } from "../../embeddings/model-files.ts"
import { type EmbedProgress, type EmbedReport, embedMissing, nothingToEmbed } from "../../search/embed-missing.ts"
import type { Pond } from "../pond.ts"

export interface EmbedHooks {
  readonly signal: AbortSignal
  readonly onEmbedded?: (progress: EmbedProgress) => void
}

/** Nothing where no model is configured. No native library is loaded to find out that there is nothing to do. */
export async function embedStore(pond: Pond, { signal, onEmbedded }: EmbedHooks): Promise<EmbedReport | null> {
  const settings = pond.host.settings().values.embeddings
  const dimension = statedDimension(settings, pond.host.path("cache"))
  const idle = dimension && (await nothingToEmbed(await pond.sessions(), settings.model, dimension))
  if (idle) return idle
  const embedder = await pond.embedder()
  if (embedder === undefined) return null
  const { clock } = pond.host
  return await embedMissing(await pond.sessions(), embedder, {
    clock,
    signal,
    ...(onEmbedded === undefined ? {} : { onProgress: onEmbedded }),
  })
}

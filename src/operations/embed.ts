/** Gives messages their vectors, where a model is configured: the embed stage of a sync. */
import { type EmbedProgress, type EmbedReport, embedMissing } from "../search/embed-missing.ts"
import type { Pond } from "./pond.ts"

export interface EmbedHooks {
  readonly signal: AbortSignal
  readonly onEmbedded?: (progress: EmbedProgress) => void
}

/** Nothing where no model is configured: then there is nothing to do, and no native library is loaded to find that out. */
export async function embedStore(pond: Pond, { signal, onEmbedded }: EmbedHooks): Promise<EmbedReport | null> {
  const embedder = await pond.embedder()
  if (embedder === undefined) return null
  const { clock } = pond.host
  return await embedMissing(await pond.sessions(), embedder, {
    clock,
    signal,
    ...(onEmbedded === undefined ? {} : { onProgress: onEmbedded }),
  })
}

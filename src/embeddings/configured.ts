/** Opens the embedding model named in the settings. Without one, search works by words. */
import type { Log } from "../platform/host/log.ts"
import { type Embedder, openEmbedder } from "./embedder.ts"
import { type ModelSettings, modelDirectory } from "./model-files.ts"

const SAY_EVERY_BYTES = 16_000_000

export async function openConfigured(
  settings: ModelSettings,
  cacheDirectory: string,
  log: Log,
  signal: AbortSignal,
): Promise<Embedder | undefined> {
  let said = 0
  const directory = await modelDirectory(settings, {
    cacheDirectory,
    signal,
    onBytes: (received, total) => {
      if (received - said < SAY_EVERY_BYTES && received !== total) return
      said = received
      const of = total === undefined ? "" : ` of ${megabytes(total)}`
      log.info(`downloading the model ${settings.model}: ${megabytes(received)}${of}`)
    },
  })
  return directory === undefined ? undefined : await openEmbedder(settings.model, directory)
}

function megabytes(bytes: number): string {
  return `${Math.round(bytes / 1e6)} MB`
}

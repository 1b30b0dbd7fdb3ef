/** What is configured, and by whom: the effective settings with their origins, and the directories in use. */
import type { Origin } from "../../platform/config/config.ts"
import { PLACES } from "../../platform/host/paths.ts"
import type { Pond } from "../pond.ts"

export interface ConfigReport {
  readonly file: { readonly path: string; readonly exists: boolean }
  readonly settings: readonly { key: string; value: unknown; origin: Origin; description: string }[]
  readonly directories: Readonly<Record<string, string>>
}

export function describeConfig({ host }: Pond): ConfigReport {
  const { effective, file } = host.settings()
  return {
    file,
    settings: effective.map(({ key, shown, origin, description }) => ({ key, value: shown, origin, description })),
    directories: Object.fromEntries(PLACES.map((place) => [place, host.path(place)])),
  }
}

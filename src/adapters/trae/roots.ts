/** Where Trae keeps its chats: its editor for all countries, that for China, and its other one. */
import { existsSync } from "node:fs"
import { join } from "node:path"
import type { Environment } from "../../platform/host/environment.ts"
import { configFolders } from "../shared/editors.ts"

export function roots(environment: Environment, home: string): readonly string[] {
  const [usual = "", ...others] = configFolders(environment, home).flatMap((place) =>
    ["Trae", "Trae CN", "TRAE SOLO CN"].map((name) => join(place, name)),
  )
  return [usual, ...others.filter((place) => existsSync(place))]
}

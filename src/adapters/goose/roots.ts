/** Where Goose keeps its sessions, by its variables and defaults. */
import { join } from "node:path"
import type { Environment } from "../../platform/host/environment.ts"

export function roots(environment: Environment, home: string): readonly string[] {
  const chosen = environment["GOOSE_PATH_ROOT"]
  if (chosen) return [join(chosen, "data")]
  const roaming = environment["APPDATA"]
  if (roaming) return [join(roaming, "Block", "goose", "data")]
  return [join(environment["XDG_DATA_HOME"] || join(home, ".local", "share"), "goose")]
}

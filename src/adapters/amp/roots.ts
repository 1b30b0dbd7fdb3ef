/** Where Amp keeps its sessions, by its variables and defaults. */
import { existsSync } from "node:fs"
import { join } from "node:path"
import type { Environment } from "../../platform/host/environment.ts"

export function roots(environment: Environment, home: string): readonly string[] {
  const config = environment["XDG_CONFIG_HOME"] || join(home, ".config")
  const editors = [config, join(home, "Library", "Application Support")].map((place) =>
    join(place, "Code", "User", "globalStorage", "sourcegraph.amp"),
  )
  const data = environment["XDG_DATA_HOME"] || join(home, ".local", "share")
  return [join(data, "amp"), ...editors.filter((place) => existsSync(place))]
}

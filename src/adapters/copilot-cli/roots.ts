/** Where GitHub Copilot CLI keeps its sessions, by its variables and defaults. */
import { join } from "node:path"
import type { Environment } from "../../platform/host/environment.ts"

export function roots(environment: Environment, home: string): readonly string[] {
  const chosen = environment["COPILOT_HOME"]
  // Early versions followed the XDG variables. What lies there is moved by a later version when it starts.
  const early = [environment["XDG_STATE_HOME"], environment["XDG_CONFIG_HOME"]]
  const places = [chosen, join(home, ".copilot"), ...early.map((folder) => folder && join(folder, ".copilot"))]
  return [...new Set(places.filter((place): place is string => Boolean(place)))]
}

/** Where gptme keeps its sessions, by its variables and defaults. */
import { join } from "node:path"
import type { Environment } from "../../platform/host/environment.ts"

export function roots(environment: Environment, home: string): readonly string[] {
  const data = environment["XDG_DATA_HOME"] || join(home, ".local", "share")
  return [environment["GPTME_LOGS_HOME"] || join(data, "gptme", "logs")]
}

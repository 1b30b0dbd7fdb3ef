/** Where Droid keeps its sessions, by its variables and defaults. */
import { join } from "node:path"
import type { Environment } from "../../platform/host/environment.ts"

export function roots(environment: Environment, home: string): readonly string[] {
  return [homeOf(environment, home)]
}

/** Where its settings are, too. */
export function homeOf(environment: Environment, home: string): string {
  return join(environment["FACTORY_HOME_OVERRIDE"] || home, ".factory")
}

/** Where Junie keeps sessions, by its variable and default. */
import { join } from "node:path"
import type { Environment } from "../../platform/host/environment.ts"

export function roots(environment: Environment, home: string): readonly string[] {
  return [environment["JUNIE_HOME"] || join(home, ".junie")]
}
